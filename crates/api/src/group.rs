//! Groups: the asks of one pause of a suspended run, its state, and the claims of workers that resume it.

use sayso_core::group as core;
use sayso_core::time::Time;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::ask::{Ask, NewAsk};

/// Opens the asks at which a run pauses: all of them or none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct NewGroup {
    /// The runs that your workers resume, for example `mailer`. Workers claim groups by this name.
    pub name: String,
    /// Your key for this pause of the run, for example run id and turn. Opening it again returns the same group, even after it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The asks. They have no `dedupeKey` and no `keep` of their own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub asks: Vec<NewAsk>,
    /// Ids of asks that you opened before.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ask_ids: Vec<String>,
    /// What your worker needs to resume the run, at most 4 MiB. It is stored encrypted, only your token can read it, and it is
    /// deleted when the claim is acknowledged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// A short text instead of a state, at most 256 bytes, for example the id of a thread whose state you store yourself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume_ref: Option<String>,
    /// A target of `[callbacks]` in `config.toml` that is called when the group is complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub callback: Option<String>,
    /// Whether another worker may claim the group when a lease expires. Without it, a person decides, because the first
    /// worker may have called tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry: Option<bool>,
    /// How long asks wait for a person, and the complete group for a worker, e.g. `7d`; 30 days by default, at most `90d`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep: Option<String>,
}

/// The status of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum GroupStatus {
    /// Asks are pending.
    Pending,
    /// All asks are decided; a worker can claim the group.
    Ready,
    /// A worker has claimed the group and is resuming the run.
    Claimed,
    /// The lease of a worker expired, and a person decides whether the run is resumed again; see `uncertainAsk`.
    Uncertain,
    /// A worker resumed the run.
    Acknowledged,
    /// A person decided that the run is not resumed again.
    Abandoned,
    /// You withdrew the group.
    Withdrawn,
    /// No worker claimed the group in time.
    Expired,
}

/// One group. The state is not part of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Group {
    /// The unique id of the group.
    pub id: String,
    /// The name of the runs that the group belongs to.
    pub name: String,
    /// The key that you gave the pause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The status of the group.
    pub status: GroupStatus,
    /// The asks of the group, in the order of the request.
    pub asks: Vec<Ask>,
    /// The number of the last claim; 0 if there was none.
    pub epoch: u64,
    /// The worker of the last claim, while that worker has the group or the claim is uncertain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    /// When the lease of the claim expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub lease_until: Option<Time>,
    /// The ask that decides about an uncertain claim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncertain_ask: Option<String>,
    /// Whether another worker can claim the group when a lease expires.
    pub retry: bool,
    /// The target that is called when the group is complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub callback: Option<String>,
    /// When the group was opened.
    #[schema(value_type = String, format = DateTime)]
    pub opened_at: Time,
}

impl Group {
    /// The group with these asks.
    #[must_use]
    pub fn of(group: &core::Group, asks: Vec<Ask>) -> Self {
        let (status, claim, uncertain) = match &group.phase {
            core::GroupPhase::Pending => (GroupStatus::Pending, None, None),
            core::GroupPhase::Ready { .. } => (GroupStatus::Ready, None, None),
            core::GroupPhase::Claimed { claim } => (GroupStatus::Claimed, Some(claim), None),
            core::GroupPhase::Uncertain { claim, ask } => (GroupStatus::Uncertain, Some(claim), Some(ask)),
            core::GroupPhase::Ended { end, .. } => (GroupStatus::from(*end), None, None),
        };
        Self {
            id: group.id.to_string(),
            name: group.name.clone(),
            key: group.key.clone(),
            status,
            asks,
            epoch: group.epoch,
            worker: claim.map(|claim| claim.worker.clone()),
            lease_until: claim.map(|claim| claim.until),
            uncertain_ask: uncertain.map(ToString::to_string),
            retry: group.retry,
            callback: group.callback.as_ref().map(|callback| callback.target.clone()),
            opened_at: group.opened_at,
        }
    }
}

impl From<core::GroupEnd> for GroupStatus {
    fn from(end: core::GroupEnd) -> Self {
        match end {
            core::GroupEnd::Acknowledged => Self::Acknowledged,
            core::GroupEnd::Abandoned => Self::Abandoned,
            core::GroupEnd::Withdrawn => Self::Withdrawn,
            core::GroupEnd::Expired => Self::Expired,
        }
    }
}

/// Claims one complete group: the oldest one with a name, or one by id.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ClaimRequest {
    /// Claim the oldest complete group with this name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Claim the group with this id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The name of the worker. It is shown to the person who decides about an uncertain claim.
    pub worker: String,
    /// The lease: the claim expires after this time without a renewal, e.g. `60s` (the default), at most `1h`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease: Option<String>,
}

/// Which groups to wait for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ReadyQuery {
    /// The name of the runs.
    pub name: String,
    /// Wait up to this long (at most 60s) for a complete group, e.g. `30s`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<String>,
}

/// Whether a group can be claimed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReadyGroups {
    /// The number of complete groups with this name that no worker has claimed.
    pub ready: usize,
}

/// The right to resume one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Claim {
    /// The group with the outcomes of its asks. Secret answers are in plain text.
    pub group: Group,
    /// The number of this claim. Send it with every report. A later claim of the group has a larger epoch.
    pub epoch: u64,
    /// The state that was stored with the group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// The short text that was stored with the group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume_ref: Option<String>,
}

/// Extends the lease of a claim.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RenewRequest {
    /// The epoch of the claim.
    pub epoch: u64,
    /// The new lease, counted from now, e.g. `60s` (the default), at most `1h`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<String>,
}

/// Reports that the run was resumed. The state is deleted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AckRequest {
    /// The epoch of the claim.
    pub epoch: u64,
}

/// Releases a claim.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReleaseRequest {
    /// The epoch of the claim.
    pub epoch: u64,
    /// Whether the run may have called tools. Then a person decides whether it is resumed again, unless the group has `retry`.
    #[serde(default)]
    pub started: bool,
    /// A description of the failure for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Parameters of the withdrawal of a group.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub struct WithdrawGroupQuery {
    /// The reason for the withdrawal, shown to people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
