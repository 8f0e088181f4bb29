//! Finds the tmux pane of an agent and jumps to it.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use sayso_client::Environment;
use sayso_client::api::ask::Ask;

use crate::sanitize;

/// Label with the pane, for example `%3`.
const PANE: &str = "tmuxPane";
/// Label with the socket of the pane's tmux server.
const SOCKET: &str = "tmuxSocket";

/// The tmux location of a terminal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Place {
    /// Socket of the tmux server.
    socket: Option<String>,
    /// Id of the pane. Popups have none.
    pane: Option<String>,
}

impl Place {
    /// Reads the location from the environment of a process.
    pub(crate) fn of(environment: &Environment) -> Self {
        Self {
            socket: environment.get("TMUX").and_then(|tmux| tmux.split(',').next()).map(str::to_owned),
            pane: environment.get("TMUX_PANE").map(str::to_owned),
        }
    }

    /// Returns true for a tmux popup, which closes when the program ends and cannot be scrolled.
    pub(crate) const fn is_popup(&self) -> bool {
        self.socket.is_some() && self.pane.is_none()
    }

    /// Returns the labels with which a person can jump to this terminal.
    pub(crate) fn labels(&self) -> BTreeMap<String, String> {
        let mut labels = BTreeMap::new();
        if let Some(pane) = &self.pane {
            labels.insert(PANE.to_owned(), pane.clone());
            if let Some(socket) = &self.socket {
                labels.insert(SOCKET.to_owned(), socket.clone());
            }
        }
        labels.retain(|_, value| value.len() <= sayso_core::limits::LABEL);
        labels
    }

    /// Returns the pane of the agent, or a message why the inbox cannot jump there. Labels come from agents, so only
    /// panes of this terminal's own tmux server are accepted.
    pub(super) fn pane_of(&self, ask: &Ask) -> Result<String, String> {
        let Some(pane) = ask.labels.get(PANE) else {
            return Err("The tmux pane of this agent is unknown.".to_owned());
        };
        let is_pane = pane
            .strip_prefix('%')
            .is_some_and(|number| (1..=9).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit()));
        if !is_pane {
            return Err(format!("\"{}\" is not a tmux pane.", sanitize::line(pane)));
        }
        let there = ask.labels.get(SOCKET);
        match (&self.socket, there) {
            (None, _) => Err(format!("The agent is in tmux pane {pane}, but this terminal is not in tmux.")),
            (Some(here), Some(there)) if here != there => {
                Err(format!("The agent is in pane {pane} of another tmux server: {}", sanitize::line(there)))
            }
            (Some(_), Some(_) | None) => Ok(pane.clone()),
        }
    }

    /// Jumps to a pane.
    pub(super) fn jump(&self, pane: &str) -> Result<(), String> {
        let socket = self.socket.as_deref().unwrap_or_default();
        // Selects the window, then the pane, then switches the client of this terminal.
        for command in ["select-window", "select-pane", "switch-client"] {
            let ran = Command::new("tmux").args(["-S", socket, command, "-t", pane]).stdin(Stdio::null()).output();
            match ran {
                Ok(output) if output.status.success() => {}
                Ok(output) => {
                    let said = sanitize::line(String::from_utf8_lossy(&output.stderr).trim());
                    return Err(format!("tmux cannot go to pane {pane}: {said}."));
                }
                Err(error) => return Err(format!("Cannot start tmux: {error}.")),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::question_ask;

    fn in_tmux() -> Place {
        Place::of(&Environment::from_pairs([("TMUX", "/tmp/tmux-1/default,17,0"), ("TMUX_PANE", "%3")]))
    }

    fn make_ask(labels: &[(&str, &str)]) -> Ask {
        let labels = labels.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        Ask { labels, ..question_ask() }
    }

    #[test]
    fn labels_contain_the_pane_and_its_server() {
        let labels = in_tmux().labels();
        assert_eq!((labels[PANE].as_str(), labels[SOCKET].as_str()), ("%3", "/tmp/tmux-1/default"));
        assert!(Place::default().labels().is_empty());
        let popup = Place::of(&Environment::from_pairs([("TMUX", "/tmp/tmux-1/default,17,0")]));
        assert!(popup.is_popup() && popup.labels().is_empty() && !in_tmux().is_popup() && !Place::default().is_popup());
    }

    #[test]
    fn only_panes_of_the_own_tmux_server_are_accepted() {
        let own = [(PANE, "%7"), (SOCKET, "/tmp/tmux-1/default")];
        assert_eq!(in_tmux().pane_of(&make_ask(&own)), Ok("%7".to_owned()));
        assert_eq!(in_tmux().pane_of(&make_ask(&own[..1])), Ok("%7".to_owned()));
        for labels in [
            &[][..],
            &[(PANE, "7")],
            &[(PANE, "%")],
            &[(PANE, "%7; run-shell evil")],
            &[(PANE, "{marked}")],
            &[(PANE, "%7"), (SOCKET, "/tmp/elsewhere")],
        ] {
            assert!(in_tmux().pane_of(&make_ask(labels)).is_err(), "{labels:?}");
        }
        assert!(Place::default().pane_of(&make_ask(&own)).is_err());
        let said = in_tmux().pane_of(&make_ask(&[(PANE, "%\u{1b}[2J")])).unwrap_err();
        assert!(!said.contains('\u{1b}'), "{said}");
    }
}
