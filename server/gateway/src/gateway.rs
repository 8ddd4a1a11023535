//! The gateway of a replica: links to those who watch what it does not, and the plan of whom to ask for what.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use cluster::ReplicaSecret;
use feed::{Ensembles, ForeignCounts, Projection};
use reqwest::{Client, ClientBuilder};
use runtime::clock::Clock;
use runtime::shutdown::{CancellationToken, DropGuard};
use tokio::sync::watch;

use crate::composite::Composites;
use crate::connection::{self, Identity};
use crate::directory::{Directory, OwnerAddress};
use crate::link::{Bell, Link};
use crate::plan::Plan;

/// Owners that are connected to. Overflow policy: ensembles of further ones are not shown, and that is said.
const LINKS_MAX: usize = 64;

/// As whom a replica asks others.
#[derive(Clone, Debug)]
pub struct GatewaySettings {
    /// This replica's id.
    pub id: String,
    /// What all of the cluster have.
    pub secret: ReplicaSecret,
}

/// Why there can be no gateway.
#[derive(Debug, thiserror::Error)]
#[error("other replicas can't be asked: {0}; see to the certificates of this machine")]
pub struct GatewayError(String);

/// Views of what this replica watches, and of what others do.
pub struct Gateway {
    pub(crate) local: Arc<dyn Projection>,
    /// What this replica watches.
    pub(crate) shown: Ensembles,
    pub(crate) clock: Clock,
    pub(crate) bell: Arc<Bell>,
    pub(crate) composites: Composites,
    plan: RwLock<Arc<Plan>>,
    directory: watch::Sender<Arc<Directory>>,
    links: Mutex<HashMap<OwnerAddress, Running>>,
    identity: Identity,
}

/// A link and its task, which ends with it.
struct Running {
    link: Arc<Link>,
    _stop: DropGuard,
}

impl fmt::Debug for Gateway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gateway").field("identity", &self.identity).finish_non_exhaustive()
    }
}

/// Replicas reach each other directly. A WebSocket is made of an HTTP/1.1 connection.
pub(crate) fn direct_client() -> Result<Client, GatewayError> {
    built(direct())
}

/// One that opens a connection for each request: a connection that was left open may be closed just now, and then nobody
/// knows what arrived.
pub(crate) fn once_client(connect_max: Duration) -> Result<Client, GatewayError> {
    built(direct().pool_max_idle_per_host(0).connect_timeout(connect_max))
}

fn direct() -> ClientBuilder {
    let client = Client::builder().http1_only().redirect(reqwest::redirect::Policy::none()).no_proxy();
    client.tcp_nodelay(true)
}

fn built(client: ClientBuilder) -> Result<Client, GatewayError> {
    client.build().map_err(|error| GatewayError(error.to_string()))
}

impl Gateway {
    /// Over this replica's own models, which are of the ensembles shown. It is not known yet who watches what.
    ///
    /// # Errors
    /// No connection can be made from here at all.
    pub fn new(
        settings: GatewaySettings,
        local: Arc<dyn Projection>,
        shown: Ensembles,
        clock: Clock,
    ) -> Result<Arc<Self>, GatewayError> {
        let client = direct_client()?;
        let identity = Identity { id: settings.id, secret: settings.secret, client, clock: clock.clone() };
        let why = "this replica is no member of the cluster yet".to_owned();
        let directory = Arc::new(Directory { why, ..Directory::default() });
        Ok(Arc::new(Self {
            local,
            shown,
            clock,
            bell: Arc::default(),
            composites: Composites::default(),
            plan: RwLock::new(Arc::new(Plan::new(0, directory.clone(), &HashMap::new()))),
            directory: watch::Sender::new(directory),
            links: Mutex::default(),
            identity,
        }))
    }

    /// Takes in who watches what.
    pub fn set_directory(&self, directory: Directory) {
        self.directory.send_if_modified(|before| {
            let is_new = **before != directory;
            if is_new {
                *before = Arc::new(directory);
            }
            is_new
        });
    }

    /// What is counted.
    pub(crate) fn counts(&self) -> ForeignCounts {
        let links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        let ups = links.values().filter(|running| running.link.is_up()).count();
        let views = links.values().map(|running| running.link.views()).sum();
        let ensembles = self.plan().directory.foreign.len();
        ForeignCounts { owners: links.len(), owners_up: ups, views, ensembles }
    }

    /// Connects to owners, and plans anew with every change, until `stop`.
    pub async fn run(self: Arc<Self>, stop: CancellationToken) {
        let mut directories = self.directory.subscribe();
        let mut changes = self.bell.revisions();
        let mut health: Vec<(OwnerAddress, bool)> = Vec::new();
        loop {
            let directory = directories.borrow_and_update().clone();
            // Every frame leads here, and a directory may have thousands of ensembles.
            let is_new = !Arc::ptr_eq(&directory, &self.plan().directory);
            if is_new {
                self.connect(&directory, &stop);
            }
            let now = self.health();
            if is_new || now != health {
                health = now;
                self.make_plan(directory);
            }
            tokio::select! {
                () = stop.cancelled() => return,
                changed = directories.changed() => if changed.is_err() { return },
                changed = changes.changed() => if changed.is_err() { return },
            }
        }
    }

    pub(crate) fn plan(&self) -> Arc<Plan> {
        self.plan.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn make_plan(&self, directory: Arc<Directory>) {
        let links: HashMap<OwnerAddress, Arc<Link>> = {
            let running = self.links.lock().unwrap_or_else(PoisonError::into_inner);
            running.iter().map(|(owner, running)| (owner.clone(), running.link.clone())).collect()
        };
        {
            let mut plan = self.plan.write().unwrap_or_else(PoisonError::into_inner);
            *plan = Arc::new(Plan::new(plan.revision + 1, directory, &links));
        }
        self.bell.ring();
    }

    /// Whether an owner answers.
    pub(crate) fn is_up(&self, owner: &OwnerAddress) -> bool {
        let links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        links.get(owner).is_some_and(|running| running.link.is_up())
    }

    fn health(&self) -> Vec<(OwnerAddress, bool)> {
        let links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        let mut health: Vec<_> = links.iter().map(|(owner, running)| (owner.clone(), running.link.is_up())).collect();
        health.sort();
        health
    }

    /// Keeps a connection to each owner, and to nobody else.
    fn connect(&self, directory: &Directory, stop: &CancellationToken) {
        let mut owners: Vec<&OwnerAddress> = Vec::new();
        let mut known: HashSet<&OwnerAddress> = HashSet::new();
        for owner in directory.foreign.iter().flat_map(|foreign| &foreign.owners) {
            if known.insert(owner) {
                owners.push(owner);
            }
        }
        let mut links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        links.retain(|owner, _| known.contains(owner));
        for owner in owners.into_iter().take(LINKS_MAX) {
            links.entry(owner.clone()).or_insert_with(|| {
                let link = Link::new(owner.clone(), self.clock.clone(), self.bell.clone());
                let stop = stop.child_token();
                let kept = connection::keep(link.clone(), self.identity.clone(), stop.clone());
                runtime::tasks::spawn("link to a replica", kept);
                Running { link, _stop: stop.drop_guard() }
            });
        }
    }
}
