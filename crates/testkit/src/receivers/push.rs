//! A fake push service with one browser, which decrypts the messages.

use anyhow::{Context as _, Result};
use serde_json::Value;
use web_push_native::p256::elliptic_curve::sec1::ToEncodedPoint as _;
use web_push_native::{Auth, decrypt, p256::SecretKey};

use super::{ReceivedCall, Receiver};

/// The running push service.
#[derive(Debug)]
pub struct FakePush {
    receiver: Receiver,
    key: SecretKey,
    auth: Auth,
}

impl FakePush {
    /// Starts a push service that replies with this status.
    ///
    /// # Errors
    /// If no port is available.
    pub async fn start(status: u16) -> Result<Self> {
        let mut bytes = [0; 48];
        getrandom::fill(&mut bytes).context("no randomness")?;
        // Almost every number is a valid key; clearing the first bit guarantees it.
        bytes[0] &= 0x7f;
        let key = SecretKey::from_slice(&bytes[..32]).context("no key")?;
        Ok(Self { receiver: Receiver::with_status(status).await?, key, auth: *Auth::from_slice(&bytes[32..]) })
    }

    #[must_use]
    pub const fn receiver(&self) -> &Receiver {
        &self.receiver
    }

    /// The browser's public key and its authentication secret.
    #[must_use]
    pub fn keys(&self) -> (Vec<u8>, Vec<u8>) {
        (self.key.public_key().to_encoded_point(false).as_bytes().to_vec(), self.auth.to_vec())
    }

    /// Decrypts the message in a call.
    ///
    /// # Errors
    /// If it cannot be decrypted.
    pub fn read(&self, call: &ReceivedCall) -> Result<Value> {
        let message = decrypt(call.body.to_vec(), &self.key, &self.auth).map_err(|error| anyhow::anyhow!("{error}"))?;
        Ok(serde_json::from_slice(&message)?)
    }
}
