//! `lockscope check-config`: the configuration that `serve` would use, checked and summarized.

use std::time::Duration;

use super::serve::check_exposure;
use crate::cli::ServeArgs;
use crate::config::{self, Config, ConfigError, ProcessEnvironment};
use crate::error::RunError;
use crate::serve::{OpenPlace, cluster_of};
use crate::stdout;
use lockscope_core::znode::is_under;
use lockscope_runtime::clock::Clock;
use lockscope_web::Payloads;
use lockscope_web::listener::Tls;

/// How long ZooKeeper is asked about the cluster.
const ASK_MAX: Duration = Duration::from_secs(3);

/// Checks the configuration that `serve` would use, and prints a summary of it.
pub(super) async fn run(args: &ServeArgs) -> Result<(), RunError> {
    let config = Config::load(args, &ProcessEnvironment)?;
    super::serve::ensembles(&config)?;
    check_exposure(&config, &crate::serve::access(&config))?;
    stdout::print("the configuration is good");
    config.ensembles.iter().for_each(say_ensemble);
    stdout::print(&format!("  listen             {}", config.listen));
    let origins = config.web.origins.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    stdout::print(&format!(
        "  origin             {}",
        if origins.is_empty() { "none: used at its own address only" } else { &origins }
    ));
    stdout::print(&format!("  tls                {}", described_tls(&config.web)?));
    stdout::print(&format!(
        "  data-dir           {}",
        config.data_dir.as_ref().map_or_else(
            || "none: HOME is not set, name one with --data-dir".to_owned(),
            |dir| dir.display().to_string()
        )
    ));
    stdout::print(&format!(
        "  history            {}",
        config.history.as_ref().map_or_else(|| "off".to_owned(), |history| described_history(&history.place))
    ));
    stdout::print(&format!(
        "  connect-timeout    {}",
        config.connect_timeout.map_or_else(|| "none: keep trying".to_owned(), |time| format!("{time:?}"))
    ));
    stdout::print(&format!("  session-timeout-ms {}", config.session_timeout.as_millis()));
    stdout::print(&format!(
        "  second-approver    {}",
        if config.second_approver { "on: somebody else approves each release" } else { "off" }
    ));
    stdout::print(&format!("  payloads           {}", shown_to(config.payloads)));
    stdout::print(&format!(
        "  applications       {}",
        match config.applications.pattern() {
            "" => "the name before a number and @",
            pattern => pattern,
        }
    ));
    stdout::print(&config.lab.as_ref().map_or_else(|| "  lab                off".to_owned(), config::Lab::described));
    stdout::print(&format!(
        "  webhook            {}",
        config.webhook.as_ref().map_or_else(|| "none".to_owned(), |webhook| webhook.shown())
    ));
    config.lints.must_be_held.iter().for_each(|pattern| say_must_be_held(pattern, &config.ensembles));
    stdout::print(&config.alerting.described());
    stdout::print(&config::Cluster::described(config.cluster.as_ref(), &config));
    if let Some(cluster) = cluster_of(&config, config.listen, &Clock::system())? {
        let told = match tokio::time::timeout(ASK_MAX, cluster.check()).await {
            Ok(Ok(())) => "can be joined".to_owned(),
            Ok(Err(why)) => format!("can't be joined now: {why}"),
            Err(_) => format!("not known: ZooKeeper did not answer within {ASK_MAX:?}"),
        };
        stdout::print(&format!("  cluster znodes     {told}"));
    }
    Ok(())
}

/// Where the history is, and what is wrong with it now: a database that can't be reached is no fault of the configuration.
fn described_history(place: &config::HistoryPlace) -> String {
    let described = place.described();
    match OpenPlace::of(place, None).and_then(|place| place.check()) {
        Ok(()) => described,
        Err(error) => format!("{described}; it can't be used now: {error}"),
    }
}

fn shown_to(payloads: Payloads) -> &'static str {
    match payloads {
        Payloads::Viewer => "viewer: shown to every role",
        Payloads::Operator => "operator: shown to operators and admins",
        Payloads::Nobody => "nobody: never shown",
    }
}

/// How pages are encrypted; reads the certificate, so that one that can't be used is found before the start.
fn described_tls(web: &config::Web) -> Result<String, ConfigError> {
    let proxy = if web.behind_tls_proxy { ", behind a proxy that encrypts" } else { "" };
    let Some(files) = &web.tls else { return Ok(format!("none here{proxy}")) };
    Tls::open(files.clone(), Clock::system()).map_err(|fault| ConfigError(fault.to_string()))?;
    Ok(format!("{}{proxy}", files.cert.display()))
}

fn say_must_be_held(pattern: &str, ensembles: &[config::Ensemble]) {
    let meaning = if pattern.contains('*') {
        "each lock there that is known, once nobody holds it for 30 s".to_owned()
    } else {
        let covers = |ensemble: &&config::Ensemble| ensemble.roots.iter().any(|root| is_under(pattern, root));
        match ensembles.iter().filter(covers).map(|ensemble| ensemble.name.as_str()).collect::<Vec<_>>()[..] {
            [] => "below no root: never reported".to_owned(),
            ref named => format!("in {}, once nobody holds it for 30 s or nothing is there", named.join(" and ")),
        }
    };
    stdout::print(&format!("  must be held       {pattern}: {meaning}"));
}

fn say_ensemble(ensemble: &config::Ensemble) {
    let color = ensemble.color.map_or_else(String::new, |color| format!(", {color}"));
    stdout::print(&format!("  ensemble           {}{color}", ensemble.name));
    stdout::print(&format!("  zk                 {}", ensemble.zk));
    stdout::print(&format!("  root               {}", ensemble.roots.join(", ")));
    stdout::print(&format!(
        "  evidence           {}",
        if ensemble.evidence { "on" } else { "off: the members are not queried" }
    ));
    let named = if ensemble.admin_urls.is_empty() {
        "none: port 8080 of each member is tried".to_owned()
    } else {
        ensemble.admin_urls.join(", ")
    };
    stdout::print(&format!("  admin-url          {named}"));
    stdout::print(&format!(
        "  clock-scratch      {}",
        ensemble.clock_scratch.as_deref().unwrap_or("none: nothing is ever written")
    ));
    stdout::print(&format!("  watches as         {}", ensemble.identity.watching.described()));
    stdout::print(&format!("  releases as        {}", ensemble.identity.acting.described()));
}
