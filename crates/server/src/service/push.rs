//! Push subscriptions of browsers.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sayso_api::notify::NewPush;
use sayso_core::limits;
use sayso_core::plain_text;
use sayso_store::ops::{DeletePushSubscription, PushSubscriptionRow, PutPushSubscription};

use super::{ServiceError, Services, authorize};
use crate::auth::{Caller, Permission};

/// Subscribes the caller's browser until its token is revoked.
pub(crate) async fn subscribe(services: &Services, caller: &Caller, new: NewPush) -> Result<(), ServiceError> {
    authorize(caller, Permission::Read)?;
    let NewPush { endpoint, keys } = new;
    limits::check("the address of the push service", endpoint.len(), limits::TEXT)?;
    plain_text::check("the address of the push service", &endpoint)?;
    let is_web = endpoint.parse::<reqwest::Url>().is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
    let bytes = |text: &str| URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).ok();
    let public_key = bytes(&keys.p256dh).and_then(|bytes| <[u8; 65]>::try_from(bytes).ok());
    let auth = bytes(&keys.auth).and_then(|bytes| <[u8; 16]>::try_from(bytes).ok());
    let (true, Some(public_key), Some(auth)) = (is_web, public_key, auth) else {
        return Err(ServiceError::invalid("this is not the push subscription of a browser"));
    };
    let push = PushSubscriptionRow { token: caller.token, endpoint, public_key, auth };
    services.store.write(PutPushSubscription { workspace: caller.workspace, push }).await?;
    Ok(())
}

/// Ends the subscription of the caller's browser.
pub(crate) async fn unsubscribe(services: &Services, caller: &Caller) -> Result<(), ServiceError> {
    authorize(caller, Permission::Read)?;
    services.store.write(DeletePushSubscription { workspace: caller.workspace, token: caller.token }).await?;
    Ok(())
}
