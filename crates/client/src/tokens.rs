//! Tokens, and the login of a browser.

use sayso_api::token::{CreatedToken, LoginCode, NewToken, TokenList};

use crate::client::Client;
use crate::error::Error;

impl Client {
    /// The tokens, without their secrets.
    ///
    /// # Errors
    /// When the server says no or does not answer.
    pub async fn tokens(&self) -> Result<TokenList, Error> {
        self.get(&["tokens"]).await
    }

    /// Makes a token. Its secret is shown this once.
    ///
    /// # Errors
    /// When the server says no or does not answer.
    pub async fn create_token(&self, token: &NewToken) -> Result<CreatedToken, Error> {
        self.post(&["tokens"], token).await
    }

    /// Revokes a token.
    ///
    /// # Errors
    /// When the server says no or does not answer.
    pub async fn revoke_token(&self, id: &str) -> Result<(), Error> {
        self.delete(&["tokens", id]).await
    }

    /// Makes a code that opens the page in a browser, once.
    ///
    /// # Errors
    /// When the server says no or does not answer.
    pub async fn login_code(&self) -> Result<LoginCode, Error> {
        self.post(&["login-codes"], &serde_json::json!({})).await
    }
}
