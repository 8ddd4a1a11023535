//! What each command of the command line does, put together from the parts.

use app::domain::observation::Observation;
use tokio::sync::{mpsc, watch};

use crate::audit::{self, VerifyError, chain};
use crate::cli::{AuditCommand, AuditPlace, Command, Demo, Settings};
use crate::config::{self, Config, ConfigError, Process};
use crate::demo::workload::{Pace, run_workload};
use crate::demo::{PrivateZooKeeper, ServerOptions};
use crate::error::RunError;
use crate::evidence;
use crate::feed::project::EnsembleInfo;
use crate::http::pages;
use crate::serve::{self, Observer, Served, Tools, say};
use crate::shutdown;
use crate::zookeeper::{ObserverConfig, ScratchConfig, compare_clocks, observe};

/// Session time-out the demo asks for: short, as its server's tick is.
const DEMO_SESSION_TIMEOUT_MS: u64 = 4_000;

/// Does what was asked.
///
/// # Errors
/// See [`RunError`]; its exit code is the process's.
pub async fn run(command: Command) -> Result<(), RunError> {
    match command {
        Command::Serve(settings) => {
            let config = Config::load(&settings, &Process)?;
            let ensembles = served(&config)?;
            serve::run(&config, ensembles, pages).await
        }
        Command::Demo(demo) => run_demo(&demo).await,
        Command::CheckConfig(settings) => check_config(&settings),
        Command::Audit(audit) => look_after(&audit.command),
    }
}

fn check_config(settings: &Settings) -> Result<(), RunError> {
    let config = Config::load(settings, &Process)?;
    served(&config)?;
    say("the configuration is good");
    config.ensembles.iter().for_each(say_ensemble);
    say(&format!("  listen             {}", config.listen));
    say(&format!("  data-dir           {}", config.data_dir.map_or_else(|| "none".to_owned(), |dir| dir.display().to_string())));
    say(&format!("  connect-timeout    {}", config.connect_timeout.map_or_else(|| "none: keep trying".to_owned(), |time| format!("{time:?}"))));
    say(&format!("  session-timeout-ms {}", config.session_timeout.as_millis()));
    say(&format!("  webhook            {}", config.webhook.map_or_else(|| "none".to_owned(), |webhook| webhook.shown())));
    Ok(())
}

/// Checks or exports the record of acts; a server may go on writing it.
fn look_after(command: &AuditCommand) -> Result<(), RunError> {
    match command {
        AuditCommand::Verify { place, head } => {
            let head = head.as_deref().map(|head| head.trim().to_lowercase());
            if let Some(head) = head.as_deref().filter(|head| !chain::is_hash(head)) {
                let what = format!("--head {head:?} is not a hash of a record; give the {} hexadecimal digits of one", chain::HASH_CHARS);
                return Err(ConfigError(what).into());
            }
            let (_, whole) = verified(place, head.as_deref())?;
            let anchored = whole.anchored.map_or_else(String::new, |id| format!(", the noted hash is that of record {id}"));
            say(&format!("{} records, chain whole, head {}{anchored}", whole.tip.id, whole.tip.hash));
            if whole.torn_bytes > 0 {
                say(&format!(
                    "after them {} bytes of a line that is being written, or that a crash cut; the next start moves it aside",
                    whole.torn_bytes
                ));
            }
            Ok(())
        }
        AuditCommand::Export { place } => {
            let (dir, whole) = verified(place, None)?;
            match audit::copy_all(&dir, &whole, &mut std::io::stdout().lock()) {
                // A reader that has enough is no failure.
                Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
                    Err(RunError::Unavailable(format!("the record could not be written to standard output ({error}); write it to a file")))
                }
                Ok(()) | Err(_) => Ok(()),
            }
        }
    }
}

fn verified(place: &AuditPlace, head: Option<&str>) -> Result<(std::path::PathBuf, audit::Whole), RunError> {
    let dir = Config::data_dir_only(place, &Process)?;
    let whole = audit::verify_dir(&dir, head).map_err(|error| match error {
        VerifyError::Line { .. } | VerifyError::Files { .. } => RunError::Broken(error.to_string()),
        VerifyError::None { .. } | VerifyError::Io { .. } => RunError::Unavailable(error.to_string()),
    })?;
    Ok((dir, whole))
}

fn say_ensemble(ensemble: &config::Ensemble) {
    let color = ensemble.color.map_or_else(String::new, |color| format!(", {color}"));
    say(&format!("  ensemble           {}{color}", ensemble.name));
    say(&format!("  zk                 {}", ensemble.zk));
    say(&format!("  root               {}", ensemble.roots.join(", ")));
    say(&format!("  evidence           {}", if ensemble.evidence { "on" } else { "off: the members are asked nothing" }));
    let named =
        if ensemble.admin_urls.is_empty() { "none: looked for at port 8080 of each member".to_owned() } else { ensemble.admin_urls.join(", ") };
    say(&format!("  admin-url          {named}"));
    say(&format!("  clock-scratch      {}", ensemble.clock_scratch.as_deref().unwrap_or("none: nothing is ever written")));
}

/// A private ZooKeeper, sample contention on it, and the dashboard; taken down in the opposite order.
async fn run_demo(demo: &Demo) -> Result<(), RunError> {
    let listen = Config::listen_only(demo.listen.as_deref(), &Process)?;
    // The port first: a taken one should not cost a ZooKeeper's start.
    drop(serve::bind(listen).await?);
    let started = tokio::select! {
        started = PrivateZooKeeper::start(ServerOptions::default()) => started,
        () = serve::signalled() => return Ok(()),
    };
    let mut zookeeper = started.map_err(|error| RunError::Unavailable(format!("the demo's ZooKeeper could not be started: {error}")))?;
    let config = Config {
        ensembles: vec![config::Ensemble {
            name: "default".to_owned(),
            color: None,
            zk: zookeeper.address(),
            roots: vec!["/".to_owned()],
            evidence: true,
            admin_urls: vec![format!("http://127.0.0.1:{}", zookeeper.admin_port())],
            clock_scratch: None,
        }],
        listen,
        data_dir: None,
        connect_timeout: None,
        session_timeout: std::time::Duration::from_millis(DEMO_SESSION_TIMEOUT_MS),
        locks: Vec::new(),
        lints: app::domain::finding::Limits::default(),
        webhook: None,
    };
    let (stopper, stop) = shutdown::channel();
    let connect = zookeeper.address();
    let workload = tokio::spawn(async move {
        if let Err(error) = run_workload(&connect, Pace::LIFELIKE, stop.receiver()).await {
            tracing::error!(%error, "the sample contention ended");
        }
    });
    let served = serve::run(&config, served(&config)?, pages).await;
    stopper.stop();
    if tokio::time::timeout(serve::CLOSE_MAX, workload).await.is_err() {
        tracing::warn!("some sample sessions were not closed in time; they end with their ZooKeeper");
    }
    if let Err(error) = zookeeper.stop().await {
        tracing::warn!(%error, "the demo's ZooKeeper did not stop by itself and is killed");
    }
    served
}

/// The observer of a real ensemble, and who asks its members.
struct Ensemble {
    observer: ObserverConfig,
    evidence: Option<evidence::Config>,
    scratch: Option<ScratchConfig>,
}

/// Every ensemble with its observer.
fn served(config: &Config) -> Result<Vec<Served<Ensemble>>, ConfigError> {
    config.ensembles.iter().map(|ensemble| served_one(config, ensemble)).collect()
}

fn served_one(config: &Config, ensemble: &config::Ensemble) -> Result<Served<Ensemble>, ConfigError> {
    let observer = ObserverConfig::new(&ensemble.zk, ensemble.roots.clone(), config.session_timeout);
    let observer = observer.map_err(|error| ConfigError(error.to_string()))?;
    let asked =
        || evidence::Config { connect: ensemble.zk.clone(), admin_urls: ensemble.admin_urls.clone(), session_timeout: config.session_timeout };
    let scratch = |path| ScratchConfig { connect: ensemble.zk.clone(), session_timeout: config.session_timeout, path };
    let has_others = config.ensembles.len() > 1;
    Ok(Served {
        info: EnsembleInfo { name: ensemble.name.clone(), connect: ensemble.zk.clone(), color: ensemble.color, has_others },
        roots: ensemble.roots.clone(),
        observer: Ensemble { observer, evidence: ensemble.evidence.then(asked), scratch: ensemble.clock_scratch.clone().map(scratch) },
    })
}

impl Observer for Ensemble {
    async fn observe(self, tools: Tools, sink: mpsc::Sender<Vec<Observation>>, stop: watch::Receiver<bool>) {
        let compared = self.scratch.map(|config| compare_clocks(config, tools.clock.clone(), sink.clone(), stop.clone()));
        let asked = self.evidence.map(|config| evidence::collect(config, tools.clock.clone(), tools.demand, sink.clone(), stop.clone()));
        let asks = async {
            if let Some(asked) = asked {
                asked.await;
            }
        };
        let compares = async {
            if let Some(compared) = compared {
                compared.await;
            }
        };
        tokio::join!(observe(self.observer, tools.clock, sink, stop), asks, compares);
    }
}
