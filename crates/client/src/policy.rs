//! The policy: what is in force, what it does, and what a person changes for a while.

use reqwest::Method;
use sayso_api::policy::{ExplainRequest, Explanation, Grant, NewGrant, PolicyView, SetPolicy, SetProfile, TrustRequest, Trusted};

use crate::client::Client;
use crate::error::Error;

impl Client {
    /// The policy in force.
    ///
    /// # Errors
    /// When the server says no or does not answer.
    pub async fn policy(&self) -> Result<PolicyView, Error> {
        self.get(&["policy"]).await
    }

    /// Writes the policy file, unless somebody else wrote it meanwhile.
    ///
    /// # Errors
    /// With `invalid_policy` when the text cannot be used; then nothing is written.
    pub async fn set_policy(&self, policy: &SetPolicy) -> Result<PolicyView, Error> {
        self.change(Method::PUT, &["policy"], policy).await
    }

    /// What a policy does.
    ///
    /// # Errors
    /// With `invalid_policy`, line and column when the given text does not parse.
    pub async fn explain(&self, request: &ExplainRequest) -> Result<Explanation, Error> {
        self.post(&["policy", "explain"], request).await
    }

    /// Allows commands for a while.
    ///
    /// # Errors
    /// When the server says no or does not answer.
    pub async fn grant(&self, grant: &NewGrant) -> Result<Grant, Error> {
        self.post(&["policy", "grants"], grant).await
    }

    /// Switches a profile on or off.
    ///
    /// # Errors
    /// When there is no such profile, or the server does not answer.
    pub async fn set_profile(&self, profile: &SetProfile) -> Result<PolicyView, Error> {
        self.change(Method::PUT, &["policy", "profile"], profile).await
    }

    /// Trusts the `.sayso.toml` of a project as it is now.
    ///
    /// # Errors
    /// When there is no such file, or the server does not answer.
    pub async fn trust(&self, directory: &str) -> Result<Trusted, Error> {
        self.post(&["policy", "trust"], &TrustRequest { directory: directory.to_owned() }).await
    }
}
