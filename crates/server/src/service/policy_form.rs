//! Editing the policy rule by rule, and statistics of each rule.

use std::collections::HashMap;
use std::time::Duration;

use sayso_api::policy_form::{EditPolicy, PolicyEdit, RuleHitsQuery};
use sayso_core::limits;
use sayso_core::policy::{self as core, Policy, edit_policy};
use sayso_core::scope::Scope;
use sayso_core::time::Time;
use sayso_store::read::{CountPrecedents, CountRuleHits, Precedents, RuleHits};

use super::asks::ask_id;
use super::{ServiceError, Services, authorize};
use crate::auth::{Caller, Permission};
use crate::entropy;

/// Maximum number of changes per request.
const MOST_EDITS: usize = 100;
/// Default period of the statistics, in days.
const DAYS: u32 = 30;
const DAY: Duration = Duration::from_secs(86_400);

/// The edited text and the policy that it parses to.
pub(crate) struct EditedPolicy {
    pub(crate) text: String,
    pub(crate) policy: Policy,
}

/// Applies changes to a policy text and parses the result. Writes nothing: the caller saves the text with `policy::set`, which
/// detects concurrent changes.
pub(crate) async fn edit(services: &Services, caller: &Caller, request: EditPolicy) -> Result<EditedPolicy, ServiceError> {
    authorize(caller, Permission::Read)?;
    services.policy_worker.run(std::future::ready(Ok(request)), apply_edits).await
}

/// Blocks its thread: the text may be large, and each change parses it again.
fn apply_edits(request: EditPolicy) -> Result<EditedPolicy, ServiceError> {
    limits::check("the number of changes", request.edits.len(), MOST_EDITS)?;
    let mut text = request.text;
    for edit in request.edits {
        text = edit_policy(&text, &with_id(edit).into())?;
    }
    Ok(EditedPolicy { policy: Policy::parse(&text)?, text })
}

/// Gives a rule an id if it has none, so that its hits are still counted after it was renamed or moved.
fn with_id(mut edit: PolicyEdit) -> PolicyEdit {
    if let PolicyEdit::AddRule { rule } | PolicyEdit::SetRule { rule, .. } = &mut edit {
        rule.id.get_or_insert_with(|| format!("r{}", entropy::hex(&entropy::bytes::<5>())));
    }
    edit
}

/// How often each rule of the active policy has decided since a time.
pub(crate) struct CountedHits {
    pub(crate) since: Time,
    pub(crate) rules: Vec<RuleHits>,
}

/// Counts the hits of each rule. Returns none for callers who see only some asks, because the counts include all asks.
pub(crate) async fn hits(services: &Services, caller: &Caller, query: RuleHitsQuery) -> Result<CountedHits, ServiceError> {
    authorize(caller, Permission::Read)?;
    let days = query.days.unwrap_or(DAYS);
    if !(1..=366).contains(&days) {
        return Err(ServiceError::invalid("days must be 1 to 366"));
    }
    let since = services.clock.now().minus(DAY * days);
    if caller.scope != Scope::All {
        return Ok(CountedHits { since, rules: Vec::new() });
    }
    services.policies.reload();
    let in_force = services.policies.in_force();
    // Before a rule had an id, its hits were counted under its name.
    let keys = in_force.user.rules.iter().map(|rule| (rule.key(core::Scope::User), rule.spec().name.clone()));
    let keys: Vec<(String, Option<String>)> = keys.chain([(core::BUILT_IN.to_owned(), None)]).collect();
    let rules = keys.iter().flat_map(|(key, name)| [Some(key), name.as_ref()]).flatten().cloned().collect();
    let counted = services.store.read(CountRuleHits { workspace: caller.workspace, rules, since }).await?;
    let counted: HashMap<&str, &RuleHits> = counted.iter().map(|hits| (hits.rule.as_str(), hits)).collect();
    let rules = keys.iter().map(|(key, name)| {
        let other = name.as_deref().filter(|name| name != key).and_then(|name| counted.get(name));
        let found = || counted.get(key.as_str()).into_iter().chain(other);
        RuleHits {
            rule: key.clone(),
            hits: found().map(|hits| hits.hits).sum::<usize>().min(CountRuleHits::MAX_COUNT),
            last_at: found().filter_map(|hits| hits.last_at).max(),
        }
    });
    Ok(CountedHits { since, rules: rules.collect() })
}

/// Counts earlier decisions of people about the same action.
pub(crate) async fn precedents(services: &Services, caller: &Caller, id: &str) -> Result<Precedents, ServiceError> {
    authorize(caller, Permission::Read)?;
    let count = CountPrecedents { workspace: caller.workspace, ask: ask_id(id)?, scope: caller.scope.clone() };
    services.store.read(count).await?.ok_or(ServiceError::AskNotFound)
}
