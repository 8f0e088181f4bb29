//! The context that every command gets: environment, directories and output.

use sayso_client::{Client, DiscoverError, Environment, Paths, Surface, Target, discover};
use sayso_core::environment;

use crate::failure::Failure;
use crate::output::Output;

/// The context of one invocation, built once in `main`.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) environment: Environment,
    pub(crate) paths: Paths,
    pub(crate) out: Output,
}

impl App {
    /// Finds the server and the token to use.
    pub(crate) fn target(&self) -> Result<Target, DiscoverError> {
        discover(&self.environment, &self.paths)
    }

    /// Creates a client for the server that `target` finds.
    pub(crate) fn client(&self) -> Result<Client, Failure> {
        self.client_of(&self.target()?)
    }

    /// Creates a client for this server; its requests count as coming from the terminal.
    pub(crate) fn client_of(&self, target: &Target) -> Result<Client, Failure> {
        self.client_for(target, Surface::Terminal)
    }

    /// Like `client_of`, for a client that speaks for another surface, such as an editor.
    pub(crate) fn client_for(&self, target: &Target, surface: Surface) -> Result<Client, Failure> {
        Ok(Client::for_surface(&target.url, &target.token, surface)?)
    }

    /// Environment variables for agents that this command starts. Only the token of the machine's owner may send them.
    /// `None` with any other token: the agent then gets the server's variables.
    pub(crate) fn environment_for_agents(&self) -> Option<std::collections::BTreeMap<String, String>> {
        let own = self.environment.get("SAYSO_TOKEN").is_none() && self.environment.get("SAYSO_URL").is_none();
        own.then(|| self.environment.iter().filter(|(name, _)| environment::passes(name)).map(owned).collect())
    }

    /// Refuses commands that agents must not run: fails if this process runs in an agent's shell.
    pub(crate) fn person_only(&self) -> Result<(), Failure> {
        match self.environment.agent_marker() {
            Some(marker) => Err(DiscoverError::AgentShell { marker: marker.to_owned() }.into()),
            None => Ok(()),
        }
    }
}

fn owned((name, value): (&str, &str)) -> (String, String) {
    (name.to_owned(), value.to_owned())
}
