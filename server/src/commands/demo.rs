//! `lockscope demo`: a private ZooKeeper, sample contention on it, and the dashboard.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::mpsc;

use lockscope_core::settings::Settings;
use lockscope_core::time::TimeMs;
use lockscope_demo::workload::{Pace, run_workload};
use lockscope_demo::{PrivateZooKeeper, ServerOptions};
use lockscope_runtime::clock::Clock;
use lockscope_runtime::shutdown::{self, CancellationToken};
use lockscope_view::Role;
use lockscope_web::pages;
use tokio::task::JoinHandle;

use super::demo_past;
use crate::cli::{DemoArgs, ServeArgs};
use crate::config::{self, Config, ConfigError, Environment, ProcessEnvironment};
use crate::error::RunError;
use crate::serve::{self, Filling};
use crate::{commands, stdout};

const ENSEMBLE: &str = "default";
const ROOT: &str = "/";
/// Session time-out the demo asks for: short, as its server's tick is.
const DEMO_SESSION_TIMEOUT_MS: u64 = 4_000;

/// The hour that is filled in while the demo starts.
struct Past {
    filled: JoinHandle<()>,
    /// Closed when it is there.
    filling: Option<Filling>,
    stop: CancellationToken,
}

impl Past {
    /// Fills the history on a thread of its own, until a signal comes: in a build without optimisation it takes some seconds.
    fn fill(history: config::History) -> Self {
        let settings = Settings { roots: vec![ROOT.to_owned()], ..Settings::default() };
        let now = TimeMs(Clock::system().now_ms());
        let (stop, (filler, filling)) = (CancellationToken::new(), mpsc::channel());
        let (stopped, signalled) = (stop.clone(), stop.clone());
        let filled = tokio::task::spawn_blocking(move || {
            if let Err(error) = demo_past::fill(&history, ENSEMBLE, settings, now, &stopped) {
                tracing::warn!("the demo has no past: {error}");
            }
            drop(filler);
        });
        tokio::spawn(async move {
            serve::signalled().await;
            signalled.cancel();
        });
        Self { filled, filling: Some(filling), stop }
    }

    /// Gives up what is not there yet, and waits until nothing is written any more.
    async fn end(self) {
        self.stop.cancel();
        let _ = self.filled.await;
    }
}

/// Starts all of it, and takes it down in the opposite order.
pub(super) async fn run(args: &DemoArgs) -> Result<(), RunError> {
    let listen = Config::listen_only(args.listen.as_deref(), &ProcessEnvironment)?;
    // The port first: a taken one should not cost a ZooKeeper's start.
    drop(serve::bind(listen).await?);
    let data = tempfile::Builder::new().prefix("lockscope-demo-").tempdir();
    let data = data.map_err(|error| {
        RunError::Unavailable(format!(
            "the demo's data has no place: {error}; set TMPDIR to a folder that can be written"
        ))
    })?;
    let mut past = Past::fill(config::History::in_dir(data.path()));
    let served = serve_with(listen, data.path(), past.filling.take()).await;
    // Before its directory is removed.
    past.end().await;
    served
}

async fn serve_with(listen: SocketAddr, data: &Path, mut filling: Option<Filling>) -> Result<(), RunError> {
    let started = tokio::select! {
        started = PrivateZooKeeper::start(ServerOptions::default()) => started,
        () = serve::signalled() => return Ok(()),
    };
    let mut zookeeper = started
        .map_err(|error| RunError::Unavailable(format!("the demo's ZooKeeper could not be started: {error}")))?;
    let config = config_of(listen, data, &zookeeper)?;
    let (stopper, stop) = shutdown::token();
    let connect = zookeeper.address();
    let workload = tokio::spawn(async move {
        if let Err(error) = run_workload(&connect, Pace::LIFELIKE, stop.clone()).await {
            tracing::error!(%error, "the sample contention ended");
        }
    });
    let access = serve::access(&config);
    let link = access.one_time_link("demo", Role::Operator);
    stdout::print(&format!(
        "the audit log is in {0}; verify it with: lockscope audit verify --data-dir {0}",
        data.display()
    ));
    let mut ensembles = commands::serve::ensembles(&config)?;
    ensembles.iter_mut().take(1).for_each(|ensemble| ensemble.filling = filling.take());
    let served = serve::run(&config, None, ensembles, None, pages, access, &link).await;
    drop(stopper);
    if tokio::time::timeout(serve::CLOSE_MAX, workload).await.is_err() {
        tracing::warn!("some sample sessions were not closed in time; they end with their ZooKeeper");
    }
    if let Err(error) = zookeeper.stop().await {
        tracing::warn!(%error, "the demo's ZooKeeper did not stop by itself and is killed");
    }
    served
}

/// The demo's configuration file: all else of it is given as flags, and no variable counts.
struct DemoFile;

impl Environment for DemoFile {
    fn var(&self, _: &str) -> Option<String> {
        None
    }

    fn file(&self, _: &Path) -> std::io::Result<String> {
        let lab = format!("[lab]\nensembles = [{ENSEMBLE:?}]\n");
        Ok(if cfg!(feature = "lab") { lab } else { String::new() })
    }
}

fn config_of(listen: SocketAddr, data: &Path, zookeeper: &PrivateZooKeeper) -> Result<Config, ConfigError> {
    let flags = ServeArgs {
        zk: Some(zookeeper.address()),
        admin_url: vec![format!("http://127.0.0.1:{}", zookeeper.admin_port())],
        listen: Some(listen.to_string()),
        session_timeout_ms: Some(DEMO_SESSION_TIMEOUT_MS.to_string()),
        config: Some("demo.toml".into()),
        ..ServeArgs::default()
    };
    let config = Config::load(&flags, &DemoFile)?;
    let access = lockscope_access::Settings { is_demo: true, ..config.access };
    Ok(Config { data_dir: Some(data.to_owned()), history: Some(config::History::in_dir(data)), access, ..config })
}
