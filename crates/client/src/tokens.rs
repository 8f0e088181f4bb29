//! Tokens, browser logins, and listen addresses.

use sayso_api::listener::{Listener, ListenerList, NewListener};
use sayso_api::token::{CreatedToken, LoginCode, NewLoginCode, NewToken, TokenList};

use crate::client::Client;
use crate::error::Error;

impl Client {
    /// Lists the tokens, without their secrets.
    ///
    /// # Errors
    /// If the server refuses the request or cannot be reached.
    pub async fn tokens(&self) -> Result<TokenList, Error> {
        self.get(&["tokens"]).await
    }

    /// Creates a token. Its secret is only returned once.
    ///
    /// # Errors
    /// If the server refuses the request or cannot be reached.
    pub async fn create_token(&self, token: &NewToken) -> Result<CreatedToken, Error> {
        self.post(&["tokens"], token).await
    }

    /// Revokes a token.
    ///
    /// # Errors
    /// If the server refuses the request or cannot be reached.
    pub async fn revoke_token(&self, id: &str) -> Result<(), Error> {
        self.delete(&["tokens", id]).await
    }

    /// Creates a single-use code that opens the page in a browser.
    ///
    /// # Errors
    /// If the server refuses the request or cannot be reached.
    pub async fn login_code(&self) -> Result<LoginCode, Error> {
        self.login_code_for(&NewLoginCode::default()).await
    }

    /// Creates a single-use code that opens the page in a browser with a role.
    ///
    /// # Errors
    /// If the server refuses the request or cannot be reached.
    pub async fn login_code_for(&self, code: &NewLoginCode) -> Result<LoginCode, Error> {
        self.post(&["login-codes"], code).await
    }

    /// Lists the addresses on which the server listens.
    ///
    /// # Errors
    /// If the server refuses the request or cannot be reached.
    pub async fn listeners(&self) -> Result<ListenerList, Error> {
        self.get(&["listeners"]).await
    }

    /// Opens the server to a network, until the listener is closed or the server exits.
    ///
    /// # Errors
    /// If the server refuses the request or cannot be reached.
    pub async fn open_listener(&self, listener: &NewListener) -> Result<Listener, Error> {
        self.post(&["listeners"], listener).await
    }

    /// Closes an address that was opened with [`Self::open_listener`].
    ///
    /// # Errors
    /// If the server refuses the request or cannot be reached.
    pub async fn close_listener(&self, address: &str) -> Result<(), Error> {
        self.delete(&["listeners", address]).await
    }
}
