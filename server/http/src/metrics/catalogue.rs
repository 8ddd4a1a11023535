//! Every metric: name, type, labels and meaning. The one table that the exposition and docs/metrics.md are made of.

use std::fmt::Write as _;

/// What all names begin with.
pub const PREFIX: &str = "lockscope_";

/// Types of metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Goes up and down.
    Gauge,
    /// Only grows, and begins at zero with the process.
    Counter,
    /// Counts by edges; edges in seconds.
    Histogram,
}

impl Kind {
    /// Its name in the exposition format.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gauge => "gauge",
            Self::Counter => "counter",
            Self::Histogram => "histogram",
        }
    }
}

/// What one metric is.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// Its name without the prefix.
    pub name: &'static str,
    /// Its type.
    pub kind: Kind,
    /// Its labels, in order.
    pub labels: &'static [&'static str],
    /// One sentence or two.
    pub help: &'static str,
}

impl About {
    /// What it is measured in, by its name.
    pub fn unit(&self) -> &'static str {
        let name = self.name.strip_suffix("_total").unwrap_or(self.name);
        match name.rsplit('_').next() {
            Some("seconds") => "seconds",
            Some("bytes") => "bytes",
            Some("ratio") => "0 to 1",
            _ => "",
        }
    }
}

macro_rules! families {
    ($($group:literal { $($variant:ident: $kind:ident $name:literal [$($label:literal),*] $help:literal;)+ })+) => {
        /// Names a metric.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[expect(missing_docs, reason = "each has its sentence in the table, which is what operators read")]
        pub enum Family {
            $($($variant,)+)+
        }

        impl Family {
            /// Every metric, in the order it is told.
            pub const ALL: &[Self] = &[$($(Self::$variant,)+)+];

            /// What it is.
            pub fn about(self) -> About {
                match self {
                    $($(Self::$variant => About { name: $name, kind: Kind::$kind, labels: &[$($label),*], help: $help },)+)+
                }
            }
        }

        /// The same by what they are about.
        const GROUPS: &[(&str, &[Family])] = &[$(($group, &[$(Family::$variant,)+]),)+];
    };
}

families! {
    "Locks" {
        Locks: Gauge "locks" ["ensemble", "verdict"] "Locks by verdict. The sum over verdicts is the number of locks.";
        LocksIncomplete: Gauge "locks_incomplete" ["ensemble", "missing"] "Locks of which something may be there that is not seen, by what is missing; a lock that misses several things counts for each.";
        LocksHeld: Gauge "locks_held" ["ensemble"] "Locks that somebody holds.";
        LocksContended: Gauge "locks_contended" ["ensemble"] "Locks that somebody waits for.";
        Holders: Gauge "holders" ["ensemble"] "Contenders that hold. Items of queues and members of groups and barriers are none.";
        Waiters: Gauge "waiters" ["ensemble"] "Contenders that are seen to wait for a lock, with a znode or without. Candidates of elections, items of queues and members of groups and barriers are none. While locks_incomplete is above 0 there may be more.";
        OldestWait: Gauge "oldest_wait_seconds" ["ensemble"] "How long the one that has waited longest for any lock waits now; 0 when nobody is seen to wait. A waiter without a znode counts from when it was first seen.";
        LongestHold: Gauge "longest_hold_seconds" ["ensemble"] "How long the one that has held any lock longest holds it now, waited for or not. A hold that began before Lockscope looked counts from its first look.";
        Findings: Gauge "findings" ["ensemble", "code", "severity"] "Locks with a finding now, by finding. One that no lock has has no series.";
        Deadlocks: Gauge "deadlocks" ["ensemble"] "Circles of sessions that wait for each other now.";
        MaybeDeadlocks: Gauge "maybe_deadlocks" ["ensemble"] "Circles that are deadlocks only if one thread of each session both holds and waits.";
        SequenceUsed: Gauge "sequence_used_ratio" ["ensemble"] "Part of the 2147483647 sequence numbers that is used, of the lock that has used most.";
        WaitDuration: Histogram "wait_duration_seconds" ["ensemble"] "Waits that ended in a hold, from the znode's creation to the hold.";
        HoldDuration: Histogram "hold_duration_seconds" ["ensemble"] "Holds that were seen from beginning to end.";
        OwnerUnknown: Counter "owner_unknown_total" ["ensemble"] "Contenders that were gone before their owner could be read.";
    }
    "Single locks" {
        LockHolders: Gauge "lock_holders" ["ensemble", "path"] "Contenders that hold this lock. Told apart are locks that the setting metrics.locks names and the metrics.top_locks with most waiting now; path=\"_other\" is all others together.";
        LockWaiters: Gauge "lock_waiters" ["ensemble", "path"] "Contenders that wait for this lock. No series for a lock whose waiters can't be seen. Which are told apart is said at lock_holders; path=\"_other\" is the sum of all others.";
        LockOldestWait: Gauge "lock_oldest_wait_seconds" ["ensemble", "path"] "How long the first in line waits for this lock. Which are told apart is said at lock_holders; path=\"_other\" is the longest of all others.";
        LockHold: Gauge "lock_hold_seconds" ["ensemble", "path"] "How long the first holder holds this lock. Which are told apart is said at lock_holders; path=\"_other\" is the longest of all others.";
        LockSequenceUsed: Gauge "lock_sequence_used_ratio" ["ensemble", "path"] "Part of the sequence numbers of this lock that is used. Which are told apart is said at lock_holders; path=\"_other\" is the most of all others.";
        OtherLocks: Gauge "other_locks" ["ensemble"] "Locks that path=\"_other\" stands for.";
    }
    "The view" {
        Ready: Gauge "ready" [] "1 when every root left its first sync.";
        LinkState: Gauge "link_state" ["ensemble", "state"] "1 for the state that the link to the ensemble is in, 0 for the others.";
        ViewAge: Gauge "view_age_seconds" ["ensemble"] "How long ago the instant is up to which all that is shown of the ensemble is known to be true. What is older than 2 seconds is not called live.";
        RootState: Gauge "root_state" ["ensemble", "root", "state"] "1 for the state that the view of a watched root is in, 0 for the others.";
        RootLocks: Gauge "root_locks" ["ensemble", "root"] "Locks below a watched root.";
        RootZnodes: Gauge "root_znodes" ["ensemble", "root"] "Znodes believed below a watched root.";
        Changes: Counter "changes_total" ["ensemble"] "Changes applied to the model.";
        Events: Counter "events_total" ["ensemble"] "Watch events of created and deleted znodes taken in.";
        EventLag: Histogram "event_lag_seconds" ["ensemble"] "From the arrival of watch events to the moment the model had taken them in; one observation for those that came at once.";
        Resyncs: Counter "resyncs_total" ["ensemble", "reason"] "Times a watched root was read anew; its first reading is none.";
        Missed: Counter "missed_total" ["ensemble"] "Creations that the counters of a directory tell of and no event showed.";
        ClockOffset: Gauge "clock_offset_seconds" ["ensemble"] "Our clock minus the ensemble's, estimated. No series before there is evidence.";
        ClockError: Gauge "clock_error_seconds" ["ensemble"] "By how much clock_offset_seconds may be wrong. No series while nothing bounds it.";
        EvidenceSource: Gauge "evidence_source_state" ["ensemble", "member", "source", "state"] "1 for how one question to one member of the ensemble goes, 0 for the other states.";
        EvidenceRounds: Counter "evidence_rounds_total" ["ensemble"] "Rounds of questions to the members.";
    }
    "Requests to ZooKeeper" {
        ZkRequests: Counter "zookeeper_requests_total" ["ensemble", "kind"] "Requests sent to ZooKeeper to watch it. Acts and questions to members are not among them.";
        ZkErrors: Counter "zookeeper_request_errors_total" ["ensemble", "kind"] "Of these, those that failed while the link was there.";
        ZkSessions: Counter "zookeeper_sessions_total" ["ensemble"] "Sessions made to watch; more than one means that one was lost.";
    }
    "Browsers and scripts" {
        SocketClients: Gauge "socket_clients" [] "Live sockets open now.";
        SocketsOpened: Counter "sockets_opened_total" [] "Live sockets opened.";
        FramesSent: Counter "frames_sent_total" [] "Frames sent on live sockets.";
        Conflations: Counter "socket_conflations_total" [] "Times a viewer that fell behind was given the newest state instead of each step to it.";
        SlowClosed: Counter "slow_sockets_closed_total" [] "Live sockets closed with 1013 because a frame could not be sent in time.";
        FramesRefused: Counter "frames_refused_total" [] "Frames of clients that were not understood.";
        ViewsWatched: Gauge "views_watched" [] "Distinct views somebody looks at.";
        ViewsIdle: Gauge "views_idle" [] "Distinct views kept for those who come back.";
        Guarded: Counter "requests_guarded_total" [] "Requests refused for their host, their page or their form.";
        SignInsRefused: Counter "sign_ins_refused_total" [] "Sign-ins that were refused.";
        Limited: Counter "limited_total" ["limit"] "What was refused because of a rate limit or a maximum, by the limit. Limits that begin with caller_ are those of one caller; the others are those of all together.";
    }
    "Acts" {
        Releases: Counter "releases_total" ["ensemble", "outcome"] "Releases that were ordered, by how they ended.";
        ReleasesRefused: Counter "releases_refused_total" [] "Releases that were ordered and not taken: nothing was sent.";
        LabRuns: Counter "lab_runs_total" ["ensemble"] "Runs of the lab that were begun.";
        AuditRecords: Counter "audit_records_total" [] "Records of acts written by this process.";
        AuditFailures: Counter "audit_write_failures_total" [] "Attempts to write a record, or to open what they are written to, that failed.";
        AuditFailing: Gauge "audit_failing" [] "1 when the last attempt to write a record failed: every act is refused meanwhile.";
        WebhookBehind: Gauge "webhook_backlog_records" [] "Records that the webhook has still to take. No series without a webhook.";
    }
    "The process" {
        Panics: Counter "panics_total" [] "Panics of this process. Each is a fault of Lockscope and is logged with its place.";
        BuildInfo: Gauge "build_info" ["version"] "Always 1; its label says what runs.";
        StartTime: Gauge "process_start_time_seconds" [] "When the process started, in seconds since the Unix epoch.";
        ResidentMemory: Gauge "process_resident_memory_bytes" [] "Memory of the process that is in use now.";
        OpenFds: Gauge "process_open_fds" [] "Files and sockets that are open now.";
        MaxFds: Gauge "process_max_fds" [] "Files and sockets that may be open.";
    }
}

/// The tables of docs/metrics.md.
pub fn document() -> String {
    let mut text = String::new();
    for (group, families) in GROUPS {
        // Writing to a String cannot fail.
        let _ = write!(text, "## {group}\n\n| metric | type | unit | labels | meaning |\n|---|---|---|---|---|\n");
        for about in families.iter().map(|family| family.about()) {
            let labels: Vec<String> = about.labels.iter().map(|label| format!("`{label}`")).collect();
            let (name, kind, unit, labels) = (about.name, about.kind.name(), about.unit(), labels.join(", "));
            let _ = writeln!(text, "| `{PREFIX}{name}` | {kind} | {unit} | {labels} | {} |", about.help);
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_follow_the_conventions() {
        let names: BTreeSet<&str> = Family::ALL.iter().map(|family| family.about().name).collect();
        assert_eq!(names.len(), Family::ALL.len(), "a name is there twice");
        for about in Family::ALL.iter().map(|family| family.about()) {
            assert_eq!(about.kind == Kind::Counter, about.name.ends_with("_total"), "{}", about.name);
            assert!(about.name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{}", about.name);
            assert!(about.help.ends_with('.') && !about.help.contains('|'), "{}", about.help);
            assert!(about.kind != Kind::Histogram || about.unit() == "seconds", "{}", about.name);
        }
    }

    #[test]
    fn the_document_has_the_tables_of_this_file() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/metrics.md");
        let text = std::fs::read_to_string(&path).unwrap();
        let (before, _) = text.split_once("## Locks\n").expect("the tables begin with Locks");
        let after = text.split_once("\n## What is not told").expect("after the tables").1;
        let whole = format!("{before}{}## What is not told{after}", document());
        if std::env::var_os("LOCKSCOPE_WRITE_DOCS").is_some() {
            std::fs::write(&path, &whole).unwrap();
            return;
        }
        assert!(text == whole, "docs/metrics.md is not what the table says; write it with LOCKSCOPE_WRITE_DOCS=1 and this test");
    }
}
