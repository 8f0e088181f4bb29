//! Answer links: signed URLs with which one person decides one ask, for 24 hours.
//!
//! A link contains the ask, the expiry and a MAC over both and its holder, so the server stores nothing. A link works once,
//! because an ask has one outcome. A link for a browser is signed for the browser's token and stops working when the token
//! is revoked or expires.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sayso_core::id::{AskId, TokenId};
use sayso_core::time::Time;
use sha2::Sha256;

pub(crate) const LIFE: Duration = Duration::from_secs(86_400);

/// The layout of a decoded link: ask id, expiry in milliseconds (big-endian), and the first 16 bytes of the MAC.
const ASK: usize = 16;
const END: usize = ASK + 8;
const WHOLE: usize = END + 16;

/// Signs and verifies answer links.
#[derive(Debug)]
pub(crate) struct AnswerLinks {
    key: [u8; 32],
    /// The public URL of this server. Without one, `address` returns `None`.
    base: Option<String>,
}

/// The person or browser that a link is signed for, and the notification channel that sends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Holder<'a> {
    pub(crate) channel: &'a str,
    pub(crate) identity: HolderIdentity<'a>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HolderIdentity<'a> {
    /// The `person` of a channel in `config.toml`.
    Person(&'a str),
    /// The token that a browser subscribed with.
    Token(TokenId),
}

/// Why a link is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BadLink {
    /// This server did not sign it, or its channel, person or token no longer exists.
    Wrong,
    Expired,
}

impl AnswerLinks {
    pub(crate) fn new(key: [u8; 32], public_url: Option<&str>) -> Self {
        Self { key, base: public_url.map(|url| url.trim_end_matches('/').to_owned()) }
    }

    /// Returns the full URL of the page that shows this ask to its holder.
    pub(crate) fn address(&self, ask: AskId, holder: Holder<'_>, now: Time) -> Option<String> {
        let base = self.base.as_ref()?;
        Some(format!("{base}{}", self.path(ask, holder, now)))
    }

    /// Returns the path of the link, for a browser that already has this server's origin.
    pub(crate) fn path(&self, ask: AskId, holder: Holder<'_>, now: Time) -> String {
        format!("/a/{}", self.code(ask, holder, now.plus(LIFE)))
    }

    fn code(&self, ask: AskId, holder: Holder<'_>, end: Time) -> String {
        let mut bytes = Vec::with_capacity(WHOLE);
        bytes.extend_from_slice(ask.as_bytes());
        bytes.extend_from_slice(&end.as_millis().to_be_bytes());
        if let Some(mac) = self.mac(&bytes, holder) {
            let signature: [u8; 32] = mac.finalize().into_bytes().into();
            bytes.extend_from_slice(&signature[..WHOLE - END]);
        }
        URL_SAFE_NO_PAD.encode(bytes)
    }

    fn mac(&self, signed: &[u8], holder: Holder<'_>) -> Option<Hmac<Sha256>> {
        // HMAC accepts keys of any length, so this does not fail.
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.key).ok()?;
        mac.update(signed);
        let mut sign = |part: &[u8]| {
            mac.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
            mac.update(part);
        };
        sign(holder.channel.as_bytes());
        match holder.identity {
            HolderIdentity::Person(person) => sign(person.as_bytes()),
            HolderIdentity::Token(token) => {
                sign(token.as_bytes());
                // Persons are signed with two parts and tokens with three, so a person's name cannot imitate a token.
                sign(b"token");
            }
        }
        Some(mac)
    }

    /// Verifies a link. Returns its ask, and the one of these holders that it was signed for.
    pub(crate) fn read<'a>(
        &self,
        code: &str,
        holders: impl IntoIterator<Item = Holder<'a>>,
        now: Time,
    ) -> Result<(AskId, Holder<'a>), BadLink> {
        let bytes: [u8; WHOLE] =
            URL_SAFE_NO_PAD.decode(code).ok().and_then(|bytes| bytes.try_into().ok()).ok_or(BadLink::Wrong)?;
        let (signed, signature) = bytes.split_at(END);
        let signed_by =
            |holder: &Holder<'_>| self.mac(signed, *holder).is_some_and(|mac| mac.verify_truncated_left(signature).is_ok());
        let holder = holders.into_iter().find(signed_by).ok_or(BadLink::Wrong)?;
        let (ask, end) = signed.split_at(ASK);
        let (Ok(ask), Ok(end)) = (<[u8; 16]>::try_from(ask), <[u8; 8]>::try_from(end)) else { return Err(BadLink::Wrong) };
        if Time::from_millis(i64::from_be_bytes(end)) <= now {
            return Err(BadLink::Expired);
        }
        Ok((AskId::from_bytes(ask), holder))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn person(channel: &'static str, name: &'static str) -> Holder<'static> {
        Holder { channel, identity: HolderIdentity::Person(name) }
    }

    const ADA: Holder<'_> = person("mail", "ada");
    const BEN: Holder<'_> = person("mail", "ben");

    fn links(key: u8) -> AnswerLinks {
        AnswerLinks::new([key; 32], Some("https://box.test/"))
    }

    fn code() -> String {
        let address = links(1).address(AskId::from_bytes([9; 16]), ADA, Time::from_millis(0)).unwrap();
        address.strip_prefix("https://box.test/a/").unwrap().to_owned()
    }

    #[test]
    fn link_is_valid_for_one_ask_and_one_person_until_it_expires() {
        let ask = AskId::from_bytes([9; 16]);
        let end = i64::try_from(LIFE.as_millis()).unwrap();
        assert_eq!(links(1).read(&code(), [BEN, ADA], Time::from_millis(end - 1)), Ok((ask, ADA)));
        assert_eq!(links(1).read(&code(), [BEN, ADA], Time::from_millis(end)), Err(BadLink::Expired));
        assert_eq!(links(1).read(&code(), [BEN], Time::from_millis(0)), Err(BadLink::Wrong), "another person's");
        assert_eq!(links(1).read(&code(), [], Time::from_millis(0)), Err(BadLink::Wrong), "a channel that is gone");
        assert_eq!(links(2).read(&code(), [ADA], Time::from_millis(0)), Err(BadLink::Wrong), "another server's");
        assert_eq!(AnswerLinks::new([1; 32], None).address(ask, ADA, Time::from_millis(0)), None);
    }

    #[test]
    fn link_with_any_changed_byte_is_refused() {
        let bytes = URL_SAFE_NO_PAD.decode(code()).unwrap();
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            let changed = URL_SAFE_NO_PAD.encode(changed);
            assert_eq!(links(1).read(&changed, [ADA], Time::from_millis(0)), Err(BadLink::Wrong), "{at}");
        }
        for wrong in ["", "a", "!!!", &code()[1..], &format!("{}AA", code()), &"A".repeat(9_000)] {
            assert_eq!(links(1).read(wrong, [ADA], Time::from_millis(0)), Err(BadLink::Wrong), "{wrong:.20}");
        }
    }

    #[test]
    fn channel_and_person_are_signed_separately() {
        let links = links(1);
        let code = links.code(AskId::from_bytes([9; 16]), person("ab", "c"), Time::from_millis(5));
        assert_eq!(links.read(&code, [person("a", "bc")], Time::from_millis(0)), Err(BadLink::Wrong));
    }

    #[test]
    fn link_for_a_token_is_refused_for_other_tokens_and_persons() {
        let token = |byte| Holder { channel: "push", identity: HolderIdentity::Token(TokenId::from_bytes([byte; 16])) };
        let (links, now) = (links(1), Time::from_millis(0));
        let code = links.code(AskId::from_bytes([9; 16]), token(b'a'), Time::from_millis(5));
        assert_eq!(links.read(&code, [token(b'b'), person("push", "aaaaaaaaaaaaaaaa")], now), Err(BadLink::Wrong));
        assert_eq!(links.read(&code, [token(b'b'), token(b'a')], now), Ok((AskId::from_bytes([9; 16]), token(b'a'))));
    }
}
