//! Tokens, login codes, grants, settings and trusted projects.

use sayso_core::id::GrantId;
use sayso_core::raw::Raw;
use sayso_core::scope::Scope;
use sayso_store::RetentionLimits;
use sayso_store::ops::{
    AddGrant, CreateLoginCode, CreateToken, IdempotentResult, PutSetting, RedeemLoginCode, RevokeToken, TokenRow, TrustProject,
};
use sayso_store::read::{ListTokens, ReadStoredPolicy};

use super::World;
use crate::world::{MAIN, at, entropy, labels, token, token_row};

#[tokio::test]
async fn tokens_are_stored_and_revoked_once() {
    let world = World::new().await;
    let one = token_row(1, Scope::Labels { labels: labels(&[("team", "shop")]) });
    let two = token_row(2, Scope::All);
    for token in [&one, &two] {
        let create = CreateToken { token: token.clone(), key: None };
        assert_eq!(world.store.write(create).await.unwrap(), IdempotentResult::Done(token.clone()));
    }
    assert_eq!(world.store.read(ListTokens).await.unwrap(), [two.clone(), one.clone()], "newest first");
    let revoke = async |token, seconds| {
        world.clock.set(at(seconds));
        world.store.write(RevokeToken { workspace: MAIN, token }).await.unwrap()
    };
    let revoked = TokenRow { revoked_at: Some(at(10)), ..one.clone() };
    assert_eq!(revoke(one.id, 10).await, Some(revoked.clone()));
    assert_eq!(revoke(one.id, 20).await, Some(revoked.clone()), "the first time counts");
    assert_eq!(revoke(token(), 20).await, None);
    assert_eq!(world.reopen().await.store.read(ListTokens).await.unwrap(), [two, revoked]);
}

#[tokio::test]
async fn second_token_with_the_same_hash_is_refused() {
    let world = World::new().await;
    world.store.write(CreateToken { token: token_row(1, Scope::All), key: None }).await.unwrap();
    assert!(world.store.write(CreateToken { token: token_row(1, Scope::All), key: None }).await.is_err());
    assert_eq!(world.store.read(ListTokens).await.unwrap().len(), 1);
}

#[tokio::test]
async fn login_code_works_once_until_it_expires() {
    let world = World::new().await;
    let code = |hash: u8| CreateLoginCode {
        workspace: MAIN,
        hash: [hash; 32],
        role: "admin".to_owned(),
        actor: "ann".to_owned(),
        expires_at: at(600),
    };
    let redeem = async |hash: u8, seconds: i64, token: u8| {
        let token = TokenRow { role: String::new(), actor: String::new(), expires_at: None, ..token_row(token, Scope::All) };
        world.clock.set(at(seconds));
        world.store.write(RedeemLoginCode { code: [hash; 32], token }).await.unwrap()
    };
    world.store.write(code(1)).await.unwrap();
    world.store.write(code(2)).await.unwrap();
    assert_eq!(redeem(9, 10, 1).await, None, "no such code");
    let token = redeem(1, 10, 2).await.unwrap();
    assert_eq!((token.role.as_str(), token.actor.as_str()), ("admin", "ann"), "role and name are the code's");
    assert_eq!(redeem(1, 10, 3).await, None, "used");
    assert_eq!(redeem(2, 600, 4).await, None, "too old");
    assert_eq!(world.store.read(ListTokens).await.unwrap(), [token]);
}

#[tokio::test]
async fn grants_settings_and_trust_are_stored_replaced_and_deleted() {
    let world = World::new().await;
    let grant =
        |until| AddGrant { workspace: MAIN, id: GrantId::new(at(0), entropy()), until, data: Raw::of(&"rule"), key: None };
    let (short, long, ever) = (grant(Some(at(10))), grant(Some(at(1_000))), grant(None));
    let ids = [short.id, long.id, ever.id];
    for grant in [short, long, ever] {
        world.store.write(grant).await.unwrap();
    }
    let put = |key, value: Option<&str>| PutSetting { workspace: MAIN, key, value: value.map(|value| Raw::of(&value)) };
    world.store.write(put("profile", Some("away"))).await.unwrap();
    world.store.write(put("profile", Some("home"))).await.unwrap();
    world.store.write(put("other", Some("x"))).await.unwrap();
    world.store.write(put("other", None)).await.unwrap();
    for hash in ["old", "new"] {
        let trust = TrustProject { workspace: MAIN, path: "/p/.sayso.toml".to_owned(), hash: hash.to_owned() };
        world.store.write(trust).await.unwrap();
    }
    let world = world.reopen().await;
    let state = world.store.read(ReadStoredPolicy { workspace: MAIN }).await.unwrap();
    assert_eq!(state.grants.iter().map(|(id, ..)| *id).collect::<Vec<_>>(), ids);
    assert_eq!(state.settings, [("profile".to_owned(), Raw::of(&"home"))]);
    assert_eq!(state.trusted, [("/p/.sayso.toml".to_owned(), "new".to_owned())]);
    let retain = RetentionLimits { events_before: at(0), keys_before: at(0), at_most: 100 };
    world.clock.set(at(500));
    world.store.retain(retain).await.unwrap();
    let state = world.store.read(ReadStoredPolicy { workspace: MAIN }).await.unwrap();
    assert_eq!(state.grants.iter().map(|(id, ..)| *id).collect::<Vec<_>>(), ids[1..]);
}
