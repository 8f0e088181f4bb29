//! Groups: the asks of a suspended run, and the claims of workers that resume it.

use std::time::Duration;

use sayso_api::group::{
    AckRequest, Claim, ClaimRequest, Group, NewGroup, ReadyGroups, ReadyQuery, ReleaseRequest, RenewRequest, WithdrawGroupQuery,
};

use crate::client::Client;
use crate::error::Error;

/// The server waits 60 seconds at most.
const LONGEST_WAIT: Duration = Duration::from_secs(90);

impl Client {
    /// Opens the asks at which a run pauses: all of them or none.
    ///
    /// # Errors
    /// With `dedupe_key_reused` when the key belongs to a group that asks for something else.
    pub async fn open_group(&self, group: &NewGroup) -> Result<Group, Error> {
        self.post(&["groups"], group).await
    }

    /// Reads one group that this token opened.
    ///
    /// # Errors
    /// With `group_not_found` when there is none.
    pub async fn group(&self, id: &str) -> Result<Group, Error> {
        self.get(&["groups", id]).await
    }

    /// Withdraws a group: its pending asks are withdrawn, and its state is deleted.
    ///
    /// # Errors
    /// With `group_not_ready` while a worker has the group, and with `group_ended` after the group has ended.
    pub async fn withdraw_group(&self, id: &str, reason: Option<&str>) -> Result<(), Error> {
        self.delete_with(&["groups", id], &WithdrawGroupQuery { reason: reason.map(str::to_owned) }).await
    }

    /// Waits for a group that can be claimed, at most 60 seconds.
    ///
    /// # Errors
    /// When the server refuses the call or does not respond.
    pub async fn ready_groups(&self, query: &ReadyQuery) -> Result<ReadyGroups, Error> {
        self.get_within(LONGEST_WAIT, &["groups", "ready"], query).await
    }

    /// Claims the oldest complete group with a name, or one group by id. `None` if no group with the name is complete.
    ///
    /// # Errors
    /// With `group_not_ready` or `group_ended` when the group with the id cannot be claimed, and with `state_unreadable` when its
    /// state cannot be decrypted.
    pub async fn claim_group(&self, claim: &ClaimRequest) -> Result<Option<Claim>, Error> {
        self.post_for_optional(&["groups", "claim"], claim).await
    }

    /// Extends the lease of a claim.
    ///
    /// # Errors
    /// With `claim_lost` when the claim has ended.
    pub async fn renew_claim(&self, id: &str, renewal: &RenewRequest) -> Result<Group, Error> {
        self.post(&["groups", id, "renew"], renewal).await
    }

    /// Reports that the run was resumed. The state is deleted.
    ///
    /// # Errors
    /// With `claim_lost` when another worker has the group, or a person decided about it.
    pub async fn acknowledge_claim(&self, id: &str, epoch: u64) -> Result<Group, Error> {
        self.post(&["groups", id, "ack"], &AckRequest { epoch }).await
    }

    /// Releases a claim.
    ///
    /// # Errors
    /// With `claim_lost` when the claim has ended.
    pub async fn release_claim(&self, id: &str, release: &ReleaseRequest) -> Result<Group, Error> {
        self.post(&["groups", id, "release"], release).await
    }
}
