//! Notification channels.

use sayso_api::notify::{ChannelList, TestChannels, TestedList};

use crate::client::Client;
use crate::error::Error;

impl Client {
    /// Lists the channels, without their secrets.
    ///
    /// # Errors
    /// If the server refuses the request or cannot be reached.
    pub async fn channels(&self) -> Result<ChannelList, Error> {
        self.get(&["notify"]).await
    }

    /// Sends a test notification through one channel, or through all.
    ///
    /// # Errors
    /// If the server refuses the request or cannot be reached.
    pub async fn test_channels(&self, name: Option<String>) -> Result<TestedList, Error> {
        self.post(&["notify", "test"], &TestChannels { name }).await
    }
}
