//! Encrypts the states of suspended runs with AES-256-GCM. The key is in a file next to the database, so a copy of the database
//! alone is not enough to read or forge a state.

use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use sayso_core::id::{GroupId, TokenId};

use crate::entropy;
use crate::service::ServiceError;

/// The expanded key; `None` if it is invalid, and every call fails.
pub(crate) struct StateCipher(Option<LessSafeKey>);

impl std::fmt::Debug for StateCipher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StateCipher").finish_non_exhaustive()
    }
}

impl StateCipher {
    pub(crate) fn new(key: &[u8; 32]) -> Self {
        // A key of 32 bytes is accepted; without a key every call fails.
        Self(UnboundKey::new(&AES_256_GCM, key).ok().map(LessSafeKey::new))
    }

    /// Encrypts a state. Returns nonce, ciphertext and tag. The ids are authenticated, so a state cannot be moved to another group.
    pub(crate) fn seal(&self, group: GroupId, token: TokenId, state: &str) -> Result<Vec<u8>, ServiceError> {
        let failed = ServiceError::Internal("the state cannot be encrypted");
        let Some(key) = &self.0 else { return Err(failed) };
        let nonce = entropy::bytes::<NONCE_LEN>();
        let mut text = state.as_bytes().to_vec();
        let sealed = key.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::from(ids(group, token)), &mut text);
        sealed.map_err(|_| failed)?;
        let mut stored = nonce.to_vec();
        stored.append(&mut text);
        Ok(stored)
    }

    /// Decrypts a state. Fails if it was modified, or belongs to another group.
    pub(crate) fn open(&self, group: GroupId, token: TokenId, stored: &[u8]) -> Result<String, ServiceError> {
        let (Some(key), Some((nonce, text))) = (&self.0, stored.split_first_chunk::<NONCE_LEN>()) else {
            return Err(ServiceError::StateUnreadable);
        };
        let mut text = text.to_vec();
        let opened = key.open_in_place(Nonce::assume_unique_for_key(*nonce), Aad::from(ids(group, token)), &mut text);
        let length = opened.map_err(|_| ServiceError::StateUnreadable)?.len();
        text.truncate(length);
        String::from_utf8(text).map_err(|_| ServiceError::StateUnreadable)
    }
}

fn ids(group: GroupId, token: TokenId) -> [u8; 32] {
    let mut ids = [0; 32];
    ids[..16].copy_from_slice(group.as_bytes());
    ids[16..].copy_from_slice(token.as_bytes());
    ids
}

#[cfg(test)]
mod tests {
    use super::*;

    const GROUP: GroupId = GroupId::from_bytes([1; 16]);
    const TOKEN: TokenId = TokenId::from_bytes([2; 16]);

    #[test]
    fn state_is_read_back_and_not_stored_in_clear() {
        let cipher = StateCipher::new(&[7; 32]);
        let stored = cipher.seal(GROUP, TOKEN, "what the run knows").unwrap();
        assert!(!stored.windows(4).any(|bytes| bytes == b"what"));
        assert_eq!(cipher.open(GROUP, TOKEN, &stored).unwrap(), "what the run knows");
        assert_ne!(cipher.seal(GROUP, TOKEN, "what the run knows").unwrap(), stored, "every nonce is new");
    }

    #[test]
    fn changed_or_moved_state_is_refused() {
        let cipher = StateCipher::new(&[7; 32]);
        let stored = cipher.seal(GROUP, TOKEN, "state").unwrap();
        for place in 0..stored.len() {
            let mut changed = stored.clone();
            changed[place] ^= 1;
            assert!(matches!(cipher.open(GROUP, TOKEN, &changed), Err(ServiceError::StateUnreadable)), "{place}");
        }
        let other = GroupId::from_bytes([3; 16]);
        assert!(cipher.open(other, TOKEN, &stored).is_err());
        assert!(cipher.open(GROUP, TokenId::from_bytes([4; 16]), &stored).is_err());
        assert!(StateCipher::new(&[8; 32]).open(GROUP, TOKEN, &stored).is_err());
        for short in [&[][..], &stored[..5], &stored[..NONCE_LEN]] {
            assert!(cipher.open(GROUP, TOKEN, short).is_err());
        }
    }
}
