//! The translator writes what the real Claude Code understood: each response equals the recorded one.

use super::recording::{ClaudePlayer, all};
use crate::player::{Player as _, RecordedReply};

/// Recordings whose every response must be reproduced.
const OURS: [&str; 32] = [
    "answer_single",
    "answer_multi_question",
    "answer_other_text",
    "answer_with_notes",
    "answer_response_set",
    "multiselect_string",
    "header_long",
    "no_answer_long",
    "bypass_question",
    "deny_message",
    "deny_interrupt",
    "bash_allow",
    "bash_allow_updated_input",
    "bash_deny",
    "parallel_two_questions",
    "parallel_reads",
    "parallel_two_bash",
    "plan_allow",
    "plan_allow_edited",
    "plan_allow_set_mode",
    "plan_deny",
    "plan_file_allow",
    "plan_file_deny",
    "elicitation_accept",
    "elicitation_cancel",
    "elicitation_no_stdio",
    "elicitation_forms_and_link",
    "edit_write_fetch_tools",
    "subagent_permission",
    "v2.1.197-answer_single",
    "v2.1.197-answer_other_text",
    "v2.1.197-plan_allow",
];

#[test]
fn responses_equal_the_recorded_ones() {
    let recordings = all();
    for name in OURS {
        let mut player = ClaudePlayer::new();
        let said: Vec<RecordedReply> =
            recordings[name].iter().map(|entry| player.play(entry).1).filter(|said| *said != RecordedReply::Else).collect();
        assert!(!said.is_empty() && said.iter().all(|said| *said == RecordedReply::Same), "{name}: {said:?}");
    }
}

/// Responses that were measured to lose or break an answer are never written, whatever the decision.
#[test]
fn unsupported_responses_are_never_sent() {
    let recordings = all();
    for name in [
        "answer_by_index_key",
        "answer_by_header_key",
        "allow_answers_only",
        "allow_without_answers",
        "allow_without_updated_input",
        "answer_malformed",
        "bash_always_allow",
        "deny_no_message",
    ] {
        let mut player = ClaudePlayer::new();
        let said: Vec<RecordedReply> =
            recordings[name].iter().map(|entry| player.play(entry).1).filter(|said| *said != RecordedReply::Else).collect();
        assert_eq!(said, [RecordedReply::NotOurs], "{name}");
    }
}
