//! The past over HTTP: reads at a moment, what is kept, and what happened when.

mod api;
mod ask;
pub(super) mod blame;
pub(super) mod blame_page;
mod bundle;
mod density;
pub(super) mod diff;
pub(super) mod differs;
pub(super) mod differs_page;
pub(super) mod export;
mod file_rooms;
mod going_on;
pub(super) mod happened;
pub(super) mod holds;
pub(super) mod incident_pages;
pub(super) mod incidents;
mod links;
pub(super) mod marks;
mod moments;
pub(super) mod one_incident;
pub(super) mod over_time;
pub(super) mod over_time_page;
mod over_time_view;
mod pages;
mod past_only;
mod snapshots;
pub(super) mod time_to_lock;
mod trace;

use super::Http;
use super::params::NamedValues;
use super::problem::{ErrorResponse, wrong};
use lockscope_view::Scope;

pub(super) use api::show;
pub(super) use ask::{ExportFormat, give_up_at};
pub(super) use file_rooms::FileRooms;
pub use incidents::AllIncidents;
pub use moments::Recordings;
pub(super) use moments::{Models, Moment, MomentError, Moments, When};
pub(super) use pages::{PastPage, show_moments, with_kept_moment};
pub(super) use past_only::refuse_the_present;

/// The parameter that names a moment.
const AT: &str = "at";
/// On pages: the newest moment that is kept.
const NOW: &str = "now";

/// The parameters without `at`, and the moment that it names.
pub(super) fn with_moment(mut pairs: NamedValues) -> Result<(NamedValues, Option<Moment>), ErrorResponse> {
    let Some(place) = pairs.iter().position(|(name, _)| name == AT) else { return Ok((pairs, None)) };
    let (_, value) = pairs.remove(place);
    let ensemble = pairs.iter().find(|(name, _)| name == "ensemble").map_or("", |(_, name)| name.as_str());
    let moment = moment_of(&value, ensemble)?;
    Ok((pairs, Some(moment)))
}

/// The moment that a text names, for a question that names this ensemble or none.
pub(super) fn moment_of(value: &str, ensemble: &str) -> Result<Moment, ErrorResponse> {
    let remedy = "milliseconds since the epoch, like 1764041547412, or a transaction, like zxid:0x2a6";
    let when = parse(value).ok_or_else(|| wrong(AT, value, remedy))?;
    Ok(Moment::new(when, ensemble))
}

fn parse(value: &str) -> Option<When> {
    match value.strip_prefix("zxid:0x") {
        Some(hex) if hex.len() <= 16 => Some(When::Zxid(u64::from_str_radix(hex, 16).ok()?.cast_signed())),
        Some(_) => None,
        None => value.parse().ok().filter(|at_ms| *at_ms >= 0).map(When::At),
    }
}

impl Http {
    /// What reads of a moment are answered from; of the present where none is asked for. Blocking: a moment may have to be
    /// replayed.
    pub(super) fn models(&self, moment: Option<&Moment>, scope: &Scope) -> Result<Models, ErrorResponse> {
        let Some(moment) = moment else { return Ok(Models { hub: self.hub.clone(), unanswered: Vec::new() }) };
        Ok(self.moments.as_ref().ok_or(MomentError::NoHistory)?.at(moment, scope, give_up_at())?)
    }
}

impl From<MomentError> for ErrorResponse {
    fn from(error: MomentError) -> Self {
        match &error {
            MomentError::NoHistory => Self::not_found(error.to_string()),
            MomentError::Future | MomentError::NoEnsemble => Self::bad_request(error.to_string()),
            MomentError::Unknown { why, .. } => match why.nearest() {
                Some(nearest) => Self::not_found(error.to_string()).with_nearest(nearest),
                None => Self::unavailable(error.to_string()),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::api::{share, share_past};
    use crate::shared_answers::AnswerRequest;
    use crate::{Limits, PAST_AT_ONCE};
    use lockscope_audit::QuotaOwner;
    use lockscope_live::{About, Hub, Projector};
    use lockscope_runtime::clock::Clock;
    use lockscope_runtime::shutdown;

    #[test]
    fn a_moment_is_an_instant_or_a_transaction() {
        let at = |value: &str| {
            let pairs = vec![("ensemble".to_owned(), "eu".to_owned()), (AT.to_owned(), value.to_owned())];
            with_moment(pairs).map(|(rest, moment)| (rest.len(), moment)).ok()
        };
        let of = |when| Moment::new(when, "eu");
        assert_eq!(at("1764041547412"), Some((1, Some(of(When::At(1_764_041_547_412))))));
        assert_eq!(at("zxid:0x2a6"), Some((1, Some(of(When::Zxid(0x2a6))))));
        for wrong in ["", "-1", "now", "zxid:2a6", "zxid:0x", "zxid:0x12345678901234567", "1.5"] {
            assert_eq!(at(wrong), None, "{wrong}");
        }
        assert!(with_moment(Vec::new()).is_ok_and(|(_, moment)| moment.is_none()));
    }

    #[tokio::test]
    async fn who_looks_at_the_present_never_waits_for_who_looks_back() {
        let clock = Clock::manual(5_000);
        let about = About { version: String::new(), started_at_ms: 0, read_only: Arc::default() };
        let hub =
            Hub::new(Arc::new(Projector::new(Vec::new(), about, clock.clone())), clock, lockscope_live::random_epoch());
        let (_, draining) = shutdown::token();
        let http = Http::new(hub, draining, Limits::default());
        let asked = |caller: &str, address: &str| AnswerRequest {
            caller: QuotaOwner::Named(caller.to_owned()),
            address: address.to_owned(),
            scope: Scope::ALL,
        };
        // The long ways back of some take every turn that there is for the past.
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let ended = Arc::new(std::sync::Mutex::new(ended));
        let begun = Arc::new(tokio::sync::Semaphore::new(0));
        let back = (0..PAST_AT_ONCE).map(|at| {
            let (begun, ended) = (begun.clone(), ended.clone());
            let http = &http;
            let asked = asked(&format!("{at}"), &format!("/past/{at}"));
            share_past(http, asked, move |_, _| {
                begun.add_permits(1);
                let _ = ended.lock().unwrap().recv();
                Ok(axum::Json(1))
            })
        });
        let (back, live) = tokio::join!(futures_util::future::join_all(back), async {
            let _all = begun.acquire_many(u32::try_from(PAST_AT_ONCE).unwrap()).await.unwrap();
            let other = share_past(&http, asked("b", "/other"), |_, _| Ok(axum::Json(2)));
            let mut other = std::pin::pin!(other);
            assert!(futures_util::poll!(&mut other).is_pending());
            let live = share(&http, asked("0", "/live"), |_, _| Ok(axum::Json(3))).await;
            assert!(futures_util::poll!(&mut other).is_pending(), "the past waits for its turn");
            drop(end);
            assert_eq!(other.await.status(), 200);
            live
        });
        assert!(back.iter().chain([&live]).all(|answer| answer.status() == axum::http::StatusCode::OK));
    }
}
