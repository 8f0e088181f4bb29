//! A push service with one browser behind it, which reads what it gets.

use anyhow::{Context as _, Result};
use serde_json::Value;
use web_push_native::p256::elliptic_curve::sec1::ToEncodedPoint as _;
use web_push_native::{Auth, decrypt, p256::SecretKey};

use super::{ReceivedCall, Receiver};

/// A running push service.
#[derive(Debug)]
pub struct FakePush {
    receiver: Receiver,
    key: SecretKey,
    auth: Auth,
}

impl FakePush {
    /// Starts one that replies with this status.
    ///
    /// # Errors
    /// When no port can be had.
    pub async fn start(status: u16) -> Result<Self> {
        let mut bytes = [0; 48];
        getrandom::fill(&mut bytes).context("no randomness")?;
        // Almost every number is a key; the first bit makes it certain.
        bytes[0] &= 0x7f;
        let key = SecretKey::from_slice(&bytes[..32]).context("no key")?;
        Ok(Self { receiver: Receiver::with_status(status).await?, key, auth: *Auth::from_slice(&bytes[32..]) })
    }

    /// What was called.
    #[must_use]
    pub const fn receiver(&self) -> &Receiver {
        &self.receiver
    }

    /// The browser's public key and its secret.
    #[must_use]
    pub fn keys(&self) -> (Vec<u8>, Vec<u8>) {
        (self.key.public_key().to_encoded_point(false).as_bytes().to_vec(), self.auth.to_vec())
    }

    /// What the browser reads in a call.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(&self, call: &ReceivedCall) -> Result<Value> {
        let message = decrypt(call.body.to_vec(), &self.key, &self.auth).map_err(|error| anyhow::anyhow!("{error}"))?;
        Ok(serde_json::from_slice(&message)?)
    }
}
