//! Tokens, the login of a browser, and where the server is reached.

use sayso_api::listener::{Listener, ListenerList, NewListener};
use sayso_api::token::{CreatedToken, LoginCode, NewLoginCode, NewToken, TokenList};

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
        self.login_code_for(&NewLoginCode::default()).await
    }

    /// Makes a code that opens the page in a browser, once, for a role.
    ///
    /// # Errors
    /// When the server says no or does not answer.
    pub async fn login_code_for(&self, code: &NewLoginCode) -> Result<LoginCode, Error> {
        self.post(&["login-codes"], code).await
    }

    /// Where the server is reached.
    ///
    /// # Errors
    /// When the server says no or does not answer.
    pub async fn listeners(&self) -> Result<ListenerList, Error> {
        self.get(&["listeners"]).await
    }

    /// Opens the server to a network, until it is closed or the server ends.
    ///
    /// # Errors
    /// When the server says no or does not answer.
    pub async fn open_listener(&self, listener: &NewListener) -> Result<Listener, Error> {
        self.post(&["listeners"], listener).await
    }

    /// Closes an address that was opened.
    ///
    /// # Errors
    /// When the server says no or does not answer.
    pub async fn close_listener(&self, address: &str) -> Result<(), Error> {
        self.delete(&["listeners", address]).await
    }
}
