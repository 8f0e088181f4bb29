//! `ExitPlanMode`: an approval of a plan.

use sayso_core::ask::{Action, Approval, Choice, Preview};
use sayso_core::raw::Raw;
use serde_json::value::RawValue;

use super::outcome::ApprovedCall;
use super::suggestions;
use crate::json::{Object, line};

pub(super) const TOOL: &str = "ExitPlanMode";
/// The choice that approves the plan and all file edits.
const ACCEPT_EDITS: &str = "accept-edits";
const ACCEPT_EDITS_LABEL: &str = "Start, and accept all file edits (Claude, this session)";
const ACCEPT_EDITS_UPDATE: &str = r#"{"type":"setMode","mode":"acceptEdits","destination":"session"}"#;
/// Newer versions of Claude only send the plan if it is in a file.
const NO_TEXT: &str = "The request did not contain the text of the plan. See the messages in the session.";

/// The approval of a plan. The person can edit the plan's text.
pub(super) fn read(request: &Object<'_>, input: &RawValue) -> Approval {
    let text = Object::of(input).and_then(|input| input.non_blank_text("plan"));
    let reason = if text.is_some() { None } else { Some(NO_TEXT.to_owned()) };
    let mut choices = vec![Choice { id: ACCEPT_EDITS.to_owned(), label: ACCEPT_EDITS_LABEL.to_owned() }];
    choices.extend(suggestions::choices(request));
    Approval {
        tool: TOOL.to_owned(),
        action: Action::Plan,
        title: "Start with this plan?".to_owned(),
        input: Raw::of(&input),
        preview: text.map(|text| Preview::Plan { text }),
        choices,
        editable: true,
        allowed_decisions: None,
        input_schema: None,
        reason,
    }
}

/// The approving response for a plan; `None` if the choice or the changed input does not match. An edited plan replaces
/// the text and keeps the path of the plan file.
pub(super) fn approved(request: &Object<'_>, choice: Option<&str>, changed: Option<&Raw>) -> Option<ApprovedCall> {
    let permission = match choice {
        Some(ACCEPT_EDITS) => Some(ACCEPT_EDITS_UPDATE.to_owned()),
        Some(other) => Some(suggestions::chosen(request, other)?),
        None => None,
    };
    let original = request.object("input").unwrap_or_default();
    let changed = match changed {
        Some(changed) => Some(Object::parse(changed.as_str())?),
        None => None,
    };
    let new = changed.as_ref();
    let kept = original.fields().filter(|(name, _)| new.is_none_or(|new| new.fields().all(|(other, _)| other != *name)));
    let fields = kept.chain(new.into_iter().flat_map(Object::fields));
    let fields: Vec<String> = fields.map(|(name, value)| format!("{}:{}", line(&name), value.get())).collect();
    Some(ApprovedCall { input: format!("{{{}}}", fields.join(",")), permission })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edited_plan_keeps_its_file() {
        let request = Object::parse(r#"{"input":{"plan":"old","planFilePath":"/p.md"}}"#).unwrap();
        let changed = Raw::parse(r#"{"plan":"new"}"#.to_owned()).unwrap();
        let yes = approved(&request, None, Some(&changed)).unwrap();
        assert_eq!(yes, ApprovedCall { input: r#"{"planFilePath":"/p.md","plan":"new"}"#.to_owned(), permission: None });
        let yes = approved(&request, Some(ACCEPT_EDITS), None).unwrap();
        assert_eq!(yes.input, r#"{"plan":"old","planFilePath":"/p.md"}"#);
        assert_eq!(yes.permission.as_deref(), Some(ACCEPT_EDITS_UPDATE));
        assert_eq!(approved(&request, Some("suggestion-0"), None), None, "a choice that was not offered");
        assert_eq!(approved(&request, None, Some(&Raw::of(&"a plan"))), None, "an input is an object");
    }

    #[test]
    fn plan_without_text_shows_a_notice() {
        let approval = read(&Object::default(), RawValue::NULL);
        assert_eq!((approval.preview, approval.reason.as_deref()), (None, Some(NO_TEXT)));
    }
}
