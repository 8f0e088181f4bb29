//! An agent that is a server, as its connection sees it: the calls to it, and what it says.

use sayso_agents::translator::{HttpCall, HttpReply, Input, Login};
use sayso_core::connection::ConnectionKind;
use sayso_core::id::SessionId;
use sayso_core::time::Time;
use sayso_store::OutboxId;

use super::owner::{Owner, Stop, Work};
use crate::runtime::link::{Http, HttpSaid};
use crate::service::{policy, tokens};

const UNCERTAIN: &str = "it was about to be sent when Sayso's server ended";
const UNKNOWN_PLACE: &str = "the agent's server is not there";
const TOO_MANY: &str = "too many calls are under way";

impl Owner {
    /// Calls the server that the translator knows of, and no other.
    pub(super) fn follow_server(&mut self) {
        let wanted = self.translator.server();
        if self.http.as_ref().map(Http::server) == wanted.as_ref() {
            return;
        }
        self.http = wanted.and_then(|server| {
            let secret = match &server.login {
                Login::Open => String::new(),
                Login::Basic(_) if self.connection.kind == ConnectionKind::Attached => {
                    self.runtime.attachments.secret(self.connection.id)
                }
                Login::Basic(_) => tokens::agent_password(&self.runtime.services, &self.connection),
                Login::Bearer(variable) => self.variable(variable),
            };
            Http::new(server, secret)
                .inspect_err(
                    |error| tracing::error!(connection = %self.connection.id, %error, "there is no way to call the agent"),
                )
                .ok()
        });
    }

    /// A variable of the agent's environment.
    fn variable(&self, name: &str) -> String {
        let own = self.agent.env.iter().find(|(variable, _)| variable == name);
        let own = own.map(|(_, value)| value.clone());
        own.or_else(|| self.runtime.services.environment.for_connection(self.connection.id).remove(name)).unwrap_or_default()
    }

    /// Asks the server what changes nothing. What cannot be asked now is asked for again.
    pub(super) fn read(&self, calls: Vec<HttpCall>) {
        for call in calls {
            if self.http.as_ref().is_none_or(|http| http.call(None, call).is_err()) {
                tracing::debug!(connection = %self.connection.id, "a question to the agent's server was left out");
            }
        }
    }

    /// A call that changes something. It is marked on disk before it leaves: if it is found with that
    /// mark nobody knows whether it arrived, and the translator has to find out.
    pub(super) async fn call(&mut self, row: OutboxId, call: HttpCall, tried: bool) -> Result<(), Stop> {
        if row <= self.called {
            return Ok(());
        }
        self.called = row;
        let id = call.id;
        let lost = if tried {
            Some(UNCERTAIN)
        } else {
            self.step(Work { trying: vec![row], ..Work::default() }).await?;
            match &self.http {
                Some(http) => http.call(Some(row), call).err().map(|_| TOO_MANY),
                None => Some(UNKNOWN_PLACE),
            }
        };
        let Some(why) = lost else { return Ok(()) };
        let inputs = vec![Input::HttpReply(HttpReply { id, status: None, body: why.to_owned() })];
        self.step(Work { inputs, delivered: vec![row], ..Work::default() }).await
    }

    /// Takes what the server says. Replies to calls that change something are kept with what follows.
    pub(super) async fn take_said(&mut self, said: Vec<HttpSaid>) -> Result<(), Stop> {
        let mut work = Work { passing: true, ..Work::default() };
        for said in said {
            work.inputs.push(match said {
                HttpSaid::Opened => Input::StreamOpened,
                HttpSaid::Event(data) => Input::StreamEvent(data),
                HttpSaid::Closed => Input::StreamClosed,
                HttpSaid::Reply { row, reply } => {
                    work.delivered.extend(row);
                    Input::HttpReply(reply)
                }
            });
        }
        self.step(work).await
    }

    /// Allows commands like these for this agent in the project of a session.
    pub(super) async fn grant(&mut self, session: SessionId, run: Vec<String>, now: Time) {
        let Some(project) = self.sessions.get(&session).map(|carried| carried.session.project.clone()) else { return };
        policy::grant_to_agent(&self.runtime.services, &self.agent.name, project, run, now).await;
    }
}
