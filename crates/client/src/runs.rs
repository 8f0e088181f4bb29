//! Runs of workflows: start, read, answer, cancel.

use sayso_api::run::{NewRun, Run, RunAnswerRequest, RunAnswered, RunPage, RunQuery};

use crate::client::Client;
use crate::error::Error;

impl Client {
    /// Starts a run.
    ///
    /// # Errors
    /// With `invalid_workflow` and everything that is wrong when the workflow cannot be used; nothing starts then.
    pub async fn start_run(&self, run: &NewRun) -> Result<Run, Error> {
        self.post(&["runs"], run).await
    }

    /// A page of runs, newest first.
    ///
    /// # Errors
    /// When the server says no or does not answer.
    pub async fn runs(&self, query: &RunQuery) -> Result<RunPage, Error> {
        self.get_with(&["runs"], query).await
    }

    /// One run with its steps, their outputs, and what it waits for.
    ///
    /// # Errors
    /// With `run_not_found` when there is none.
    pub async fn run(&self, id: &str) -> Result<Run, Error> {
        self.get(&["runs", id]).await
    }

    /// Ends a run.
    ///
    /// # Errors
    /// With `run_ended` when it is over.
    pub async fn cancel_run(&self, id: &str) -> Result<Run, Error> {
        self.post(&["runs", id, "cancel"], &serde_json::json!({})).await
    }

    /// Answers a question of a run, or a checkpoint: one list of entries per question.
    ///
    /// # Errors
    /// With `run_not_found` or `question_not_found`; when the answers do not fit; when somebody was first, see
    /// [`Error::already_resolved`].
    pub async fn answer_question(&self, run: &str, question: &str, answers: Vec<Vec<String>>) -> Result<RunAnswered, Error> {
        let body = RunAnswerRequest { answers: Some(answers), ..RunAnswerRequest::default() };
        self.post(&["runs", run, "questions", question], &body).await
    }

    /// Says that no answer will come.
    ///
    /// # Errors
    /// As [`Self::answer_question`].
    pub async fn reject_question(&self, run: &str, question: &str) -> Result<RunAnswered, Error> {
        let body = RunAnswerRequest { reject: Some(true), ..RunAnswerRequest::default() };
        self.post(&["runs", run, "questions", question], &body).await
    }
}
