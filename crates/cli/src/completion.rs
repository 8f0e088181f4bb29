//! Shell completion: commands, options, and the ids of pending asks and open sessions.
//!
//! The script that `sayso completions` prints calls this program with [`VARIABLE`] set. Completion never starts a server, waits
//! for one at most [`PATIENCE`], and returns no candidates after an error.

use std::ffi::OsStr;
use std::future::Future;
use std::time::Duration;

use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use clap_complete::env::CompleteEnv;
use sayso_client::api::session::SessionQuery;
use sayso_client::{Client, Environment, Error, Paths, discover};

use crate::{args, order, sanitize, words};

/// Environment variable with the name of the shell. The script sets it.
pub(crate) const VARIABLE: &str = "SAYSO_COMPLETE";
/// Time limit for the server's reply.
const PATIENCE: Duration = Duration::from_millis(500);

/// Completes the command line and ends the process if a shell requests that.
pub(crate) fn answer_shell() {
    CompleteEnv::with_factory(args::command).var(VARIABLE).complete();
}

/// Completes the id of a pending ask.
pub(crate) fn asks() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| candidates(typed, pending_asks))
}

/// Completes the id of an open session.
pub(crate) fn sessions() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| candidates(typed, open_sessions))
}

/// An id and its description.
type Named = (String, String);

async fn pending_asks(client: Client) -> Result<Vec<Named>, Error> {
    let asks = client.pending_asks().await?.data;
    Ok(asks.iter().map(|ask| (ask.id.clone(), format!("{}: {}", sanitize::line(&ask.agent), words::subject(ask)))).collect())
}

async fn open_sessions(client: Client) -> Result<Vec<Named>, Error> {
    let query = SessionQuery { open: Some(true), limit: Some(100), ..SessionQuery::default() };
    let sessions = client.sessions(&query).await?.data;
    Ok(sessions.into_iter().map(|session| (session.id, sanitize::line(&session.title))).collect())
}

fn candidates<F>(typed: &OsStr, list: impl FnOnce(Client) -> F) -> Vec<CompletionCandidate>
where
    F: Future<Output = Result<Vec<Named>, Error>>,
{
    let Some(typed) = typed.to_str() else { return Vec::new() };
    let named = ask_server(list).unwrap_or_default();
    matching(typed, &named).into_iter().map(|(id, subject)| CompletionCandidate::new(id).help(Some(subject.into()))).collect()
}

fn ask_server<F>(list: impl FnOnce(Client) -> F) -> Option<Vec<Named>>
where
    F: Future<Output = Result<Vec<Named>, Error>>,
{
    let environment = Environment::of_process();
    let target = discover(&environment, &Paths::new(&environment, None).ok()?).ok()?;
    let client = Client::new(&target.url, &target.token).ok()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
    runtime.block_on(async { tokio::time::timeout(PATIENCE, list(client)).await }).ok()?.ok()
}

/// Returns the shortest unique suffixes that start with the typed text, or the whole ids if those start with it.
fn matching(typed: &str, named: &[Named]) -> Vec<Named> {
    let length = order::ending_length(named.iter().map(|(id, _)| id.as_str()));
    let pick = |shown: &dyn Fn(&str) -> String| -> Vec<Named> {
        named
            .iter()
            .map(|(id, subject)| (shown(id), words::cut(subject, 60, "…")))
            .filter(|(id, _)| id.starts_with(typed))
            .collect()
    };
    let endings = pick(&|id| order::ending(id, length).to_owned());
    if endings.is_empty() { pick(&str::to_owned) } else { endings }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortest_unique_endings_are_offered() {
        let named = [("ask_01a14f2a".to_owned(), "Database?".to_owned()), ("ask_01a191c0".to_owned(), "Run it?".to_owned())];
        let ids = |typed: &str| matching(typed, &named).into_iter().map(|(id, _)| id).collect::<Vec<_>>();
        assert_eq!(ids(""), ["4f2a", "91c0"]);
        assert_eq!(ids("9"), ["91c0"]);
        assert_eq!(ids("ask_01a14"), ["ask_01a14f2a"]);
        assert_eq!(ids("x"), Vec::<String>::new());
    }
}
