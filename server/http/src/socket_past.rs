//! Moments of the past that a live socket asks for: each is one snapshot. They are made beside the socket, so that its
//! live views go on meanwhile, and one at a time: a socket holds no more than one that is made.

use std::collections::VecDeque;

use bytes::Bytes;
use lockscope_wire::View;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::Http;
use super::history::{Moment, moment_of};
use super::problem::ErrorResponse;
use feed::{FrameError, VisibilityScope};
use identity::Actor;
use runtime::tasks;

/// A view as it was at a moment.
#[derive(Clone)]
pub(super) struct PastView {
    id: u32,
    view: View,
    /// As it was written.
    at: String,
    moment: Moment,
}

impl PastView {
    /// A view at a moment, as that was written.
    pub(super) fn new(id: u32, view: View, at: &str) -> Result<Self, FrameError> {
        let moment = moment_of(at, view.ensemble()).map_err(|wrong| refusal(id, &wrong))?;
        Ok(Self { id, view, at: at.to_owned(), moment })
    }
}

/// A snapshot that is made, or why there is none.
type Made = Result<Bytes, FrameError>;

/// The moments that one socket waits for.
#[derive(Default)]
pub(super) struct PastSnapshots {
    /// One for each subscription at most.
    waiting: VecDeque<PastView>,
    making: Option<Making>,
    made: Option<(u32, Made)>,
}

/// A snapshot that is being made; ended when nobody wants it any more.
struct Making {
    id: u32,
    task: JoinHandle<()>,
    made: oneshot::Receiver<Made>,
}

impl Drop for Making {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl PastSnapshots {
    /// Has a snapshot made, instead of what its subscription wanted before.
    pub(super) fn ask(&mut self, view: PastView) {
        self.forget(view.id);
        self.waiting.push_back(view);
    }

    /// A subscription wants nothing any more.
    pub(super) fn forget(&mut self, id: u32) {
        self.waiting.retain(|view| view.id != id);
        self.making.take_if(|making| making.id == id);
        self.made.take_if(|(of, _)| *of == id);
    }

    /// Begins the next one, unless one is under way or was not sent yet.
    pub(super) fn begin(&mut self, http: &Http, actor: &Actor, scope: &VisibilityScope) {
        if self.making.is_some() || self.made.is_some() {
            return;
        }
        let Some(view) = self.waiting.pop_front() else { return };
        let (id, (give, made)) = (view.id, oneshot::channel());
        let (http, actor, scope) = (http.clone(), actor.clone(), scope.clone());
        let task = tasks::spawn("moment of a live socket", async move {
            let snapshot = snapshot(http, &actor, view, scope).await;
            // The socket may be gone.
            let _ = give.send(snapshot.map_err(|refused| refusal(id, &refused)));
        });
        self.making = Some(Making { id, task, made });
    }

    /// Waits until the one under way is made; for ever where none is.
    pub(super) async fn made(&mut self) {
        let Some(making) = &mut self.making else { return std::future::pending().await };
        let id = making.id;
        let made = (&mut making.made).await;
        let failed = |_| ErrorResponse::internal("the server failed while it made this snapshot; report this");
        self.made = Some((id, made.map_err(failed).unwrap_or_else(|failed| Err(refusal(id, &failed)))));
        self.making = None;
    }

    /// The one that is made, to be sent.
    pub(super) fn take(&mut self) -> Option<(u32, Made)> {
        self.made.take()
    }
}

/// The frame, made here or by a replica that watches what it is about.
async fn snapshot(http: Http, actor: &Actor, view: PastView, scope: VisibilityScope) -> Result<Bytes, ErrorResponse> {
    if let Some(moment) = http.moment_elsewhere((actor, &scope), &view.view, &view.at).await {
        return Ok(http.hub.frame_of_moment(view.id, &moment?));
    }
    let pool = http.past_work.clone();
    pool.ask(&actor.quota_owner(), move || make(&http, view, &scope)).await.flatten()
}

fn make(http: &Http, view: PastView, scope: &VisibilityScope) -> Result<Bytes, ErrorResponse> {
    let PastView { id, view, at: _, moment } = view;
    let past = http.at(Some(&moment), scope)?;
    Ok(past.hub.snapshot_for(&http.hub, id, view, scope)?)
}

fn refusal(id: u32, refused: &ErrorResponse) -> FrameError {
    FrameError { id: Some(id), detail: refused.sentence_with_nearest() }
}
