//! The form for a new session: agent, directory and prompt. Pure.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::event::Effect;
use super::field::Field;
use super::model::{Focus, Mode, Model};

#[derive(Debug)]
pub(super) struct StartForm {
    /// Installed agents; `None` until they are loaded.
    pub(super) agents: Option<Vec<String>>,
    /// Index of the chosen agent.
    pub(super) agent: usize,
    pub(super) directory: Field,
    pub(super) prompt: Field,
    /// Index of the active line: prompt, agent, directory.
    pub(super) at: usize,
    /// True while the request is in flight.
    starting: bool,
    pub(super) problem: Option<String>,
}

/// Index of the last line.
const LAST: usize = 2;

impl Model {
    pub(super) fn new_session(&mut self) -> Vec<Effect> {
        if self.settings.mode == Mode::Once {
            return Vec::new();
        }
        self.start = Some(StartForm {
            agents: None,
            agent: 0,
            directory: Field::with(&self.settings.directory),
            prompt: Field::default(),
            at: 0,
            starting: false,
            problem: None,
        });
        self.focus = Focus::Start;
        vec![Effect::Agents]
    }

    /// Stores the list of agents.
    pub(super) fn agents_known(&mut self, agents: Result<Vec<String>, String>) {
        if let Some(form) = &mut self.start {
            match agents {
                Ok(agents) => form.agents = Some(agents),
                Err(problem) => form.problem = Some(problem),
            }
        }
    }

    /// Handles the result of starting the session.
    pub(super) fn started(&mut self, started: Result<(), String>) {
        let Some(form) = &mut self.start else { return };
        form.starting = false;
        match started {
            Ok(()) => {
                self.close_forms();
                self.show_message("Session started. Its asks appear here.");
            }
            Err(problem) => form.problem = Some(problem),
        }
    }

    pub(super) fn key_in_start(&mut self, key: KeyEvent) -> Vec<Effect> {
        let Some(form) = &mut self.start else {
            self.focus = Focus::Card;
            return Vec::new();
        };
        let plain = !key.modifiers.intersects(KeyModifiers::ALT | KeyModifiers::CONTROL);
        let agents = form.agents.as_ref().map_or(0, Vec::len);
        match (form.at, key.code) {
            (_, KeyCode::Esc) => self.close_forms(),
            (_, KeyCode::Enter) if plain => return self.begin_session(),
            (at, KeyCode::Up | KeyCode::BackTab) => form.at = at.saturating_sub(1),
            (at, KeyCode::Down | KeyCode::Tab) => form.at = (at + 1).min(LAST),
            (0, _) => {
                form.prompt.key(key);
            }
            (1, KeyCode::Left) => form.agent = form.agent.checked_sub(1).unwrap_or(agents.saturating_sub(1)),
            (1, KeyCode::Right | KeyCode::Char(' ')) => form.agent = if form.agent + 1 < agents { form.agent + 1 } else { 0 },
            (LAST, _) => {
                form.directory.key(key);
            }
            _ => {}
        }
        Vec::new()
    }

    fn begin_session(&mut self) -> Vec<Effect> {
        let Some(form) = self.start.as_mut().filter(|form| !form.starting) else { return Vec::new() };
        let agent = form.agents.as_ref().and_then(|agents| agents.get(form.agent)).cloned();
        let prompt = form.prompt.text().trim().to_owned();
        form.problem = match (&agent, prompt.is_empty()) {
            (None, _) => Some("No agent is installed. See: sayso agents".to_owned()),
            (Some(_), true) => Some("Type what the agent should do.".to_owned()),
            (Some(_), false) => None,
        };
        let (Some(agent), None) = (agent, &form.problem) else { return Vec::new() };
        form.starting = true;
        vec![Effect::Start { agent, directory: form.directory.text().trim().to_owned(), prompt }]
    }
}
