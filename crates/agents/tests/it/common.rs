//! Commands and ids that the tests of all agents share.

use sayso_agents::translator::{Command, Input, Output, Saved, Translator};
use sayso_core::id::{AskId, SessionId};
use sayso_core::time::Time;

pub(crate) fn session() -> SessionId {
    SessionId::new(Time::from_millis(1_700_000_000_000), [1; 10])
}

pub(crate) fn ask_id() -> AskId {
    AskId::new(Time::from_millis(0), [2; 10])
}

/// Handles an input with a translator that was saved and restored before it, which proves that the saved state is
/// complete.
pub(crate) fn handle_restored<T: Translator>(
    translator: &mut T,
    restore: impl FnOnce(&Saved) -> Option<T>,
    now: i64,
    input: Input,
) -> Vec<Output> {
    *translator = restore(&translator.save()).unwrap();
    translator.handle(Time::from_millis(now), input)
}

pub(crate) fn start(prompt: Option<&str>) -> Command {
    Command::Start {
        session: session(),
        project: "/project".to_owned(),
        prompt: prompt.map(str::to_owned),
        permission_mode: "default".to_owned(),
        model: None,
        questions: true,
    }
}

pub(crate) fn prompt(text: &str) -> Command {
    Command::Prompt { session: session(), text: text.to_owned() }
}
