//! The digest of a request. Two asks with the same digest request the same thing.
//!
//! For an approval it covers the tool, the command or the arguments, the directory, the agent and the project. Title and reason
//! only describe a call, so they are left out if the schema of the tool is known. For other tools they are included, because
//! the text that a person reads may be the only part that says what happens.

use super::{Action, Approval, AskBody, AskContext, Preview};
use crate::digest::{DigestFields, ShaDigest};

/// Distinguishes digests of this layout from those of later ones.
const LAYOUT: &str = "sayso ask 1";

/// Computes the digest of an ask. `known_arguments` is the input of a tool whose schema is known, without the fields that only
/// describe the call. It is `None` for other tools.
#[must_use]
pub fn ask_digest(body: &AskBody, context: &AskContext, known_arguments: Option<&str>) -> ShaDigest {
    let mut fields = DigestFields::new(LAYOUT);
    fields.text(body.kind().as_str());
    fields.text(&context.agent);
    fields.maybe(context.project.as_deref());
    match body {
        // Serialization of a struct has a fixed order of fields.
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
        // Only if they are present, so that the digests of earlier versions stay the same.
        if let Some(allowed) = &approval.allowed_decisions {
            self.text("allowedDecisions");
            self.list(allowed.iter().map(|decision| decision.as_str()));
        }
        if let Some(schema) = &approval.input_schema {
            self.list(["inputSchema", schema.as_str()].into_iter());
        }
    }

    /// Adds the preview: the directory of a command, the change of a file, or the text of a plan.
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
