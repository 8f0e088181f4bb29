//! Cryptography of web push: encryption for one browser (RFC 8291, RFC 8188) and identification of the server (VAPID, RFC 8292).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use ring::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::agreement::{ECDH_P256, EphemeralPrivateKey, UnparsedPublicKey, agree_ephemeral};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use sayso_core::time::Time;
use serde_json::json;
use sha2::Sha256;

use crate::entropy;

/// Lifetime of a signature, in seconds.
const SIGNED: i64 = 12 * 3_600;
/// Size of the single record, in bytes. All push services accept it.
const RECORD: u32 = 4_096;
/// The maximum payload: the record without its header, its tag and its end marker.
pub(crate) const MOST: usize = 4_096 - 86 - 16 - 1;

/// The key pair of this server. Browsers bind their subscription to it.
pub(crate) struct PushKey {
    pair: EcdsaKeyPair,
}

impl std::fmt::Debug for PushKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PushKey").finish_non_exhaustive()
    }
}

/// An invalid key or subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the key or the message is invalid")]
pub(crate) struct Unusable;

impl PushKey {
    /// Generates a key in the stored form.
    pub(crate) fn generate() -> Result<Vec<u8>, Unusable> {
        let made = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new());
        made.map(|document| document.as_ref().to_vec()).map_err(|_| Unusable)
    }

    /// Parses the stored form.
    pub(crate) fn read(kept: &[u8]) -> Result<Self, Unusable> {
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, kept, &SystemRandom::new());
        pair.map(|pair| Self { pair }).map_err(|_| Unusable)
    }

    /// Returns the public key in the form that browsers expect.
    pub(crate) fn public(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.pair.public_key())
    }

    /// Builds the `Authorization` header for a push service.
    pub(crate) fn authorization(&self, origin: &str, contact: &str, now: Time) -> Result<String, Unusable> {
        let head = URL_SAFE_NO_PAD.encode(r#"{"typ":"JWT","alg":"ES256"}"#);
        let claims = json!({ "aud": origin, "exp": now.as_millis() / 1_000 + SIGNED, "sub": contact });
        let signed = format!("{head}.{}", URL_SAFE_NO_PAD.encode(claims.to_string()));
        let signature = self.pair.sign(&SystemRandom::new(), signed.as_bytes()).map_err(|_| Unusable)?;
        Ok(format!("vapid t={signed}.{}, k={}", URL_SAFE_NO_PAD.encode(signature), self.public()))
    }
}

fn mac(key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    // HMAC accepts keys of any length, so this does not fail.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return [0; 32] };
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

/// Encrypts a message for one browser.
pub(crate) fn encrypt(message: &[u8], browser: &[u8; 65], auth: &[u8; 16]) -> Result<Vec<u8>, Unusable> {
    if message.len() > MOST {
        return Err(Unusable);
    }
    let own = EphemeralPrivateKey::generate(&ECDH_P256, &SystemRandom::new()).map_err(|_| Unusable)?;
    let public = own.compute_public_key().map_err(|_| Unusable)?;
    let shared = agree_ephemeral(own, &UnparsedPublicKey::new(&ECDH_P256, browser), |secret| mac(auth, &[secret]));
    let material = mac(&shared.map_err(|_| Unusable)?, &[b"WebPush: info\0", browser, public.as_ref(), &[1]]);
    let salt = entropy::bytes::<16>();
    let root = mac(&salt, &[&material]);
    let key = mac(&root, &[b"Content-Encoding: aes128gcm\0", &[1]]);
    let nonce = mac(&root, &[b"Content-Encoding: nonce\0", &[1]]);
    let key = LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &key[..16]).map_err(|_| Unusable)?);
    let nonce = Nonce::try_assume_unique_for_key(&nonce[..12]).map_err(|_| Unusable)?;
    // The delimiter 2 marks the last record.
    let mut sealed = [message, &[2]].concat();
    key.seal_in_place_append_tag(nonce, Aad::empty(), &mut sealed).map_err(|_| Unusable)?;
    let length = u8::try_from(public.as_ref().len()).map_err(|_| Unusable)?;
    Ok([&salt[..], &RECORD.to_be_bytes(), &[length], public.as_ref(), &sealed].concat())
}

#[cfg(test)]
mod tests {
    use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey as Verify};

    use super::*;

    #[test]
    fn push_request_is_signed_by_the_server() {
        let key = PushKey::read(&PushKey::generate().unwrap()).unwrap();
        let header = key.authorization("https://push.example.com", "mailto:ada@example.com", Time::from_millis(1_000)).unwrap();
        let (token, public) = header.strip_prefix("vapid t=").unwrap().split_once(", k=").unwrap();
        let (signed, signature) = token.rsplit_once('.').unwrap();
        let decoded = |text: &str| URL_SAFE_NO_PAD.decode(text).unwrap();
        Verify::new(&ECDSA_P256_SHA256_FIXED, decoded(public)).verify(signed.as_bytes(), &decoded(signature)).unwrap();
        let claims: serde_json::Value = serde_json::from_slice(&decoded(signed.split_once('.').unwrap().1)).unwrap();
        let expected = json!({ "aud": "https://push.example.com", "exp": 43_201, "sub": "mailto:ada@example.com" });
        assert_eq!(claims, expected);
        assert_eq!(public, key.public());
        assert!(PushKey::read(b"nonsense").is_err());
    }

    #[test]
    fn invalid_key_and_oversized_payload_are_refused() {
        assert_eq!(encrypt(b"x", &[4; 65], &[0; 16]), Err(Unusable));
        assert_eq!(encrypt(&[0; MOST + 1], &[4; 65], &[0; 16]), Err(Unusable));
    }
}
