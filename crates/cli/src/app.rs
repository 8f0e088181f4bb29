//! What every command has at hand.

use sayso_client::{Client, DiscoverError, Environment, Paths, Surface, Target, discover};

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
        Ok(Client::for_surface(&target.url, &target.token, Surface::Terminal)?)
    }

    /// Refuses what only a person may do on this machine.
    pub(crate) fn person_only(&self) -> Result<(), Failure> {
        match self.environment.agent_marker() {
            Some(marker) => Err(DiscoverError::AgentShell { marker: marker.to_owned() }.into()),
            None => Ok(()),
        }
    }
}
