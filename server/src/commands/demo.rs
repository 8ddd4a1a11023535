//! `lockscope demo`: a private ZooKeeper, sample contention on it, and the dashboard.

use demo::workload::{Pace, run_workload};
use demo::{PrivateZooKeeper, ServerOptions};
use feed::project::{ApplicationRule, MetricSelection};
use http::{Payloads, pages};
use lockscope_wire::Role;
use runtime::shutdown;

use crate::cli::DemoArgs;
use crate::commands;
use crate::config::{self, Config, ProcessEnvironment};
use crate::error::RunError;
use crate::serve::{self};
use crate::stdout;

/// Session time-out the demo asks for: short, as its server's tick is.
const DEMO_SESSION_TIMEOUT_MS: u64 = 4_000;

/// Starts all of it, and takes it down in the opposite order.
///
/// # Errors
/// See [`RunError`].
pub(super) async fn run(args: &DemoArgs) -> Result<(), RunError> {
    let listen = Config::listen_only(args.listen.as_deref(), &ProcessEnvironment)?;
    // The port first: a taken one should not cost a ZooKeeper's start.
    drop(serve::bind(listen).await?);
    let started = tokio::select! {
        started = PrivateZooKeeper::start(ServerOptions::default()) => started,
        () = serve::signalled() => return Ok(()),
    };
    let data = tempfile::Builder::new().prefix("lockscope-demo-").tempdir();
    let data = data.map_err(|error| {
        RunError::Unavailable(format!(
            "the demo's data has no place: {error}; set TMPDIR to a folder that can be written"
        ))
    })?;
    let mut zookeeper = started
        .map_err(|error| RunError::Unavailable(format!("the demo's ZooKeeper could not be started: {error}")))?;
    let config = Config {
        ensembles: vec![config::Ensemble {
            name: "default".to_owned(),
            color: None,
            zk: zookeeper.address(),
            roots: vec!["/".to_owned()],
            evidence: true,
            admin_urls: vec![format!("http://127.0.0.1:{}", zookeeper.admin_port())],
            clock_scratch: None,
            identity: config::Identity::default(),
        }],
        listen,
        web: config::Web::default(),
        data_dir: Some(data.path().to_owned()),
        history: Some(config::History::in_dir(data.path())),
        connect_timeout: None,
        session_timeout: std::time::Duration::from_millis(DEMO_SESSION_TIMEOUT_MS),
        locks: Vec::new(),
        lints: lockscope_core::finding::Limits::default(),
        #[cfg(feature = "lab")]
        lab: Some(config::Lab::on("default")),
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
