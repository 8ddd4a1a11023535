//! Where the server listens: its address, TLS, and the line that names both.

use std::net::SocketAddr;

use axum::Router;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::config::{Config, ConfigError};
use crate::error::RunError;
use crate::stdout;
use lockscope_runtime::clock::Clock;
use lockscope_runtime::shutdown::CancellationToken;
use lockscope_runtime::{file_descriptors, tasks};
use lockscope_web::listener::{Bounds, Tls};

/// Open files that are no connections to us: sessions to ZooKeeper, the audit log, the lab.
const OTHER_FILES_MAX: u64 = 1_024;

/// Listens.
///
/// # Errors
/// When the address is taken or not ours.
pub async fn bind(listen: SocketAddr) -> Result<TcpListener, RunError> {
    TcpListener::bind(listen).await.map_err(|source| RunError::Listen {
        listen,
        remedy: if source.kind() == std::io::ErrorKind::AddrInUse {
            "stop what uses it, or choose another port; port 0 takes a free one"
        } else {
            "choose an address of this machine, like 127.0.0.1:3000"
        },
        source,
    })
}

/// Lets as many connections be open as are allowed, with all else that is a file.
fn make_room_for(connections: usize) {
    let needed = u64::try_from(connections).unwrap_or(u64::MAX).saturating_add(OTHER_FILES_MAX);
    if let Err(open) = file_descriptors::make_room(needed) {
        tracing::warn!(
            "{open} files may be open at once, and {needed} are needed for {connections} connections; allow them \
             (`LimitNOFILE={needed}`, `ulimit -n {needed}`), or lower `sockets_max`"
        );
    }
}

pub(super) fn serve_http(
    listener: TcpListener,
    tls: Option<Tls>,
    (router, bounds): (Router, Bounds),
    closing: CancellationToken,
    sign_in_link: &str,
) -> Result<JoinHandle<std::io::Result<()>>, RunError> {
    make_room_for(bounds.connections_max);
    let address =
        listener.local_addr().map_err(|error| RunError::Internal(format!("the local address is unknown: {error}")))?;
    let scheme = if tls.is_some() { "https" } else { "http" };
    let server = tokio::spawn(lockscope_web::listener::serve(listener, tls, router, bounds, closing));
    stdout::print(&format!("lockscope listening on {scheme}://{address}"));
    if !sign_in_link.is_empty() {
        stdout::print(&format!(
            "to release locks, sign in as operator within 15 minutes, once: {scheme}://{address}{sign_in_link}"
        ));
    }
    Ok(server)
}

/// TLS as configured; its files are watched until `stop`.
pub(super) fn open_tls(config: &Config, clock: &Clock, stop: CancellationToken) -> Result<Option<Tls>, RunError> {
    let Some(files) = config.web.tls.clone() else { return Ok(None) };
    let (tls, follower) = Tls::open(files, clock.clone()).map_err(|fault| ConfigError(fault.to_string()))?;
    tasks::spawn("certificate", lockscope_web::listener::follow(follower, stop));
    Ok(Some(tls))
}
