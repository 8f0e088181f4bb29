//! Workflow runs: start, read, answer and cancel.

use sayso_api::run::{NewRun, Run, RunAnswerRequest, RunAnswered, RunPage, RunQuery};

use crate::client::Client;
use crate::error::Error;

impl Client {
    /// Starts a run.
    ///
    /// # Errors
    /// `invalid_workflow` with all problems if the workflow is invalid; then nothing starts.
    pub async fn start_run(&self, run: &NewRun) -> Result<Run, Error> {
        self.post(&["runs"], run).await
    }

    /// Lists runs, newest first, one page per call.
    ///
    /// # Errors
    /// If the server refuses the request or cannot be reached.
    pub async fn runs(&self, query: &RunQuery) -> Result<RunPage, Error> {
        self.get_with(&["runs"], query).await
    }

    /// Returns one run with its steps, their outputs, and its pending questions.
    ///
    /// # Errors
    /// `run_not_found` if the run does not exist.
    pub async fn run(&self, id: &str) -> Result<Run, Error> {
        self.get(&["runs", id]).await
    }

    /// Cancels a run.
    ///
    /// # Errors
    /// `run_ended` if the run has already ended.
    pub async fn cancel_run(&self, id: &str) -> Result<Run, Error> {
        self.post(&["runs", id, "cancel"], &serde_json::json!({})).await
    }

    /// Answers a question or checkpoint of a run, with one list of entries per question.
    ///
    /// # Errors
    /// `run_not_found` or `question_not_found`; or if the answers do not fit the questions; or if there is already an
    /// outcome, see [`Error::already_resolved`].
    pub async fn answer_question(&self, run: &str, question: &str, answers: Vec<Vec<String>>) -> Result<RunAnswered, Error> {
        let body = RunAnswerRequest { answers: Some(answers), ..RunAnswerRequest::default() };
        self.post(&["runs", run, "questions", question], &body).await
    }

    /// Rejects a question of a run.
    ///
    /// # Errors
    /// See [`Self::answer_question`].
    pub async fn reject_question(&self, run: &str, question: &str) -> Result<RunAnswered, Error> {
        let body = RunAnswerRequest { reject: Some(true), ..RunAnswerRequest::default() };
        self.post(&["runs", run, "questions", question], &body).await
    }
}
