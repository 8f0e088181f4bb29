//! Where an agent runs in tmux, and how to get there.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use sayso_client::Environment;
use sayso_client::api::ask::Ask;

use crate::sanitize;

/// The label that holds the pane, such as `%3`.
const PANE: &str = "tmuxPane";
/// The label that holds the socket of the tmux server that the pane belongs to.
const SOCKET: &str = "tmuxSocket";

/// Where this terminal is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Place {
    /// The socket of the tmux server that it is in.
    socket: Option<String>,
    /// Its pane. A popup has none.
    pane: Option<String>,
}

impl Place {
    /// Where a process with this environment runs.
    pub(crate) fn of(environment: &Environment) -> Self {
        Self {
            socket: environment.get("TMUX").and_then(|tmux| tmux.split(',').next()).map(str::to_owned),
            pane: environment.get("TMUX_PANE").map(str::to_owned),
        }
    }

    /// Whether this is a popup of tmux: it goes when the program ends, and has no way to scroll.
    pub(crate) const fn is_popup(&self) -> bool {
        self.socket.is_some() && self.pane.is_none()
    }

    /// The labels by which a person gets here.
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

    /// The pane of the agent that asks, or a sentence that says why one cannot go there. Labels come
    /// from agents: only a pane of the tmux server that this terminal is in is ever gone to.
    pub(super) fn pane_of(&self, ask: &Ask) -> Result<String, String> {
        let Some(pane) = ask.labels.get(PANE) else {
            return Err("It is not known in which tmux pane this agent runs.".to_owned());
        };
        let is_pane = pane
            .strip_prefix('%')
            .is_some_and(|number| (1..=9).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit()));
        if !is_pane {
            return Err(format!("\"{}\" is not a tmux pane.", sanitize::line(pane)));
        }
        let there = ask.labels.get(SOCKET);
        match (&self.socket, there) {
            (None, _) => Err(format!("The agent is in tmux pane {pane}; this terminal is not in tmux.")),
            (Some(here), Some(there)) if here != there => {
                Err(format!("The agent is in pane {pane} of another tmux server: {}", sanitize::line(there)))
            }
            (Some(_), Some(_) | None) => Ok(pane.clone()),
        }
    }

    /// Goes to a pane.
    pub(super) fn jump(&self, pane: &str) -> Result<(), String> {
        let socket = self.socket.as_deref().unwrap_or_default();
        // The pane's window and the pane itself, then the client that this terminal is in.
        for command in ["select-window", "select-pane", "switch-client"] {
            let ran = Command::new("tmux").args(["-S", socket, command, "-t", pane]).stdin(Stdio::null()).output();
            match ran {
                Ok(output) if output.status.success() => {}
                Ok(output) => {
                    let said = sanitize::line(String::from_utf8_lossy(&output.stderr).trim());
                    return Err(format!("tmux cannot go to pane {pane}: {said}."));
                }
                Err(error) => return Err(format!("tmux cannot be started: {error}.")),
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

    fn asked(labels: &[(&str, &str)]) -> Ask {
        let labels = labels.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        Ask { labels, ..question_ask() }
    }

    #[test]
    fn a_pane_is_remembered_with_its_server() {
        let labels = in_tmux().labels();
        assert_eq!((labels[PANE].as_str(), labels[SOCKET].as_str()), ("%3", "/tmp/tmux-1/default"));
        assert!(Place::default().labels().is_empty());
        let popup = Place::of(&Environment::from_pairs([("TMUX", "/tmp/tmux-1/default,17,0")]));
        assert!(popup.is_popup() && popup.labels().is_empty() && !in_tmux().is_popup() && !Place::default().is_popup());
    }

    #[test]
    fn only_a_pane_of_ones_own_tmux_is_gone_to() {
        let own = [(PANE, "%7"), (SOCKET, "/tmp/tmux-1/default")];
        assert_eq!(in_tmux().pane_of(&asked(&own)), Ok("%7".to_owned()));
        assert_eq!(in_tmux().pane_of(&asked(&own[..1])), Ok("%7".to_owned()));
        for labels in [
            &[][..],
            &[(PANE, "7")],
            &[(PANE, "%")],
            &[(PANE, "%7; run-shell evil")],
            &[(PANE, "{marked}")],
            &[(PANE, "%7"), (SOCKET, "/tmp/elsewhere")],
        ] {
            assert!(in_tmux().pane_of(&asked(labels)).is_err(), "{labels:?}");
        }
        assert!(Place::default().pane_of(&asked(&own)).is_err());
        let said = in_tmux().pane_of(&asked(&[(PANE, "%\u{1b}[2J")])).unwrap_err();
        assert!(!said.contains('\u{1b}'), "{said}");
    }
}
