//! Lookup by id: a whole id, or a unique suffix as people type it.

use sayso_api::ask::{Ask, AskKind, AskQuery};
use sayso_api::run::{Run, RunQuery};
use sayso_api::session::{Session, SessionQuery};

use crate::client::Client;
use crate::error::{Error, FindError};

/// How many candidates are fetched and listed.
const CANDIDATES: u32 = 10;

impl Client {
    /// Finds the ask with this id suffix. Pending asks take precedence over resolved ones.
    ///
    /// # Errors
    /// [`Error::Find`] if no id or several ids match.
    pub async fn find_ask(&self, suffix: &str) -> Result<Ask, Error> {
        let suffix = id_suffix(suffix);
        let query = AskQuery { id_ends_with: Some(suffix.clone()), limit: Some(CANDIDATES), ..AskQuery::default() };
        let mut found = if suffix.is_empty() { Vec::new() } else { self.asks(&query).await?.data };
        if found.len() > 1 && found.iter().filter(|ask| ask.outcome.is_none()).count() == 1 {
            found.retain(|ask| ask.outcome.is_none());
        }
        // Lists can omit large fields; the single ask is complete.
        let id = one("ask", suffix, found, |ask| (ask.id.clone(), subject(ask)))?.id;
        self.ask(&id).await
    }

    /// Finds the session with this id suffix.
    ///
    /// # Errors
    /// [`Error::Find`] if no id or several ids match.
    pub async fn find_session(&self, suffix: &str) -> Result<Session, Error> {
        let suffix = id_suffix(suffix);
        let query = SessionQuery { id_ends_with: Some(suffix.clone()), limit: Some(CANDIDATES), ..SessionQuery::default() };
        let found = if suffix.is_empty() { Vec::new() } else { self.sessions(&query).await?.data };
        one("session", suffix, found, |session| (session.id.clone(), session.title.clone()))
    }
}

impl Client {
    /// Finds the run with this id suffix.
    ///
    /// # Errors
    /// [`Error::Find`] if no id or several ids match.
    pub async fn find_run(&self, suffix: &str) -> Result<Run, Error> {
        let suffix = id_suffix(suffix);
        let query = RunQuery { id_ends_with: Some(suffix.clone()), limit: Some(CANDIDATES), ..RunQuery::default() };
        let found = if suffix.is_empty() { Vec::new() } else { self.runs(&query).await?.data };
        let id = one("run", suffix, found, |run| (run.id.clone(), run.workflow.clone()))?.id;
        self.run(&id).await
    }
}

/// Normalizes an id suffix that a person typed: removes white space and the ellipsis that screens show before it.
#[must_use]
pub fn id_suffix(typed: &str) -> String {
    typed.trim().trim_start_matches('…').trim_start_matches("...").to_owned()
}

fn subject(ask: &Ask) -> String {
    match ask.kind {
        AskKind::Question => ask.questions.first().map(|question| question.text.clone()).unwrap_or_default(),
        AskKind::Approval => ask.approval.as_ref().map(|approval| approval.title.clone()).unwrap_or_default(),
        AskKind::Link => ask.link.as_ref().map(|link| link.url.clone()).unwrap_or_default(),
    }
}

fn one<T>(what: &'static str, suffix: String, mut found: Vec<T>, show: impl Fn(&T) -> (String, String)) -> Result<T, Error> {
    match (found.pop(), found.is_empty()) {
        (None, _) => Err(FindError::None { what, suffix }.into()),
        (Some(only), true) => Ok(only),
        (Some(last), false) => {
            found.push(last);
            Err(FindError::Several { what, suffix, candidates: found.iter().map(show).collect() }.into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ambiguous_suffix_lists_the_candidates() {
        let show = |id: &&str| ((*id).to_owned(), "Which?".to_owned());
        assert_eq!(one("ask", "1".into(), vec!["ask_a1"], show).unwrap(), "ask_a1");
        assert!(matches!(one("ask", "2".into(), Vec::<&str>::new(), show), Err(Error::Find(FindError::None { .. }))));
        let Err(Error::Find(FindError::Several { candidates, .. })) = one("ask", "1".into(), vec!["ask_a1", "ask_b1"], show)
        else {
            panic!("two endings are one too many");
        };
        assert_eq!(candidates.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>(), ["ask_a1", "ask_b1"]);
    }

    #[test]
    fn id_suffix_drops_the_ellipsis() {
        assert_eq!((id_suffix(" …4f2a "), id_suffix("...4f2a"), id_suffix("…")), ("4f2a".into(), "4f2a".into(), String::new()));
    }
}
