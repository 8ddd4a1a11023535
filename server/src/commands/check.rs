//! `lockscope check-config`: the configuration that `serve` would use, checked and summarized.

use super::serve::check_exposure;
use crate::cli::ServeArgs;
use crate::config::{self, Config, ConfigError, ProcessEnvironment};
use crate::error::RunError;
use crate::serve::say;
use http::Payloads;
use http::listener::Tls;
use runtime::clock::Clock;

/// Checks the configuration that `serve` would use, and prints a summary of it.
pub(super) fn run(args: &ServeArgs) -> Result<(), RunError> {
    let config = Config::load(args, &ProcessEnvironment)?;
    super::serve::ensembles(&config)?;
    check_exposure(&config, &crate::serve::access(&config))?;
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

fn say_ensemble(ensemble: &config::Ensemble) {
    let color = ensemble.color.map_or_else(String::new, |color| format!(", {color}"));
    say(&format!("  ensemble           {}{color}", ensemble.name));
    say(&format!("  zk                 {}", ensemble.zk));
    say(&format!("  root               {}", ensemble.roots.join(", ")));
    say(&format!("  evidence           {}", if ensemble.evidence { "on" } else { "off: the members are not queried" }));
    let named = if ensemble.admin_urls.is_empty() { "none: port 8080 of each member is tried".to_owned() } else { ensemble.admin_urls.join(", ") };
    say(&format!("  admin-url          {named}"));
    say(&format!("  clock-scratch      {}", ensemble.clock_scratch.as_deref().unwrap_or("none: nothing is ever written")));
    say(&format!("  watches as         {}", ensemble.identity.watching.described()));
    say(&format!("  releases as        {}", ensemble.identity.acting.described()));
}
