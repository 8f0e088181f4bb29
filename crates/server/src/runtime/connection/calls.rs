//! Agents that are servers: the calls to them, and their replies and events.

use sayso_agents::translator::{HttpCall, HttpReply, Input, Login};
use sayso_core::connection::ConnectionKind;
use sayso_store::OutboxId;

use super::owner::{Owner, Stop};
use super::work::Work;
use crate::runtime::link::{Http, HttpSaid};
use crate::service::tokens;

const UNCERTAIN: &str = "it was about to be sent when Sayso's server ended";
const UNKNOWN_PLACE: &str = "the agent's server is unknown";
const TOO_MANY: &str = "too many calls are in flight";

impl Owner {
    /// Connects to the server that the translator names, and disconnects from any other.
    pub(super) fn follow_server(&mut self) {
        let wanted = self.state.translator.server();
        if self.http.as_ref().map(Http::server) == wanted.as_ref() {
            return;
        }
        self.http = wanted.and_then(|server| {
            let secret = match &server.login {
                Login::Open => String::new(),
                Login::Basic(_) if self.state.connection.kind == ConnectionKind::Attached => {
                    self.runtime.attachments.secret(self.state.connection.id)
                }
                Login::Basic(_) => tokens::agent_password(&self.runtime.services, &self.state.connection),
                Login::Bearer(variable) => self.variable(variable),
            };
            Http::new(server, secret)
                .inspect_err(
                    |error| tracing::error!(connection = %self.state.connection.id, %error, "cannot create a client for the agent's server"),
                )
                .ok()
        });
    }

    /// A variable of the agent's environment.
    fn variable(&self, name: &str) -> String {
        let own = self.agent.env.iter().find(|(variable, _)| variable == name);
        let own = own.map(|(_, value)| value.clone());
        own.or_else(|| self.runtime.services.environment.for_connection(self.state.connection.id).remove(name))
            .unwrap_or_default()
    }

    /// Sends a call that only reads. The translator repeats it if there is no reply.
    pub(super) fn read(&self, call: HttpCall) {
        if self.http.as_ref().is_none_or(|http| http.call(None, call).is_err()) {
            tracing::debug!(connection = %self.state.connection.id, "dropping a read call: the call queue is full");
        }
    }

    /// Sends a call that changes something. The call is marked in the database before it is sent. If a marked call is found
    /// after a crash, it is unknown whether it arrived, and the translator has to find out.
    pub(super) async fn call(&mut self, row: OutboxId, call: HttpCall, tried: bool) -> Result<(), Stop> {
        if row <= self.called {
            return Ok(());
        }
        self.called = row;
        let id = call.id;
        let lost = if tried {
            Some(UNCERTAIN)
        } else {
            self.step(Work::Calling(row)).await?;
            match &self.http {
                Some(http) => http.call(Some(row), call).err().map(|_| TOO_MANY),
                None => Some(UNKNOWN_PLACE),
            }
        };
        let Some(why) = lost else { return Ok(()) };
        let reply = HttpReply { id, status: None, body: why.to_owned() };
        self.step(Work::CallLost { row, reply }).await
    }

    /// Processes what the server sent. Replies to stored calls are committed together with their consequences.
    pub(super) async fn process_replies(&mut self, said: Vec<HttpSaid>) -> Result<(), Stop> {
        let (mut inputs, mut replied) = (Vec::with_capacity(said.len()), Vec::new());
        for said in said {
            inputs.push(match said {
                HttpSaid::Opened => Input::StreamOpened,
                HttpSaid::Event(data) => Input::StreamEvent(data),
                HttpSaid::Closed => Input::StreamClosed,
                HttpSaid::Reply { row, reply } => {
                    replied.extend(row);
                    Input::HttpReply(reply)
                }
            });
        }
        self.step(Work::Server { inputs, replied }).await
    }
}
