//! A connect string and what may be wrong with it: servers, and a chroot at the end.

/// What is wrong with a value, to be read after the value, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}; {remedy}")]
pub struct Fault {
    /// Begins with a verb: the value is its subject.
    pub why: String,
    /// An order.
    pub remedy: String,
}

pub(super) fn fault<T>(why: impl Into<String>, remedy: impl Into<String>) -> Result<T, Fault> {
    Err(Fault { why: why.into(), remedy: remedy.into() })
}

/// The servers, and the chroot or nothing.
pub fn split_chroot(connect: &str) -> (&str, &str) {
    connect.find('/').map_or((connect, ""), |at| connect.split_at(at))
}

/// Whether this is `host:port`, several separated by commas, with an optional chroot at the end.
pub fn check_connect(connect: &str) -> Result<(), Fault> {
    const REMEDY: &str = "write HOST:PORT, several separated by commas, like 127.0.0.1:2181";
    let (servers, chroot) = split_chroot(connect);
    if servers.is_empty() {
        return fault("names no server", REMEDY);
    }
    for server in servers.split(',') {
        let Some((host, port)) = server.rsplit_once(':') else {
            return fault(format!("has the server {server:?} without a port"), REMEDY);
        };
        if host.is_empty() || host.contains(char::is_whitespace) {
            return fault(format!("has the server {server:?} without a host"), REMEDY);
        }
        if !port.parse::<u16>().is_ok_and(|port| port > 0) {
            return fault(format!("has the server {server:?} with a port that is none"), REMEDY);
        }
    }
    if !chroot.is_empty() && (chroot == "/" || !is_path(chroot)) {
        return fault(
            format!("ends in the chroot {chroot:?}, which is no path"),
            "write it like /app, or leave it out",
        );
    }
    Ok(())
}

pub(super) fn is_path(path: &str) -> bool {
    let part_is_good = |part: &str| !part.is_empty() && part != "." && part != ".." && !part.contains('\0');
    path == "/" || path.strip_prefix('/').is_some_and(|rest| rest.split('/').all(part_is_good))
}
