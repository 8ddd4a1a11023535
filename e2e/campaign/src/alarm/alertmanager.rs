//! A real Alertmanager, of Debian's package, and what those are notified of whom it notifies.

use std::path::Path;
use std::process::Stdio;

use serde_json::Value;
use tokio::net::TcpListener;
use tokio::process::{Child, Command};
use tokio::time::{sleep, timeout};

use crate::{DEADLINE, STEP};

/// What the package brings.
const PROGRAM: &str = "/usr/bin/prometheus-alertmanager";

/// It runs until it is dropped.
#[derive(Debug)]
pub(super) struct Alertmanager {
    url: String,
    _child: Child,
}

/// One alert that somebody was notified of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) rule: String,
    pub(super) lock: String,
    pub(super) fired_at_ms: i64,
    pub(super) is_over: bool,
}

impl Alertmanager {
    pub(super) fn is_installed() -> bool {
        Path::new(PROGRAM).exists()
    }

    /// Notifies this address of each alert by itself, at once, and once of the same.
    pub(super) async fn start(folder: &Path, notifies: &str) -> Self {
        let config = folder.join("alertmanager.yml");
        let text = format!(
            "route:\n  receiver: us\n  group_by: ['...']\n  group_wait: 100ms\n  group_interval: 1s\n  repeat_interval: 4h\n\
             receivers:\n  - name: us\n    webhook_configs:\n      - url: {notifies}\n"
        );
        std::fs::write(&config, text).expect("the folder is ours");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("its address");
        drop(listener);
        let child = Command::new(PROGRAM)
            .arg(format!("--config.file={}", config.display()))
            .arg(format!("--storage.path={}", folder.join("alertmanager").display()))
            .arg(format!("--web.listen-address={address}"))
            .arg("--cluster.listen-address=")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .expect("Alertmanager starts");
        let url = format!("http://{address}");
        let ready = async {
            while !reqwest::get(format!("{url}/-/ready")).await.is_ok_and(|answer| answer.status().is_success()) {
                sleep(STEP).await;
            }
        };
        timeout(DEADLINE, ready).await.expect("Alertmanager becomes ready");
        Self { url, _child: child }
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }
}

/// What a notification of its is about.
pub(super) fn groups(body: &[u8]) -> Vec<Group> {
    let message: Value = serde_json::from_slice(body).unwrap_or_default();
    let rows = message["alerts"].as_array().map_or(&[][..], Vec::as_slice);
    let text = |row: &Value, name: &str| row["labels"][name].as_str().unwrap_or_default().to_owned();
    let group = |row: &Value| Group {
        rule: text(row, "alertname"),
        lock: text(row, "lock"),
        fired_at_ms: row["startsAt"].as_str().and_then(instant_ms).unwrap_or_default(),
        is_over: row["status"] == "resolved",
    };
    rows.iter().map(group).collect()
}

/// An instant as Alertmanager writes it, `2026-11-27T09:52:23.12Z`, in ms since the epoch.
fn instant_ms(text: &str) -> Option<i64> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let numbers =
        |text: &str, by: char| text.split(by).map(|part| part.parse::<i64>().ok()).collect::<Option<Vec<_>>>();
    let (seconds, fraction) = time.split_once('.').unwrap_or((time, ""));
    let &[year, month, day] = numbers(date, '-')?.as_slice() else { return None };
    let &[hour, minute, second] = numbers(seconds, ':')?.as_slice() else { return None };
    let ms: i64 = format!("{fraction:0<3}").get(..3)?.parse().ok()?;
    // Years begin in March: then the day that some have more is the last.
    let (year, month) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day - 1 - 719_468;
    Some((((days * 24 + hour) * 60 + minute) * 60 + second) * 1_000 + ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_read_as_they_are_written() {
        assert_eq!(instant_ms("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(instant_ms("2026-11-27T09:52:23.12Z"), Some(1_795_773_143_120));
        assert_eq!(instant_ms("2024-02-29T23:59:59.999Z"), Some(1_709_251_199_999));
        assert_eq!(instant_ms("2024-03-01T00:00:00.000Z"), Some(1_709_251_200_000));
        assert_eq!(instant_ms("yesterday"), None);
    }
}
