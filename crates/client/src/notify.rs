//! The channels that reach people who do not look.

use sayso_api::notify::{ChannelList, TestChannels, TestedList};

use crate::client::Client;
use crate::error::Error;

impl Client {
    /// The channels, without their secrets.
    ///
    /// # Errors
    /// When the server says no or does not answer.
    pub async fn channels(&self) -> Result<ChannelList, Error> {
        self.get(&["notify"]).await
    }

    /// Sends a test note through one channel, or all of them.
    ///
    /// # Errors
    /// When the server says no or does not answer.
    pub async fn test_channels(&self, name: Option<String>) -> Result<TestedList, Error> {
        self.post(&["notify", "test"], &TestChannels { name }).await
    }
}
