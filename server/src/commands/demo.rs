//! `lockscope demo`: a private ZooKeeper, sample contention on it, and the dashboard.

use demo::workload::{Pace, run_workload};
use demo::{PrivateZooKeeper, ServerOptions};
use feed::project::{ApplicationRule, MetricSelection};
use history::backfill::BackfillError;
use http::{Payloads, pages};
use lockscope_core::settings::Settings;
use lockscope_core::time::TimeMs;
use lockscope_wire::Role;
use runtime::clock::Clock;
use runtime::shutdown::{self, CancellationToken};
use tokio::task::JoinHandle;

use super::demo_past;
use crate::cli::DemoArgs;
use crate::commands;
use crate::config::{self, Config, ProcessEnvironment};
use crate::error::RunError;
use crate::serve::{self};
use crate::stdout;

/// What the demo's ensemble is called.
const ENSEMBLE: &str = "default";
/// Session time-out the demo asks for: short, as its server's tick is.
const DEMO_SESSION_TIMEOUT_MS: u64 = 4_000;

/// Fills the history with an hour to look back on, on a thread of its own.
fn spawn_past(
    history: config::History,
    roots: Vec<String>,
    stop: CancellationToken,
) -> JoinHandle<Result<(), BackfillError>> {
    let (settings, now) = (Settings { roots, ..Settings::default() }, TimeMs(Clock::system().now_ms()));
    tokio::task::spawn_blocking(move || demo_past::fill(&history, ENSEMBLE, settings, now, &stop))
}

/// Starts all of it, and takes it down in the opposite order.
///
/// # Errors
/// See [`RunError`].
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
    let (history, roots) = (config::History::in_dir(data.path()), vec!["/".to_owned()]);
    let (stop_past, past_stops) = shutdown::token();
    let past = spawn_past(history.clone(), roots.clone(), past_stops);
    // While Java starts.
    let started = tokio::select! {
        started = PrivateZooKeeper::start(ServerOptions::default()) => Some(started),
        () = serve::signalled() => None,
    };
    if !matches!(started, Some(Ok(_))) {
        drop(stop_past);
    }
    // Before its directory is removed, and before the recording takes the store.
    let filled = past.await;
    let Some(started) = started else { return Ok(()) };
    match filled {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::warn!("the demo has no past: {error}"),
        Err(error) => tracing::warn!("the demo has no past: {error}"),
    }
    let mut zookeeper = started
        .map_err(|error| RunError::Unavailable(format!("the demo's ZooKeeper could not be started: {error}")))?;
    let config = Config {
        ensembles: vec![config::Ensemble {
            name: ENSEMBLE.to_owned(),
            color: None,
            zk: zookeeper.address(),
            roots,
            evidence: true,
            admin_urls: vec![format!("http://127.0.0.1:{}", zookeeper.admin_port())],
            clock_scratch: None,
            identity: config::Identity::default(),
        }],
        listen,
        web: config::Web::default(),
        data_dir: Some(data.path().to_owned()),
        history: Some(history),
        connect_timeout: None,
        session_timeout: std::time::Duration::from_millis(DEMO_SESSION_TIMEOUT_MS),
        locks: Vec::new(),
        lints: lockscope_core::finding::Limits::default(),
        #[cfg(feature = "lab")]
        lab: Some(config::Lab::on(ENSEMBLE)),
        #[cfg(not(feature = "lab"))]
        lab: None,
        webhook: None,
        second_approver: false,
        payloads: Payloads::default(),
        access: access::Settings::default(),
        applications: ApplicationRule::default(),
        metrics: MetricSelection::usual(),
    };
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
        data.path().display()
    ));
    let served = serve::run(&config, None, commands::serve::ensembles(&config)?, pages, access, &link).await;
    drop(stopper);
    if tokio::time::timeout(serve::CLOSE_MAX, workload).await.is_err() {
        tracing::warn!("some sample sessions were not closed in time; they end with their ZooKeeper");
    }
    if let Err(error) = zookeeper.stop().await {
        tracing::warn!(%error, "the demo's ZooKeeper did not stop by itself and is killed");
    }
    served
}
