//! What each setting may be. Pure.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use super::{ConfigError, Given};

/// Shortest session that makes sense for a viewer.
const SESSION_TIMEOUT_MS_MIN: u64 = 500;
/// Longest; ZooKeeper's own default maximum is far below.
const SESSION_TIMEOUT_MS_MAX: u64 = 3_600_000;

fn wrong<T>(setting: &Given, why: &str, remedy: &str) -> Result<T, ConfigError> {
    Err(ConfigError(format!("{} {:?} {why}; {remedy}", setting.from, setting.value)))
}

pub(super) fn connect(setting: &Given) -> Result<(), ConfigError> {
    const REMEDY: &str = "write HOST:PORT, several separated by commas, like 127.0.0.1:2181";
    let text = setting.value.as_str();
    let (servers, chroot) = text.find('/').map_or((text, None), |at| (&text[..at], Some(&text[at..])));
    if servers.is_empty() {
        return wrong(setting, "names no server", REMEDY);
    }
    for server in servers.split(',') {
        let Some((host, port)) = server.rsplit_once(':') else {
            return wrong(setting, &format!("has the server {server:?} without a port"), REMEDY);
        };
        if host.is_empty() || host.contains(char::is_whitespace) {
            return wrong(setting, &format!("has the server {server:?} without a host"), REMEDY);
        }
        if !port.parse::<u16>().is_ok_and(|port| port > 0) {
            return wrong(setting, &format!("has the server {server:?} with a port that is none"), REMEDY);
        }
    }
    match chroot {
        Some(path) if !is_path(path) || path == "/" => {
            wrong(setting, &format!("ends in the chroot {path:?}, which is no path"), "write it like /app, or leave it out")
        }
        _ => Ok(()),
    }
}

pub(super) fn roots(settings: &[Given]) -> Result<(), ConfigError> {
    for setting in settings {
        let root = setting.value.as_str();
        if !root.starts_with('/') {
            return wrong(setting, "does not start with a slash", &format!("write /{root}"));
        }
        if root != "/" && root.ends_with('/') {
            return wrong(setting, "ends with a slash", &format!("write {}", or_top(root.trim_end_matches('/'))));
        }
        if !is_path(root) {
            return wrong(setting, "is no path: a part of it is empty, . or ..", "write the path as ZooKeeper lists it");
        }
    }
    for (at, setting) in settings.iter().enumerate() {
        for (other_at, other) in settings.iter().enumerate() {
            if at > other_at && setting.value == other.value {
                return wrong(setting, "is named twice", "name it once");
            }
            if at != other_at && setting.value != other.value && is_under(&setting.value, &other.value) {
                let remedy = format!("roots must not nest: leave it out, {} is watched with all that is under it", other.value);
                return wrong(setting, &format!("lies inside the root {:?}", other.value), &remedy);
            }
        }
    }
    Ok(())
}

fn or_top(path: &str) -> &str {
    if path.is_empty() { "/" } else { path }
}

fn is_path(path: &str) -> bool {
    let is_good = |part: &str| !part.is_empty() && part != "." && part != ".." && !part.contains('\0');
    path == "/" || path.strip_prefix('/').is_some_and(|rest| rest.split('/').all(is_good))
}

fn is_under(path: &str, root: &str) -> bool {
    root == "/" || path.strip_prefix(root).is_some_and(|rest| rest.starts_with('/'))
}

pub(super) fn listen(setting: &Given) -> Result<SocketAddr, ConfigError> {
    let numeric = setting.value.strip_prefix("localhost:").map_or_else(|| setting.value.clone(), |port| format!("127.0.0.1:{port}"));
    let Ok(address) = numeric.parse::<SocketAddr>() else {
        return wrong(setting, "is not an address to listen on", "write ADDR:PORT, like 127.0.0.1:3000, or port 0 for a free one");
    };
    let is_loopback = match address.ip() {
        IpAddr::V4(ip) => ip.is_loopback(),
        IpAddr::V6(ip) => ip.is_loopback(),
    };
    if is_loopback {
        return Ok(address);
    }
    wrong(
        setting,
        "reaches beyond this machine, and this version has no sign-in yet",
        "use a loopback address like 127.0.0.1:3000, and a tunnel to reach it from elsewhere",
    )
}

pub(super) fn data_dir(setting: &Given) -> Result<PathBuf, ConfigError> {
    if setting.value.is_empty() { wrong(setting, "is empty", "name a directory, or leave it out") } else { Ok(PathBuf::from(&setting.value)) }
}

pub(super) fn time(setting: &Given) -> Result<Duration, ConfigError> {
    let text = setting.value.trim();
    let number_ends_at = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(number_ends_at);
    let factor_ms = match unit {
        "ms" => Some(1),
        "s" | "" => Some(1_000),
        "m" => Some(60_000),
        _ => None,
    };
    let ms = factor_ms.zip(number.parse::<u64>().ok()).and_then(|(factor, number)| number.checked_mul(factor)).filter(|ms| *ms > 0);
    let Some(ms) = ms else { return wrong(setting, "is not a time", "write it like 30s, 500ms or 2m") };
    Ok(Duration::from_millis(ms))
}

pub(super) fn session_timeout(setting: &Given) -> Result<Duration, ConfigError> {
    let range = SESSION_TIMEOUT_MS_MIN..=SESSION_TIMEOUT_MS_MAX;
    match setting.value.trim().parse::<u64>() {
        Ok(ms) if range.contains(&ms) => Ok(Duration::from_millis(ms)),
        Ok(_) | Err(_) => wrong(
            setting,
            "is not a session time-out",
            &format!("write milliseconds from {SESSION_TIMEOUT_MS_MIN} to {SESSION_TIMEOUT_MS_MAX}, like 10000"),
        ),
    }
}
