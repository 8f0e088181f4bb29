//! The digest of what is asked: two asks with the same digest ask for the same thing.
//!
//! For an approval it covers the tool, the command or the arguments, the directory, the agent and the project. The title and
//! the reason only describe a call, so they are left out, but only if the schema of the tool is known: for any other tool
//! the text that a person reads may be the one place that says what happens.

use super::{Action, Approval, AskBody, AskContext, Preview};
use crate::digest::{DigestFields, ShaDigest};

/// Distinguishes this layout from later ones.
const LAYOUT: &str = "sayso ask 1";

/// Digests an ask. `known_arguments` is the input of a tool whose schema is known, without the fields that only describe the
/// call; `None` for every other tool.
#[must_use]
pub fn ask_digest(body: &AskBody, context: &AskContext, known_arguments: Option<&str>) -> ShaDigest {
    let mut fields = DigestFields::new(LAYOUT);
    fields.text(body.kind().as_str());
    fields.text(&context.agent);
    fields.maybe(context.project.as_deref());
    match body {
        // The order of the fields of a serialized type is fixed.
        AskBody::Question { questions } => fields.maybe(serde_json::to_string(questions).ok().as_deref()),
        AskBody::Approval(approval) => fields.approval(approval, known_arguments),
        AskBody::Link(link) => {
            fields.text(&link.url);
            fields.maybe(link.message.as_deref());
        }
    }
    fields.finish()
}

impl DigestFields {
    fn approval(&mut self, approval: &Approval, known_arguments: Option<&str>) {
        self.text(&approval.tool);
        self.text(approval.action.as_str());
        match &approval.action {
            Action::Run { command } => self.text(command),
            Action::Edit { paths } | Action::Read { paths } => self.list(paths.iter().map(String::as_str)),
            Action::Fetch { url } => self.text(url),
            Action::Mcp { server, tool } => self.list([server.as_str(), tool.as_str()].into_iter()),
            Action::Plan | Action::Mode | Action::Other => {}
        }
        self.preview(approval.preview.as_ref());
        self.maybe(known_arguments);
        if known_arguments.is_none() {
            self.text(approval.input.as_str());
            self.text(&approval.title);
            self.maybe(approval.reason.as_deref());
        }
    }

    /// What the person looks at: the directory of a command, the change of a file, the text of a plan.
    fn preview(&mut self, preview: Option<&Preview>) {
        match preview {
            None => self.text("none"),
            Some(Preview::Command { command, cwd }) => {
                self.text("command");
                self.text(command);
                self.maybe(cwd.as_deref());
            }
            Some(Preview::Diff { files }) => {
                self.text("diff");
                self.list(files.iter().map(|file| file.path.as_str()));
                self.list(files.iter().map(|file| file.diff.as_str()));
            }
            Some(Preview::Plan { text }) => self.list(["plan", text.as_str()].into_iter()),
            Some(Preview::Text { text }) => self.list(["text", text.as_str()].into_iter()),
        }
    }
}
