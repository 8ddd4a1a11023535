//! Every setting, once: a key of the file is a field, its doc comment is the reference, its type says what it may be.

use std::collections::BTreeMap;

use lockscope_alerts::rule::RULES_MAX;
use lockscope_core::tally::GAVE_UP_MAX;
use serde::Deserialize;
use toml::Value;

use super::given::{Given, Keys, Read, Setting, Table, Tables};
use super::model::{HowBad, Recipe};
use super::values::{
    AlertName, Anonymous, Application, Claim, Color, Connect, Directory, EnsembleName, FileName, FiresAfter, Grant,
    Header, HistoryBytes, Lifetime, Listen, Network, Number, Origin, Pattern, Payloads, ReceiverKind, Repeat,
    ReplicaAddress, ReplicaId, SessionTimeout, Sockets, Switch, Text, Timeout, ZnodePath, Znodes,
};

/// Ensembles one server watches.
pub(super) const ENSEMBLES_MAX: usize = 10_000;
/// Entries of `[[lock]]`: each is tried on every new lock.
const LOCKS_MAX: usize = 1_000;
/// Receivers of a server.
const ROUTES_MAX: usize = 16;
/// Only so many attempts are remembered.
const ATTEMPTS_MAX: u32 = if GAVE_UP_MAX > 32 { 32 } else { GAVE_UP_MAX as u32 };

/// Where a setting may be given beside the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layering {
    /// As a flag and as a variable, too.
    All,
    /// As a variable, too.
    Variable,
    /// Nowhere.
    File,
}

/// When a change takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TakesEffect {
    /// When the file is read again.
    Reload,
    /// When the server is started again.
    Restart,
}

/// What the documents say of a key, and where it may be given.
#[derive(Clone, Copy)]
pub(super) struct Key {
    field: &'static str,
    doc: &'static str,
    pub(super) ways: Layering,
    pub(super) takes: TakesEffect,
    /// What may be written.
    pub(super) values: fn() -> String,
    /// What holds when nothing is; empty: nothing.
    pub(super) default: &'static str,
    /// What to write after the equals sign, for instance.
    pub(super) example: &'static str,
    pub(super) is_list: bool,
}

/// A table of the file.
pub(super) struct TableKeys {
    pub(super) name: &'static str,
    /// How many there may be; None: it is one table, not a list of them.
    pub(super) max: Option<usize>,
    pub(super) keys: &'static [&'static [Key]],
    /// Keys of former versions, and what to do instead.
    pub(super) removed: (&'static [&'static str], &'static str),
}

impl Key {
    pub(super) fn name(&self) -> &'static str {
        self.field.trim_start_matches("r#")
    }

    pub(super) fn meaning(&self) -> &'static str {
        self.doc.trim()
    }

    /// The flag, where there is one.
    pub(super) fn flag(&self) -> Option<String> {
        (self.ways == Layering::All).then(|| format!("--{}", self.name().replace('_', "-")))
    }

    /// The variable, where there is one. `table`: where it stands, or nothing.
    pub(super) fn variable(&self, table: &str) -> Option<String> {
        let prefix = if table == "cluster" { "CLUSTER_" } else { "" };
        (self.ways != Layering::File).then(|| format!("LOCKSCOPE_{prefix}{}", self.name().to_uppercase()))
    }
}

/// Makes a structure of settings, and the rows of the documents, of the same fields. Where a type has no values of its
/// own for the reference, the field has.
macro_rules! settings {
    ($($(#[doc = $about:literal])+ $name:ident {$(
        $(#[doc = $doc:literal])+
        $key:ident: $type:ty, $ways:ident $takes:ident
            $(, values $values:literal)? $(, default $default:literal)?, example $example:literal;
    )+})+) => {$(
        $(#[doc = $about])+
        #[derive(Default, Deserialize)]
        #[serde(default)]
        pub(super) struct $name {
            $($(#[doc = $doc])+ pub(super) $key: Setting<$type>,)+
        }

        impl $name {
            pub(super) const KEYS: &[Key] = &[$(Key {
                field: stringify!($key),
                doc: concat!($($doc),+),
                ways: Layering::$ways,
                takes: TakesEffect::$takes,
                values: || {
                    const OWN: &[&str] = &[$($values)?];
                    OWN.first().map_or_else(<$type as Read>::values, |own| (*own).to_owned())
                },
                default: concat!($($default)?),
                example: $example,
                is_list: <$type as Read>::IS_LIST,
            }),+];
        }

        impl Keys for $name {
            fn given(&self) -> Vec<(&'static str, &Given)> {
                let keys = [$((stringify!($key), &self.$key.given)),+];
                keys.into_iter().filter_map(|(key, given)| Some((key, given.as_ref()?))).collect()
            }
        }
    )+};
}

settings! {
    /// What may stand at the top only.
    TopKeys {
        /// directory of further ensembles: each file *.toml in it has `[[ensemble]]` tables
        ensembles_dir: Directory, Variable Reload, default "ensembles.d beside the file, where it exists", example r#""/etc/lockscope/ensembles.d""#;
        /// where pages, the API and metrics are served; beyond this machine people must be able to sign in, and TLS must be there
        listen: Listen, All Restart, default "127.0.0.1:3000", example r#""127.0.0.1:3000""#;
        /// directory of tokens, users, the audit log and the lab's runs; created when needed
        data_dir: Directory, All Restart, default "$XDG_STATE_HOME/lockscope, else ~/.local/state/lockscope", example r#""/var/lib/lockscope""#;
        /// whether what is observed is recorded, so that any moment of the past can be looked at
        history: Switch, Variable Restart, default "on where there is a data directory or a database", example r#""off""#;
        /// where the history is kept, one file an ensemble and day; readable by the server's user alone
        history_dir: Directory, Variable Restart, default "history in the data directory", example r#""/var/lib/lockscope/history""#;
        /// a PostgreSQL database (13 or newer) that keeps the history, instead of history_dir; several servers may share it; TLS unless it is on this machine, sslrootcert=FILE names the authority, sslmode=disable is plain text; several hosts are separated by commas
        history_url: Text, Variable Restart, values "a URL like postgres://user:password@host/database", example r#""postgres://lockscope@db.example.org/lockscope""#;
        /// a file with that URL, as it holds a password
        history_url_file: FileName, Variable Restart, example r#""credential:history-url""#;
        /// how long every change is kept; older moments can't be looked at
        history_age: Lifetime, Variable Reload, values "a time like 7d, 12h, 90m", default "7d", example r#""14d""#;
        /// how many bytes of changes an ensemble may keep; beyond it the oldest go, whatever their age
        history_size: HistoryBytes, Variable Reload, default "4GB", example r#""20GB""#;
        /// how long holds and waits are kept one by one
        history_spans_age: Lifetime, Variable Reload, values "a time like 30d, 12h, 90m", default "30d", example r#""60d""#;
        /// how long the figures of each minute are kept; not shorter than history_spans_age
        history_minutes_age: Lifetime, Variable Reload, values "a time like 90d, 12h, 90m", default "90d", example r#""400d""#;
        /// end with exit code 69 when ZooKeeper was never reached in this time
        connect_timeout: Timeout, All Restart, default "none: keep trying", example r#""30s""#;
        /// timeout of the sessions to ZooKeeper
        session_timeout_ms: SessionTimeout, All Restart, default "10000", example "10000";
        /// origins from which the dashboard may be used
        origin: Vec<Origin>, All Restart, default "this machine's own", example r#"["https://lockscope.example"]"#;
        /// the server's certificate and its chain, in PEM; reloaded when the file changes
        tls_cert: FileName, All Restart, example r#""credential:tls-cert""#;
        /// its key, in PEM; reloaded as well
        tls_key: FileName, All Restart, example r#""credential:tls-key""#;
        /// a proxy in front of this server terminates TLS, so plain HTTP may be served beyond this machine
        behind_tls_proxy: Switch, All Restart, default "off", example r#""on""#;
        /// live sockets (open pages and scripts that follow) at once; each takes about 20 KB
        sockets_max: Sockets, All Restart, default "4096", example "10000";
        /// each release needs the approval of a second person
        second_approver: Switch, All Reload, default "off", example r#""on""#;
        /// the lowest role that sees znode payloads; others see names of one word taken from them; a change makes all live pages reconnect
        payloads: Payloads, All Reload, default "viewer on this machine only, else operator", example r#""operator""#;
        /// URL to which every release, lab run, revocation and refusal is sent as signed JSON; needs a data directory and a secret
        webhook_url: Text, All Reload, values "an https:// address", example r#""https://hooks.example/lockscope""#;
        /// the secret that signs webhook requests, at least 16 bytes
        webhook_secret_file: FileName, All Reload, example r#""credential:webhook-secret""#;
        /// whether the webhook may use plain HTTP to another machine
        webhook_allow_http: Switch, All Reload, default "off", example r#""on""#;
        /// which part of a client's name is its application, by which sessions are grouped; a name that does not match follows the default
        application_pattern: Application, Variable Reload, default "the name before a number and @", example r#""^([a-z]+)-[0-9]+@""#;
        /// the role of requests without authentication
        anonymous: Anonymous, Variable Reload, default "viewer on this machine only, else none", example r#""none""#;
        /// the header in which a trusted proxy names the user; needs proxy_addresses
        proxy_header: Header, Variable Reload, example r#""X-Forwarded-User""#;
        /// the trusted proxies; headers from other addresses are ignored; naming the first, or taking the last away, waits for a restart where nothing else makes the server public
        proxy_addresses: Vec<Network>, Variable Reload, example r#"["10.0.0.5", "10.1.0.0/16"]"#;
        /// the role of people in no group of proxy_roles; none keeps them out
        proxy_role: Grant, Variable Reload, default "viewer", example r#""none""#;
        /// the header with a person's groups, separated by commas
        proxy_role_header: Header, Variable Reload, example r#""X-Forwarded-Groups""#;
        /// the OpenID provider; only in builds with the feature oidc, as everything that begins with oidc_
        oidc_issuer: Claim, Variable Reload, values "an https:// address", example r#""https://id.example""#;
        /// the client id of this server at the provider
        oidc_client_id: Claim, Variable Reload, values "text", example r#""lockscope""#;
        /// the secret that the provider gave
        oidc_client_secret_file: FileName, Variable Reload, default "none: a public client", example r#""credential:oidc-secret""#;
        /// where the provider sends people back to
        oidc_redirect: Claim, Variable Reload, values "an https:// address ending in /sign-in/openid/back", default "that of the first origin", example r#""https://lockscope.example/sign-in/openid/back""#;
        /// the claim with a person's name
        oidc_name_claim: Claim, Variable Reload, default "the first usual one there is", example r#""preferred_username""#;
        /// the claim with a person's groups
        oidc_groups_claim: Claim, Variable Reload, default "groups", example r#""groups""#;
        /// the role of people in no group of oidc_roles; who is signed in keeps the role until the next sign-in
        oidc_role: Grant, Variable Reload, default "none", example r#""viewer""#;
        /// which role each group of the proxy's has
        proxy_roles: Value, File Reload, values "a table: group = role", example r#"{ "lock-operators" = "operator", "everybody" = "viewer" }"#;
        /// which role each group of the provider's has; who is signed in keeps the role until the next sign-in
        oidc_roles: Value, File Reload, values "a table: group = role", example r#"{ "lock-operators" = "operator" }"#;
    }

    /// What may be said of an ensemble: at the top for one, in an `[[ensemble]]` each for several.
    EnsembleKeys {
        /// the ensemble; the only setting that must be given
        zk: Connect, All Reload, example r#""zk1:2181,zk2:2181,zk3:2181""#;
        /// the ensemble's name on every page; required in an `[[ensemble]]`
        name: EnsembleName, All Reload, default "default", example r#""prod-eu""#;
        /// the ensemble's colour on every page
        color: Color, Variable Reload, default "one of these", example r#""teal""#;
        /// paths to watch, with everything below them; by default every lock is found
        root: Vec<Text>, All Reload, values "paths, none inside another", default "/", example r#"["/locks", "/services"]"#;
        /// paths that are never read, with everything below them; the status page shows how many there are
        exclude: Vec<Text>, Variable Reload, values "patterns of paths, at most 100; `*` stands for any part of one name, `**` for any number of names", example r#"["/clickhouse/tables/**"]"#;
        /// znodes that are read at most, some 400 bytes of memory each; a root with more is read in part and says so
        znodes_max: Znodes, Variable Reload, default "4000000", example "1000000";
        /// what the ensemble is, for filters of the fleet page
        labels: Value, File Reload, values "a table of texts, at most 16", example r#"{ env = "prod", region = "eu" }"#;
        /// whether to query the members for connections, session expiry and watches
        evidence: Switch, All Reload, default "on", example r#""off""#;
        /// the members' AdminServers; a member without one is queried with four-letter words
        admin_url: Vec<Text>, All Reload, values "addresses like http://zk1:8080, at most 16", default "port 8080 of each member is tried", example r#"["http://zk1:8080", "http://zk2:8080"]"#;
        /// a znode below which an ephemeral may be written, to prove the quorum and to compare clocks
        clock_scratch: ZnodePath, All Reload, default "none: nothing is ever written", example r#""/lockscope-clock""#;
        /// USER:PASSWORD for ZooKeeper's digest scheme, for watching
        auth_file: FileName, All Reload, example r#""credential:zk-auth""#;
        /// USER:PASSWORD for SASL (DIGEST-MD5), for watching
        sasl_file: FileName, All Reload, example r#""credential:zk-sasl""#;
        /// certificate authorities of ZooKeeper, in PEM; with it, connections to ZooKeeper use TLS only
        ca_file: FileName, All Reload, example r#""/etc/lockscope/zk-ca.pem""#;
        /// client certificate towards ZooKeeper, in PEM; needs ca_file and key_file
        cert_file: FileName, All Reload, example r#""/etc/lockscope/zk-cert.pem""#;
        /// its key, in PEM
        key_file: FileName, All Reload, example r#""credential:zk-key""#;
        /// as auth_file, for releases and the lab only
        act_auth_file: FileName, All Reload, default "as for watching", example r#""credential:zk-act-auth""#;
        /// as sasl_file, for releases and the lab only
        act_sasl_file: FileName, All Reload, default "as for watching", example r#""credential:zk-act-sasl""#;
        /// as cert_file, for releases and the lab only
        act_cert_file: FileName, All Reload, default "as for watching", example r#""/etc/lockscope/zk-act-cert.pem""#;
        /// its key, in PEM
        act_key_file: FileName, All Reload, default "as for watching", example r#""credential:zk-act-key""#;
    }

    /// `[[lock]]`.
    LockKeys {
        /// the locks that this table applies to; the first match counts
        path: Value, File Reload, values "a path; * is any part of one name, ** any names", example r#""/queues/**""#;
        /// what such a lock is; none: no lock at all
        recipe: Recipe, File Reload, default "recognised by names", example r#""queue""#;
        /// how many a semaphore admits, or a double barrier waits for
        max: Number<1, { u32::MAX }>, File Reload, default "read from the znodes", example "3";
    }

    /// `[lints]`, beside the findings themselves.
    LintKeys {
        /// locks that are reported when nobody holds them for 30 s; a path without a star also when nothing is there
        must_be_held: Value, File Reload, values "paths; * is any part of one name, ** any names; at most 100; off", example r#"["/elections/*", "/locks/leader"]"#;
        /// waiters that one release wakes, from which on it is a herd
        herd_waiters: Number<1, { u32::MAX }>, File Reload, default "10", example "10";
        /// contenders from which on a queue is deep
        deep_contenders: Number<1, { u32::MAX }>, File Reload, default "500", example "500";
        /// percentage of the sequence numbers used, from which on it is reported
        sequence_percent: Number<1, 100>, File Reload, default "80", example "80";
        /// empty lock directories from which on it is reported
        empty_locks_min: Number<1, { u32::MAX }>, File Reload, default "1000", example "1000";
        /// znodes of one session from which on it is reported
        hoard_znodes: Number<1, { u32::MAX }>, File Reload, default "1000", example "1000";
        /// failed attempts in the last minute from which on it is reported
        churn_attempts: Number<1, ATTEMPTS_MAX>, File Reload, default "20", example "20";
    }

    /// `[lab]`.
    LabKeys {
        /// where the lab may create sessions and znodes; required
        ensembles: Value, File Restart, values "names of ensembles", example r#"["default"]"#;
        /// the directory below which each run gets one of its own
        root: Value, File Restart, values "a path with no watched root at or below it", default "/lockscope-lab", example r#""/lockscope-lab""#;
        /// sessions a strategy
        clients_max: Number<2, 500>, File Reload, default "500", example "100";
        /// longest time that a run is counted
        duration_ms_max: Number<1_000, 3_600_000>, File Reload, default "600000", example "60000";
        /// longest hold, and longest pause between rounds
        hold_ms_max: Number<0, 60_000>, File Reload, default "60000", example "1000";
        /// rounds
        rounds_max: Number<1, 1_000>, File Reload, default "1000", example "100";
    }

    /// `[metrics]`.
    MetricsKeys {
        /// how many locks with the longest waits have series of their own
        top_locks: Number<0, 200>, File Restart, default "20", example "50";
        /// locks that always have series of their own
        locks: Value, File Restart, values "paths; * is any part of one name, ** any names; at most 50", example r#"["/orders/*"]"#;
    }

    /// `[cluster]`.
    ClusterKeys {
        /// the znode below which replicas meet; the same for all; required
        root: Text, Variable Restart, values "a path, not / and not ZooKeeper's own", example r#""/lockscope""#;
        /// the ensemble that this znode is in; written to as whoever releases there
        ensemble: Text, File Restart, values "the name of an ensemble", default "the first", example r#""default""#;
        /// the id of this replica, which no other has
        id: ReplicaId, Variable Restart, default "the host's name and the port", example r#""lockscope-0""#;
        /// how people reach this replica
        address: ReplicaAddress, Variable Restart, default "the first origin, else where it listens", example r#""https://lockscope-0.example:3000""#;
        /// meet without an identity for releases, where anybody who reaches ZooKeeper can forge who leads and what was released
        allow_open_cluster: Switch, Variable Restart, default "off", example "true";
    }

    /// `[[alert]]`.
    AlertKeys {
        /// the rule's name; required
        name: AlertName, File Reload, example r#""orders-stuck""#;
        /// it fires when one of these is so; required
        when: Vec<Text>, File Reload, values "verdicts, codes of findings, waiting > TIME, held > TIME, depth > NUMBER, not_held > TIME, unseen > TIME; at most 16", example r#"["stuck", "waiting > 30s"]"#;
        /// the locks that it is about; for unseen, the watched roots
        path: Pattern, File Reload, default "**", example r#""/orders/*""#;
        /// the ensemble that it is about
        ensemble: Text, File Reload, values "the name of an ensemble", default "each of them", example r#""default""#;
        /// for how long it must be so before it fires
        r#for: FiresAfter, File Reload, default "0s", example r#""30s""#;
        /// how bad that is
        severity: HowBad, File Reload, default "warning", example r#""critical""#;
        /// who is told
        route: Vec<Text>, File Reload, values "names of [[route]] tables", default "all of them", example r#"["on-call"]"#;
    }

    /// `[[route]]`.
    RouteKeys {
        /// the receiver's name; required
        name: AlertName, File Reload, example r#""on-call""#;
        /// what it is; required
        kind: ReceiverKind, File Reload, example r#""alertmanager""#;
        /// where it is
        url: Text, File Reload, values "an https:// address, or http:// to this machine", default "PagerDuty's own; else none", example r#""https://alertmanager.example""#;
        /// a file with the address, where that is a secret of its own, as those of chats are
        url_file: FileName, File Reload, default "none", example r#""credential:chat-url""#;
        /// what signs messages; PagerDuty's routing key; a bearer token for Alertmanager. Required for webhook and pagerduty
        secret_file: FileName, File Reload, default "none", example r#""credential:alert-secret""#;
        /// alerts may go to another machine in the clear
        allow_http: Switch, File Reload, default "off", example r#""on""#;
        /// after how long it is told again of what still fires
        repeat: Repeat, File Reload, default "1m for alertmanager, else never", example r#""4h""#;
    }
}

/// A finding, which is reported until it is turned off.
const fn lint(field: &'static str, doc: &'static str) -> Key {
    let values = || "on, off".to_owned();
    let (ways, takes) = (Layering::File, TakesEffect::Reload);
    Key { field, doc, ways, takes, values, default: "on", example: "\"off\"", is_list: false }
}

/// The findings, by their codes.
pub(super) const FINDINGS: &[Key] = &[
    lint("orphan_contender", "a contender became head and nobody works under it"),
    lint("duplicate_session", "one session, or one protection GUID, queues twice in one lock"),
    lint("lease_leak", "a semaphore is full, and one lease is far older than the rest"),
    lint("double_owner_window", "the holder went with its session, and the old one may not know yet"),
    lint("leader_mismatch", "the office of leader and the election disagree"),
    lint("container_reaped", "the lock's directory is deleted when it is empty"),
    lint("waiting_for_itself", "a waiter is the same client as the holder it waits for"),
    lint("foreign_child", "a child that no recipe writes"),
    lint("expiry_overdue", "a session should have run out, and what it owns is still there"),
    lint("stale_ephemeral", "the session of a holder ended, and its znode will never go by itself"),
    lint("members_disagree", "some members have a contender that others have not"),
    lint("missing_watch", "a waiter is in no watch table"),
    lint("mixed_recipes", "clients that do not see each other share one directory"),
    lint("sequence_overflow", "the sequence counter is near its end, or past it"),
    lint("order_anomaly", "the queue's order is not the order of creation"),
    lint("rewritten_node", "somebody wrote to a contender's znode after its creation"),
    lint("same_client_new_session", "a client lost its locks with its session and came back with another"),
    lint("old_owner_connected", "the session of the old holder is gone, and its client goes on"),
    lint("never_expires", "no session owns a contender"),
    lint("empty_locks", "many locks that nobody uses"),
    lint("session_hoards", "a session owns thousands of znodes"),
    lint("try_lock_churn", "many try and few succeed"),
    lint("herd", "one release wakes many"),
    lint("deadlock", "sessions wait for each other in a circle"),
    lint("deep_queue", "the queue is long, and each acquire reads it whole"),
    lint("lock_order", "sessions take locks in opposite orders"),
    lint("watch_inversion", "a contender watches one that stands behind it"),
    lint("never_drains", "a queue grows faster than it is served"),
    lint("long_timeout", "a session's time-out is far longer than its client is ever silent"),
    lint("short_timeout", "a client was silent for nearly all of its session's time-out"),
    lint("will_be_reaped", "an empty directory will be deleted"),
    lint("many_znodes", "a root has a million znodes that are no locks"),
];

/// Tables, in the order of the documents.
pub(super) const TABLES: [TableKeys; 8] = [
    table("ensemble", Some(ENSEMBLES_MAX), &[EnsembleKeys::KEYS]),
    table("lock", Some(LOCKS_MAX), &[LockKeys::KEYS]),
    table("lints", None, &[FINDINGS, LintKeys::KEYS]),
    table("lab", None, &[LabKeys::KEYS]),
    table("metrics", None, &[MetricsKeys::KEYS]),
    TableKeys {
        removed: (
            &["watch", "secret_file", "capacity"],
            "every replica watches every ensemble; run one Lockscope for each group of ensembles",
        ),
        ..table("cluster", None, &[ClusterKeys::KEYS])
    },
    table("alert", Some(RULES_MAX), &[AlertKeys::KEYS]),
    table("route", Some(ROUTES_MAX), &[RouteKeys::KEYS]),
];

const fn table(name: &'static str, max: Option<usize>, keys: &'static [&'static [Key]]) -> TableKeys {
    TableKeys { name, max, keys, removed: (&[], "") }
}

/// All that is set, by flags, variables and the file.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Settings {
    pub(super) top: TopKeys,
    /// The ensemble that the top of the file is about.
    pub(super) only: EnsembleKeys,
    pub(super) ensemble: Tables<EnsembleKeys>,
    pub(super) lock: Tables<LockKeys>,
    pub(super) lints: Table<LintKeys>,
    /// All of `[lints]`, by keys.
    pub(super) findings: Table<BTreeMap<String, Given>>,
    pub(super) lab: Table<LabKeys>,
    pub(super) metrics: Table<MetricsKeys>,
    pub(super) cluster: Table<ClusterKeys>,
    pub(super) alert: Tables<AlertKeys>,
    pub(super) route: Tables<RouteKeys>,
}
