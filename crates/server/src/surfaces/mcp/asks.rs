//! What the tools need of the asks.

use std::future::Future;
use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::Extensions;
use sayso_api::ask::{Ask, NewAsk};
use sayso_api::notice::NewNotice;

use super::client::CallOrigin;

/// Why something did not work, in words for the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ToolFailure(pub String);

/// The asks of one caller, here or on another machine.
pub trait Asks: Clone + Send + Sync + 'static {
    /// The asks of whoever makes this call, and where it comes from.
    ///
    /// # Errors
    /// When nobody may call.
    fn of_call(&self, extensions: &Extensions) -> Result<(Self, CallOrigin), ErrorData>;

    /// Opens an ask, or finds the one with its key.
    fn open(&self, ask: NewAsk) -> impl Future<Output = Result<Ask, ToolFailure>> + Send;

    /// The ask when it has its outcome, or as it is when the time is over. A caller that drops this no longer
    /// waits.
    fn wait(&self, id: &str, within: Option<Duration>) -> impl Future<Output = Result<Ask, ToolFailure>> + Send;

    /// Takes the outcome.
    fn receive(&self, id: &str) -> impl Future<Output = Result<Ask, ToolFailure>> + Send;

    /// Takes an ask back. If it has an outcome, that is as good.
    fn withdraw(&self, id: &str) -> impl Future<Output = ()> + Send;

    /// Says something to people.
    fn notify(&self, notice: NewNotice) -> impl Future<Output = Result<(), ToolFailure>> + Send;
}
