//! The addresses of the server, and calls that make it reachable from other devices.

use sayso_core::time::Time;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// One address at which the server listens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Listener {
    /// The IP address and port, for example `127.0.0.1:4517`.
    pub address: String,
    /// The URL that reaches the server at this address.
    pub url: String,
    /// Whether this is the address that the server was started with. It cannot be closed.
    pub main: bool,
}

/// All addresses at which the server listens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListenerList {
    /// The listeners; the one that the server was started with comes first.
    pub data: Vec<Listener>,
    /// The URL for other devices, if `public_url` is configured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public_url: Option<String>,
    /// The address of this machine in its local network, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggested: Option<String>,
    /// The TLS certificate, if one is configured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate: Option<Certificate>,
}

/// The TLS certificate that the server presents to other devices.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Certificate {
    /// The path of the certificate file.
    pub file: String,
    /// When the certificate expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub expires_at: Option<Time>,
    /// Why the current files cannot be loaded. While set, the server keeps using the certificate that it loaded last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// Makes the server reachable at a network address until that listener is closed or the server stops.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewListener {
    /// An address of this machine, with or without a port. Defaults to `suggested` of `GET /v1/listeners`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
}
