//! The audit log from outside: killed writers, full disks, HTTP, the command line, and the webhook.

mod api;
mod crash;
mod disk;
mod line;
mod webhook;

use std::path::Path;

use lockscope_audit::{Entry, Journal as _, Log, PageQuery, Records as _};
use lockscope_runtime::clock::Clock;
use lockscope_view::AuditKind;

async fn open(dir: &Path) -> Log {
    Log::open(dir, Clock::manual(1_790_000_000_000)).await.unwrap()
}

fn act(detail: impl Into<String>) -> Entry {
    Entry { lock: Some("/locks/a".to_owned()), ..Entry::of_server(AuditKind::ReleaseIntent, detail.into()) }
}

async fn append(log: &Log, detail: impl Into<String>) -> u64 {
    log.append(act(detail)).await.unwrap()
}

/// Every record's number and detail, oldest first.
async fn details(log: &Log) -> Vec<(u64, String)> {
    let (mut all, mut before) = (Vec::new(), None);
    loop {
        let page = log.page(PageQuery { before, limit: 500, ..PageQuery::default() }).await.unwrap();
        all.extend(page.records.into_iter().map(|record| (record.id, record.detail)));
        before = page.next_before;
        if before.is_none() {
            all.reverse();
            return all;
        }
    }
}
