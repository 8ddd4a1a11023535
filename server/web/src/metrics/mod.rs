//! `/metrics`: what the server exposes of its ensembles and of itself. Owns the table of metrics and the
//! text format, no number: those are read from where they are counted. A caller with a narrower scope gets that part,
//! and not of what is counted over a whole ensemble or the whole server.

mod alerting;
mod catalogue;
mod clustering;
mod model;
mod process;
mod recording;
mod text;

use std::sync::Arc;

pub use catalogue::{About, Family, PREFIX, document};
pub use model::OTHER;
pub use text::Exposition;

use lockscope_access::Access;
use lockscope_audit::AuditLog;
use lockscope_cluster::Cluster;
use lockscope_history::historian::HistoryStatus;
use lockscope_live::Hub;
use lockscope_live::project::{MetricSelection, Snapshot};
use lockscope_release::ReleaseService;
use lockscope_runtime::quota::Refusals;
use lockscope_runtime::shared_list::SharedList;
use lockscope_view::{Alerts, Scope};
use process::Process;

const SECOND_MS: i64 = 1_000;

#[derive(Clone, Default)]
pub struct Metrics {
    /// Which locks have series of their own.
    pub apart: MetricSelection,
    pub zookeeper: SharedList<(String, Arc<lockscope_zookeeper::RequestCounts>)>,
    pub audit: Arc<AuditLog>,
    pub connections: Arc<Refusals>,
    pub started_at_ms: i64,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Sockets {
    /// Live sockets open.
    pub clients: u64,
    /// Counters, in the order of the table.
    pub opened: u64,
    pub frames_sent: u64,
    pub slow_closed: u64,
    /// Frames not understood.
    pub frames_refused: u64,
    /// Requests rejected by the origin check.
    pub guarded: u64,
}

pub struct MetricSources<'a> {
    pub hub: &'a Hub,
    pub sockets: Sockets,
    pub access: &'a Access,
    /// Releases; None where nothing can be released.
    pub release_service: Option<&'a ReleaseService>,
    /// Runs of the lab that were begun, by ensemble.
    pub lab_runs: Vec<(String, u64)>,
    /// How the recording of each ensemble is that is recorded.
    pub recordings: Vec<(String, HistoryStatus)>,
    /// Alerts; None where nothing is live.
    pub alerts: Option<Alerts>,
    /// Other servers that watch the same; None where this one is alone.
    pub cluster: Option<&'a Cluster>,
    /// What was refused on the way in because of a limit: by the limit, of all and of one caller.
    pub limited: Vec<(&'static str, (u64, u64))>,
}

impl Metrics {
    pub fn expose(&self, sources: &MetricSources<'_>, scope: &Scope) -> String {
        let mut out = Exposition::default();
        out.count(Family::BuildInfo, &[env!("CARGO_PKG_VERSION")], 1);
        out.count(Family::Ready, &[], sources.hub.projection().is_ready().into());
        let figures = sources.hub.projection().figures(scope, &self.apart);
        figures.iter().for_each(|figures| model::tell(figures, &mut out));
        self.tell_counted(sources, scope, &figures, &mut out);
        if !scope.is_bounded() {
            self.tell_server(sources, &mut out);
            sources.alerts.iter().for_each(|alerts| alerting::tell(alerts, &mut out));
            sources.cluster.iter().for_each(|cluster| clustering::tell(&cluster.view(), cluster.counts(), &mut out));
        }
        out.finish()
    }

    /// What is counted outside the models, of ensembles that are seen as a whole.
    fn tell_counted(&self, sources: &MetricSources<'_>, scope: &Scope, figures: &[Snapshot], out: &mut Exposition) {
        let is_whole = |name: &str| scope.covers(name, "/") && figures.iter().any(|figures| figures.ensemble == name);
        for (ensemble, counts) in self.zookeeper.now().iter().filter(|(name, _)| is_whole(name)) {
            for (kind, sent, failed) in counts.requests() {
                out.count(Family::ZkRequests, &[ensemble, kind], sent);
                out.count(Family::ZkErrors, &[ensemble, kind], failed);
            }
            for (reason, count) in counts.resyncs() {
                out.count(Family::Resyncs, &[ensemble, reason], count);
            }
            out.count(Family::ZkSessions, &[ensemble], counts.sessions());
        }
        let released = sources.release_service.map(ReleaseService::counted).unwrap_or_default();
        for (ensemble, outcomes) in released.ended.iter().filter(|(name, _)| is_whole(name)) {
            for (outcome, count) in outcomes {
                out.count(Family::Releases, &[ensemble, outcome.name()], *count);
            }
        }
        for (ensemble, count) in sources.lab_runs.iter().filter(|(name, _)| is_whole(name)) {
            out.count(Family::LabRuns, &[ensemble], *count);
        }
        for (ensemble, status) in sources.recordings.iter().filter(|(name, _)| is_whole(name)) {
            recording::tell(ensemble, status, out);
        }
        if let Some(connections) = sources.recordings.iter().find_map(|(_, status)| status.connections) {
            recording::tell_connections(connections, out);
        }
    }

    fn tell_server(&self, sources: &MetricSources<'_>, out: &mut Exposition) {
        let (sockets, sizes) = (&sources.sockets, sources.hub.sizes());
        let refused = sources.release_service.map_or(0, |release_service| release_service.counted().refused);
        let process = Process::now();
        let started = u64::try_from(self.started_at_ms / SECOND_MS).unwrap_or(0);
        let known = [
            (Family::SocketClients, sockets.clients),
            (Family::SocketsOpened, sockets.opened),
            (Family::FramesSent, sockets.frames_sent),
            (Family::Conflations, sources.hub.conflated()),
            (Family::SlowClosed, sockets.slow_closed),
            (Family::FramesRefused, sockets.frames_refused),
            (Family::ViewsWatched, sizes.watched as u64),
            (Family::ViewsIdle, sizes.idle as u64),
            (Family::Guarded, sockets.guarded),
            (Family::SignInsRefused, sources.access.refused_sign_ins()),
            (Family::ReleasesRefused, refused),
            (Family::AuditRecords, self.audit.written()),
            (Family::AuditFailures, self.audit.failed()),
            (Family::AuditFailing, self.audit.is_failing().into()),
            (Family::StartTime, started),
            (Family::Panics, lockscope_runtime::panics::count()),
        ];
        let behind = self.audit.webhook_behind();
        let unsure = [
            (Family::WebhookBehind, behind),
            (Family::ResidentMemory, process.resident_bytes),
            (Family::OpenFds, process.open_fds),
            (Family::MaxFds, process.max_fds),
        ];
        let unsure = unsure.into_iter().filter_map(|(family, value)| Some((family, value?)));
        for (family, value) in known.into_iter().chain(unsure) {
            out.count(family, &[], value);
        }
        let limited = [("connections", self.connections.counted()), ("sign_ins", sources.access.crowded_sign_ins())];
        for (what, (all, caller)) in limited.into_iter().chain(sources.limited.iter().copied()) {
            out.count(Family::Limited, &[what], all);
            out.count(Family::Limited, &[&format!("caller_{what}")], caller);
        }
    }
}

#[cfg(test)]
mod tests;
