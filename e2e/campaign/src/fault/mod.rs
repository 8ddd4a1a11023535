//! What is broken: a closed list, each with what it needs and a small function that does it.

mod acl;
mod alerts;
mod config;
mod data;
mod grown;
mod link;
mod load;
mod panics;
mod parted;
mod program;
mod release;
mod resources;
mod restored;
mod server;
mod tree;
mod viewer;

use lockscope_demo::ServerOptions;
use zookeeper_client::{Acls, Client, CreateMode};

use crate::ROOT;
use crate::alarm::Alarming;
use crate::clients::Library;
use crate::relay::{Edit, Link};
use crate::scene::Scene;
use crate::setup::Setup;
use crate::workload::{Contention, Who};

macro_rules! faults {
    ($($name:ident = $word:literal, $told:literal;)*) => {
        /// A fault.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Fault { $($name),* }

        impl Fault {
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// What it is called on the command line.
            pub fn name(self) -> &'static str {
                match self { $(Self::$name => $word),* }
            }

            /// What is done, in the table's words.
            pub fn told(self) -> &'static str {
                match self { $(Self::$name => $told),* }
            }
        }
    };
}

faults! {
    Restart = "restart", "ZooKeeper restarts in order";
    KillMinus9 = "kill-9", "ZooKeeper is killed (`kill -9`) and started again";
    Cut = "cut", "the link to ZooKeeper is cut";
    Flap = "flap", "the link is cut and back ten times in a few seconds";
    Partition = "partition", "silent partition: nothing passes, nothing is closed";
    PartitionRequests = "partition-requests", "silent partition of what Lockscope sends";
    PartitionReplies = "partition-replies", "silent partition of what ZooKeeper sends";
    SlowLink = "slow-link", "the link carries 4 KB a second";
    LateLink = "late-link", "everything arrives 3 s late, each way";
    StoppedServer = "stopped-server", "ZooKeeper is frozen (SIGSTOP) and thawed";
    StoppedLockscope = "stopped-lockscope", "Lockscope is frozen (SIGSTOP) and thawed";
    EndedUnderLoad = "ended-under-load", "Lockscope is ended (SIGTERM) and started again while much happens";
    ClockSteps = "clock-steps", "Lockscope's clock is set forth and back by up to an hour";
    ExpiredSession = "expired-session", "Lockscope's sessions run out";
    OurMemberLost = "our-member-lost", "of three: the member that Lockscope is at is killed";
    OurMemberFrozen = "our-member-frozen", "of three: the member that Lockscope is at is frozen";
    LeaderLost = "leader-lost", "of three: the leader is killed";
    LeaderFrozen = "leader-frozen", "of three: the leader is frozen";
    FollowerLost = "follower-lost", "of three: another follower is killed";
    FollowerFrozen = "follower-frozen", "of three: another follower is frozen";
    MembersParted = "members-parted", "of three: leader and followers fall silent to each other";
    LeaderParted = "leader-parted", "of three: the followers lose their leader, which only hears no more of them";
    PausedLeaderWakes = "paused-leader-wakes", "of three: the leader is frozen until the others have another one, and thawed";
    Restored = "restored", "of three: all go on with a backup of their data";
    Wiped = "wiped", "ZooKeeper loses its data, and answers halt while Lockscope compares";
    Grown = "grown", "a fourth member joins, and sessions that hold locks go to it";
    RootRecreated = "root-recreated", "the watched root is deleted with all below it and made again";
    DirectoryRecreated = "directory-recreated", "lock directories are deleted and made again";
    AbaStorm = "aba-storm", "the same names come and go at full speed";
    Storm = "storm", "5,000 changes a second";
    Znodes = "znodes", "20,000 znodes come at once and go with their session";
    Unreadable = "unreadable", "contenders that Lockscope may not read";
    ManyChildren = "many-children", "100,000 contenders in one queue, which go with their session";
    ManyLocks = "many-locks", "10,000 locks come at once and go with their session";
    HugeReplies = "huge-replies", "lists of children and znodes larger than `jute.maxbuffer` is by default";
    HostileText = "hostile-text", "markup, bidi controls, invalid UTF-8 and 1 MB in names and data";
    Sequences = "sequences", "sequence numbers overflow; names that are malformed";
    AclChanged = "acl-changed", "rights to read the root, directories and contenders are taken and given back";
    RaggedLink = "ragged-link", "each event comes twice; all is late by chance and in pieces";
    WatchesRefused = "watches-refused", "ZooKeeper refuses persistent watches (`WatchManagerOptimized`)";
    ExpiredCertificate = "expired-certificate", "ZooKeeper's certificate runs out, and is renewed";
    ReadOnlyMember = "read-only-member", "of three: two are killed, the third serves read-only";
    SlowReader = "slow-reader", "a script reads 10 frames a second";
    DeafReaders = "deaf-readers", "200 sockets are never read";
    Sleepers = "sleepers", "viewers sleep, and read on where they were";
    BadReloads = "bad-reloads", "broken configurations are reloaded, and good ones";
    NoDescriptors = "no-descriptors", "no file may be opened, and the link is cut";
    LittleMemory = "little-memory", "hardly any memory is left when 20,000 znodes come";
    NoThreads = "no-threads", "tasks panic: no thread can be started, and the link is cut";
    HungHistory = "hung-history", "another process holds the files of the history";
    HungDisk = "hung-disk", "the disk hangs while releases are asked for";
    FullDisk = "full-disk", "no room for the audit log while releases are asked for";
    KillAmongReleases = "kill-among-releases", "Lockscope is killed (`kill -9`) among releases";
    KillAmongAlerts = "kill-among-alerts", "Lockscope is killed (`kill -9`) while alerts fire and receivers are notified";
    ReleaseRaces = "release-races", "owners leave, and others come, while releases are carried out";
    ReleasePartitions = "release-partitions", "the link falls silent or is cut around releases";
}

impl std::str::FromStr for Fault {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names = || Self::ALL.iter().map(|fault| fault.name()).collect::<Vec<_>>().join(", ");
        Self::ALL
            .iter()
            .copied()
            .find(|fault| fault.name() == text)
            .ok_or_else(|| format!("{text} is no fault; use one of {}", names()))
    }
}

/// How long faults last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As long as each promise needs to be seen.
    Long,
    /// Shorter.
    Short,
    /// As short, for the tests: only where alerts are what it is about is it waited for that all of them are over.
    Tests,
}

impl Form {
    /// The longer or the shorter one.
    pub(crate) fn of(self, long: u64, short: u64) -> u64 {
        match self {
            Self::Long => long,
            Self::Short | Self::Tests => short,
        }
    }

    /// Whether it is waited for that all alerts are over.
    pub(crate) fn awaits_alerts(self, fault: Fault) -> bool {
        self != Self::Tests || fault == Fault::KillAmongAlerts
    }
}

fn path(name: &str) -> String {
    format!("{ROOT}/{name}")
}

/// Queues up under a name that only its number tells from the others'.
async fn queue(client: &Client, lock: &str) {
    let prefix = format!("{lock}/0123456789abcdef0123456789abcdef__lock__");
    let mode = CreateMode::EphemeralSequential.with_acls(Acls::anyone_all());
    client.create(&prefix, b"host", &mode).await.expect("create");
}

fn contention(name: &str, who: Who) -> Contention {
    Contention { path: path(name), who }
}

impl Fault {
    /// Whether Lockscope may not read the contenders of a lock.
    pub fn hides(self, lock: &str) -> bool {
        match self {
            Self::Unreadable => lock.starts_with(&path(tree::VEILED_NAME)),
            Self::AclChanged => lock.starts_with(&path(acl::GUARDED_NAME)),
            _ => false,
        }
    }

    /// Whether a leader is deposed that may not know it.
    pub fn parts_members(self) -> bool {
        matches!(self, Self::MembersParted | Self::LeaderParted | Self::PausedLeaderWakes)
    }

    /// Whether no client loses its connection.
    pub fn keeps_clients(self) -> bool {
        self == Self::Grown
    }

    /// Whether so much goes on that a recording beside it would be what is measured.
    fn is_load(self) -> bool {
        matches!(
            self,
            Self::AbaStorm
                | Self::Storm
                | Self::Znodes
                | Self::EndedUnderLoad
                | Self::ManyChildren
                | Self::ManyLocks
                | Self::Unreadable
                | Self::HugeReplies
                | Self::LittleMemory
                | Self::SlowReader
                | Self::DeafReaders
                | Self::Sleepers
        )
    }

    /// What it needs.
    pub fn setup(self) -> Setup {
        let usual = Setup { keeps_history: !self.is_load(), ..Setup::default() };
        let queues = || {
            vec![
                contention("fast", Who::Queue(60)),
                contention("slow", Who::Queue(500)),
                contention("third", Who::Queue(150)),
            ]
        };
        match self {
            Self::Restart
            | Self::KillMinus9
            | Self::Cut
            | Self::Flap
            | Self::Partition
            | Self::PartitionRequests
            | Self::PartitionReplies
            | Self::SlowLink
            | Self::StoppedServer
            | Self::StoppedLockscope => usual,
            Self::LateLink => Setup { session_timeout_ms: 30_000, ..usual },
            // A moment has no one instant where the clock was set, so none is looked at.
            Self::ClockSteps => Setup { has_clock: true, keeps_history: false, alarming: Alarming::Off, ..usual },
            Self::ExpiredSession => Setup { session_timeout_ms: 2_000, ..usual },
            Self::OurMemberLost
            | Self::OurMemberFrozen
            | Self::LeaderLost
            | Self::LeaderFrozen
            | Self::FollowerLost
            | Self::FollowerFrozen => Setup { members: 3, ..usual },
            Self::LeaderParted => Setup { members: 3, has_relays: true, ..usual },
            Self::MembersParted | Self::PausedLeaderWakes => {
                let mut server = server::with(&[]);
                server.config.push((parted::SYNC_LIMIT.0.to_owned(), parted::SYNC_LIMIT.1.to_owned()));
                Setup { members: 3, has_relays: true, server, ..usual }
            }
            // What an alert is about ends with the history, which is in no log.
            Self::Restored => {
                Setup { members: 3, more_locks: vec![path(restored::LOCK)], alarming: Alarming::Off, ..usual }
            }
            // The link has to carry it all in spite of its halts.
            Self::Wiped => {
                let known = contention("kazoo", Who::Library(Library::Kazoo, 1));
                let contentions =
                    vec![known, contention("third", Who::Queue(300)), contention("slow", Who::Queue(600))];
                Setup { contentions, more_locks: vec![path(restored::LOCK)], alarming: Alarming::Off, ..usual }
            }
            Self::Grown => {
                let more_locks = grown::LOCKS.iter().chain([&grown::NEW_LOCK]).map(|name| path(name)).collect();
                Setup { members: 3, server: grown::options(), more_locks, ..usual }
            }
            Self::RootRecreated => Setup { contentions: queues(), ..usual },
            Self::DirectoryRecreated => {
                Setup { more_locks: (0..3).map(|number| path(&format!("again-{number}"))).collect(), ..usual }
            }
            Self::AbaStorm => {
                Setup { more_locks: (0..3).map(|number| path(&format!("aba-{number}"))).collect(), ..usual }
            }
            Self::Storm | Self::EndedUnderLoad => Setup {
                contentions: queues(),
                more_locks: (0..6).map(|number| path(&format!("storm-{number}"))).collect(),
                ..usual
            },
            Self::Znodes => Setup {
                contentions: queues(),
                more_locks: (0..4).map(|number| path(&format!("many-{number}"))).collect(),
                ..usual
            },
            Self::Unreadable => Setup {
                contentions: queues(),
                more_locks: (0..6).map(|number| path(&format!("{}{number}", tree::VEILED_NAME))).collect(),
                ..usual
            },
            Self::ManyChildren => Setup {
                contentions: queues(),
                more_locks: vec![path(load::CROWD_NAME)],
                server: ServerOptions { heap_mb: 768, ..server::with(&[]) },
                ..usual
            },
            Self::ManyLocks => {
                Setup { contentions: queues(), more_locks: (0..4).map(load::one_of_many).collect(), ..usual }
            }
            Self::HugeReplies => {
                let server = ServerOptions { heap_mb: 512, ..server::with(&[data::HUGE_MAX]) };
                Setup { server, more_locks: data::HUGE_NAMES.map(path).to_vec(), ..usual }
            }
            // The server keeps what it wrote last in memory, and much of that is of 1 MB.
            Self::HostileText => {
                let server = ServerOptions { heap_mb: 512, ..server::with(&[]) };
                Setup { server, contentions: queues(), more_locks: data::HOSTILE_NAMES.map(path).to_vec(), ..usual }
            }
            Self::Sequences => {
                let names = data::OVERFLOW_NAMES.iter().chain([&data::MALFORMED_NAME]);
                Setup { contentions: queues(), more_locks: names.map(|name| path(name)).collect(), ..usual }
            }
            Self::AclChanged => {
                let guarded = acl::GUARDED_NAMES.map(|name| contention(name, Who::Queue(200)));
                Setup { contentions: queues().into_iter().chain(guarded).collect(), ..usual }
            }
            Self::RaggedLink => Setup { edit: Edit::DoubleEvents, ..usual },
            Self::WatchesRefused => Setup { server: server::with(&[server::NO_PERSISTENT_WATCHES]), ..usual },
            Self::ReadOnlyMember => Setup { members: 3, server: server::with(&[server::READ_ONLY]), ..usual },
            Self::ExpiredCertificate => Setup { has_certificate: true, ..usual },
            Self::BadReloads => usual,
            Self::NoDescriptors => usual,
            Self::NoThreads => Setup { has_threads: true, ..usual },
            Self::LittleMemory => Self::Znodes.setup(),
            Self::SlowReader | Self::DeafReaders | Self::Sleepers => {
                let busy = (0..8).map(|number| contention(&format!("busy-{number}"), Who::Queue(40)));
                let known = contention("kazoo", Who::Library(Library::Kazoo, 3));
                Setup { contentions: busy.chain([known]).collect(), ..usual }
            }
            Self::HungDisk => Setup { has_disk: true, ..Self::FullDisk.setup() },
            Self::FullDisk
            | Self::HungHistory
            | Self::KillAmongReleases
            | Self::ReleaseRaces
            | Self::ReleasePartitions => Setup { contentions: queues(), keeps_record: true, ..usual },
            Self::KillAmongAlerts => Setup { contentions: queues(), alarming: Alarming::Everybody, ..usual },
        }
    }

    /// Does it, and undoes it; returns when all should be well.
    pub async fn throw(self, scene: &mut Scene, form: Form) {
        match self {
            Self::Restart => server::restart(scene).await,
            Self::KillMinus9 => server::kill_minus_9(scene).await,
            Self::Cut => link::cut(scene, form).await,
            Self::Flap => link::flap(scene).await,
            Self::Partition => link::partition(scene, form, link::Side::Both).await,
            Self::PartitionRequests => link::partition(scene, form, link::Side::Requests).await,
            Self::PartitionReplies => link::partition(scene, form, link::Side::Replies).await,
            Self::SlowLink => link::slow(scene, form).await,
            Self::LateLink => link::late(scene, form).await,
            Self::StoppedServer => server::stopped(scene, form).await,
            Self::StoppedLockscope => program::stopped(scene, form).await,
            Self::EndedUnderLoad => program::ended_under_load(scene, form).await,
            Self::ClockSteps => program::clock_steps(scene, form).await,
            Self::ExpiredSession => link::expired(scene).await,
            Self::OurMemberLost => server::lost(scene, server::Which::Ours).await,
            Self::OurMemberFrozen => server::frozen(scene, form, server::Which::Ours).await,
            Self::LeaderLost => server::lost(scene, server::Which::Leader).await,
            Self::LeaderFrozen => server::frozen(scene, form, server::Which::Leader).await,
            Self::FollowerLost => server::lost(scene, server::Which::OtherFollower).await,
            Self::FollowerFrozen => server::frozen(scene, form, server::Which::OtherFollower).await,
            Self::MembersParted => parted::parted(scene, form, parted::SILENT).await,
            Self::LeaderParted => parted::parted(scene, form, Link::HALF_CUT).await,
            Self::PausedLeaderWakes => parted::paused_leader_wakes(scene, form).await,
            Self::Restored => restored::restored(scene, form).await,
            Self::Wiped => restored::wiped(scene, form).await,
            Self::Grown => grown::grown(scene, form).await,
            Self::RootRecreated => tree::root_recreated(scene).await,
            Self::DirectoryRecreated => tree::directory_recreated(scene, form).await,
            Self::AbaStorm => tree::aba_storm(scene, form).await,
            Self::Storm => load::storm(scene, form).await,
            Self::Znodes => load::znodes(scene, form).await,
            Self::ManyChildren => load::many_children(scene).await,
            Self::ManyLocks => load::many_locks(scene, form).await,
            Self::Unreadable => tree::unreadable(scene, form).await,
            Self::HugeReplies => data::huge_replies(scene, form).await,
            Self::HostileText => data::hostile_text(scene, form).await,
            Self::Sequences => data::sequences(scene, form).await,
            Self::AclChanged => acl::changed(scene, form).await,
            Self::RaggedLink => link::ragged(scene, form).await,
            Self::WatchesRefused => server::watches_refused(scene, form).await,
            Self::ExpiredCertificate => server::expired_certificate(scene, form).await,
            Self::ReadOnlyMember => server::read_only(scene, form).await,
            Self::SlowReader => viewer::slow_reader(scene, form).await,
            Self::DeafReaders => viewer::deaf_readers(scene, form).await,
            Self::Sleepers => viewer::sleepers(scene, form).await,
            Self::BadReloads => config::bad_reloads(scene, form).await,
            Self::NoDescriptors => resources::no_descriptors(scene, form).await,
            Self::NoThreads => panics::no_threads(scene, form).await,
            Self::LittleMemory => resources::little_memory(scene, form).await,
            Self::HungHistory => resources::hung_history(scene, form).await,
            Self::HungDisk => release::hung_disk(scene, form).await,
            Self::FullDisk => release::full_disk(scene).await,
            Self::KillAmongReleases => release::killed(scene, form).await,
            Self::KillAmongAlerts => alerts::killed(scene, form).await,
            Self::ReleaseRaces => release::races(scene, form).await,
            Self::ReleasePartitions => release::partitions(scene, form).await,
        }
    }
}
