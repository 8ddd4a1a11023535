//! The composition root: puts observer, engine, feed and HTTP together, and takes them apart again in order.

pub(crate) mod alert_receivers;
mod alerting;
mod audit_log;
mod clustering;
mod conditions;
mod demand;
pub(crate) mod ensembles;
mod history_health;
mod history_place;
#[cfg_attr(not(feature = "lab"), path = "serve/no_lab.rs")]
pub mod lab;
mod listen;
mod order_snoozes;
pub mod past;
pub(crate) mod recording;
mod replicas;
#[cfg_attr(not(feature = "postgres"), path = "serve/no_sharing.rs")]
mod sharing;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use crate::cli::ServeArgs;
use crate::config::{Config, ConfigHealth};
use crate::error::RunError;
use crate::reload::{self, ConfigOrigin, ReloadTargets, WebhookHandle};
use crate::sd_notify::SdNotify;
pub use alert_receivers::AlertReceivers;
use alerting::AlertParts;
pub(crate) use clustering::open as cluster_of;
use conditions::{unreachable_within, warn_read_only};
use demand::follow_demand;
use ensembles::EnsembleRunner;
pub use ensembles::{CLOSE_MAX, MakeEnsemble, Observer, ObserverContext, ServedEnsemble};
use history_health::HistoryHealth;
pub(crate) use history_place::OpenPlace;
use lab::LabParts;
pub use listen::bind;
use listen::{open_tls, serve_http};
use lockscope_access::{Access, ListenScope};
use lockscope_audit::{AuditLog, Records, SharedHeads};
use lockscope_cluster::Cluster;
use lockscope_live::engine::EngineError;
use lockscope_live::project::ApplicationNames;
use lockscope_live::{self, About, Hub, Projector, pump};
use lockscope_release::{self, ReleaseService};
use lockscope_runtime::clock::Clock;
use lockscope_runtime::shutdown::{self, CancellationToken, HangUp, Signals};
use lockscope_runtime::tasks::{TaskTracker, supervised};
use lockscope_web::listener::{Bounds, Proxies, Tls};
use lockscope_web::metrics::Metrics;
use lockscope_web::{AlertDesk, Http, Limits, Payloads, Recordings};
use lockscope_zookeeper::members::Demand;
pub use recording::Filling;
use recording::{Recorder, RetentionHandle};
use replicas::Replicas;

/// How long `/readyz` says 503 before the door closes, so that whoever asks in between is sent elsewhere.
const NOTICE_MS: u64 = 500;
/// How long answers under way and sockets get to end.
const DRAIN_MS_MAX: u64 = 3_000;
const RELEASES_DRAIN_MAX: Duration = Duration::from_secs(20);

pub fn access(config: &Config) -> Access {
    let is_https = config.web.tls.is_some() || config.web.behind_tls_proxy;
    let reach = ListenScope { is_public: config.is_public(), is_https };
    Access::new(config.data_dir.clone(), config.access.clone(), reach, Clock::system())
}

/// Waits for the first signal; never ends when signals can't be handled.
pub async fn signalled() {
    match Signals::listen() {
        Ok(mut signals) => {
            signals.next().await;
        }
        Err(_) => std::future::pending().await,
    }
}

/// Serves until a signal comes; a second signal ends the process at once. `sign_in_link`: the path of a link that signs
/// somebody in, printed with the address; empty for none. `origin`: where the configuration is read again from on
/// SIGHUP; `make` makes the ensembles that it names then.
///
/// # Errors
/// When something that must run ended.
pub async fn run<O: Observer>(
    config: &Config,
    origin: ConfigOrigin,
    ensembles: Vec<ServedEnsemble<O>>,
    make: Option<MakeEnsemble<O>>,
    pages: fn(Arc<Hub>) -> Router,
    access: Access,
    sign_in_link: &str,
) -> Result<(), RunError> {
    let mut signals =
        Signals::listen().map_err(|error| RunError::Internal(format!("signals can't be handled: {error}")))?;
    let hang_up = HangUp::listen().map_err(|error| RunError::Internal(format!("SIGHUP can't be handled: {error}")))?;
    let clock = Clock::system();
    let (follow, followed) = shutdown::token();
    let tls = open_tls(config, &clock, followed)?;
    let listener = bind(config.listen).await?;
    if access.is_read_only() {
        warn_read_only();
    }
    let audit = audit_log::open(config, &access, &clock).await;
    let config_health = reload::config_health(&origin, &clock);
    let payloads = watch::Sender::new(config.payloads);
    let recorder = Recorder::new(config.history.as_ref(), &payloads.subscribe(), &clock, config.session_timeout)?;
    let alerting = AlertParts::open(config, &clock).await;
    let listen =
        listener.local_addr().map_err(|error| RunError::Internal(format!("the local address is unknown: {error}")))?;
    let cluster = clustering::open(config, listen, &clock)?;
    let parts = (audit, alerting, cluster);
    let parts = RunningServer::start(config, ensembles, recorder, clock, parts, access, config_health).await?;
    let served = parts
        .serve((config, origin.zip(make), hang_up), payloads, (listener, tls), pages, sign_in_link, async move {
            let name = signals.next().await;
            tracing::info!("{name}: shutting down; a second signal ends at once");
            tokio::spawn(async move {
                signals.next().await;
                std::process::exit(130);
            });
        })
        .await;
    drop(follow);
    served
}

struct RunningServer {
    hub: Arc<Hub>,
    runner: EnsembleRunner,
    engine_ends: mpsc::UnboundedReceiver<EngineError>,
    pump: JoinHandle<()>,
    records: Arc<dyn Records>,
    releases: ReleaseService,
    lab: LabParts,
    access: Access,
    config_health: ConfigHealth,
    applications: ApplicationNames,
    /// What the past is shown from; None where nothing is recorded.
    recordings: Option<Recordings>,
    alerts: AlertDesk,
    /// Who is told of alerts, until whoever reloads settings has it.
    receivers: Option<AlertReceivers>,
    /// Other servers that watch the same; None where this one is alone.
    cluster: Option<Cluster>,
    /// How far their audit logs go.
    audit_heads: Option<Arc<SharedHeads>>,
    retention: Option<RetentionHandle>,
    webhook: WebhookHandle,
    stop: CancellationToken,
    metrics: Metrics,
    /// Stops observers, engines, pump and background tasks when dropped; sockets are closed earlier.
    stopper: shutdown::DropGuard,
    /// Background tasks, which all end before the server does.
    tasks: TaskTracker,
}

impl RunningServer {
    async fn start<O: Observer>(
        config: &Config,
        ensembles: Vec<ServedEnsemble<O>>,
        recorder: Option<(Recorder, RetentionHandle)>,
        clock: Clock,
        (audit, alerting, cluster): (Arc<AuditLog>, AlertParts, Option<Cluster>),
        access: Access,
        config_health: ConfigHealth,
    ) -> Result<Self, RunError> {
        let (stopper, stop) = shutdown::token();
        let (want, demand) = watch::channel(Demand::default());
        let now_ms = clock.now_ms();
        let (recorder, retention) = recorder.unzip();
        let (runner, engine_ends) =
            EnsembleRunner::new((clock.clone(), stop.clone()), demand, alerting.clone(), recorder);
        runner.start(config, ensembles).await?;
        let lists = runner.lists().clone();
        let metrics = Metrics {
            apart: config.metrics.clone(),
            audit: audit.clone(),
            started_at_ms: now_ms,
            zookeeper: lists.counts.clone(),
            ..Metrics::default()
        };
        let about = About {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            started_at_ms: now_ms,
            read_only: access.read_only(),
        };
        let tasks = TaskTracker::new();
        tasks.spawn(supervised("access", access.clone().run(stop.clone())));
        access.record_in(audit.clone());
        clustering::start(cluster.as_ref(), &tasks, &stop);
        let kept = config.data_dir.clone().filter(|_| audit.is_kept());
        let shared = (&access, &alerting.alerts, kept);
        let audit_heads = sharing::start(config, cluster.as_ref(), shared, &clock, (&tasks, &stop))?;
        let replicas = cluster.as_ref().map(|cluster| Replicas::new(cluster, &clock));
        let receivers = alerting.start(&tasks, &stop, replicas.clone());
        let acknowledged = alerting.acknowledged;
        let told = order_snoozes::follow(alerting.alerts.order_snoozes(), lists.models.clone());
        let told = stop.clone().run_until_cancelled_owned(told);
        tasks.spawn(supervised("snoozes of lock orders", async { _ = told.await }));
        let alerts = AlertDesk::new(alerting.alerts, audit.clone());
        let lab = LabParts::start(config, audit.clone(), &clock);
        let releases = ReleaseService::new(
            lists.handles.clone(),
            audit.clone(),
            access.clone(),
            clock.clone(),
            lockscope_release::Settings { needs_second: config.second_approver },
        );
        runner.set_releases(releases.clone());
        replicas.into_iter().for_each(|replicas| releases.coordinate(replicas));
        audit_log::take_over(&audit, &releases, &stop);
        let applications = ApplicationNames::new(config.applications.clone());
        let noted = recording::note_forced(releases.forced_releases(), lists.histories.clone());
        let noted = stop.clone().run_until_cancelled_owned(noted);
        tasks.spawn(supervised("forced releases", async { _ = noted.await }));
        let history_health = HistoryHealth::new(lists.histories.clone());
        let follow = stop.clone().run_until_cancelled_owned(history_health.clone().follow());
        tasks.spawn(supervised("history health", async { _ = follow.await }));
        let recordings = retention.as_ref().map(|_| Recordings {
            ensembles: lists.histories.clone(),
            about: about.clone(),
            applications: applications.clone(),
            forced: releases.forced_releases(),
            clock: clock.clone(),
        });
        let projector =
            Projector::new(lists.shown.clone(), about, clock.clone()).with_config(Arc::new(config_health.clone()));
        let projector = lab.project(projector).with_applications(applications.clone()).with_acknowledged(acknowledged);
        let projector =
            projector.with_forced_releases(releases.forced_releases()).with_history(Arc::new(history_health));
        let webhook = WebhookHandle::new(audit.clone(), clock.clone(), tasks.clone());
        let hub = Hub::new(Arc::new(projector), clock, lockscope_live::random_epoch());
        let demand = stop.clone().run_until_cancelled_owned(follow_demand(Arc::downgrade(&hub), want));
        tasks.spawn(supervised("demand", async { _ = demand.await }));
        let pump = pump::start(hub.clone(), stop.clone());
        Ok(Self {
            hub,
            runner,
            engine_ends,
            pump,
            records: audit,
            releases,
            lab,
            access,
            metrics,
            config_health,
            applications,
            recordings,
            alerts,
            receivers: Some(receivers),
            cluster,
            audit_heads,
            retention,
            webhook,
            stop,
            stopper,
            tasks,
        })
    }

    async fn serve<O: Observer>(
        mut self,
        (config, origin, hang_up): (&Config, Option<(ServeArgs, MakeEnsemble<O>)>, HangUp),
        payloads: watch::Sender<Payloads>,
        (listener, tls): (TcpListener, Option<Tls>),
        pages: fn(Arc<Hub>) -> Router,
        sign_in_link: &str,
        signal: impl Future<Output = ()> + Send,
    ) -> Result<(), RunError> {
        let (drain, draining) = shutdown::token();
        let limits = Limits { sockets_max: config.web.sockets_max, ..Limits::default() };
        let http = Http::new(self.hub.clone(), draining, limits)
            .with_access(self.access.clone())
            .with_payloads(payloads.subscribe());
        let http = http
            .with_origins(config.web.allowed(config.listen))
            .with_records(self.records.clone())
            .with_release_service(self.releases.clone())
            .with_alerts(self.alerts.clone())
            .with_cluster(self.cluster.clone(), self.audit_heads.clone())
            .with_metrics(self.metrics.clone());
        let http = match self.recordings.take() {
            Some(recordings) => http.with_history(recordings),
            None => http,
        };
        let http = self.lab.serve(http);
        let (close, closing) = shutdown::token();
        let proxies = Proxies::new(self.access.proxies(config.web.behind_tls_proxy));
        let bounds =
            Bounds { proxies, refusals: self.metrics.connections.clone(), ..Bounds::for_sockets(limits.sockets_max) };
        let mut server =
            serve_http(listener, tls, (http.router(pages(self.hub.clone())), bounds), closing, sign_in_link)?;
        let service_manager = SdNotify::from_env();
        self.manage(config, origin, hang_up, payloads, &service_manager).await;
        let ended = tokio::select! {
            () = signal => Ok(()),
            Some(error) = self.engine_ends.recv() => Err(RunError::from(error)),
            result = &mut server => Err(RunError::Internal(format!("the HTTP server ended: {result:?}"))),
            _ = &mut self.pump => Err(RunError::Internal("the feed ended".to_owned())),
            error = unreachable_within(&self.hub, config) => Err(error),
        };
        // First ready turns to 503 and sockets close, while answers go on for whoever asks; then the session, the model
        // and the feed end.
        service_manager.stopping();
        drop(drain);
        let within = Duration::from_millis(DRAIN_MS_MAX);
        let ((), closed) =
            tokio::join!(tokio::time::sleep(Duration::from_millis(NOTICE_MS)), http.sockets_closed(within));
        if !closed {
            tracing::warn!("some sockets did not close within {DRAIN_MS_MAX} ms and were dropped");
        }
        let (releases_ended, ()) = tokio::join!(self.releases.close(RELEASES_DRAIN_MAX), self.lab.close());
        if !releases_ended {
            tracing::warn!(
                "a release did not end within {RELEASES_DRAIN_MAX:?}; the audit log has its intent and not its outcome"
            );
        }
        drop(close);
        if !server.is_finished() && tokio::time::timeout(within, &mut server).await.is_err() {
            tracing::warn!("some responses did not end within {DRAIN_MS_MAX} ms and were dropped");
        }
        drop(self.stopper);
        self.runner.close(CLOSE_MAX).await;
        self.tasks.close();
        if tokio::time::timeout(CLOSE_MAX, self.tasks.wait()).await.is_err() {
            tracing::warn!("{} background tasks did not end within {CLOSE_MAX:?}", self.tasks.len());
        }
        ended
    }
}

impl RunningServer {
    /// Tells the service manager that pages are served and that the engines live, and reads the configuration again
    /// when it is told to.
    async fn manage<O: Observer>(
        &mut self,
        config: &Config,
        origin: Option<(ServeArgs, MakeEnsemble<O>)>,
        hang_up: HangUp,
        payloads: watch::Sender<Payloads>,
        service_manager: &SdNotify,
    ) {
        let status = format!("serving {}", config.connects());
        service_manager.ready(&status);
        let pulses = self.runner.lists().pulses.clone();
        self.tasks.spawn(supervised("watchdog", service_manager.clone().watch(pulses, self.stop.clone())));
        let mut webhook = std::mem::take(&mut self.webhook);
        webhook.deliver(config, &self.stop).await;
        let targets = ReloadTargets {
            runner: self.runner.clone(),
            releases: self.releases.clone(),
            lab: self.lab.clone(),
            access: self.access.clone(),
            payloads,
            webhook,
            config_health: self.config_health.clone(),
            applications: self.applications.clone(),
            retention: self.retention.take(),
            receivers: self.receivers.take(),
            service_manager: service_manager.clone(),
        };
        self.tasks
            .spawn(supervised("reload", targets.follow(origin, config.clone(), hang_up, self.stop.clone(), status)));
    }
}
