//! Every metric: name, type, labels and meaning. The one table that the exposition and docs/metrics.md are made of.

use std::fmt::Write as _;

use prometheus_client::metrics::MetricType;

pub const PREFIX: &str = "lockscope_";

#[derive(Clone, Copy, Debug)]
pub struct About {
    /// Its name without the prefix.
    pub name: &'static str,
    /// Its type. Histograms have edges in seconds.
    pub kind: MetricType,
    /// Its labels, in order.
    pub labels: &'static [&'static str],
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
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Family {
            $($($variant,)+)+
        }

        impl Family {
            /// Every metric, in the order it is exposed.
            pub const ALL: &[Self] = &[$($(Self::$variant,)+)+];

            pub fn about(self) -> About {
                match self {
                    $($(Self::$variant => About { name: $name, kind: MetricType::$kind, labels: &[$($label),*], help: $help },)+)+
                }
            }
        }

        const GROUPS: &[(&str, &[Family])] = &[$(($group, &[$(Family::$variant,)+]),)+];
    };
}

families! {
    "Locks" {
        Locks: Gauge "locks" ["ensemble", "verdict"] "Locks by verdict. The sum over verdicts is the number of locks.";
        LocksIncomplete: Gauge "locks_incomplete" ["ensemble", "missing"] "Locks that may have contenders or watches that are not visible, by what is missing; a lock with several gaps counts once for each.";
        LocksHeld: Gauge "locks_held" ["ensemble"] "Locks that somebody holds.";
        LocksContended: Gauge "locks_contended" ["ensemble"] "Locks that somebody waits for.";
        Holders: Gauge "holders" ["ensemble"] "Contenders that hold a lock. Queue items and members of groups and barriers are not counted.";
        Waiters: Gauge "waiters" ["ensemble"] "Contenders that visibly wait for a lock, with or without a znode. Election candidates, queue items and members of groups and barriers are not counted. While locks_incomplete is above 0 there may be more.";
        OldestWait: Gauge "oldest_wait_seconds" ["ensemble"] "Longest current wait for any lock; 0 when nobody visibly waits. A waiter without a znode counts from when it was first seen.";
        LongestHold: Gauge "longest_hold_seconds" ["ensemble"] "Longest current hold of any lock, contended or not. A hold that began before Lockscope started counts from its first read.";
        Findings: Gauge "findings" ["ensemble", "code", "severity"] "Locks with a finding now, by finding. Findings that no lock currently has are omitted.";
        Deadlocks: Gauge "deadlocks" ["ensemble"] "Cycles of sessions that currently wait for each other.";
        MaybeDeadlocks: Gauge "maybe_deadlocks" ["ensemble"] "Cycles that are deadlocks only if one thread of each session both holds and waits.";
        SequenceUsed: Gauge "sequence_used_ratio" ["ensemble"] "Fraction of the 2147483647 sequence numbers that is used, for the lock that has used most.";
        WaitDuration: Histogram "wait_duration_seconds" ["ensemble"] "Waits for a lock that ended in a hold, from the znode's creation to the hold. Election candidates are not counted.";
        HoldDuration: Histogram "hold_duration_seconds" ["ensemble"] "Holds that were observed from beginning to end.";
        OwnerUnknown: Counter "owner_unknown_total" ["ensemble"] "Contenders that were gone before their owner could be read.";
    }
    "Single locks" {
        LockHolders: Gauge "lock_holders" ["ensemble", "path"] "Contenders that hold this lock. Locks named by the setting metrics.locks and the metrics.top_locks with most waiters have series of their own; path=\"_other\" is the sum of all others.";
        LockWaiters: Gauge "lock_waiters" ["ensemble", "path"] "Contenders that wait for this lock. Locks whose waiters are not visible are omitted. Locks are selected as for lock_holders; path=\"_other\" is the sum of all others.";
        LockOldestWait: Gauge "lock_oldest_wait_seconds" ["ensemble", "path"] "How long the first in line waits for this lock. Locks are selected as for lock_holders; path=\"_other\" is the longest of all others.";
        LockHold: Gauge "lock_hold_seconds" ["ensemble", "path"] "How long the first holder holds this lock. Locks are selected as for lock_holders; path=\"_other\" is the longest of all others.";
        LockSequenceUsed: Gauge "lock_sequence_used_ratio" ["ensemble", "path"] "Fraction of this lock's sequence numbers that is used. Locks are selected as for lock_holders; path=\"_other\" is the highest of all others.";
        OtherLocks: Gauge "other_locks" ["ensemble"] "Locks aggregated as path=\"_other\".";
    }
    "The view" {
        Ready: Gauge "ready" [] "1 when every root has completed its first sync.";
        LinkState: Gauge "link_state" ["ensemble", "state"] "1 for the current state of the link to the ensemble, 0 for the others.";
        ViewAge: Gauge "view_age_seconds" ["ensemble"] "Age of the instant up to which the view of the ensemble is known to be true. A view older than 2 seconds is not live.";
        RootState: Gauge "root_state" ["ensemble", "root", "state"] "1 for the current state of the view of a watched root, 0 for the others.";
        RootLocks: Gauge "root_locks" ["ensemble", "root"] "Locks below a watched root.";
        RootZnodes: Gauge "root_znodes" ["ensemble", "root"] "Znodes believed below a watched root.";
        Changes: Counter "changes_total" ["ensemble"] "Changes applied to the model.";
        Events: Counter "events_total" ["ensemble"] "Watch events of created and deleted znodes received.";
        EventLag: Histogram "event_lag_seconds" ["ensemble"] "From the arrival of watch events until the model has applied them; one observation for each batch.";
        Resyncs: Counter "resyncs_total" ["ensemble", "reason"] "Times a watched root was read again; the first read is not counted.";
        Missed: Counter "missed_total" ["ensemble"] "Creations that a directory's counters show and no event reported.";
        ClockOffset: Gauge "clock_offset_seconds" ["ensemble"] "Our clock minus the ensemble's, estimated. Omitted until there is evidence.";
        ClockError: Gauge "clock_error_seconds" ["ensemble"] "Error bound of clock_offset_seconds. Omitted while there is no bound.";
        EvidenceSource: Gauge "evidence_source_state" ["ensemble", "member", "source", "state"] "1 for the current state of one evidence source of one member, 0 for the others.";
        EvidenceRounds: Counter "evidence_rounds_total" ["ensemble"] "Rounds of evidence collection from the members.";
    }
    "Requests to ZooKeeper" {
        ZkRequests: Counter "zookeeper_requests_total" ["ensemble", "kind"] "Requests sent to ZooKeeper to watch it. Releases and evidence collection are not counted.";
        ZkErrors: Counter "zookeeper_request_errors_total" ["ensemble", "kind"] "Watch requests that failed while the link was up.";
        ZkSessions: Counter "zookeeper_sessions_total" ["ensemble"] "Sessions opened to watch; more than one means that a session was lost.";
    }
    "Browsers and scripts" {
        SocketClients: Gauge "socket_clients" [] "Live sockets currently open.";
        SocketsOpened: Counter "sockets_opened_total" [] "Live sockets opened.";
        FramesSent: Counter "frames_sent_total" [] "Frames sent on live sockets.";
        Conflations: Counter "socket_conflations_total" [] "Times a viewer that fell behind received the newest state instead of every update.";
        SlowClosed: Counter "slow_sockets_closed_total" [] "Live sockets closed with 1013 because a frame could not be sent in time.";
        FramesRefused: Counter "frames_refused_total" [] "Client frames that could not be parsed.";
        ViewsWatched: Gauge "views_watched" [] "Distinct views with subscribers.";
        ViewsIdle: Gauge "views_idle" [] "Distinct views without subscribers, kept for reconnects.";
        Guarded: Counter "requests_guarded_total" [] "Requests rejected by the origin check, for their host, page or form.";
        SignInsRefused: Counter "sign_ins_refused_total" [] "Rejected sign-ins.";
        Limited: Counter "limited_total" ["limit"] "Rejections by a rate limit or a maximum, by limit. Limits that begin with caller_ apply to one caller; the others to all callers together.";
    }
    "Releases, lab and audit log" {
        Releases: Counter "releases_total" ["ensemble", "outcome"] "Requested releases by outcome.";
        ReleasesRefused: Counter "releases_refused_total" [] "Requested releases that were rejected: nothing was sent.";
        LabRuns: Counter "lab_runs_total" ["ensemble"] "Lab runs started.";
        AuditRecords: Counter "audit_records_total" [] "Audit records written by this process.";
        AuditFailures: Counter "audit_write_failures_total" [] "Failed attempts to write an audit record or to open the audit log.";
        AuditFailing: Gauge "audit_failing" [] "1 when the last attempt to write an audit record failed: every release is rejected meanwhile.";
        WebhookBehind: Gauge "webhook_backlog_records" [] "Audit records not yet delivered to the webhook. Omitted without a webhook.";
    }
    "History" {
        HistoryRecording: Gauge "history_recording" ["ensemble"] "1 while the ensemble's history is recorded, 0 while it is not. Omitted, as all of this table, while the history is off.";
        HistoryStandby: Gauge "history_standby" ["ensemble"] "1 while another server records the ensemble into the same database and this one waits for its turn, else 0.";
        HistoryBytes: Gauge "history_bytes" ["ensemble"] "Bytes on disk of what is kept.";
        HistoryChunks: Gauge "history_chunks" ["ensemble"] "Chunks that are kept, those of checkpoints included.";
        HistoryCheckpoints: Gauge "history_checkpoints" ["ensemble"] "Checkpoints that are kept.";
        HistoryGap: Gauge "history_gap_seconds" ["ensemble"] "Length of all gaps in what is kept together. A gap that has not ended is counted once it has.";
        HistoryWritten: Counter "history_events_written_total" ["ensemble"] "Observations written.";
        HistoryDropped: Counter "history_events_dropped_total" ["ensemble"] "Observations not written; a gap stands for them.";
        HistoryWrites: Counter "history_writes_total" ["ensemble"] "Writes to the store, failed ones included.";
        HistoryWriteTime: Counter "history_write_seconds_total" ["ensemble"] "Time spent in these writes.";
        HistoryConnects: Counter "history_connects_total" ["result"] "Connections to the history's database that were tried: made or failed. Not written for files.";
        HistoryTimeouts: Counter "history_timeouts_total" [] "Reads and writes of the history's database that took too long. Not written for files.";
    }
    "Alerts" {
        Alerts: Gauge "alerts" ["rule", "state"] "Alerts by rule and state, pending or firing.";
        AlertsWaiting: Gauge "alert_messages_waiting" ["route"] "Alerts that a receiver is still to be told of.";
        AlertRouteFailing: Gauge "alert_route_failing" ["route"] "1 when a receiver did not take the last message.";
        AlertsNotKept: Gauge "alerts_not_kept" [] "1 when alerts can't be stored: a restart forgets them.";
    }
    "Several servers" {
        ClusterState: Gauge "cluster_state" ["state"] "1 for where this replica stands in the cluster, 0 for the others. Omitted, as all of this table, without the setting cluster.root.";
        ClusterReplicas: Gauge "cluster_replicas" [] "Replicas that this one sees, itself included.";
        ClusterLeading: Gauge "cluster_leading" [] "1 while this replica leads.";
        ClusterHasLeader: Gauge "cluster_has_leader" [] "1 while this replica sees one that leads. The sum of cluster_leading over all replicas is never above 1.";
        ClusterDiffering: Gauge "cluster_differing_replicas" [] "Replicas that watch other ensembles than this one.";
        ClusterShared: Gauge "cluster_shared_memory_up" [] "1 while sign-ins, silences and acknowledgements are shared with the other replicas by the database. 0 while it does not answer, and without one.";
        ClusterJoins: Counter "cluster_joins_total" [] "Times this replica became a member; more than one means that a session was lost.";
        ClusterLeaderships: Counter "cluster_leaderships_total" [] "Times this replica became the leader.";
        ClusterMutexes: Counter "cluster_mutexes_total" [] "Mutexes taken to act on a lock.";
        ClusterMutexesRefused: Counter "cluster_mutexes_refused_total" [] "Mutexes not had in time; nothing was sent then.";
    }
    "The process" {
        Panics: Counter "panics_total" [] "Panics of this process. Each is a bug in Lockscope and is logged with its location.";
        BuildInfo: Gauge "build_info" ["version"] "Always 1; the label is the running version.";
        StartTime: Gauge "process_start_time_seconds" [] "When the process started, in seconds since the Unix epoch.";
        ResidentMemory: Gauge "process_resident_memory_bytes" [] "Resident memory of the process.";
        OpenFds: Gauge "process_open_fds" [] "Open files and sockets.";
        MaxFds: Gauge "process_max_fds" [] "Limit of open files and sockets.";
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
            let (name, kind, unit, labels) = (about.name, about.kind.as_str(), about.unit(), labels.join(", "));
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
            assert_eq!(about.kind == MetricType::Counter, about.name.ends_with("_total"), "{}", about.name);
            assert!(about.name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{}", about.name);
            assert!(about.help.ends_with('.') && !about.help.contains('|'), "{}", about.help);
            assert!(about.kind != MetricType::Histogram || about.unit() == "seconds", "{}", about.name);
        }
    }

    #[test]
    fn the_document_has_the_tables_of_this_file() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/metrics.md");
        let text = std::fs::read_to_string(&path).unwrap();
        let (before, _) = text.split_once("## Locks\n").expect("the tables begin with Locks");
        let after = text.split_once("\n## What is not exposed").expect("after the tables").1;
        let whole = format!("{before}{}## What is not exposed{after}", document());
        if std::env::var_os("LOCKSCOPE_WRITE_DOCS").is_some() {
            std::fs::write(&path, &whole).unwrap();
            return;
        }
        assert!(
            text == whole,
            "docs/metrics.md is not what the table says; write it with LOCKSCOPE_WRITE_DOCS=1 and this test"
        );
    }
}
