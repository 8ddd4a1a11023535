//! The dashboard on a history that has ended: the same pages at each of its moments, and nothing that is live.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use lockscope_autopsy::Autopsy;
use lockscope_core::observation::{Link, Observation};
use lockscope_core::time::TimeMs;
use lockscope_live::project::{ApplicationNames, ApplicationRule, EnsembleInfo, ForcedReleases};
use lockscope_live::{About, Ensemble, Hub, Projector, pump};
use lockscope_runtime::clock::Clock;
use lockscope_runtime::shutdown::{self, DropGuard, Signals};
use lockscope_web::listener::{Bounds, Proxies};
use lockscope_web::{AllIncidents, Http, Limits, Recordings, pages};

use super::listen::{bind, serve_http};
use crate::error::RunError;

/// How long answers under way and sockets get to end.
const DRAIN_MAX: Duration = Duration::from_secs(3);

pub struct Past {
    http: Http,
    hub: Arc<Hub>,
    /// Dropped to end what is under way.
    drain: DropGuard,
    coverage: (i64, i64),
}

impl Past {
    /// Of an autopsy of a named ensemble, and what it was read from.
    pub fn new((name, connect): (&str, String), autopsy: Autopsy) -> Self {
        let Autopsy { report, history, mut model, .. } = autopsy;
        let coverage = (report.coverage.from_at_ms, report.coverage.to_at_ms);
        // Whoever asks for no moment gets the last one, and nothing that looks current.
        let why = "the records end here".into();
        model.apply(TimeMs(coverage.1), Observation::Link { link: Link::Lost, session: None, why });
        // Time ends with what was read: nothing is known of later.
        let clock = Clock::manual(coverage.1);
        let info = EnsembleInfo {
            name: name.to_owned(),
            connect,
            color: None,
            has_others: false,
            labels: Default::default(),
            excluded: None,
            proof: Default::default(),
        };
        let about = About {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            started_at_ms: coverage.0,
            read_only: Arc::new(true.into()),
        };
        let applications = ApplicationNames::new(ApplicationRule::default());
        let projector =
            Projector::new(vec![Ensemble::still(info.clone(), &model.into())], about.clone(), clock.clone())
                .with_applications(applications.clone())
                .of_the_past();
        let hub = Hub::new(Arc::new(projector), clock.clone(), lockscope_live::random_epoch());
        let forced = ForcedReleases::default();
        let recordings =
            Recordings { ensembles: vec![(info, Some(history))].into(), about, applications, forced, clock };
        let (drain, draining) = shutdown::token();
        let http = Http::new(Arc::clone(&hub), draining, Limits::default()).of_the_past(recordings);
        Self { http, hub, drain, coverage }
    }

    /// All its incidents, as the API lists them. Blocking.
    ///
    /// # Errors
    /// The history can't be read.
    pub fn incidents(&self) -> Result<AllIncidents, RunError> {
        let (from_ms, to_ms) = self.coverage;
        self.http.all_incidents(from_ms, to_ms).map_err(RunError::Unavailable)
    }

    /// Serves it until a signal comes.
    ///
    /// # Errors
    /// The address can't be listened on, or the server ends.
    pub async fn serve(self, listen: SocketAddr) -> Result<(), RunError> {
        let Self { http, hub, drain, .. } = self;
        let mut signals =
            Signals::listen().map_err(|error| RunError::Internal(format!("signals can't be handled: {error}")))?;
        let listener = bind(listen).await?;
        let ((close, closing), (stopper, stop)) = (shutdown::token(), shutdown::token());
        let bounds = Bounds { proxies: Proxies::new(|_| false), ..Bounds::for_sockets(Limits::default().sockets_max) };
        let pump = pump::start(Arc::clone(&hub), stop);
        let mut server = serve_http(listener, None, (http.router(pages(hub)), bounds), closing, "")?;
        let ended = tokio::select! {
            _ = signals.next() => Ok(()),
            result = &mut server => Err(RunError::Internal(format!("the HTTP server ended: {result:?}"))),
        };
        drop(drain);
        http.sockets_closed(DRAIN_MAX).await;
        drop(close);
        if !server.is_finished() && tokio::time::timeout(DRAIN_MAX, &mut server).await.is_err() {
            tracing::warn!("some responses did not end within {DRAIN_MAX:?} and were dropped");
        }
        drop((stopper, pump));
        ended
    }
}
