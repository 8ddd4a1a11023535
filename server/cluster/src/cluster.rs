//! The handle of a replica's cluster: what is known, for whoever wants to know it, and the session for acts.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lockscope_runtime::clock::{self, Clock};
use lockscope_view::{Cluster as ClusterView, ClusterState, SharedMemory};
use parking_lot::{Mutex, MutexGuard};
use zookeeper_client::{Acl, Client};

use crate::member::{Member, MemberRecord};
use crate::paths::{Paths, hash};
use crate::session;
use crate::settings::Settings;
use crate::state::{Counts, Known};

/// After so long without a word the others are not waited for.
const CUT_OFF_AFTER: Duration = Duration::from_secs(60);

/// A replica's cluster. Cheap to clone.
#[derive(Clone)]
pub struct Cluster(Arc<Inner>);

struct Inner {
    settings: Settings,
    paths: Paths,
    record: MemberRecord,
    clock: Clock,
    begun: Instant,
    known: Mutex<Known>,
    /// The session, and the ACL of what is created by it.
    session: Mutex<Option<(Client, Vec<Acl>)>>,
}

impl fmt::Debug for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cluster").field("settings", &self.0.settings).finish_non_exhaustive()
    }
}

impl Cluster {
    /// A replica that is no member yet; [`Cluster::run`] makes it one.
    pub fn new(settings: Settings, clock: Clock) -> Self {
        let mut watched: Vec<&str> = settings.watched.iter().map(String::as_str).collect();
        watched.sort_unstable();
        let record = MemberRecord {
            address: settings.address.clone(),
            version: settings.version.clone(),
            since_ms: clock.now_ms(),
            capacity: 1,
            process: format!("{:032x}", rand::random::<u128>()),
            session_timeout_ms: u64::try_from(settings.session_timeout.as_millis()).unwrap_or(u64::MAX),
            watches: format!("{}-{:016x}", watched.len(), hash(&watched)),
        };
        Self(Arc::new(Inner {
            paths: Paths::new(&settings.root),
            settings,
            record,
            clock,
            begun: clock::instant(),
            known: Mutex::default(),
            session: Mutex::default(),
        }))
    }

    /// Whether this replica leads, as of now: never longer than its session lives, whatever it heard.
    pub fn is_leader(&self) -> bool {
        self.0.known.lock().leads_at(clock::instant())
    }

    /// The place of this replica among those that are there, by their ids, as of now; None while it is no member.
    pub fn rank(&self) -> Option<usize> {
        self.0.known.lock().rank_at(self.id(), clock::instant())
    }

    /// Asks ZooKeeper whether this replica could join, and changes nothing.
    pub async fn check(&self) -> Result<(), String> {
        session::check(self.settings(), self.paths()).await.map_err(|trouble| trouble.to_string())
    }

    pub fn view(&self) -> ClusterView {
        self.0.known.lock().view(&self.0.settings, &self.0.record.watches, clock::instant())
    }

    /// Whether nothing was heard of the cluster for so long that what must not wait is done without it.
    pub fn is_cut_off(&self) -> bool {
        self.0.known.lock().heard_at.unwrap_or(self.0.begun).elapsed() >= CUT_OFF_AFTER
    }

    pub fn counts(&self) -> Counts {
        self.0.known.lock().counts
    }

    pub fn id(&self) -> &str {
        &self.0.settings.id
    }

    /// Notes how the database stands by which replicas share; it is shown with the rest.
    pub fn note_shared_memory(&self, memory: SharedMemory) {
        self.0.known.lock().shared_memory = Some(memory);
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.0.settings
    }

    pub(crate) fn paths(&self) -> &Paths {
        &self.0.paths
    }

    pub(crate) fn record(&self) -> &MemberRecord {
        &self.0.record
    }

    pub(crate) fn client(&self) -> Option<Client> {
        self.session().as_ref().map(|(client, _)| client.clone())
    }

    /// The access list of what is created by it.
    pub(crate) fn acl(&self) -> Vec<Acl> {
        self.session().as_ref().map(|(_, acl)| acl.clone()).unwrap_or_default()
    }

    pub(crate) fn session(&self) -> MutexGuard<'_, Option<(Client, Vec<Acl>)>> {
        self.0.session.lock()
    }

    pub(crate) fn why(&self) -> String {
        self.0.known.lock().why.clone()
    }

    pub(crate) fn count(&self, one: impl FnOnce(&mut Counts)) {
        one(&mut self.0.known.lock().counts);
    }

    /// ZooKeeper answered.
    pub(crate) fn heard(&self) {
        self.0.known.lock().heard_at = Some(clock::instant());
    }

    /// Where this replica stands. Nothing but a member leads.
    pub(crate) fn set_state(&self, state: ClusterState, why: String) {
        let mut known = self.0.known.lock();
        if (known.state, &known.why) == (state, &why) {
            return;
        }
        if state != ClusterState::Member {
            known.lease.end();
        }
        match state {
            ClusterState::Member if known.state != ClusterState::Suspended => {
                known.counts.joins += 1;
                tracing::info!("this replica is a member of the cluster at {}, as {}", self.0.paths.root(), self.id());
            }
            ClusterState::Refused => tracing::error!("this replica is no member of the cluster: {why}"),
            ClusterState::Waiting | ClusterState::Lost => {
                tracing::warn!("this replica is no member of the cluster: {why}")
            }
            ClusterState::Member | ClusterState::Suspended | ClusterState::Joining | ClusterState::Off => {}
        }
        known.state = state;
        known.why = why;
    }

    /// An answer came to what was sent at an instant.
    pub(crate) fn renew(&self, sent: Instant, session_timeout: Duration) {
        let mut known = self.0.known.lock();
        known.lease.renew(sent, session_timeout);
        known.heard_at = Some(clock::instant());
    }

    /// Our znode at the latch is the first, or gone.
    pub(crate) fn set_latch(&self, path: Option<String>) {
        let mut known = self.0.known.lock();
        if path.is_some() && known.latch.is_none() {
            known.counts.leaderships += 1;
        }
        known.latch = path;
    }

    pub(crate) fn latch(&self) -> Option<String> {
        self.0.known.lock().latch.clone()
    }

    /// Who is first at the latch.
    pub(crate) fn set_first(&self, id: Option<String>) {
        let mut known = self.0.known.lock();
        if known.first == id {
            return;
        }
        match &id {
            Some(leader) => tracing::info!("the cluster is led by {leader}"),
            None => tracing::warn!("nobody leads the cluster"),
        }
        known.first = id;
    }

    pub(crate) fn note_members(&self, members: Vec<Member>, strangers: usize) {
        let mut known = self.0.known.lock();
        known.members = members;
        known.strangers = strangers;
        known.seen_at_ms = Some(self.0.clock.now_ms());
        known.heard_at = Some(clock::instant());
    }
}
