//! Where the server is reached, and opening it to a network.

use sayso_core::time::Time;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// One address at which the server listens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Listener {
    /// The address and port.
    pub address: String,
    /// How to call it there.
    pub url: String,
    /// Whether it is the server's own, which stays as long as the server does.
    pub main: bool,
}

/// Where the server is reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListenerList {
    /// The addresses, its own first.
    pub data: Vec<Listener>,
    /// The address that other devices use, if one is configured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public_url: Option<String>,
    /// The address of this machine in its network, if it is in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggested: Option<String>,
    /// The certificate, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate: Option<Certificate>,
}

/// The certificate that other devices see.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Certificate {
    /// Its file.
    pub file: String,
    /// When it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub expires_at: Option<Time>,
    /// Why what stands in the files now is not used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// Opens the server to a network, until it is closed or the server ends.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewListener {
    /// The address of this machine there, with or without a port; the suggested one if it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
}
