//! What each command of the command line does, put together from the parts.

use lockscope_core::observation::Observation;
use tokio::sync::mpsc;

use crate::accounts;
use crate::ask_command;
use crate::cli::{AuditCommand, Command, Place, Settings, What};
use crate::config::{self, Config, ConfigError, Process};
#[cfg(feature = "demo")]
use crate::demo_command;
use crate::error::RunError;
use crate::healthcheck;
#[cfg(feature = "lab")]
use crate::lab_command;
use crate::manual;
use crate::serve::{self, Observer, Served, Tools, say};
use access::Access;
use audit::{self, VerifyError, chain};
use feed::project::EnsembleInfo;
use http::listener::Tls;
use http::{Payloads, is_loopback, pages};
use runtime::clock::Clock;
use runtime::shutdown::CancellationToken;
use zookeeper::members;
use zookeeper::{ClockProbeConfig, ObserverConfig, ReleaseClient, compare_clocks, observe_counted};

/// Does what was asked.
///
/// # Errors
/// See [`RunError`]; its exit code is the process's.
pub async fn run(command: Command) -> Result<(), RunError> {
    match command {
        Command::Serve(settings) => {
            let config = Config::load(&settings, &Process)?;
            let ensembles = served(&config)?;
            let access = serve::access(&config);
            check_exposure(&config, &access)?;
            serve::run(&config, Some(settings), ensembles, pages, access, "").await
        }
        #[cfg(feature = "demo")]
        Command::Demo(demo) => demo_command::run(&demo).await,
        Command::CheckConfig(settings) => check_config(&settings),
        Command::Config(printed) => {
            say(match printed.what {
                What::Reference => config::reference::markdown(),
                What::Example => config::reference::example(),
            }
            .trim_end());
            Ok(())
        }
        Command::Healthcheck(asked) => healthcheck::run(&asked).await,
        #[cfg(feature = "lab")]
        Command::Lab(lab) => lab_command::run(&lab).await,
        Command::Audit(audit) => look_after(&audit.command, &audit.place),
        Command::Token(token) => accounts::token(&token, &Clock::system()),
        Command::User(user) => accounts::user(&user, &Clock::system()),
        Command::Locks(asked) => ask_command::locks(&asked, &Clock::system()).await,
        Command::Lock(asked) => ask_command::lock(&asked).await,
        Command::Who(asked) => ask_command::who(&asked, &Clock::system()).await,
        Command::Completions(asked) => manual::completions(asked.shell),
        Command::Man(asked) => manual::man(&asked.command),
    }
}

fn check_config(settings: &Settings) -> Result<(), RunError> {
    let config = Config::load(settings, &Process)?;
    served(&config)?;
    check_exposure(&config, &serve::access(&config))?;
    say("the configuration is good");
    config.ensembles.iter().for_each(say_ensemble);
    say(&format!("  listen             {}", config.listen));
    let origins = config.web.origins.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    say(&format!("  origin             {}", if origins.is_empty() { "none: used at its own address only" } else { &origins }));
    say(&format!("  tls                {}", described_tls(&config.web)?));
    say(&format!(
        "  data-dir           {}",
        config.data_dir.map_or_else(|| "none: HOME is not set, name one with --data-dir".to_owned(), |dir| dir.display().to_string())
    ));
    say(&format!("  connect-timeout    {}", config.connect_timeout.map_or_else(|| "none: keep trying".to_owned(), |time| format!("{time:?}"))));
    say(&format!("  session-timeout-ms {}", config.session_timeout.as_millis()));
    say(&format!("  second-approver    {}", if config.second_approver { "on: somebody else approves each release" } else { "off" }));
    say(&format!("  payloads           {}", shown_to(config.payloads)));
    say(&config.lab.as_ref().map_or_else(|| "  lab                off".to_owned(), config::Lab::described));
    say(&format!("  webhook            {}", config.webhook.map_or_else(|| "none".to_owned(), |webhook| webhook.shown())));
    Ok(())
}

fn shown_to(payloads: Payloads) -> &'static str {
    match payloads {
        Payloads::Viewer => "viewer: shown to everybody who may look",
        Payloads::Operator => "operator: shown to operators and admins",
        Payloads::Nobody => "nobody: shown to nobody",
    }
}

/// Beyond this machine only for people who are known, and encrypted.
fn check_exposure(config: &Config, access: &Access) -> Result<(), ConfigError> {
    if config.web.origins.is_empty() && !is_loopback(config.listen.ip()) {
        tracing::warn!("no `origin` is set: pages are answered at {} only, by number; set --origin https://NAME for a name", config.listen);
    }
    config::exposure::check(config.listen, access.has_credentials(), config.web.tls.is_some(), config.web.behind_tls_proxy)
}

/// How pages are encrypted; reads the certificate, so that one that can't be used is found before the start.
fn described_tls(web: &config::Web) -> Result<String, ConfigError> {
    let proxy = if web.behind_tls_proxy { ", behind a proxy that encrypts" } else { "" };
    let Some(files) = &web.tls else { return Ok(format!("none here{proxy}")) };
    Tls::open(files.clone(), Clock::system()).map_err(|fault| ConfigError(fault.to_string()))?;
    Ok(format!("{}{proxy}", files.cert.display()))
}

/// Checks or exports the record of acts; a server may go on writing it.
fn look_after(command: &AuditCommand, place: &Place) -> Result<(), RunError> {
    match command {
        AuditCommand::Verify { head } => {
            let head = head.as_deref().map(|head| head.trim().to_lowercase());
            if let Some(head) = head.as_deref().filter(|head| !chain::is_hash(head)) {
                let what = format!("--head {head:?} is not a hash of a record; give the {} hexadecimal digits of one", chain::HASH_CHARS);
                return Err(ConfigError(what).into());
            }
            let (_, whole) = verified(place, head.as_deref())?;
            let anchored = whole.anchored.map_or_else(String::new, |id| format!(", the noted hash is that of record {id}"));
            say(&format!("{} records, chain whole, head {}{anchored}", whole.tip.id, whole.tip.hash));
            if let Some(open) = audit::open_words(&whole.requests) {
                say(&open);
            }
            if whole.torn_bytes > 0 {
                say(&format!(
                    "after them {} bytes of a line that is being written, or that a crash cut; the next start moves it aside",
                    whole.torn_bytes
                ));
            }
            Ok(())
        }
        AuditCommand::Export => {
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

fn verified(place: &Place, head: Option<&str>) -> Result<(std::path::PathBuf, audit::VerifiedLog), RunError> {
    let dir = config::data_dir(place.data_dir.as_deref(), place.config.as_deref(), &Process)?;
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
    say(&format!("  watches as         {}", ensemble.identity.watching.described()));
    say(&format!("  acts as            {}", ensemble.identity.acting.described()));
}

/// The observer of a real ensemble, and who asks its members.
pub(crate) struct Ensemble {
    observer: ObserverConfig,
    evidence: Option<members::Config>,
    scratch: Option<ClockProbeConfig>,
}

/// Every ensemble with its observer.
pub(crate) fn served(config: &Config) -> Result<Vec<Served<Ensemble>>, ConfigError> {
    config.ensembles.iter().map(|ensemble| served_one(config, ensemble)).collect()
}

fn served_one(config: &Config, ensemble: &config::Ensemble) -> Result<Served<Ensemble>, ConfigError> {
    let observer = ObserverConfig::new(&ensemble.zk, ensemble.roots.clone(), config.session_timeout);
    let credentials = &ensemble.identity.watching;
    let observer = observer.map_err(|error| ConfigError(error.to_string()))?.with_credentials(credentials.clone());
    let (connect, session_timeout) = (&ensemble.zk, config.session_timeout);
    let asked =
        || members::Config { connect: connect.clone(), admin_urls: ensemble.admin_urls.clone(), credentials: credentials.clone(), session_timeout };
    let scratch = |path| ClockProbeConfig { connect: connect.clone(), credentials: credentials.clone(), session_timeout, path };
    let has_others = config.ensembles.len() > 1;
    Ok(Served {
        info: EnsembleInfo { name: ensemble.name.clone(), connect: ensemble.zk.clone(), color: ensemble.color, has_others },
        roots: ensemble.roots.clone(),
        acting: acting(ensemble),
        observer: Ensemble { observer, evidence: ensemble.evidence.then(asked), scratch: ensemble.clock_scratch.clone().map(scratch) },
    })
}

/// A session of its own for each act, with the credentials for that.
fn acting(ensemble: &config::Ensemble) -> ReleaseClient {
    ReleaseClient::identified(&ensemble.zk, ensemble.identity.acting.clone())
}

impl Observer for Ensemble {
    async fn observe(self, tools: Tools, sink: mpsc::Sender<Vec<Observation>>, stop: CancellationToken) {
        let compared = self.scratch.map(|config| compare_clocks(config, tools.clock.clone(), sink.clone(), stop.clone()));
        let asked = self.evidence.map(|config| members::collect(config, tools.clock.clone(), tools.demand, sink.clone(), stop.clone()));
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
        tokio::join!(observe_counted(self.observer, tools.clock, tools.counts, sink, stop), asks, compares);
    }
}
