//! The operations on asks that the tools need.

use std::future::Future;
use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::Extensions;
use sayso_api::ask::{Ask, NewAsk};
use sayso_api::notice::NewNotice;

use super::client::CallOrigin;

/// Why a call failed, in words for the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ToolFailure(pub String);

/// The asks of one caller, in this server or through the HTTP API.
pub trait Asks: Clone + Send + Sync + 'static {
    /// Returns the asks of the caller of this tool call, and the origin of the call.
    ///
    /// # Errors
    /// If the caller may not use the tools.
    fn of_call(&self, extensions: &Extensions) -> Result<(Self, CallOrigin), ErrorData>;

    /// Opens an ask, or returns the pending one with the same key.
    fn open(&self, ask: NewAsk) -> impl Future<Output = Result<Ask, ToolFailure>> + Send;

    /// Waits for the outcome of an ask, and returns the ask. It may still be pending when the time is over. Dropping the future
    /// ends the wait.
    fn wait(&self, id: &str, within: Option<Duration>) -> impl Future<Output = Result<Ask, ToolFailure>> + Send;

    /// Collects the outcome.
    fn receive(&self, id: &str) -> impl Future<Output = Result<Ask, ToolFailure>> + Send;

    /// Withdraws an ask. An ask that already has an outcome stays unchanged.
    fn withdraw(&self, id: &str) -> impl Future<Output = ()> + Send;

    /// Sends a notice to people.
    fn notify(&self, notice: NewNotice) -> impl Future<Output = Result<(), ToolFailure>> + Send;
}
