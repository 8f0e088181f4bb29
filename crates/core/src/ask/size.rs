//! Estimates the size of asks, for limits on pages, frames and caches.

use super::{Action, Ask, AskBody, AskContext, Decision, Preview, Question};

fn long(text: Option<&String>) -> usize {
    text.map_or(0, String::len)
}

impl Action {
    /// Returns the bytes of its command, paths or address.
    pub(super) fn text_size(&self) -> usize {
        match self {
            Self::Run { command } => command.len(),
            Self::Edit { paths } | Self::Read { paths } => paths.iter().map(String::len).sum(),
            Self::Fetch { url } => url.len(),
            Self::Mcp { server, tool } => server.len() + tool.len(),
            Self::Plan | Self::Mode | Self::Other => 0,
        }
    }
}

impl Preview {
    /// Returns the bytes of its content.
    pub(super) fn text_size(&self) -> usize {
        match self {
            Self::Command { command, cwd } => command.len() + long(cwd.as_ref()),
            Self::Diff { files } => files.iter().map(|file| file.path.len() + file.diff.len()).sum(),
            Self::Plan { text } | Self::Text { text } => text.len(),
        }
    }
}

impl Question {
    fn text_size(&self) -> usize {
        let options = self.options().iter();
        let options = options.map(|o| o.value.len() + o.label.len() + long(o.description.as_ref()) + long(o.preview.as_ref()));
        let schema = self.response_schema.as_ref().map_or(0, |schema| schema.as_str().len());
        self.key.len() + self.text.len() + long(self.header.as_ref()) + options.sum::<usize>() + schema
    }
}

impl Decision {
    fn text_size(&self) -> usize {
        match self {
            Self::Answered { answers, note } => answers.iter().flatten().map(String::len).sum::<usize>() + long(note.as_ref()),
            Self::Rejected { message, .. } | Self::Denied { message, .. } => message.len(),
            Self::Approved { input, .. } => input.as_ref().map_or(0, |input| input.as_str().len()),
            Self::Withdrawn { reason } => reason.len(),
        }
    }
}

impl AskContext {
    fn text_size(&self) -> usize {
        let optional = [&self.project, &self.branch, &self.subagent, &self.context, &self.tool_call_id, &self.step];
        let labels: usize = self.labels.iter().map(|(key, value)| key.len() + value.len()).sum();
        self.agent.len() + self.title.len() + optional.into_iter().map(|text| long(text.as_ref())).sum::<usize>() + labels
    }
}

impl Ask {
    /// Returns the bytes of all visible texts. The JSON of the ask is never smaller. The original request of the agent is not
    /// included.
    #[must_use]
    pub fn text_size(&self) -> usize {
        let body = match &*self.body {
            AskBody::Question { questions } => questions.iter().map(Question::text_size).sum(),
            AskBody::Approval(approval) => {
                let preview = approval.preview.as_ref().map_or(0, Preview::text_size);
                let choices: usize = approval.choices.iter().map(|choice| choice.id.len() + choice.label.len()).sum();
                let names = approval.title.len() + approval.tool.len();
                let schema = approval.input_schema.as_ref().map_or(0, |schema| schema.as_str().len());
                approval.input.as_str().len() + preview + approval.action.text_size() + choices + names + schema
            }
            AskBody::Link(link) => link.url.len() + long(link.message.as_ref()),
        };
        let outcome = self.outcome().map_or(0, |outcome| outcome.decision.text_size());
        body + outcome + self.context.text_size()
    }

    /// Estimates the memory that the ask uses, in bytes.
    #[must_use]
    pub fn memory_size(&self) -> usize {
        self.text_size() + self.raw.as_ref().map_or(0, |raw| raw.as_str().len())
    }
}
