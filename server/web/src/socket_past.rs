//! Moments of the past that a live socket asks for: each is one snapshot.

use bytes::Bytes;
use lockscope_view::{Scope, View};

use super::Http;
use super::history::{Moment, moment_of};
use super::problem::ErrorResponse;
use lockscope_access::Principal;
use lockscope_live::FrameError;

#[derive(Clone)]
pub(super) struct PastView {
    id: u32,
    view: View,
    moment: Moment,
}

impl PastView {
    pub(super) fn new(id: u32, view: View, at: &str) -> Result<Self, FrameError> {
        let moment = moment_of(at, view.ensemble()).map_err(|wrong| refusal(id, &wrong))?;
        let moment = match view {
            View::Lock(_) | View::Session(_) | View::QueueMap(_) => moment.of_one(),
            View::Board(_) | View::Status {} | View::Waits(_) | View::Sessions(_) | View::Events(_) | View::Lab(_) => {
                moment
            }
        };
        Ok(Self { id, view, moment })
    }

    pub(super) async fn frame(self, http: Http, principal: Principal, scope: Scope) -> Result<Bytes, FrameError> {
        let (id, pool) = (self.id, http.past_work.clone());
        let made = pool.ask(&principal.owner, move || self.make(&http, &scope)).await.flatten();
        made.map_err(|refused| refusal(id, &refused))
    }

    fn make(self, http: &Http, scope: &Scope) -> Result<Bytes, ErrorResponse> {
        let past = http.models(Some(&self.moment), scope)?;
        Ok(past.hub.snapshot_for(&http.hub, self.id, self.view, scope, &past.unanswered)?)
    }
}

fn refusal(id: u32, refused: &ErrorResponse) -> FrameError {
    FrameError { id: Some(id), detail: refused.sentence_with_nearest() }
}
