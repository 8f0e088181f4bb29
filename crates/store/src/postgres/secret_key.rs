//! Encrypts secrets with AES-256-GCM. The key is not in the database, because its logs and replicas keep deleted rows.

use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom as _, SystemRandom};
use sayso_core::id::AskId;
use sayso_core::raw::Raw;

use crate::error::{OpenError, StoreError};
use crate::event::WorkspaceId;

const KEY: usize = 32;
const ID: usize = 8;
const AAD: usize = 24;

/// The key that encrypts secrets in a PostgreSQL database.
pub struct SecretKey {
    key: LessSafeKey,
    /// The start of a digest of the key. It is stored with each secret, and says which key is needed.
    id: [u8; ID],
}

impl std::fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SecretKey").finish_non_exhaustive()
    }
}

impl SecretKey {
    /// Reads a key from 64 hexadecimal digits, as `openssl rand -hex 32` prints them.
    ///
    /// # Errors
    /// When the text is something else.
    pub fn parse(text: &str) -> Result<Self, OpenError> {
        let bytes = parse_hex(text.trim()).ok_or(OpenError::SecretKey)?;
        let key = UnboundKey::new(&AES_256_GCM, &bytes).map_err(|_| OpenError::SecretKey)?;
        let mut id = [0; ID];
        id.copy_from_slice(&digest(&SHA256, &bytes).as_ref()[..ID]);
        Ok(Self { key: LessSafeKey::new(key), id })
    }

    pub(super) const fn id(&self) -> &[u8] {
        &self.id
    }

    /// Encrypts a secret. Returns the id of the key, nonce, ciphertext and tag. The ids are authenticated, so a secret cannot be
    /// moved to another ask.
    pub(super) fn seal(&self, workspace: WorkspaceId, ask: AskId, secret: &Raw) -> Result<Vec<u8>, StoreError> {
        let failed = || StoreError::Unreadable { what: "secret", detail: "it cannot be encrypted".to_owned() };
        let mut nonce = [0; NONCE_LEN];
        SystemRandom::new().fill(&mut nonce).map_err(|_| failed())?;
        let mut text = secret.as_str().as_bytes().to_vec();
        let aad = Aad::from(ids(workspace, ask));
        self.key.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), aad, &mut text).map_err(|_| failed())?;
        Ok([self.id.as_slice(), &nonce, &text].concat())
    }

    /// Decrypts a secret.
    pub(super) fn open(&self, workspace: WorkspaceId, ask: AskId, stored: &[u8]) -> Result<String, StoreError> {
        let unreadable = |detail: &str| StoreError::Unreadable { what: "secret", detail: detail.to_owned() };
        let (id, rest) = stored.split_first_chunk::<ID>().ok_or_else(|| unreadable("it is too short"))?;
        if *id != self.id {
            return Err(unreadable("it was encrypted with another key"));
        }
        let (nonce, text) = rest.split_first_chunk::<NONCE_LEN>().ok_or_else(|| unreadable("it is too short"))?;
        let mut text = text.to_vec();
        let aad = Aad::from(ids(workspace, ask));
        let opened = self.key.open_in_place(Nonce::assume_unique_for_key(*nonce), aad, &mut text);
        let length = opened.map_err(|_| unreadable("it was changed"))?.len();
        text.truncate(length);
        String::from_utf8(text).map_err(|_| unreadable("it is not UTF-8"))
    }
}

fn ids(workspace: WorkspaceId, ask: AskId) -> [u8; AAD] {
    let mut ids = [0; AAD];
    ids[..8].copy_from_slice(&workspace.0.to_be_bytes());
    ids[8..].copy_from_slice(ask.as_bytes());
    ids
}

fn parse_hex(text: &str) -> Option<[u8; KEY]> {
    let mut bytes = [0; KEY];
    if text.len() != 2 * KEY || !text.bytes().all(|letter| letter.is_ascii_hexdigit()) {
        return None;
    }
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASK: AskId = AskId::from_bytes([1; 16]);

    fn key(digit: &str) -> SecretKey {
        SecretKey::parse(&format!("{}\n", digit.repeat(64))).unwrap()
    }

    #[test]
    fn secret_is_read_back_and_not_stored_in_clear() {
        let (key, secret) = (key("a"), Raw::of(&"correct horse"));
        let stored = key.seal(WorkspaceId::MAIN, ASK, &secret).unwrap();
        assert!(!stored.windows(5).any(|bytes| bytes == b"horse"));
        assert_eq!(key.open(WorkspaceId::MAIN, ASK, &stored).unwrap(), secret.as_str());
        assert_ne!(key.seal(WorkspaceId::MAIN, ASK, &secret).unwrap(), stored, "every nonce is new");
    }

    #[test]
    fn changed_or_moved_secret_is_refused() {
        let own = key("a");
        let stored = own.seal(WorkspaceId::MAIN, ASK, &Raw::of(&"secret")).unwrap();
        for place in 0..stored.len() {
            let mut changed = stored.clone();
            changed[place] ^= 1;
            assert!(own.open(WorkspaceId::MAIN, ASK, &changed).is_err(), "{place}");
            assert!(own.open(WorkspaceId::MAIN, ASK, &stored[..place]).is_err(), "{place}");
        }
        assert!(own.open(WorkspaceId(2), ASK, &stored).is_err());
        assert!(own.open(WorkspaceId::MAIN, AskId::from_bytes([2; 16]), &stored).is_err());
        let error = key("b").open(WorkspaceId::MAIN, ASK, &stored).unwrap_err();
        assert_eq!(error.to_string(), "a stored secret cannot be read: it was encrypted with another key");
    }

    #[test]
    fn key_has_64_hexadecimal_digits() {
        for text in ["", "abc", &"g".repeat(64), &"a".repeat(63), &"a".repeat(65), &"ä".repeat(32)] {
            assert!(matches!(SecretKey::parse(text), Err(OpenError::SecretKey)), "{text}");
        }
    }
}
