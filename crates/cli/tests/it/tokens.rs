//! Tokens: create, list, use and revoke.

use anyhow::Result;

use crate::support::{Person, Ran, ran};

async fn with_token(person: &Person, token: &str, args: &[&str]) -> Result<Ran> {
    let mut command = person.command(args);
    command.env("SAYSO_TOKEN", token);
    ran(command).await
}

#[tokio::test]
async fn token_has_the_rights_of_its_role_until_revoked() -> Result<()> {
    let person = Person::new().await?;
    let (_agent, asked) = person.mock_asks("question").await?;
    let made = person.run(&["token", "create", "ada", "--role", "answerer", "--expires", "12h"]).await?;
    assert_eq!(
        (made.code, made.err.as_str()),
        (Some(0), "This token is shown only once. Pass it to the program as SAYSO_TOKEN:\n")
    );
    let ada = made.out.trim();
    let viewer = person.json(&["token", "create", "screen", "--role", "viewer"]).await?;

    let listed = person.ok(&["token", "list"]).await?;
    assert!(listed.contains("answerer  ada") && listed.contains("viewer    screen") && listed.contains("expires "), "{listed}");
    assert!(!listed.contains(ada), "only its hash is stored");

    let ran = with_token(&person, viewer["token"].as_str().unwrap(), &["answer", &asked.id, "1"]).await?;
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{ran:?}");
    let ran = with_token(&person, ada, &["token", "list"]).await?;
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{ran:?}");
    let ran = with_token(&person, ada, &["answer", &asked.id, "1"]).await?;
    assert_eq!(ran.out, "✓ Answered by ada in the terminal: \"SQLite\".\n", "{ran:?}");

    let tokens = person.json(&["token", "list"]).await?;
    let id = tokens["data"].as_array().unwrap().iter().find(|token| token["actor"] == "ada").unwrap()["id"].as_str().unwrap();
    assert_eq!(person.ok(&["token", "revoke", &id[id.len() - 8..]]).await?, "Revoked: ada (answerer)");
    let ran = with_token(&person, ada, &["ls"]).await?;
    assert!(ran.code == Some(1) && ran.err.starts_with("The server does not accept this token.\n"), "{ran:?}");
    let ran = person.run(&["token", "revoke", "zzzz"]).await?;
    assert!(ran.code == Some(1) && ran.err.starts_with("No token ID ends in zzzz.\n"), "{ran:?}");
    Ok(())
}

#[tokio::test]
async fn scoped_token_sees_only_its_session_or_label() -> Result<()> {
    let person = Person::new().await?;
    let (agent, _asked) = person.mock_asks("question").await?;
    person.ok(&["ask", "Which?", "--label", "team=shop", "--no-wait"]).await?;
    let shop = person.ok(&["token", "create", "shop", "--role", "answerer", "--label", "team=shop"]).await?;
    let one = person.ok(&["token", "create", "one", "--role", "answerer", "--session", agent.session()]).await?;
    let seen = async |token: &str| Ok::<_, anyhow::Error>(with_token(&person, token, &["ls"]).await?.out);
    let (shop, one) = (seen(&shop).await?, seen(&one).await?);
    assert!(shop.contains("Which?") && !shop.contains("database"), "{shop}");
    assert!(one.contains("database") && !one.contains("Which?"), "{one}");
    Ok(())
}

#[tokio::test]
async fn login_prints_a_link_that_works_once() -> Result<()> {
    let person = Person::new().await?;
    let ran = person.run(&["login"]).await?;
    let wanted = format!("{}/#code=", person.server_file()?.url);
    assert!(ran.code == Some(0) && ran.out.starts_with(&wanted), "{ran:?}");
    assert!(ran.err.starts_with("This link works once, until "), "{ran:?}");
    Ok(())
}
