//! A run's stage: servers, a relay in front of each, the program, clients that contend, and clients that look.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use lockscope_judge::{Alerts, Capture as Captured, Fault, FaultSpan};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use tempfile::TempDir;
use tokio::time::sleep;
use zookeeper_client::{Acls, Client, CreateMode};

use crate::alarm::{self, Alarms};
use crate::capture::{Capture, Pace, View, now_ms};
use crate::certificate::Certificate;
use crate::clock::Clock;
use crate::disconnects::DisconnectClaim;
use crate::disk::Disk;
use crate::lockscope::{Lockscope, command};
use crate::past::{self, Past};
use crate::relay::{Grants, Link, Relay};
use crate::releases::Record;
use crate::second::Second;
use crate::servers::Servers;
use crate::setup::Setup;
use crate::threads::Threads;
use crate::workload::{Contention, Workload};
use crate::{DEADLINE, ROOT, STEP};

/// Everything goes well for this long before a fault, and after it.
const CALM: Duration = Duration::from_millis(1_500);

/// The same where it is waited for that alerts are over: what began meanwhile is to last until it must have fired.
const LONG_CALM: Duration = Duration::from_millis(7_500);
/// What happened so shortly before is not kept yet.
const UNSTORED_MS: i64 = 2_500;

/// The stage.
pub struct Scene {
    pub program: PathBuf,
    pub servers: Servers,
    pub relays: Vec<Relay>,
    pub grants: Grants,
    pub lockscope: Lockscope,
    pub capture: Capture,
    pub rng: StdRng,
    pub spans: Vec<FaultSpan>,
    /// What other viewers than the first were shown.
    pub captured: Vec<Captured>,
    pub record: Option<Record>,
    /// Lockscope's configuration file, and what is in it.
    pub config: (PathBuf, String),
    /// Lockscope's clock, where it may be set.
    pub clock: Option<Clock>,
    /// The disk below Lockscope, where it may hang.
    pub disk: Option<Disk>,
    /// Lockscope's threads, where they may be refused.
    pub threads: Option<Threads>,
    /// The server's certificate, where it has one.
    pub certificate: Option<Certificate>,
    /// How long after the end of the fault everything was shown LIVE again.
    pub back_ms: Option<i64>,
    /// What else is worth a word in the table.
    pub notes: Vec<String>,
    /// What is wrong that the judge can't see.
    pub wrong: Vec<String>,
    pub views: Vec<View>,
    /// Sessions that outlive what is captured: their end is no part of the fault.
    pub kept: Vec<Client>,
    /// The history that the servers had before another one.
    pub replaced: Option<Replaced>,
    keeps_history: bool,
    alarms: Option<Alarms>,
    began_at_ms: i64,
    second: Option<Second>,
    contentions: Vec<Contention>,
    workload: Option<Workload>,
    /// Declared last: it outlives the program.
    data: TempDir,
}

/// A history that was replaced by another one.
#[derive(Clone, Debug)]
pub struct Replaced {
    /// Between its last transaction and the first one of the other.
    pub at_ms: i64,
    /// The folders of its logs.
    pub logs: Vec<PathBuf>,
}

/// Everything that is judged.
pub struct Evidence {
    pub captured: Vec<Captured>,
    /// What an autopsy of the logs shows of moments of the run.
    pub autopsy: Vec<Captured>,
    pub spans: Vec<FaultSpan>,
    pub broken: Vec<String>,
    /// Sessions that were called dead.
    pub dead: Vec<DisconnectClaim>,
    pub logs: Vec<PathBuf>,
    pub replaced: Option<Replaced>,
    pub record: Option<Record>,
    /// What fired, and who was told.
    pub alerts: Option<Alerts>,
    /// Sessions of Lockscope's.
    pub sessions: BTreeSet<i64>,
    pub back_ms: Option<i64>,
    pub notes: Vec<String>,
    pub wrong: Vec<String>,
    /// The logs lie in their folders.
    pub servers: Servers,
    /// The record lies here.
    pub data: TempDir,
}

/// A token for somebody who may release.
async fn token(program: &Path, data: &Path, name: &str) -> String {
    let args = ["token", "new", "--name", name, "--role", "admin", "--data-dir", &data.display().to_string()]
        .map(str::to_owned);
    let done = command(program, &args).stdout(Stdio::piped()).output().await.expect("lockscope runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).trim().to_owned()
}

impl Scene {
    pub async fn start(program: &Path, setup: &Setup, seed: u64) -> Self {
        let certificate = setup.has_certificate.then(Certificate::start);
        let options = setup.server.clone();
        let options = certificate.as_ref().map_or(options.clone(), |certificate| certificate.with(options));
        let servers = Servers::start(setup.members, setup.has_relays, options).await;
        let direct = open(&servers.connect_string()).await;
        make(&direct, ROOT).await;
        let alarming = setup.alarming.contentions();
        let contentions: Vec<_> = setup.contentions.iter().chain(&alarming).cloned().collect();
        for contention in &contentions {
            make(&direct, &contention.path).await;
        }
        let grants = Arc::new(Mutex::new(Vec::new()));
        let mut relays = Vec::new();
        for member in servers.members() {
            let target = certificate.as_ref().map_or_else(|| member.address(), Certificate::address);
            relays.push(Relay::editing(target, setup.edit, Arc::clone(&grants)).await);
        }
        let data = tempfile::Builder::new().prefix("lockscope-campaign-").tempdir().expect("a folder");
        let mut args = ["--root", ROOT, "--session-timeout-ms"].map(str::to_owned).to_vec();
        args.extend([setup.session_timeout_ms.to_string(), "--zk".to_owned()]);
        args.push(relays.iter().map(Relay::address).collect::<Vec<_>>().join(","));
        let mut record = None;
        let place = data.path().join("data");
        if setup.keeps_record {
            let mut tokens = Vec::new();
            for number in 0..8 {
                tokens.push(token(program, &place, &format!("releaser-{number}")).await);
            }
            record = Some(Record::new(program, &place, tokens));
        }
        let mut alarms = Alarms::start(setup.alarming, data.path(), seed).await;
        if setup.keeps_record || setup.keeps_history || alarms.is_some() {
            args.extend(["--data-dir".to_owned(), place.display().to_string()]);
        }
        let config = (data.path().join("lockscope.toml"), alarms.as_ref().map(Alarms::config).unwrap_or_default());
        std::fs::write(&config.0, &config.1).expect("the folder is ours");
        args.extend(["--config".to_owned(), config.0.display().to_string()]);
        if let Some(certificate) = &certificate {
            args.extend(["--ca-file".to_owned(), certificate.authority().display().to_string()]);
        }
        let clock = setup.has_clock.then(|| Clock::start(data.path()));
        let disk = setup.has_disk.then(|| Disk::start(data.path()));
        let threads = setup.has_threads.then(|| Threads::start(data.path()));
        let by_clock = clock.iter().flat_map(Clock::environment);
        let by_disk = disk.iter().flat_map(Disk::environment);
        let by_threads = threads.iter().flat_map(Threads::environment);
        // Alerts have a place of their own where nothing else is kept.
        let no_history = (!setup.keeps_history).then(|| ("LOCKSCOPE_HISTORY", "off".into()));
        let environment = by_clock.chain(by_disk).chain(by_threads).chain(no_history).collect();
        let lockscope = Lockscope::start_with(program, &args, environment).await;
        lockscope.until_ready().await;
        if let Some(alarms) = &mut alarms {
            alarms.watch(&lockscope.url());
        }
        let locks =
            setup.contentions.iter().map(|contention| contention.path.clone()).chain(setup.more_locks.iter().cloned());
        let views: Vec<View> = std::iter::once(View::Board).chain(locks.map(View::Lock)).collect();
        let workload = Workload::start(&servers.connect_string(), &contentions, seed).await;
        let capture = Capture::start(lockscope.address(), 0, views.clone(), Pace::Eager);
        let second = Some(Second::start(lockscope.address(), views.clone()));
        let rng = StdRng::seed_from_u64(seed ^ 0x5eed);
        let scene = Self {
            program: program.to_owned(),
            servers,
            relays,
            grants,
            lockscope,
            capture,
            rng,
            spans: Vec::new(),
            captured: Vec::new(),
            record,
            config,
            clock,
            disk,
            threads,
            certificate,
            back_ms: None,
            notes: Vec::new(),
            wrong: Vec::new(),
            views,
            kept: Vec::new(),
            replaced: None,
            keeps_history: setup.keeps_history,
            alarms,
            began_at_ms: now_ms(),
            second,
            contentions,
            workload: Some(workload),
            data,
        };
        scene.until_live("the beginning", 0).await;
        sleep(CALM).await;
        scene
    }

    /// All locks that are looked at are LIVE, in states that came after this moment.
    fn is_live_since(&self, since_ms: i64) -> bool {
        self.views.iter().all(|view| match view {
            View::Board => true,
            View::Lock(path) => {
                self.capture.newest(path).is_none_or(|shown| shown.is_live && shown.arrived_at_ms >= since_ms)
            }
        })
    }

    /// Waits until everything is shown as LIVE.
    pub async fn until_live(&self, what: &str, since_ms: i64) {
        let begin = Instant::now();
        while !self.is_live_since(since_ms) {
            assert!(begin.elapsed() < DEADLINE, "nothing was LIVE after {what}");
            sleep(STEP).await;
        }
    }

    /// Something is broken from now on.
    pub fn lost(&mut self, fault: Fault) {
        self.spans.push(FaultSpan { fault, lost_at_ms: now_ms(), good_at_ms: None });
    }

    /// It was mended just now.
    pub async fn mended(&mut self) {
        self.mended_since(now_ms()).await;
    }

    /// It was mended then. Waits until all is LIVE again. A link counts as good from the moment on when a session is
    /// granted on it, if a new one is needed.
    pub async fn mended_since(&mut self, mended_at_ms: i64) {
        self.until_live("the fault", mended_at_ms).await;
        self.back_ms = self.back_ms.max(Some(now_ms() - mended_at_ms));
        // Lockscope has more than one session: what is LIVE hangs on this one.
        let own = self.lockscope.session().await;
        let granted = self
            .grants
            .lock()
            .unwrap()
            .iter()
            .find(|grant| grant.at_ms >= mended_at_ms && Some(grant.session) == own)
            .map(|grant| grant.at_ms);
        for span in self.spans.iter_mut().filter(|span| span.good_at_ms.is_none()) {
            let is_link = span.fault == Fault::LinkLost;
            span.good_at_ms = Some(granted.filter(|_| is_link).unwrap_or(mended_at_ms));
        }
    }

    pub fn set_links(&self, link: Link) {
        for relay in &self.relays {
            relay.set(link);
        }
    }

    /// Where Lockscope keeps what it keeps.
    pub fn data_dir(&self) -> PathBuf {
        self.data.path().join("data")
    }

    /// Requests that receivers of alerts were sent so far.
    pub fn alarm_requests(&self) -> usize {
        self.alarms.as_ref().map_or(0, Alarms::requests)
    }

    /// All contenders end at once, and close nothing in order.
    pub fn abandon_workload(&mut self) {
        self.workload = None;
    }

    /// Others contend at the same locks. Returns when each lock has contenders.
    pub async fn resume_workload(&mut self) {
        let (connect, seed) = (self.servers.connect_string(), self.rng.random());
        self.workload = Some(Workload::start(&connect, &self.contentions, seed).await);
        let (client, begin) = (open(&connect).await, Instant::now());
        for Contention { path, .. } in &self.contentions {
            while client.list_children(path).await.map_or(true, |children| children.is_empty()) {
                assert!(begin.elapsed() < DEADLINE, "nobody contends at {path}");
                sleep(STEP).await;
            }
        }
    }

    /// A session beside everybody else's.
    pub async fn direct(&self) -> Client {
        open(&self.servers.connect_string()).await
    }

    /// Everything goes on for a while, then all is ended in order; where that is awaited, once all alerts are over.
    pub async fn end(mut self, awaits_alerts: bool) -> Evidence {
        sleep(if awaits_alerts { LONG_CALM } else { CALM }).await;
        if let Some(workload) = self.workload.take() {
            workload.end().await;
        }
        sleep(CALM).await;
        let mut alarmed = alarm::AlertsHeard::default();
        let has_alarms = self.alarms.is_some();
        if let Some(alarms) = self.alarms.take() {
            alarmed = alarms.end(&self.lockscope, awaits_alerts).await;
            self.notes.append(&mut alarmed.notes);
            self.wrong.append(&mut alarmed.wrong);
        }
        let heard = self.capture.end();
        let mut captured = self.captured;
        captured.extend(heard.captured);
        if let Some(second) = self.second.take() {
            captured.extend(second.end().await);
        }
        let locks: Vec<String> = self.views.iter().filter_map(View::lock).map(str::to_owned).collect();
        let moments = past::moments(&mut self.rng, self.began_at_ms, now_ms() - UNSTORED_MS);
        if self.keeps_history {
            let rewound = past::rewind(&self.lockscope.url(), &locks, &moments).await;
            self.notes.push(rewound.told("rewound"));
            captured.extend(rewound.captured);
            self.wrong.extend(rewound.wrong);
        }
        self.lockscope.kill_minus_9().await;
        let logs = self.servers.end().await;
        let mut autopsy = Past::default();
        if self.keeps_history || self.clock.is_some() {
            autopsy = past::autopsy(&self.program, &logs, &locks, &moments).await;
            self.notes.push(autopsy.told("autopsy"));
            self.wrong.append(&mut autopsy.wrong);
        }
        let sessions = self.grants.lock().unwrap().iter().map(|grant| grant.session).collect();
        Evidence {
            sessions,
            captured,
            autopsy: autopsy.captured,
            spans: self.spans,
            broken: heard.broken,
            dead: heard.dead,
            logs,
            replaced: self.replaced,
            record: self.record,
            alerts: has_alarms.then_some(alarmed.alerts),
            back_ms: self.back_ms,
            notes: self.notes,
            wrong: self.wrong,
            servers: self.servers,
            data: self.data,
        }
    }
}

/// Opens a session directly.
pub async fn open(connect: &str) -> Client {
    Client::connector().with_session_timeout(Duration::from_secs(30)).connect(connect).await.expect("a session")
}

/// Makes persistent znodes, parents included.
pub async fn make(client: &Client, path: &str) {
    client.mkdir(path, &CreateMode::Persistent.with_acls(Acls::anyone_all())).await.expect("mkdir");
}
