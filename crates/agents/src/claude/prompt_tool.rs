//! The permission prompt tool (`--permission-prompt-tool`): a tool of an MCP server that Claude Code calls with
//! `{tool_name, input, tool_use_id}` and whose result text is the decision. Asks and decisions have the same content as
//! in the JSON lines protocol.

use sayso_core::ask::{AskBody, Decision};
use sayso_core::id::AskId;
use sayso_core::raw::Raw;
use sayso_core::time::Time;
use serde_json::value::RawValue;

use super::outcome::{self, Reply, deny};
use super::requests::QUESTION_TOOL;
use super::state::Kind;
use super::{approvals, plan, questions, wire};
use crate::json::Object;
use crate::translator::{DecidedBy, Outcome};

const UNREADABLE: &str = "Sayso could not read the request, so nothing was approved.";

/// A call of the permission prompt tool.
#[derive(Debug)]
pub struct PromptCall {
    kind: Kind,
    pub body: AskBody,
    /// Claude's id of the tool call that waits for permission.
    pub tool_use: Option<String>,
    request: Raw,
}

impl PromptCall {
    /// Parses the arguments of the call.
    ///
    /// # Errors
    /// A description of the problem, for the model. The call must then be denied.
    pub fn read(arguments: Raw) -> Result<Self, String> {
        let fields = Object::parse(arguments.as_str()).ok_or("the arguments are not an object")?;
        if wire::too_deep(arguments.as_str()) {
            return Err("the arguments are nested too deeply".to_owned());
        }
        let tool = fields.non_blank_text("tool_name").ok_or("no tool_name is given")?;
        let input = fields.get("input").unwrap_or(RawValue::NULL);
        if Object::of(input).is_none() {
            return Err("input is not an object".to_owned());
        }
        let (kind, body) = match tool.as_str() {
            QUESTION_TOOL => (Kind::Question, AskBody::Question { questions: questions::read(input)? }),
            plan::TOOL => (Kind::Plan, AskBody::Approval(plan::read(&fields, input))),
            tool => (Kind::Approval, AskBody::Approval(approvals::read(&fields, tool, input))),
        };
        let tool_use = fields.non_blank_text("tool_use_id");
        Ok(Self { kind, body, tool_use, request: arguments })
    }

    /// The result text for Claude Code.
    #[must_use]
    pub fn reply(&self, decision: &Decision) -> String {
        // Only the outbox of a connection uses this id.
        let ask = AskId::new(Time::from_millis(0), [0; 10]);
        let given = Outcome { ask, native_id: "", decision, raw: Some(&self.request), by: DecidedBy::Person };
        match outcome::reply(self.kind, &given) {
            Reply::Say(said) | Reply::SayAndTell(said, _) => said,
            Reply::Unknown => deny(UNREADABLE),
        }
    }

    /// The denial for a call without a decision.
    #[must_use]
    pub fn refusal(message: &str) -> String {
        deny(message)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn call(arguments: &Value) -> Result<PromptCall, String> {
        PromptCall::read(Raw::of(arguments))
    }

    fn reply_json(call: &PromptCall, decision: &Decision) -> Value {
        serde_json::from_str(&call.reply(decision)).unwrap()
    }

    #[test]
    fn prompt_tool_allows_with_input_and_denies_with_message() {
        let bash = call(&json!({"tool_name": "Bash", "input": {"command": "ls"}, "tool_use_id": "toolu_1"})).unwrap();
        assert_eq!(bash.tool_use.as_deref(), Some("toolu_1"));
        let yes = Decision::Approved { choice: None, input: None };
        assert_eq!(reply_json(&bash, &yes), json!({"behavior": "allow", "updatedInput": {"command": "ls"}}));
        let changed = Decision::Approved { choice: None, input: Some(Raw::of(&json!({"command": "ls -l"}))) };
        assert_eq!(reply_json(&bash, &changed)["updatedInput"]["command"], "ls -l");
        let no = Decision::Denied { message: "not now".into(), stop: true };
        assert_eq!(reply_json(&bash, &no), json!({"behavior": "deny", "message": "not now", "interrupt": true}));
        let gone = Decision::Withdrawn { reason: "gone".into() };
        assert_eq!(reply_json(&bash, &gone), json!({"behavior": "deny", "message": "gone"}));
        let misfit = Decision::Answered { answers: vec![vec!["yes".into()]], note: None };
        assert_eq!(reply_json(&bash, &misfit)["behavior"], "deny", "an answer is no approval");
    }

    #[test]
    fn answers_are_keyed_by_question_text() {
        let asked =
            json!({"questions": [{"question": "Which?", "options": [{"label": "A"}, {"label": "B"}], "multiSelect": true}]});
        let question = call(&json!({"tool_name": "AskUserQuestion", "input": asked})).unwrap();
        assert_eq!(question.body.questions()[0].text, "Which?");
        let answer = Decision::Answered { answers: vec![vec!["A".into(), "B".into()]], note: None };
        let said = reply_json(&question, &answer);
        assert_eq!((said["behavior"].as_str(), &said["updatedInput"]["answers"]), (Some("allow"), &json!({"Which?": "A, B"})));
        let misfit = Decision::Approved { choice: None, input: None };
        assert_eq!(serde_json::from_str::<Value>(&question.reply(&misfit)).unwrap()["behavior"], "deny");
    }

    #[test]
    fn invalid_prompt_tool_call_is_named_in_the_error() {
        for (wrong, why) in [
            (json!([]), "the arguments are not an object"),
            (json!({"input": {}}), "no tool_name is given"),
            (json!({"tool_name": " ", "input": {}}), "no tool_name is given"),
            (json!({"tool_name": 7, "input": {}}), "no tool_name is given"),
            (json!({"tool_name": "Bash"}), "input is not an object"),
            (json!({"tool_name": "Bash", "input": "ls"}), "input is not an object"),
            (json!({"tool_name": "AskUserQuestion", "input": {"questions": []}}), "the list of questions is empty"),
        ] {
            assert_eq!(call(&wrong).unwrap_err(), why, "{wrong}");
        }
        let mut deep = json!({});
        for _ in 0..70 {
            deep = json!({ "a": deep });
        }
        assert_eq!(call(&json!({"tool_name": "X", "input": deep})).unwrap_err(), "the arguments are nested too deeply");
    }
}
