//! Tests of the log on a real disk.

mod durable;
mod log;
mod reading;
mod tamper;

use std::net::IpAddr;
use std::path::Path;

use lockscope_view::{AuditKind, Role, SignedBy, Within};
use tempfile::TempDir;

use super::{Entry, Journal as _, Log, Options};
use crate::Actor;
use lockscope_runtime::clock::Clock;

/// Small files, so that the chain goes over several.
const SMALL: Options = Options { rotate_bytes: 4_000 };

fn dir() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn act(number: u64) -> Entry {
    let actor = Actor {
        name: if number.is_multiple_of(3) { "ann" } else { "bob" }.to_owned(),
        role: Role::Operator,
        scope: Within::default(),
        by: SignedBy::Token,
        address: Some(IpAddr::from([10, 0, 0, 7])),
    };
    Entry {
        kind: if number.is_multiple_of(2) { AuditKind::ReleaseIntent } else { AuditKind::ReleaseOutcome },
        actor: Some(actor),
        ensemble: Some("default".to_owned()),
        lock: Some(format!("/locks/{}", number % 5)),
        path: Some(format!("/locks/{}/lock-{number:010}", number % 5)),
        plan: None,
        intent: None,
        outcome: None,
        reason: Some("stuck since the deploy".to_owned()),
        detail: format!("act {number}"),
    }
}

async fn open(dir: &Path) -> Log {
    Log::open_with(dir, Clock::manual(1_790_000_000_000), SMALL).await.unwrap()
}

/// A log with its first record and so many acts, closed again.
async fn filled(dir: &Path, acts: u64) {
    let log = open(dir).await;
    for number in 0..acts {
        assert_eq!(log.append(act(number)).await, Ok(number + 2));
    }
}
