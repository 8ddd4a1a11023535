//! Where log lines go: standard error, so that standard output stays for what scripts read. Owns the subscriber only.

use std::io::IsTerminal as _;

use tracing_subscriber::EnvFilter;

/// The environment variable with the filter, in the form of `tracing_subscriber::EnvFilter`.
pub const FILTER_VAR: &str = "LOCKSCOPE_LOG";
/// What is logged when nothing is said.
/// The client crate warns of every attempt to connect; we say once what that means.
const FILTER_DEFAULT: &str = "warn,zookeeper_client=error,server=info,lockscope=info";

/// Starts logging. A second call changes nothing, and a filter that can't be read is replaced by the default.
pub fn start() {
    let filter = EnvFilter::try_from_env(FILTER_VAR).unwrap_or_else(|_| EnvFilter::new(FILTER_DEFAULT));
    let is_terminal = std::io::stderr().is_terminal();
    // An error only says that logging runs already.
    let _ = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(is_terminal).with_target(false).try_init();
}
