//! The identity of the asker: facts from the token of an agent, and facts that the agent reports.

use std::path::{Component, Path};

use sayso_api::token::Role;
use sayso_core::ask::{Asker, Claims};
use sayso_core::limits;
use sayso_core::session::Labels;

use crate::auth::Caller;
use crate::service::ServiceError;

/// Labels that every agent may set: the terminal that it runs in. No token's scope depends on them.
const PLACE_LABELS: [&str; 2] = ["tmuxPane", "tmuxSocket"];

/// Refuses a name that differs from the one in the caller's token.
pub(crate) fn check_agent(caller: &Caller, reported: &str) -> Result<(), ServiceError> {
    match &caller.identity.agent {
        Some(agent) if agent != reported => Err(ServiceError::IdentityRefused(format!(
            "this token belongs to the agent `{}`; use a token for `{}`, or omit the name",
            limits::head(agent, 80),
            limits::head(reported, 80)
        ))),
        Some(_) | None => Ok(()),
    }
}

/// Refuses a directory outside the one in the caller's token.
pub(crate) fn check_project(caller: &Caller, reported: &str) -> Result<(), ServiceError> {
    let Some(project) = &caller.identity.project else { return Ok(()) };
    let reported = Path::new(reported);
    let stays = reported.components().all(|part| !matches!(part, Component::ParentDir));
    if stays && reported.starts_with(project) {
        return Ok(());
    }
    Err(ServiceError::IdentityRefused(format!("this token is for the directory {}", limits::head(project, 200))))
}

/// Returns the labels of an ask. An agent's labels come from its token, because labels decide who sees the ask.
pub(crate) fn asker_labels(caller: &Caller, reported: Labels) -> Result<Labels, ServiceError> {
    if caller.role != Role::Agent {
        return Ok(reported);
    }
    let mut labels = caller.identity.labels.clone();
    for (key, value) in reported {
        if PLACE_LABELS.contains(&key.as_str()) {
            labels.insert(key, value);
        } else if labels.get(&key) != Some(&value) {
            return Err(ServiceError::IdentityRefused(format!(
                "this token cannot set the label `{}`; create a token with that label",
                limits::head(&key, 80)
            )));
        }
    }
    Ok(labels)
}

/// Returns the record of the caller in an ask.
pub(crate) fn asker(caller: &Caller, agent: &str, project: Option<&str>) -> Asker {
    let is_agent = caller.role == Role::Agent;
    let claims = Claims {
        agent: is_agent && caller.identity.agent.is_none() && agent != caller.name,
        project: is_agent && caller.identity.project.is_none() && project.is_some(),
    };
    Asker { name: caller.name.clone(), claims }
}

#[cfg(test)]
mod tests {
    use sayso_core::id::TokenId;
    use sayso_core::scope::{AskerIdentity, Scope};
    use sayso_core::time::Time;
    use sayso_store::WorkspaceId;
    use sayso_store::ops::TokenRow;

    use super::*;
    use crate::auth::{Tokens, hash, role_name};

    fn caller(role: Role, identity: AskerIdentity) -> std::sync::Arc<Caller> {
        let tokens = Tokens::default();
        tokens.put(&TokenRow {
            id: TokenId::new(Time::from_millis(1), [1; 10]),
            workspace: WorkspaceId::MAIN,
            hash: hash("secret"),
            role: role_name(role).to_owned(),
            actor: "ci".to_owned(),
            device: None,
            scope: Scope::Asker { identity },
            created_at: Time::from_millis(1),
            expires_at: None,
            revoked_at: None,
        });
        tokens.find("secret", Time::from_millis(2)).unwrap()
    }

    #[test]
    fn directory_of_a_token_is_not_left() {
        let pinned = caller(Role::Agent, AskerIdentity { project: Some("/src/shop".to_owned()), ..AskerIdentity::default() });
        for (reported, allowed) in [
            ("/src/shop", true),
            ("/src/shop/", true),
            ("/src/shop/api", true),
            ("/src/shop2", false),
            ("/src", false),
            ("/src/shop/../bank", false),
        ] {
            assert_eq!(check_project(&pinned, reported).is_ok(), allowed, "{reported}");
        }
    }

    #[test]
    fn labels_of_an_agent_are_those_of_its_token() {
        let labels = |pairs: &[(&str, &str)]| -> Labels {
            pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
        };
        let own = labels(&[("team", "shop")]);
        let pinned = caller(Role::Agent, AskerIdentity { labels: own.clone(), ..AskerIdentity::default() });
        assert_eq!(asker_labels(&pinned, Labels::new()).unwrap(), own);
        assert_eq!(asker_labels(&pinned, own.clone()).unwrap(), own);
        let place = labels(&[("team", "shop"), ("tmuxPane", "%3")]);
        assert_eq!(asker_labels(&pinned, labels(&[("tmuxPane", "%3")])).unwrap(), place);
        for other in [labels(&[("team", "bank")]), labels(&[("env", "prod")])] {
            assert!(asker_labels(&pinned, other.clone()).is_err(), "{other:?}");
            let admin = caller(Role::Admin, AskerIdentity::default());
            assert_eq!(asker_labels(&admin, other.clone()).unwrap(), other);
        }
    }
}
