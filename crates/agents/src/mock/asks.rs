//! The asks of the mock, and its replies to their outcomes.

use sayso_core::ask::{Action, Approval, AskBody, AskKind, Choice, Decision, Input, Link, Preview, Question, QuestionOption};
use sayso_core::limits;
use sayso_core::raw::Raw;
use serde::{Deserialize, Serialize};

/// The command of the shell approval.
const COMMAND: &str = "cargo test --workspace";
/// The id of the shell approval's only choice.
pub(crate) const ALWAYS: &str = "always";
/// The command of the script approval.
const SCRIPT: &str = "./deploy.sh";
const PLAN: &str = "# Add a health check\n\n1. Add `GET /health` to the router.\n2. Answer 200 while the database takes writes.\n3. Test both.\n";
const URL: &str = "https://example.com/device?code=MOCK-1234";
/// Maximum size of the text that is kept per outcome, in bytes. It is saved while other asks are open.
const RECEIVED: usize = 4 * 1024;

/// The name of an ask. It is saved instead of the ask, which can be rebuilt from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum MockAsk {
    /// A single choice.
    Database,
    /// Another single choice.
    TestRunner,
    /// A single choice, multiple choices, and free text.
    Three,
    /// Approval of a shell command.
    Command,
    /// Approval of a script in the project.
    Script,
    Plan,
    /// A form with typed fields.
    Form,
    Secret,
    Link,
}

/// A tool's name and its input.
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    pub(crate) input: Raw,
    /// The output of the tool.
    pub(crate) output: &'static str,
}

impl MockAsk {
    pub(crate) const fn kind(self) -> AskKind {
        match self {
            Self::Database | Self::TestRunner | Self::Three | Self::Form | Self::Secret => AskKind::Question,
            Self::Command | Self::Script | Self::Plan => AskKind::Approval,
            Self::Link => AskKind::Link,
        }
    }

    /// The tool that an approval asks for.
    pub(crate) fn tool(self) -> Option<Tool> {
        match self {
            Self::Command => {
                let input = Raw::of(&serde_json::json!({ "command": COMMAND }));
                Some(Tool { name: "Bash", input, output: "test result: ok. 12 passed; 0 failed" })
            }
            Self::Script => {
                let input = Raw::of(&serde_json::json!({ "command": SCRIPT }));
                Some(Tool { name: "Bash", input, output: "deployed" })
            }
            Self::Plan => {
                let input = Raw::of(&serde_json::json!({ "plan": PLAN }));
                Some(Tool { name: "ExitPlanMode", input, output: "The plan is approved." })
            }
            Self::Database | Self::TestRunner | Self::Three | Self::Form | Self::Secret | Self::Link => None,
        }
    }

    pub(crate) fn body(self) -> AskBody {
        match self {
            Self::Database => AskBody::Question { questions: vec![database()] },
            Self::TestRunner => AskBody::Question { questions: vec![test_runner()] },
            Self::Three => AskBody::Question { questions: vec![database(), areas(), notes()] },
            Self::Form => AskBody::Question { questions: form() },
            Self::Secret => {
                let input = Input::Text { secret: true };
                AskBody::Question { questions: vec![question("0", "Token", "Which access token shall I use?", input)] }
            }
            Self::Command => self.approval(
                Action::Run { command: COMMAND.to_owned() },
                COMMAND,
                Preview::Command { command: COMMAND.to_owned(), cwd: None },
                vec![Choice { id: ALWAYS.to_owned(), label: "Always allow cargo test (mock, this session)".to_owned() }],
            ),
            Self::Script => self.approval(
                Action::Run { command: SCRIPT.to_owned() },
                SCRIPT,
                Preview::Command { command: SCRIPT.to_owned(), cwd: None },
                Vec::new(),
            ),
            Self::Plan => {
                self.approval(Action::Plan, "Start with this plan?", Preview::Plan { text: PLAN.to_owned() }, Vec::new())
            }
            Self::Link => {
                AskBody::Link(Link { url: URL.to_owned(), message: Some("Sign in there with the code MOCK-1234.".to_owned()) })
            }
        }
    }

    fn approval(self, action: Action, title: &str, preview: Preview, choices: Vec<Choice>) -> AskBody {
        let (tool, input) = self.tool().map_or_else(|| (String::new(), Raw::of(&())), |tool| (tool.name.to_owned(), tool.input));
        AskBody::Approval(Approval {
            tool,
            action,
            title: title.to_owned(),
            input,
            preview: Some(preview),
            choices,
            editable: true,
            allowed_decisions: None,
            input_schema: None,
            reason: None,
        })
    }

    /// The subject of the ask in a few words.
    pub(crate) const fn subject(self) -> &'static str {
        match self {
            Self::Database | Self::TestRunner => "a question",
            Self::Three => "three questions",
            Self::Form => "a form",
            Self::Secret => "a secret",
            Self::Command => COMMAND,
            Self::Script => SCRIPT,
            Self::Plan => "the plan",
            Self::Link => URL,
        }
    }

    /// The agent's reply to an outcome. For a secret it contains only the length, never the value.
    pub(crate) fn words_for(self, decision: &Decision) -> String {
        let words = match decision {
            Decision::Answered { answers, note } => {
                let mut words = self.words_for_answers(answers);
                if let Some(note) = note.as_deref().filter(|note| !note.trim().is_empty()) {
                    words.push_str(" Note: ");
                    words.push_str(note);
                }
                words
            }
            Decision::Rejected { message, .. } => format!("Rejected: {message}"),
            Decision::Denied { message, .. } => format!("Denied: {message}"),
            Decision::Withdrawn { reason } => format!("Withdrawn: {reason}"),
            Decision::Approved { choice, input } => match (choice, input) {
                _ if self == Self::Link => format!("Opened: {URL}"),
                (_, Some(input)) => format!("Approved with another input: {}", self.words_for_input(input)),
                (Some(choice), None) => format!("Approved ({choice}): {}", self.subject()),
                (None, None) => format!("Approved: {}", self.subject()),
            },
        };
        if words.len() <= RECEIVED { words } else { format!("{}…", limits::head(&words, RECEIVED)) }
    }

    fn words_for_answers(self, answers: &[Vec<String>]) -> String {
        let AskBody::Question { questions } = self.body() else {
            return "You answered.".to_owned();
        };
        let several = questions.len() > 1;
        let mut parts = Vec::with_capacity(questions.len());
        for (question, entries) in questions.iter().zip(answers) {
            let said = match (question.is_secret(), entries.as_slice()) {
                (_, []) => "nothing".to_owned(),
                (true, entries) => {
                    let length: usize = entries.iter().map(|entry| entry.chars().count()).sum();
                    let secret = format!("a secret of {length} character{}", if length == 1 { "" } else { "s" });
                    if !several {
                        return format!("I received {secret}.");
                    }
                    secret
                }
                (false, entries) => entries.join(", "),
            };
            parts.push(if several { format!("[{}] {said}", question.name()) } else { said });
        }
        format!("You answered: {}.", parts.join("; "))
    }

    /// The relevant part of a changed input, or the whole input if that part is missing.
    fn words_for_input(self, input: &Raw) -> String {
        #[derive(Deserialize)]
        struct Changed {
            command: Option<String>,
            plan: Option<String>,
        }
        let changed = serde_json::from_str::<Changed>(input.as_str()).ok();
        let part = match self {
            Self::Command | Self::Script => changed.and_then(|changed| changed.command),
            Self::Plan => changed.and_then(|changed| changed.plan),
            Self::Database | Self::TestRunner | Self::Three | Self::Form | Self::Secret | Self::Link => None,
        };
        part.unwrap_or_else(|| input.as_str().to_owned())
    }
}

fn question(key: &str, header: &str, text: &str, input: Input) -> Question {
    Question {
        key: key.to_owned(),
        header: Some(header.to_owned()),
        text: text.to_owned(),
        input,
        required: true,
        response_schema: None,
    }
}

fn choice<const N: usize>(options: [(&str, &str); N]) -> Vec<QuestionOption> {
    options.map(|(label, description)| QuestionOption::new(label, Some(description.to_owned()))).to_vec()
}

fn database() -> Question {
    let options = choice([("SQLite", "lightweight, file-based"), ("PostgreSQL", "full-featured")]);
    let input = Input::Choice { options, multiple: false, custom: true };
    question("0", "Database", "Which database should this feature use?", input)
}

fn test_runner() -> Question {
    let options = choice([("cargo test", "what comes with Rust"), ("nextest", "one process per test")]);
    let input = Input::Choice { options, multiple: false, custom: true };
    question("0", "Test runner", "Which test runner should I use?", input)
}

fn areas() -> Question {
    let options = choice([("Auth", "login and tokens"), ("Billing", "invoices and refunds"), ("Search", "the index")]);
    let input = Input::Choice { options, multiple: true, custom: true };
    question("1", "Areas", "Which areas should the tests cover?", input)
}

fn notes() -> Question {
    question("2", "Notes", "What else should I know?", Input::Text { secret: false })
}

fn form() -> Vec<Question> {
    let port = Input::Number { minimum: Some(1.0), maximum: Some(65_535.0), integer: true };
    let regions = choice([("eu-central", "Frankfurt"), ("us-east", "Virginia")]);
    let region = Input::Choice { options: regions, multiple: false, custom: false };
    vec![
        question("name", "Name", "What is the service called?", Input::Text { secret: false }),
        question("port", "Port", "Which port does it listen on?", port),
        question("public", "Public", "Can everybody reach it?", Input::YesNo),
        Question { required: false, ..question("region", "Region", "Where does it run?", region) },
    ]
}
