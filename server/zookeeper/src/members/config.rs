//! Which members are queried, and with which credentials.

use std::time::Duration;

use super::super::credentials::Credentials;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Connect string; it was checked.
    pub connect: String,
    /// AdminServers, as [`check_admin_url`](super::check_admin_url) lets them pass.
    pub admin_urls: Vec<String>,
    pub credentials: Credentials,
    /// Time-out of those short sessions.
    pub session_timeout: Duration,
}
