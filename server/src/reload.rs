//! The configuration, read again while everything goes on: a good file takes effect, a bad one changes nothing. A part
//! of the composition; what a setting means, its owner knows.

mod ensembles;

use std::sync::Arc;

use lockscope_core::observation::{LockConfig, Observation};
use tokio::sync::{mpsc, watch};

use crate::cli::ServeArgs;
use crate::config::{self, Config, ConfigError, ConfigHealth, ProcessEnvironment, exposure};
use crate::sd_notify::SdNotify;
use crate::serve::alert_receivers::AlertReceivers;
use crate::serve::ensembles::{EnsembleRunner, MakeEnsemble, Observer};
use crate::serve::lab::LabParts;
use crate::serve::recording::RetentionHandle;
use lockscope_access::Access;
use lockscope_audit::AuditLog;
use lockscope_audit::webhook::{Delivery, Pace};
use lockscope_live::project::ApplicationNames;
use lockscope_release::{self, ReleaseService};
use lockscope_runtime::clock::Clock;
use lockscope_runtime::shutdown::{CancellationToken, DropGuard, HangUp};
use lockscope_runtime::tasks::{TaskTracker, supervised};
use lockscope_web::Payloads;

/// Where a configuration came from: the command line that named the file, none for one that was made.
pub type ConfigOrigin = Option<ServeArgs>;

pub struct ReloadTargets {
    pub(crate) runner: EnsembleRunner,
    pub releases: ReleaseService,
    pub lab: LabParts,
    pub access: Access,
    /// Who is shown payloads; telling it makes every socket begin anew.
    pub payloads: watch::Sender<Payloads>,
    pub webhook: WebhookHandle,
    pub applications: ApplicationNames,
    /// How much of the past is kept; None where none is.
    pub retention: Option<RetentionHandle>,
    pub receivers: Option<AlertReceivers>,
    pub config_health: ConfigHealth,
    pub service_manager: SdNotify,
}

/// The delivery of the audit log, which can be begun anew.
pub struct WebhookHandle {
    log: Arc<AuditLog>,
    clock: Clock,
    running: Option<DropGuard>,
    tasks: TaskTracker,
}

impl Default for WebhookHandle {
    fn default() -> Self {
        Self::new(Arc::default(), Clock::system(), TaskTracker::new())
    }
}

impl WebhookHandle {
    /// Of this log; nothing is delivered yet. `tasks` keeps track of the delivery.
    pub fn new(log: Arc<AuditLog>, clock: Clock, tasks: TaskTracker) -> Self {
        Self { log, clock, running: None, tasks }
    }

    /// Delivers to this webhook from now on, until `stop`; None: to nobody.
    pub async fn deliver(&mut self, config: &Config, stop: &CancellationToken) {
        self.running = None;
        let Some(webhook) = config.webhook.clone().filter(|_| self.log.is_kept()) else { return };
        let log = match self.log.open().await {
            Ok(log) => log,
            Err(error) => return tracing::error!("{error}; every release is rejected until then"),
        };
        match Delivery::new(&log, webhook, self.clock.clone(), Pace::default()) {
            Ok(delivery) => {
                let stop = stop.child_token();
                self.tasks.spawn(supervised("webhook", delivery.run(stop.clone())));
                self.running = Some(stop.drop_guard());
            }
            Err(error) => tracing::error!("the webhook can't be delivered: {error}"),
        }
    }
}

impl ReloadTargets {
    /// Reads the file again with each SIGHUP, until `stop`. `status`: what the service manager is notified of
    /// afterwards.
    pub async fn follow<O: Observer>(
        mut self,
        origin: Option<(ServeArgs, MakeEnsemble<O>)>,
        began: Config,
        mut hang_up: HangUp,
        stop: CancellationToken,
        status: String,
    ) {
        let mut in_force = began.clone();
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                told = hang_up.next() => if !told { return },
            }
            let Some((settings, make)) = &origin else {
                tracing::warn!("SIGHUP: there is no configuration to reload");
                continue;
            };
            self.service_manager.reloading();
            match load_again(settings, &in_force).await.and_then(|config| self.checked(config, &began)) {
                Ok(config) => {
                    let waiting = config.waiting(&began);
                    self.take(&config, &in_force, &began, &stop).await;
                    ensembles::take(&self.runner, &config, &in_force, *make).await;
                    tracing::info!("the configuration was reloaded{}", said(&waiting));
                    let error = ensembles::told_of_bad_files(&config.bad_files);
                    if let Some(error) = &error {
                        tracing::error!("{error}");
                    }
                    self.config_health.taken(self.webhook.clock.now_ms(), waiting, error);
                    // What waits is not in force, and is compared with what is.
                    in_force =
                        if config.moves_proxy(&began) { Config { access: in_force.access, ..config } } else { config };
                }
                Err(error) => {
                    tracing::error!(
                        "the configuration could not be reloaded, the previous one stays in force: {error}"
                    );
                    self.config_health.refused(error.0);
                }
            }
            self.service_manager.ready(&status);
        }
    }

    /// What is asked at the start of a server, too.
    fn checked(&self, config: Config, began: &Config) -> Result<Config, ConfigError> {
        let has_credentials = self.access.has_credentials_with(&config.access);
        exposure::check(began.listen, has_credentials, began.web.tls.is_some(), began.web.behind_tls_proxy)?;
        Ok(config)
    }

    async fn take(&mut self, config: &Config, before: &Config, began: &Config, stop: &CancellationToken) {
        if (&config.locks, &config.lints) != (&before.locks, &before.lints) {
            let models = self.runner.lists().models.now();
            for model in models.iter().filter_map(|(_, model)| mpsc::WeakSender::upgrade(model)) {
                let changed = LockConfig { configured: config.locks.clone(), limits: config.lints.clone() };
                // An engine that is gone takes the process with it.
                let _ = model.send(vec![Observation::ConfigChanged(Box::new(changed))]).await;
            }
        }
        self.releases.set(lockscope_release::Settings { needs_second: config.second_approver });
        self.lab.reload(config);
        self.applications.set(config.applications.clone());
        if let (Some(retention), Some(history)) = (&self.retention, &config.history) {
            retention.send_replace(history.retention);
        }
        if let Some(receivers) = self.receivers.as_mut().filter(|_| config.alerting != before.alerting) {
            receivers.take(&config.alerting);
        }
        if config.webhook != before.webhook {
            self.webhook.deliver(config, stop).await;
        }
        let moves_people = config.access != before.access && !config.moves_proxy(began);
        if moves_people {
            self.access.set(config.access.clone());
        }
        if moves_people || config.payloads != before.payloads {
            self.payloads.send_replace(config.payloads);
        }
    }
}

/// Reads it where nobody waits for it: a directory may have ten thousand files, and a volume may hang.
async fn load_again(settings: &ServeArgs, in_force: &Config) -> Result<Config, ConfigError> {
    let (settings, in_force) = (settings.clone(), in_force.clone());
    let read = tokio::task::spawn_blocking(move || Config::load_again(&settings, &ProcessEnvironment, &in_force));
    read.await.unwrap_or_else(|error| Err(ConfigError(format!("the configuration could not be read: {error}"))))
}

fn said(waiting: &[String]) -> String {
    if waiting.is_empty() { String::new() } else { format!("; these wait for a restart: {}", waiting.join(", ")) }
}

pub fn config_health(origin: &ConfigOrigin, clock: &Clock) -> ConfigHealth {
    let path = origin.as_ref().and_then(|settings| config::file_of(settings.config.as_deref(), &ProcessEnvironment));
    ConfigHealth::new(path.map(|path| path.display().to_string()), clock.now_ms())
}
