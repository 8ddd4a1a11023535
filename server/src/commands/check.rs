//! `lockscope check-config`: the configuration that `serve` would use, checked and summarized.

use std::fmt::Display;
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
    say("listen", config.listen);
    let origins = config.web.origins.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    say("origin", if origins.is_empty() { "none: used at its own address only" } else { &origins });
    say("tls", described_tls(&config.web)?);
    let no_dir = || "none: HOME is not set, name one with --data-dir".to_owned();
    say("data-dir", config.data_dir.as_ref().map_or_else(no_dir, |dir| dir.display().to_string()));
    let history = config.history.as_ref().map(|history| described_history(&history.place));
    say("history", history.as_deref().unwrap_or("off"));
    let timeout = config.connect_timeout.map(|time| format!("{time:?}"));
    say("connect-timeout", timeout.as_deref().unwrap_or("none: keep trying"));
    say("session-timeout-ms", config.session_timeout.as_millis());
    let approver = if config.second_approver { "on: somebody else approves each release" } else { "off" };
    say("second-approver", approver);
    say("payloads", shown_to(config.payloads));
    let applications = match config.applications.pattern() {
        "" => "the name before a number and @",
        pattern => pattern,
    };
    say("applications", applications);
    stdout::print(&config.lab.as_ref().map_or_else(|| "  lab                off".to_owned(), config::Lab::described));
    say("webhook", config.webhook.as_ref().map_or_else(|| "none".to_owned(), |webhook| webhook.shown()));
    config.lints.must_be_held.iter().for_each(|pattern| say_must_be_held(pattern, &config.ensembles));
    stdout::print(&config.alerting.described());
    stdout::print(&config::Cluster::described(config.cluster.as_ref(), &config));
    if let Some(cluster) = cluster_of(&config, config.listen, &Clock::system())? {
        let told = match tokio::time::timeout(ASK_MAX, cluster.check()).await {
            Ok(Ok(())) => "can be joined".to_owned(),
            Ok(Err(why)) => format!("can't be joined now: {why}"),
            Err(_) => format!("not known: ZooKeeper did not answer within {ASK_MAX:?}"),
        };
        say("cluster znodes", told);
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
    say("must be held", format!("{pattern}: {meaning}"));
}

fn say_ensemble(ensemble: &config::Ensemble) {
    let color = ensemble.color.map_or_else(String::new, |color| format!(", {color}"));
    say("ensemble", format!("{}{color}", ensemble.name));
    say("zk", &ensemble.zk);
    say("root", ensemble.roots.join(", "));
    say("evidence", if ensemble.evidence { "on" } else { "off: the members are not queried" });
    let named = ensemble.admin_urls.join(", ");
    say("admin-url", if named.is_empty() { "none: port 8080 of each member is tried" } else { &named });
    say("clock-scratch", ensemble.clock_scratch.as_deref().unwrap_or("none: nothing is ever written"));
    say("watches as", ensemble.identity.watching.described());
    say("releases as", ensemble.identity.acting.described());
}

fn say(name: &str, value: impl Display) {
    stdout::print(&format!("  {name:<18} {value}"));
}
