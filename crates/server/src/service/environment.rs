//! The environment variables that agents get.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use sayso_core::environment;
use sayso_core::id::{ConnectionId, RunId};

pub(crate) type Variables = BTreeMap<String, String>;

/// The server's own variables, and those that callers sent for their sessions and runs. Callers' variables are kept in
/// memory only, because they may contain secrets. After a restart of the server, agents get the server's variables.
#[derive(Debug)]
pub(crate) struct ProcessEnvironment {
    server: Variables,
    connections: Mutex<HashMap<ConnectionId, Variables>>,
    runs: Mutex<HashMap<RunId, Variables>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ProcessEnvironment {
    /// Keeps the server's variables that agents may receive.
    pub(crate) fn new(server: Vec<(String, String)>) -> Self {
        let server = server.into_iter().filter(|(name, _)| environment::passes(name)).collect();
        Self { server, connections: Mutex::default(), runs: Mutex::default() }
    }

    /// Returns a variable of the server.
    pub(crate) fn server_variable(&self, name: &str) -> Option<&str> {
        self.server.get(name).map(String::as_str)
    }

    /// Returns the search path for programs: the caller's if it sent one, otherwise the server's.
    pub(crate) fn search_path<'a>(&'a self, sent: &'a Variables) -> Option<&'a str> {
        sent.get("PATH").map(String::as_str).or_else(|| self.server_variable("PATH"))
    }

    /// Returns the variables for the agent of a connection: the caller's if it sent any, otherwise the server's.
    pub(crate) fn for_connection(&self, connection: ConnectionId) -> Variables {
        locked(&self.connections).get(&connection).unwrap_or(&self.server).clone()
    }

    pub(crate) fn keep_for_connection(&self, connection: ConnectionId, sent: Variables) {
        if !sent.is_empty() {
            locked(&self.connections).insert(connection, sent);
        }
    }

    pub(crate) fn forget_connection(&self, connection: ConnectionId) {
        locked(&self.connections).remove(&connection);
    }

    /// Returns the variables that the caller sent for a run.
    pub(crate) fn for_run(&self, run: RunId) -> Variables {
        locked(&self.runs).get(&run).cloned().unwrap_or_default()
    }

    pub(crate) fn keep_for_run(&self, run: RunId, sent: Variables) {
        if !sent.is_empty() {
            locked(&self.runs).insert(run, sent);
        }
    }

    pub(crate) fn forget_run(&self, run: RunId) {
        locked(&self.runs).remove(&run);
    }
}
