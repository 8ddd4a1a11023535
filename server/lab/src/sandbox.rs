//! The directory of a run: made with everything a run needs, removed with everything a run left, and the sweep of runs
//! whose server died. Owns the run's own session, which nobody counts; must not know strategies' ways or figures.

use std::time::Duration;

use lockscope_view::Strategy;
use tokio::time::timeout;
use tracing::{info, warn};
use zookeeper_client::{Acls, Client, CreateMode, Error};

use super::LabEnsemble;
use lockscope_runtime::clock;
use lockscope_zookeeper::Credentials;

/// Time-out that every session of the lab asks for: short, so that a killed client is worth watching, and long enough
/// that the board sees it, which asks members every 5 s who is connected. A server may grant another, so a session is
/// asked for its own.
pub const SESSION_TIMEOUT: Duration = Duration::from_secs(10);

/// The same of so many: a client gives its connection up after two fifths of it without an answer, and a herd of hundreds
/// keeps a busy machine that long from answering.
pub(super) fn session_timeout(clients: u32) -> Duration {
    SESSION_TIMEOUT * if clients > 100 { 3 } else { 1 }
}

/// Most znodes that are removed below one run; a run never has as many.
pub const NODES_MAX: usize = 20_000;

/// Deletes in one request.
const BATCH_MAX: usize = 500;

/// Levels of znodes below a run that are removed.
const DEPTH_MAX: usize = 4;

const REMOVE_WITHIN: Duration = Duration::from_secs(30);

/// How often a directory that filled up again is emptied.
const TIMES_MAX: usize = 5;

/// How long the sweep waits for owners that may be about to run out: a server that died a moment ago left a session.
const OWNERS_WITHIN: Duration = Duration::from_secs(30);

/// The least time a look at one owner has.
const OWNER_LEAST: Duration = Duration::from_millis(200);

/// Directories of runs that one sweep looks at.
const RUNS_MAX: usize = 100;

/// Data of a lab root that the lab made: one that an operator made, with rights of its own, stays.
const OURS: &[u8] = b"made by the lab of Lockscope";

/// Ephemeral, and there as long as the server that runs the run.
const OWNER: &str = "owner";

/// The directory of one run.
#[derive(Debug)]
pub struct Sandbox {
    client: Client,
    lab_root: String,
    root: String,
}

fn said(what: &str, path: &str) -> impl Fn(Error) -> String {
    let (what, path) = (what.to_owned(), path.to_owned());
    move |error| format!("{what} {path}: {error}; see that the lab's identity may do so, and that the ensemble answers")
}

/// Whether a child of the lab root is the directory of a run: `run-` and 16 hex digits.
pub fn is_run(name: &str) -> bool {
    let digits = name.strip_prefix("run-").unwrap_or_default();
    digits.len() == 16 && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

async fn open(connect: &str, credentials: &Credentials) -> Result<Client, String> {
    let connector = credentials.connector(SESSION_TIMEOUT).map_err(|error| error.to_string())?;
    let opened = timeout(REMOVE_WITHIN, credentials.open(connector, connect)).await;
    opened
        .map_err(|_| format!("{connect} did not answer in {} s", REMOVE_WITHIN.as_secs()))?
        .map_err(said("can't connect to", connect))
}

impl Sandbox {
    /// Makes the directory of run `id` (16 hex digits) with a lock directory and a fence for each strategy.
    ///
    /// # Errors
    /// Why not, in one sentence; nothing of the run is left then.
    pub async fn create(place: &LabEnsemble, id: &str, strategies: &[Strategy]) -> Result<Self, String> {
        let client = open(&place.connect, &place.credentials).await?;
        make_root(&client, &place.root).await.map_err(said("can't make", &place.root))?;
        let sandbox = Self { client, lab_root: place.root.clone(), root: format!("{}/run-{id}", place.root) };
        sandbox.fill(strategies).await.map_err(said("can't make", &sandbox.root))?;
        Ok(sandbox)
    }

    /// All at once: no run is ever seen without its owner, or a sweep would take it for a dead one.
    async fn fill(&self, strategies: &[Strategy]) -> Result<(), Error> {
        let persistent = CreateMode::Persistent.with_acls(Acls::anyone_all());
        let ephemeral = CreateMode::Ephemeral.with_acls(Acls::anyone_all());
        let mut writer = self.client.new_multi_writer();
        writer.add_create(&self.root, b"", &persistent)?;
        writer.add_create(&format!("{}/{OWNER}", self.root), b"", &ephemeral)?;
        for strategy in strategies {
            let directory = self.lane(*strategy);
            writer.add_create(&directory, b"", &persistent)?;
            // Uses up number 0, so that a stale znode can be put before all the numbered ones.
            let first = format!("{directory}/first");
            writer.add_create(&first, b"", &persistent)?;
            writer.add_delete(&first, None)?;
            writer.add_create(&self.fence(*strategy), b"", &persistent)?;
        }
        writer.commit().await?;
        Ok(())
    }

    pub fn root(&self) -> &str {
        &self.root
    }

    /// The lock of a strategy: a directory.
    pub fn lane(&self, strategy: Strategy) -> String {
        format!("{}/{}", self.root, strategy.name())
    }

    /// The znode whose version is the fencing counter of a strategy.
    pub fn fence(&self, strategy: Strategy) -> String {
        format!("{}/fence-{}", self.root, strategy.name())
    }

    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Removes everything. The clients of the run have gone before, or they could go on to make znodes.
    ///
    /// # Errors
    /// What is left and why.
    pub async fn remove(&self) -> Result<(), String> {
        remove(&self.client, &self.root).await?;
        drop_if_empty(&self.client, &self.lab_root).await;
        Ok(())
    }
}

/// Removes one run: what is below it first, its owner with itself at last, so that it is swept if this breaks off.
async fn remove(client: &Client, run: &str) -> Result<(), String> {
    let removing = async {
        let mut left = NODES_MAX;
        for _ in 0..TIMES_MAX {
            for name in
                children(client, run).await.map_err(said("can't list", run))?.iter().filter(|name| *name != OWNER)
            {
                clear(client, &format!("{run}/{name}"), &mut left, DEPTH_MAX).await?;
            }
            delete(client, &format!("{run}/{OWNER}")).await.map_err(said("can't delete", run))?;
            match client.delete(run, None).await {
                Ok(()) | Err(Error::NoNode) => return Ok(()),
                Err(Error::NotEmpty) => {}
                Err(error) => return Err(said("can't delete", run)(error)),
            }
        }
        Err(format!("{run} fills up again and again; some client still works in it"))
    };
    let done = timeout(REMOVE_WITHIN, removing).await;
    done.unwrap_or_else(|_| {
        Err(format!(
            "{run} was not removed in {} s; it is removed when the server starts again",
            REMOVE_WITHIN.as_secs()
        ))
    })
}

async fn children(client: &Client, path: &str) -> Result<Vec<String>, Error> {
    match client.list_children(path).await {
        Err(Error::NoNode) => Ok(Vec::new()),
        listed => listed,
    }
}

async fn delete(client: &Client, path: &str) -> Result<(), Error> {
    match client.delete(path, None).await {
        Err(Error::NoNode) => Ok(()),
        deleted => deleted,
    }
}

/// Removes a znode with what is below it.
async fn clear(client: &Client, path: &str, left: &mut usize, depth: usize) -> Result<(), String> {
    let names = children(client, path).await.map_err(said("can't list", path))?;
    *left = left
        .checked_sub(names.len() + 1)
        .ok_or_else(|| format!("{path} has more than {NODES_MAX} znodes; remove it by hand"))?;
    for batch in names.chunks(BATCH_MAX) {
        if empty(client, path, batch).await.is_ok() {
            continue;
        }
        // One of them is gone by itself, or has children.
        for name in batch {
            let child = format!("{path}/{name}");
            match delete(client, &child).await {
                Ok(()) => {}
                Err(Error::NotEmpty) if depth > 0 => Box::pin(clear(client, &child, left, depth - 1)).await?,
                Err(error) => return Err(said("can't delete", &child)(error)),
            }
        }
    }
    match delete(client, path).await {
        // It filled up meanwhile: whoever asked comes again.
        Ok(()) | Err(Error::NotEmpty) => Ok(()),
        Err(error) => Err(said("can't delete", path)(error)),
    }
}

async fn empty(client: &Client, path: &str, names: &[String]) -> Result<(), Error> {
    let mut writer = client.new_multi_writer();
    for name in names {
        writer.add_delete(&format!("{path}/{name}"), None)?;
    }
    writer.commit().await?;
    Ok(())
}

/// Makes the lab root, unless it is there.
async fn make_root(client: &Client, lab_root: &str) -> Result<(), Error> {
    let options = CreateMode::Persistent.with_acls(Acls::anyone_all());
    if let Some((parent, _)) = lab_root.rsplit_once('/').filter(|(parent, _)| !parent.is_empty()) {
        client.mkdir(parent, &options).await?;
    }
    match client.create(lab_root, OURS, &options).await {
        Ok(_) | Err(Error::NodeExists) => Ok(()),
        Err(error) => Err(error),
    }
}

/// A lab root of our own making goes with the last run.
async fn drop_if_empty(client: &Client, lab_root: &str) {
    let dropping = async {
        let (data, _) = client.get_data(lab_root).await?;
        if data == OURS { client.delete(lab_root, None).await } else { Ok(()) }
    };
    match dropping.await {
        Ok(()) | Err(Error::NoNode | Error::NotEmpty) => {}
        Err(error) => warn!(root = lab_root, %error, "the lab's root stays"),
    }
}

/// Waits until the owner of a run is gone; false when that takes too long.
async fn is_ownerless(client: &Client, run: &str, within: Duration) -> Result<bool, Error> {
    let owner = format!("{run}/{OWNER}");
    let waiting = async {
        loop {
            let (stat, watcher) = client.check_and_watch_stat(&owner).await?;
            if stat.is_none() {
                return Ok(());
            }
            watcher.changed().await;
            if client.state().is_terminated() {
                return Err(Error::SessionExpired);
            }
        }
    };
    timeout(within, waiting).await.map_or(Ok(false), |ended| ended.map(|()| true))
}

/// Removes the runs that servers left which died: those whose owner is gone, or goes within half a minute. Everything
/// else below the lab root stays, with a warning.
///
/// # Errors
/// Why it could not be done, in one sentence.
pub async fn sweep(place: &LabEnsemble) -> Result<usize, String> {
    let client = open(&place.connect, &place.credentials).await?;
    let names = children(&client, &place.root).await.map_err(said("can't list", &place.root))?;
    let (runs, strangers): (Vec<_>, Vec<_>) = names.into_iter().partition(|name| is_run(name));
    if !strangers.is_empty() {
        warn!(
            root = place.root,
            count = strangers.len(),
            first = strangers.first(),
            "znodes in the lab's root are not the lab's; they stay"
        );
    }
    let mut swept = 0;
    let until = clock::instant() + OWNERS_WITHIN;
    for name in runs.iter().take(RUNS_MAX) {
        let run = format!("{}/{name}", place.root);
        let within = until.saturating_duration_since(clock::instant());
        if is_ownerless(&client, &run, within.max(OWNER_LEAST)).await.map_err(said("can't look at", &run))? {
            remove(&client, &run).await?;
            swept += 1;
        } else {
            info!(run, "a run of another server is under way; it stays");
        }
    }
    drop_if_empty(&client, &place.root).await;
    Ok(swept)
}
