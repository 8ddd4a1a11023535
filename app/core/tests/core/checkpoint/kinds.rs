//! What the histories are about: roots, kinds of locks, settings.

use lockscope_core::configured::Configured;
use lockscope_core::finding::{Code, Limits};
use lockscope_core::observation::LockConfig;
use lockscope_core::observatory::Settings;
use lockscope_core::recipe::Recipe;
use lockscope_core::verdict::Thresholds;

pub(super) const ROOTS: [&str; 2] = ["/r", "/s"];

/// Directories that are there from the beginning.
pub(super) const KNOWN_DIRECTORIES: [&str; 14] = [
    "/r",
    "/r/hbase",
    "/r/hbase/backup-masters",
    "/r/ksem",
    "/r/lqueue",
    "/r/lqueue/entries",
    "/r/old-locks",
    "/r/old-locks/spent",
    "/r/sem",
    "/r/sem/leases",
    "/r/sem/locks",
    "/r/solr",
    "/s",
    "/s/work",
];

/// Directory, prefix of the names that clients write there (with a uuid by the client's number where a `@` or `#`
/// stands; persistent ones begin with `!`, those without a number with `=`), and payload.
pub(super) const KINDS: [(&str, &str, &str); 43] = [
    ("/r/mutex", "_c_@-lock-", "10.0.0.1"),
    ("/r/rw", "_c_@-__READ__", ""),
    ("/r/rw", "_c_@-__WRIT__", "writer"),
    ("/r/kazoo", "#__lock__", "host-1"),
    ("/r/kazoo", "#__rlock__", ""),
    ("/r/plain", "lock-", "worker-1"),
    ("/r/mixed", "_c_@-lock-", ""),
    ("/r/mixed", "#__lock__", ""),
    ("/r/latch", "_c_@-latch-", "node-1"),
    ("/r/sem/leases", "_c_@-lease-", ""),
    ("/r/sem/locks", "_c_@-lock-", ""),
    ("/r/ksem", "=#", ""),
    ("/r/ksem-__lock__", "#__lock__", ""),
    ("/r/party", "#__party__", ""),
    ("/r/queue", "!entry-100-", "job"),
    ("/r/lqueue/entries", "!entry-100-", "job"),
    ("/r/lqueue/taken", "=entry-100-0000000001", ""),
    ("/r/solr/election", "72057655109877762-n1_solr-n_", ""),
    ("/r/solr", "=leader", ""),
    ("/r/synchronizing", "=@", ""),
    ("/r/synchronizing", "!=start", ""),
    ("/r", "=orders-lock", "app-1"),
    ("/r", "!=import-lock", ""),
    ("/r/fixed", "=lock", "app-2"),
    ("/r/fixed", "!=lock", "{\"end\": \"1970-01-01T00:00:30\"}"),
    ("/r", "!=barrier", ""),
    ("/r/group", "member-", ""),
    ("/r/timed", "!=lease_holder", "{\"version\": 1, \"holder\": \"a\", \"end\": \"1970-01-01T00:17:30\"}"),
    ("/r/hbase", "=master", ""),
    ("/r/hbase/backup-masters", "=host-#,16000,1790000000123", ""),
    ("/r/stuck", "=_c_@-lock-2147483647", ""),
    ("/r/stuck", "=_c_@-lock--2147483648", ""),
    ("/r/foreign", "!config-", ""),
    ("/r/kazoo", "!#__lock__", ""),
    ("/r/hbase", "!=master", ""),
    ("/r/ksem", "!=#", ""),
    ("/r/synchronizing", "!=@", ""),
    ("/s/a", "lock-", "worker-2"),
    ("/s/b", "lock-", ""),
    ("/s/c", "_c_@-lock-", ""),
    ("/s/work", "job-", ""),
    ("/s/any", "any-", ""),
    ("/s/election", "n_", "leader-1"),
];

/// What the operator says.
pub(super) fn config(which: usize) -> LockConfig {
    let entry = |pattern: &str, recipe, max| Configured { pattern: pattern.to_owned(), recipe, max };
    let configured = match which % 4 {
        0 => Vec::new(),
        1 => vec![entry("/s/work", Some(Recipe::Semaphore), Some(2)), entry("/s/any", Some(Recipe::ReadWrite), None)],
        2 => vec![entry("/r/mutex", Some(Recipe::Unknown), None), entry("/r/sem", None, Some(3))],
        _ => vec![entry("/s/**", Some(Recipe::Election), None)],
    };
    let off = if which % 4 == 3 { vec![Code::Deadlock, Code::OrphanContender] } else { Vec::new() };
    let held = match which % 4 {
        1 => vec!["/s/nothing", "/r/mutex", "/s/**"],
        2 => vec!["/r/mutex"],
        _ => Vec::new(),
    };
    let must_be_held = held.into_iter().map(str::to_owned).collect();
    let limits =
        Limits { off, herd_waiters: 2, deep_contenders: 4, churn_attempts: 2, must_be_held, ..Limits::default() };
    LockConfig { configured, limits }
}

/// What a server is started with: other roots now and then.
pub(super) fn settings(which: usize) -> Settings {
    let roots = if which % 4 == 3 { vec!["/s", "/q"] } else { ROOTS.to_vec() };
    let LockConfig { configured, limits } = config(1);
    let thresholds = Thresholds { usual_after_holds: 2, slow_min_ms: 50, stuck_min_ms: 4_000, ..Thresholds::default() };
    Settings { roots: roots.into_iter().map(str::to_owned).collect(), thresholds, configured, limits }
}
