//! What every command has at hand.

use sayso_client::{Client, DiscoverError, Environment, Paths, Surface, Target, discover};
use sayso_core::environment;

use crate::failure::Failure;
use crate::output::Output;

/// The environment, the directories and the output of this command.
#[derive(Debug)]
pub(crate) struct App {
    /// The variables.
    pub(crate) environment: Environment,
    /// Where the files are.
    pub(crate) paths: Paths,
    /// Where text goes.
    pub(crate) out: Output,
}

impl App {
    /// The server and the token to use.
    pub(crate) fn target(&self) -> Result<Target, DiscoverError> {
        discover(&self.environment, &self.paths)
    }

    /// A client of the server that is there.
    pub(crate) fn client(&self) -> Result<Client, Failure> {
        self.client_of(&self.target()?)
    }

    /// A client of this server.
    pub(crate) fn client_of(&self, target: &Target) -> Result<Client, Failure> {
        self.client_for(target, Surface::Terminal)
    }

    /// The same, for another surface.
    pub(crate) fn client_for(&self, target: &Target, surface: Surface) -> Result<Client, Failure> {
        Ok(Client::for_surface(&target.url, &target.token, surface)?)
    }

    /// The variables that an agent gets from whoever starts it. Only the token of this machine's owner
    /// may send them; with another one the agent has those of the server.
    pub(crate) fn environment_for_agents(&self) -> Option<std::collections::BTreeMap<String, String>> {
        let own = self.environment.get("SAYSO_TOKEN").is_none() && self.environment.get("SAYSO_URL").is_none();
        own.then(|| self.environment.iter().filter(|(name, _)| environment::passes(name)).map(owned).collect())
    }

    /// Refuses what only a person may do on this machine.
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
