//! `/metrics`: a handful of numbers as Prometheus text.

use std::fmt::Write as _;
use std::sync::atomic::Ordering;

use app::wire::{BoardQuery, Body, View};
use axum::Extension;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};

use super::Http;
use super::problem::Refused;
use crate::feed::Sight;

pub(super) async fn metrics(State(http): State<Http>, Extension(sight): Extension<Sight>) -> Result<Response, Refused> {
    let mut out = String::new();
    model(&http, &sight, &mut out).map_err(|error| Refused::unavailable(error.to_string()))?;
    let sizes = http.hub.sizes();
    let clients = http.limits.sockets_max as usize - http.sockets.available_permits();
    line(&mut out, "socket_clients", "gauge", "Live sockets open now.", clients as u64);
    line(&mut out, "views_watched", "gauge", "Distinct views somebody looks at.", sizes.watched as u64);
    line(&mut out, "views_idle", "gauge", "Distinct views kept for those who come back.", sizes.idle as u64);
    let counts = &http.counts;
    line(&mut out, "sockets_opened_total", "counter", "Live sockets opened.", counts.sockets_opened.load(Ordering::Relaxed));
    line(&mut out, "frames_sent_total", "counter", "Frames sent on live sockets.", counts.frames_sent.load(Ordering::Relaxed));
    line(&mut out, "slow_sockets_closed_total", "counter", "Live sockets closed with 1013.", counts.slow_closed.load(Ordering::Relaxed));
    line(&mut out, "frames_refused_total", "counter", "Client frames not understood.", counts.refused_frames.load(Ordering::Relaxed));
    line(
        &mut out,
        "requests_guarded_total",
        "counter",
        "Requests refused for their host, their page or their form.",
        counts.guarded.load(Ordering::Relaxed),
    );
    Ok(([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], out).into_response())
}

fn model(http: &Http, sight: &Sight, out: &mut String) -> Result<(), crate::feed::FeedError> {
    if let (_, Body::Board(board)) = http.hub.look(View::Board(BoardQuery { limit: 1, ..BoardQuery::default() }), sight)? {
        let totals = board.head.totals;
        line(out, "locks", "gauge", "Locks known.", u64::from(totals.locks));
        line(out, "locks_held", "gauge", "Locks that somebody holds.", u64::from(totals.held));
        line(out, "locks_contended", "gauge", "Locks with at least one waiter.", u64::from(totals.contended));
        line(out, "waiters", "gauge", "Contenders that wait.", u64::from(totals.waiters));
    }
    if let (revision, Body::Status(status)) = http.hub.look(View::Status {}, sight)? {
        let sum = |count: fn(&app::wire::EnsembleStatus) -> u64| status.ensembles.iter().map(count).sum();
        line(out, "changes_total", "counter", "Changes applied to the model.", revision);
        line(out, "events_total", "counter", "Watch events taken in.", sum(|ensemble| ensemble.events));
        line(out, "resyncs_total", "counter", "Times a view was read anew.", sum(|ensemble| ensemble.resyncs));
        line(out, "missed_total", "counter", "Creations that no event showed.", sum(|ensemble| ensemble.missed));
        line(out, "owner_unknown_total", "counter", "Znodes gone before their owner could be read.", sum(|ensemble| ensemble.owner_unknown));
        line(out, "ready", "gauge", "1 when every root left its first sync.", u64::from(http.hub.projection().is_ready()));
    }
    Ok(())
}

fn line(out: &mut String, name: &str, kind: &str, help: &str, value: u64) {
    // Writing to a String cannot fail.
    let _ = writeln!(out, "# HELP lockscope_{name} {help}\n# TYPE lockscope_{name} {kind}\nlockscope_{name} {value}");
}
