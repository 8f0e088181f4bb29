//! The content of notifications: by default only the agent that needs a person, optionally the ask. Never an answer or a secret.

use sayso_core::actor::Actor;
use sayso_core::ask::{ApprovalDecision, Ask, AskBody, Decision, Input, OutcomeStatus, Preview, Question};
use sayso_core::id::AskId;
use sayso_core::limits;
use sayso_core::time::Time;

use crate::config::language::Language;

/// The maximum size of the content, in bytes. Longer content is cut, and the note then has no buttons.
const CONTENT: usize = 1_500;
/// Maximum size of a name, in bytes.
const NAME: usize = 60;
/// Maximum size of a button label, in bytes.
const LABEL: usize = 40;
/// Maximum number of buttons.
const BUTTONS: usize = 8;

/// One notification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Note {
    /// The same for all attempts, so that receivers can recognise duplicates.
    pub(crate) id: String,
    /// The ask; `None` in a test notification.
    pub(crate) ask: Option<AskId>,
    pub(crate) kind: &'static str,
    pub(crate) agent: String,
    /// The last component of the project's directory.
    pub(crate) project: Option<String>,
    /// One line that names the agent and its project.
    pub(crate) line: String,
    /// The content of the ask, if the channel may contain it.
    pub(crate) content: Option<String>,
    /// The answer link, signed for one person.
    pub(crate) link: Option<String>,
    /// The decisions that can be made in the notification itself.
    pub(crate) buttons: Vec<Button>,
    /// When the ask was opened.
    pub(crate) at: Time,
    pub(crate) language: Language,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Button {
    pub(crate) label: String,
    pub(crate) press: Press,
}

/// A decision that one press can make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Press {
    Approve,
    Deny,
    /// The option with this index of the only question.
    Choose(usize),
}

impl Press {
    /// Encodes the press as `approve`, `deny` or `choose:2`.
    pub(crate) fn encode(self) -> String {
        match self {
            Self::Approve => "approve".to_owned(),
            Self::Deny => "deny".to_owned(),
            Self::Choose(index) => format!("choose:{index}"),
        }
    }

    /// Parses the encoded form.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        match text {
            "approve" => Some(Self::Approve),
            "deny" => Some(Self::Deny),
            _ => text.strip_prefix("choose:")?.parse().ok().map(Self::Choose),
        }
    }

    /// Returns the decision about this ask; `None` if the ask has no such option.
    pub(crate) fn decision(self, ask: &Ask) -> Option<Decision> {
        match self {
            Self::Approve => Some(Decision::Approved { choice: None, input: None }),
            Self::Deny => Some(Decision::Denied { message: String::new(), stop: false }),
            Self::Choose(index) => {
                let (_, value) = choices(only_question(ask)?, Language::English).into_iter().nth(index)?;
                Some(Decision::Answered { answers: vec![vec![value]], note: None })
            }
        }
    }
}

fn only_question(ask: &Ask) -> Option<&Question> {
    match ask.body.questions() {
        [only] => Some(only),
        _ => None,
    }
}

/// Returns the options of a single-choice question as pairs of label and value.
pub(crate) fn choices(question: &Question, language: Language) -> Vec<(String, String)> {
    match &question.input {
        Input::Choice { options, multiple: false, .. } => {
            options.iter().map(|option| (option.label.clone(), option.value.clone())).collect()
        }
        Input::YesNo => [(language.pick("Yes", "是"), "true"), (language.pick("No", "否"), "false")]
            .map(|(label, value)| (label.to_owned(), value.to_owned()))
            .to_vec(),
        Input::Choice { multiple: true, .. } | Input::Text { .. } | Input::Number { .. } => Vec::new(),
    }
}

/// The amount of detail in a notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoteDetail {
    /// The agent and its project.
    AgentOnly,
    /// Also the content of the ask.
    WithContent,
}

/// The detail and the language of a channel's notes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NoteStyle {
    pub(crate) detail: NoteDetail,
    pub(crate) language: Language,
}

impl Note {
    /// Builds the note about an ask.
    pub(crate) fn about(ask: &Ask, channel: &str, NoteStyle { detail, language }: NoteStyle) -> Self {
        let agent = one_line(&ask.context.agent, NAME);
        let agent = if agent.is_empty() { language.pick("An agent", "一个智能体").to_owned() } else { agent };
        let project = project(ask);
        let line = match (language, &project) {
            (Language::English, Some(project)) => format!("{agent} in {project} needs you"),
            (Language::English, None) => format!("{agent} needs you"),
            (Language::Chinese, Some(project)) => format!("{project} 中的 {agent} 需要你"),
            (Language::Chinese, None) => format!("{agent} 需要你"),
        };
        let asked = (detail == NoteDetail::WithContent).then(|| note_content(ask, language));
        let buttons = asked.as_ref().filter(|asked| asked.is_whole).map(|_| buttons(ask, language)).unwrap_or_default();
        Self {
            id: format!("{}_{channel}", ask.id),
            ask: Some(ask.id),
            kind: ask.kind().as_str(),
            agent,
            project,
            line,
            content: asked.map(|asked| asked.text),
            link: None,
            buttons,
            at: ask.opened_at,
            language,
        }
    }

    /// Builds a note that tests the channel.
    pub(crate) fn test(channel: &str, id: &str, language: Language, now: Time) -> Self {
        Self {
            id: format!("test_{id}_{channel}"),
            ask: None,
            kind: "test",
            agent: "sayso".to_owned(),
            project: None,
            line: language.pick("This is a test notification from Sayso", "这是 Sayso 的测试通知").to_owned(),
            content: None,
            link: None,
            buttons: Vec::new(),
            at: now,
            language,
        }
    }

    /// The label of the button that opens the answer page.
    pub(crate) const fn open_label(&self) -> &'static str {
        self.language.pick("Open", "打开")
    }

    /// The text of a note without content.
    pub(crate) const fn open_to_answer(&self) -> &'static str {
        self.language.pick("Open Sayso to answer.", "请打开 Sayso 回答。")
    }

    /// Formats the note as plain text.
    pub(crate) fn text(&self) -> String {
        match &self.content {
            Some(content) => format!("{}\n\n{content}", self.line),
            None => self.line.clone(),
        }
    }
}

/// Returns the last component of the project's directory.
pub(crate) fn project(ask: &Ask) -> Option<String> {
    let directory = ask.context.project.as_deref().and_then(|path| path.trim_end_matches('/').rsplit('/').next());
    directory.map(|name| one_line(name, NAME)).filter(|name| !name.is_empty())
}

/// Describes the outcome of an ask: the status and the actor, but not the answer.
pub(crate) fn describe_outcome(ask: &Ask, language: Language) -> String {
    let closed = language.pick("No longer waiting", "已不再等待");
    let Some(outcome) = ask.outcome() else { return closed.to_owned() };
    let status = outcome.decision.status();
    match language {
        Language::English => {
            let by = match &outcome.by {
                Actor::Person { name, .. } | Actor::Message { name, .. } => format!(" by {}", one_line(name, NAME)),
                Actor::Policy { .. } => " by a rule".to_owned(),
                Actor::Timeout { .. } => " because no one answered in time".to_owned(),
                Actor::Agent => String::new(),
            };
            format!("{closed}: {}{by}", status.as_str())
        }
        Language::Chinese => {
            let by = match &outcome.by {
                Actor::Person { name, .. } | Actor::Message { name, .. } => format!("{} ", one_line(name, NAME)),
                Actor::Policy { .. } => "规则".to_owned(),
                Actor::Timeout { .. } => "因无人及时回答，".to_owned(),
                Actor::Agent => String::new(),
            };
            let status = match status {
                OutcomeStatus::Answered => "已回答",
                OutcomeStatus::Rejected => "已拒答",
                OutcomeStatus::Approved => "已批准",
                OutcomeStatus::Denied => "已拒绝",
                OutcomeStatus::Withdrawn => "已撤回",
            };
            format!("{closed}：{by}{status}")
        }
    }
}

struct NoteContent {
    text: String,
    is_whole: bool,
}

fn note_content(ask: &Ask, language: Language) -> NoteContent {
    let mut parts: Vec<String> = Vec::new();
    match &*ask.body {
        AskBody::Question { questions } => {
            for question in questions {
                parts.push(question.text.clone());
                for (number, option) in question.options().iter().enumerate() {
                    let about = option.description.as_ref().map(|about| format!(" – {about}")).unwrap_or_default();
                    parts.push(format!("{}. {}{about}", number + 1, option.label));
                }
            }
        }
        AskBody::Approval(approval) => {
            parts.extend(approval.own_title().map(str::to_owned));
            match &approval.preview {
                Some(Preview::Command { command, cwd }) => {
                    parts.push(command.clone());
                    parts.extend(cwd.as_ref().map(|cwd| format!("{} {cwd}", language.pick("in", "位于"))));
                }
                Some(Preview::Diff { files }) => {
                    for file in files {
                        parts.push(format!("{}\n{}", file.path, file.diff));
                    }
                }
                Some(Preview::Plan { text } | Preview::Text { text }) => parts.push(text.clone()),
                None => parts.push(format!("{}: {}", approval.tool, approval.input.as_str())),
            }
            parts.extend(approval.reason.clone());
        }
        AskBody::Link(link) => {
            parts.extend(link.message.clone());
            parts.push(link.url.clone());
        }
    }
    let whole = visible(&parts.join("\n"));
    let is_whole = whole.len() <= CONTENT;
    let text = if is_whole { whole } else { format!("{}…", limits::head(&whole, CONTENT)) };
    NoteContent { text, is_whole }
}

fn buttons(ask: &Ask, language: Language) -> Vec<Button> {
    match &*ask.body {
        AskBody::Approval(approval) => {
            let approve = (language.pick("Approve", "批准"), Press::Approve, ApprovalDecision::Approve);
            let deny = (language.pick("Deny", "拒绝"), Press::Deny, ApprovalDecision::Deny);
            [approve, deny]
                .into_iter()
                .filter(|(_, _, decision)| approval.allows(*decision))
                .map(|(label, press, _)| Button { label: label.to_owned(), press })
                .collect()
        }
        AskBody::Question { questions } => match questions.as_slice() {
            [only] => {
                let offered = choices(only, language);
                if offered.len() > BUTTONS {
                    return Vec::new();
                }
                let button = |(index, (label, _)): (usize, (String, String))| Button {
                    label: one_line(&label, LABEL),
                    press: Press::Choose(index),
                };
                offered.into_iter().enumerate().map(button).collect()
            }
            _ => Vec::new(),
        },
        AskBody::Link(_) => Vec::new(),
    }
}

/// Returns a text as one line, truncated to this many bytes.
pub(crate) fn one_line(text: &str, most: usize) -> String {
    let shown = visible(text).replace('\n', " ");
    let shown = shown.trim();
    if shown.len() <= most { shown.to_owned() } else { format!("{}…", limits::head(shown, most)) }
}

/// Escapes control, bidirectional and invisible characters, for example as `<U+202E>`. Keeps newlines.
pub(crate) fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' => out.push('\n'),
            '\r' => {}
            '\t' => out.push(' '),
            _ if is_hidden(character) => out.push_str(&format!("<U+{:04X}>", u32::from(character))),
            _ => out.push(character),
        }
    }
    out
}

/// Returns true for control characters, characters that change the direction of text, and invisible characters.
fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}'
                | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use sayso_core::ask::{Action, Approval, AskContext, AskState, Origin, PolicyNote, QuestionOption, Reach};
    use sayso_core::raw::Raw;

    use super::*;

    const SHORT: NoteStyle = NoteStyle { detail: NoteDetail::AgentOnly, language: Language::English };
    const FULL: NoteStyle = NoteStyle { detail: NoteDetail::WithContent, ..SHORT };

    fn ask(body: AskBody) -> Ask {
        let context = AskContext {
            agent: "claude".to_owned(),
            title: "hidden title".to_owned(),
            project: Some("/home/ada/shop-api/".to_owned()),
            ..AskContext::default()
        };
        Ask {
            id: AskId::from_bytes([7; 16]),
            origin: Origin { session: None, connection: None, native_id: None, opened_by: None },
            body: Arc::new(body),
            context: Arc::new(context),
            policy: PolicyNote::default(),
            opened_at: Time::from_millis(1_700_000_000_000),
            snoozed_until: None,
            state: AskState::Pending(Reach::Live),
            raw: None,
        }
    }

    fn approval(command: &str) -> AskBody {
        AskBody::Approval(Approval {
            tool: "Bash".to_owned(),
            action: Action::Run { command: command.to_owned() },
            title: "Run a command".to_owned(),
            input: Raw::of(&serde_json::json!({ "command": command })),
            preview: Some(Preview::Command { command: command.to_owned(), cwd: None }),
            choices: Vec::new(),
            editable: false,
            allowed_decisions: None,
            input_schema: None,
            reason: None,
        })
    }

    #[test]
    fn content_omits_a_title_that_equals_the_command() {
        let content = |command| Note::about(&ask(approval(command)), "mail", FULL).content.unwrap();
        assert_eq!(content("cargo test"), "Run a command\ncargo test");
        assert_eq!(content("Run a command"), "Run a command");
    }

    fn question(input: Input) -> AskBody {
        let question = Question {
            key: "0".to_owned(),
            header: None,
            text: "Which database?".to_owned(),
            input,
            required: true,
            response_schema: None,
        };
        AskBody::Question { questions: vec![question] }
    }

    fn choice() -> Input {
        let options = ["SQLite", "PostgreSQL"].map(|label| QuestionOption::new(label, None)).to_vec();
        Input::Choice { options, multiple: false, custom: true }
    }

    #[test]
    fn note_names_only_agent_and_project_by_default() {
        let note = Note::about(&ask(approval("rm -rf /")), "phone", SHORT);
        assert_eq!(note.line, "claude in shop-api needs you");
        assert_eq!((note.content, note.buttons.len()), (None, 0));
    }

    #[test]
    fn note_with_content_has_the_question_and_a_button_per_option() {
        let note = Note::about(&ask(question(choice())), "phone", FULL);
        assert_eq!(note.content.as_deref(), Some("Which database?\n1. SQLite\n2. PostgreSQL"));
        assert_eq!(note.buttons.iter().map(|button| button.label.as_str()).collect::<Vec<_>>(), ["SQLite", "PostgreSQL"]);
        let asked = ask(question(choice()));
        let decision = note.buttons[1].press.decision(&asked);
        assert_eq!(decision, Some(Decision::Answered { answers: vec![vec!["PostgreSQL".to_owned()]], note: None }));
        assert_eq!(Press::Choose(9).decision(&asked), None);
    }

    #[test]
    fn note_in_chinese_keeps_the_words_of_the_agent() {
        let style = NoteStyle { language: Language::Chinese, ..FULL };
        let note = Note::about(&ask(approval("make")), "phone", style);
        assert_eq!(note.line, "shop-api 中的 claude 需要你");
        assert_eq!(note.content.as_deref(), Some("Run a command\nmake"));
        assert_eq!(note.buttons.iter().map(|button| button.label.as_str()).collect::<Vec<_>>(), ["批准", "拒绝"]);
        let asked = Note::about(&ask(question(Input::YesNo)), "phone", style);
        assert_eq!(asked.buttons.iter().map(|button| button.label.as_str()).collect::<Vec<_>>(), ["是", "否"]);
    }

    #[test]
    fn truncated_note_has_no_buttons() {
        let whole = Note::about(&ask(approval("make")), "phone", FULL);
        assert_eq!(whole.buttons.len(), 2);
        let cut = Note::about(&ask(approval(&"x".repeat(10_000))), "phone", FULL);
        assert!(cut.content.is_some_and(|content| content.len() < 1_600 && content.ends_with('…')) && cut.buttons.is_empty());
    }

    #[test]
    fn buttons_offer_only_allowed_decisions() {
        let labels = |allowed: Vec<ApprovalDecision>| {
            let AskBody::Approval(mut wanted) = approval("make") else { panic!("not an approval") };
            wanted.allowed_decisions = Some(allowed.into());
            let note = Note::about(&ask(AskBody::Approval(wanted)), "phone", FULL);
            note.buttons.into_iter().map(|button| button.label).collect::<Vec<_>>()
        };
        assert_eq!(labels(vec![ApprovalDecision::Approve]), ["Approve"]);
        assert_eq!(labels(vec![ApprovalDecision::Edit, ApprovalDecision::Deny]), ["Deny"]);
        assert_eq!(labels(vec![ApprovalDecision::Approve, ApprovalDecision::Deny]), ["Approve", "Deny"]);
    }

    #[test]
    fn secrets_and_free_text_have_no_buttons() {
        for input in [Input::Text { secret: true }, Input::Text { secret: false }] {
            assert!(Note::about(&ask(question(input)), "phone", FULL).buttons.is_empty());
        }
    }

    #[test]
    fn hidden_and_control_characters_are_escaped() {
        let mut hostile = ask(approval("a\u{1b}[2Jb\u{202e}c\u{200b}d"));
        Arc::make_mut(&mut hostile.context).agent = "cl\u{7}au\nde".to_owned();
        let note = Note::about(&hostile, "phone", FULL);
        assert_eq!(note.line, "cl<U+0007>au de in shop-api needs you");
        assert_eq!(note.content.as_deref(), Some("Run a command\na<U+001B>[2Jb<U+202E>c<U+200B>d"));
    }

    #[test]
    fn press_encoding_round_trips() {
        for press in [Press::Approve, Press::Deny, Press::Choose(0), Press::Choose(17)] {
            assert_eq!(Press::parse(&press.encode()), Some(press));
        }
        for wrong in ["", "yes", "choose:", "choose:-1", "choose:x", "approve "] {
            assert_eq!(Press::parse(wrong), None, "{wrong}");
        }
    }
}
