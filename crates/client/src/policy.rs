//! The policy: reading, changing, explaining, and temporary grants.

use reqwest::Method;
use sayso_api::policy::{ExplainRequest, Explanation, Grant, NewGrant, PolicyView, SetPolicy, SetProfile, TrustRequest, Trusted};

use crate::client::Client;
use crate::error::Error;

impl Client {
    /// Returns the policy in force.
    ///
    /// # Errors
    /// If the server refuses the request or cannot be reached.
    pub async fn policy(&self) -> Result<PolicyView, Error> {
        self.get(&["policy"]).await
    }

    /// Writes the policy file, unless it was changed in the meantime.
    ///
    /// # Errors
    /// `invalid_policy` if the text is invalid; then nothing is written.
    pub async fn set_policy(&self, policy: &SetPolicy) -> Result<PolicyView, Error> {
        self.change(Method::PUT, &["policy"], policy).await
    }

    /// Explains how the policy decides a request.
    ///
    /// # Errors
    /// `invalid_policy` with line and column if the given text does not parse.
    pub async fn explain(&self, request: &ExplainRequest) -> Result<Explanation, Error> {
        self.post(&["policy", "explain"], request).await
    }

    /// Allows commands temporarily.
    ///
    /// # Errors
    /// If the server refuses the request or cannot be reached.
    pub async fn grant(&self, grant: &NewGrant) -> Result<Grant, Error> {
        self.post(&["policy", "grants"], grant).await
    }

    /// Switches a profile on or off.
    ///
    /// # Errors
    /// If the profile does not exist, or if the server cannot be reached.
    pub async fn set_profile(&self, profile: &SetProfile) -> Result<PolicyView, Error> {
        self.change(Method::PUT, &["policy", "profile"], profile).await
    }

    /// Trusts the current content of a project's `.sayso.toml`.
    ///
    /// # Errors
    /// If the file does not exist, or if the server cannot be reached.
    pub async fn trust(&self, directory: &str) -> Result<Trusted, Error> {
        self.post(&["policy", "trust"], &TrustRequest { directory: directory.to_owned() }).await
    }
}
