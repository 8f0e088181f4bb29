//! Codes for the texts that Sayso writes, so that a client can show them in another language.
//!
//! A reason is stored and sent as English text. [`TextCode::of`] finds the code and the parameters of such a text, so asks from
//! earlier versions also have codes. Texts that a person or an agent wrote have no code, and clients show them unchanged.

use crate::texts;

/// The code of a text, and the values that the text contains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextCode {
    /// The identifier of the sentence, for example `no_rule_allows`.
    pub code: &'static str,
    /// The values in the sentence. Values ending in `Code` are identifiers, all others are text.
    pub params: Vec<(&'static str, String)>,
}

/// Sentences without values.
const FIXED: &[(&str, &str)] = &[
    (texts::REJECTED, "user_declined"),
    (texts::REJECTED_BY_POLICY, "rejected_by_policy"),
    (texts::DENIED, "user_denied"),
    (texts::DENIED_BY_POLICY, "denied_by_policy"),
    (texts::DENIED_CONTENT_CHANGED, "denied_content_changed"),
    (texts::LINK_DENIED, "link_not_opened"),
    (texts::WITHHELD, "withheld_content_changed"),
    (texts::WITHDRAWN_INTERRUPTED, "turn_interrupted"),
    (texts::WITHDRAWN_AGENT_GONE, "agent_gone"),
    (texts::WITHDRAWN_CLOSED, "session_closed"),
    (texts::WITHDRAWN_ELSEWHERE, "answered_in_terminal"),
    (texts::WITHDRAWN_TURN_OVER, "continued_in_terminal"),
    (texts::WITHDRAWN_EXTERNAL_ENDED, "agent_ended"),
    (texts::WITHDRAWN_BY_CALLER, "withdrawn_by_caller"),
    (texts::TERMINAL_WAS_FIRST, "terminal_was_first"),
    (texts::AGENT_GONE_NOTHING_SENT, "agent_gone_nothing_sent"),
    (texts::AGENT_GONE_NOT_CERTAIN, "agent_gone_not_certain"),
    (texts::INTERRUPTED_BEFORE_APPROVAL, "interrupted_before_approval"),
    ("It was answered elsewhere.", "answered_elsewhere"),
    ("The turn ended without an answer.", "turn_ended"),
    ("only a person opens a link", "only_person_opens_links"),
    ("only a person accepts a plan", "only_person_accepts_plans"),
    ("only a person changes the mode", "only_person_changes_mode"),
    ("the command line cannot be read", "command_unreadable"),
    ("the address cannot be read", "address_unreadable"),
    ("links in its paths cannot be followed", "links_unreadable"),
    ("a checkpoint of the workflow", "checkpoint"),
];

/// What a command line holds that no rule can allow, as the value `foundCode`.
const FOUND: &[(&str, &str)] = &[
    ("a substitution or an expansion ($…)", "expansion"),
    ("a redirection to or from a file", "redirection"),
    ("something that is not a complete command", "incomplete"),
    ("a command in the background (&)", "background"),
    ("parentheses", "parentheses"),
    ("a comment", "comment"),
    ("control characters", "control_characters"),
    ("a line break inside a word", "line_break"),
    ("an assignment before a command", "assignment"),
    ("shell syntax such as a loop or a condition", "shell_syntax"),
    ("a command whose name is not written out", "computed_name"),
    ("more than can be read", "too_long"),
    ("something that the shell's parser does not understand", "not_understood"),
    ("something that two parsers see differently", "ambiguous"),
];

/// Why the built-in rule asks, as the value `foundCode`.
const BUILT_IN: &[(&str, &str)] = &[
    ("it touches Sayso's own files", "touches_sayso"),
    ("it names sayso or its files", "names_sayso"),
    ("the command line is too long to read", "line_too_long"),
    ("the name of a command in it is computed, so it might be sayso", "name_computed"),
];

impl TextCode {
    /// The code of a text. `None` if Sayso did not write the text, or if it has no code.
    #[must_use]
    pub fn of(text: &str) -> Option<Self> {
        if let Some(code) = code_in(FIXED, text) {
            return Some(Self { code, params: Vec::new() });
        }
        of_policy(text).or_else(|| of_outcome(text))
    }

    fn new<const N: usize>(code: &'static str, params: [(&'static str, &str); N]) -> Self {
        Self { code, params: params.map(|(name, value)| (name, value.to_owned())).to_vec() }
    }

    /// Adds the identifier of a phrase, if the phrase has one.
    fn with_code(mut self, name: &'static str, code: Option<&'static str>) -> Self {
        self.params.extend(code.map(|code| (name, code.to_owned())));
        self
    }
}

fn code_in(table: &[(&'static str, &'static str)], text: &str) -> Option<&'static str> {
    table.iter().find(|(known, _)| *known == text).map(|(_, code)| *code)
}

/// Why the policy asks a person. Where an agent's text comes before a separator, the last separator counts, so that the agent
/// cannot write the part after it.
fn of_policy(text: &str) -> Option<TextCode> {
    if let Some(what) = text.strip_prefix("no rule allows ") {
        return Some(TextCode::new("no_rule_allows", [("what", what)]));
    }
    if let Some(what) = text.strip_prefix("no rule answers ") {
        return Some(TextCode::new("no_rule_answers", [("what", what)]));
    }
    if let Some(rest) = text.strip_prefix("no rule can allow ") {
        // Databases of earlier versions have the second separator.
        let separators = [": it contains ", ": it holds "];
        let parts = separators.iter().filter_map(|separator| rest.rsplit_once(separator));
        let (what, found) = parts.max_by_key(|(what, _)| what.len())?;
        let code = TextCode::new("no_rule_can_allow", [("what", what), ("found", found)]);
        return Some(code.with_code("foundCode", code_in(FOUND, found)));
    }
    if let Some(rest) = text.strip_prefix("rule \"") {
        let (rule, what) = rest.split_once("\" asks for ")?;
        return Some(TextCode::new("rule_asks", [("rule", rule), ("what", what)]));
    }
    if let Some(rest) = text.strip_prefix(crate::policy::BUILT_IN) {
        let found = rest.strip_prefix(": ")?;
        return Some(TextCode::new("built_in_rule", [("found", found)]).with_code("foundCode", code_in(BUILT_IN, found)));
    }
    for (prefix, code) in [("no rule names ", "no_rule_names_config"), ("it names ", "names_config")] {
        if let Some((path, kind)) = text.strip_prefix(prefix).and_then(|rest| rest.rsplit_once(", which is configuration of ")) {
            let mut found = TextCode::new(code, [("path", path), ("kind", kind)]);
            found.params.push(("kindCode", kind.to_lowercase().replace(' ', "_")));
            return Some(found);
        }
    }
    if let Some((path, program)) =
        text.strip_suffix(" reads it").and_then(|rest| rest.rsplit_once(" changed since the session began, and "))
    {
        return Some(TextCode::new("config_changed", [("path", path), ("program", program)]));
    }
    text.starts_with("questions.policy = ").then(|| TextCode::new("policy_setting", [("setting", text)]))
}

/// Sentences about the end of an ask that contain a value.
fn of_outcome(text: &str) -> Option<TextCode> {
    if let Some(after) = text.strip_prefix("User did not respond within ") {
        return Some(TextCode::new("question_timed_out", [("after", after)]));
    }
    if let Some(after) = text.strip_prefix("Tool approval timed out after ") {
        return Some(TextCode::new("approval_timed_out", [("after", after)]));
    }
    match text.strip_suffix(" no longer waits for it.")? {
        "The agent" => Some(TextCode::new("agent_not_waiting", [])),
        agent @ ("Claude Code" | "Codex" | "OpenCode") => Some(TextCode::new("agent_not_waiting", [("agent", agent)])),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn of(text: &str) -> Option<(&'static str, Vec<(&'static str, String)>)> {
        TextCode::of(text).map(|found| (found.code, found.params))
    }

    fn params<const N: usize>(params: [(&'static str, &str); N]) -> Vec<(&'static str, String)> {
        params.map(|(name, value)| (name, value.to_owned())).to_vec()
    }

    #[test]
    fn fixed_sentences_have_a_code_and_no_params() {
        assert_eq!(of(texts::DENIED), Some(("user_denied", vec![])));
        assert_eq!(of(texts::WITHDRAWN_CALLER_GONE), Some(("agent_not_waiting", vec![])));
        assert_eq!(of("a checkpoint of the workflow"), Some(("checkpoint", vec![])));
    }

    #[test]
    fn texts_of_people_and_agents_have_no_code() {
        for text in
            ["", "use the other table", "The agent is gone, sadly", "Mallory no longer waits for it.", "rule \"x", "it names y"]
        {
            assert_eq!(of(text), None, "{text}");
        }
    }

    #[test]
    fn values_of_a_reason_become_params() {
        let cases = [
            ("no rule allows `rm x`", "no_rule_allows", params([("what", "`rm x`")])),
            ("no rule answers `Which?`", "no_rule_answers", params([("what", "`Which?`")])),
            ("rule \"shared systems\" asks for `ls`", "rule_asks", params([("rule", "shared systems"), ("what", "`ls`")])),
            (
                "no rule can allow `a #`: it contains a comment",
                "no_rule_can_allow",
                params([("what", "`a #`"), ("found", "a comment"), ("foundCode", "comment")]),
            ),
            (
                "built in: sayso itself: it touches Sayso's own files",
                "built_in_rule",
                params([("found", "it touches Sayso's own files"), ("foundCode", "touches_sayso")]),
            ),
            (
                "no rule names `.git/config`, which is configuration of version control",
                "no_rule_names_config",
                params([("path", "`.git/config`"), ("kind", "version control"), ("kindCode", "version_control")]),
            ),
            (
                "`.npmrc` changed since the session began, and npm reads it",
                "config_changed",
                params([("path", "`.npmrc`"), ("program", "npm")]),
            ),
            ("questions.policy = \"forward\"", "policy_setting", params([("setting", "questions.policy = \"forward\"")])),
            ("Codex no longer waits for it.", "agent_not_waiting", params([("agent", "Codex")])),
        ];
        for (text, code, params) in cases {
            assert_eq!(of(text), Some((code, params)), "{text}");
        }
        let late = texts::question_timed_out(Duration::from_secs(600));
        assert_eq!(of(&late), Some(("question_timed_out", params([("after", "10 minutes")]))));
    }

    #[test]
    fn agent_cannot_forge_the_rest_of_a_reason() {
        for (forged, real) in [("contains", "contains"), ("holds", "contains"), ("contains", "holds")] {
            let text = format!("no rule can allow `a: it {forged} nothing`: it {real} a comment");
            let what = format!("`a: it {forged} nothing`");
            let expected = params([("what", &what), ("found", "a comment"), ("foundCode", "comment")]);
            assert_eq!(of(&text), Some(("no_rule_can_allow", expected)));
        }
        let text = "rule \"r\" asks for `x\" asks for y`";
        assert_eq!(of(text), Some(("rule_asks", params([("rule", "r"), ("what", "`x\" asks for y`")]))));
    }

    /// The Chinese words of the card are complete: every code and every phrase has a translation.
    #[test]
    fn every_code_has_a_chinese_translation() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../sdk/react/src/words/zh-CN.json");
        let words: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let with_values = [
            "no_rule_allows",
            "no_rule_answers",
            "no_rule_can_allow",
            "rule_asks",
            "built_in_rule",
            "no_rule_names_config",
            "names_config",
            "config_changed",
            "policy_setting",
            "question_timed_out",
            "approval_timed_out",
            "agent_not_waiting",
        ];
        let kinds = crate::policy::PROTECTED_CONFIG.iter().map(|(kind, _)| kind.as_str().to_lowercase().replace(' ', "_"));
        let codes = FIXED.iter().map(|(_, code)| *code).chain(with_values).map(|code| format!("code.{code}"));
        let found = FOUND.iter().chain(BUILT_IN).map(|(_, code)| format!("found.{code}"));
        let missing: Vec<String> =
            codes.chain(found).chain(kinds.map(|kind| format!("kind.{kind}"))).filter(|key| !words[key].is_string()).collect();
        assert_eq!(missing, Vec::<String>::new());
    }
}
