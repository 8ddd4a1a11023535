//! A view of a past moment as a frame: one snapshot, after which nothing comes. Scripts alone get one; pages of the past
//! are documents.

use bytes::Bytes;
use lockscope_view::past::Unanswered;
use lockscope_view::{AsOf, Body, RootState, Scope, View};

use super::{FeedError, Hub, json, normalise};

impl Hub {
    /// The only frame of a subscription that `live` was asked for, of a view of this hub's moment. Ensembles of which
    /// nothing is known then are `unanswered`.
    ///
    /// # Errors
    /// When the view can't be, or has no past.
    pub fn snapshot_for(
        &self,
        live: &Self,
        id: u32,
        view: View,
        scope: &Scope,
        unanswered: &[Unanswered],
    ) -> Result<Bytes, FeedError> {
        let view = normalise(view)?;
        if matches!(view, View::Lab(_)) {
            return Err(FeedError::BadView("a run of the lab is shown live only; leave out `at`".to_owned()));
        }
        self.refuse_ambiguous(&view, scope)?;
        let at_ms = self.now_ms();
        let mut body = self.projection().project(&view, scope).body;
        if let Some(as_of) = as_of(&mut body) {
            of_the_past(as_of, at_ms);
        }
        let unanswered = match unanswered {
            [] => String::new(),
            some => {
                let some = serde_json::to_string(some).map_err(|error| FeedError::Encoding(error.to_string()))?;
                format!(r#","unanswered":{some}"#)
            }
        };
        let head = format!(
            r#""type":"snapshot","id":{id},"epoch":"{}","server_time_ms":{},"seq":{},"known_at_ms":{at_ms},"as_of":{{"state":"past","at_ms":{at_ms}{unanswered}}}"#,
            live.epoch(),
            live.now_ms(),
            self.projection().revision(),
        );
        Ok(format!(r#"{{{head},"body":{}}}"#, json::body(&body)?).into())
    }
}

/// What was not known then is not known now.
fn of_the_past(as_of: &mut AsOf, at_ms: i64) {
    as_of.why = as_of.why_in_the_past();
    (as_of.state, as_of.since_ms) = (RootState::Past, at_ms);
}

/// How far a view can be trusted, where it says so as a whole.
fn as_of(body: &mut Body) -> Option<&mut AsOf> {
    match body {
        Body::Board(board) => Some(&mut board.head.as_of),
        Body::Lock(page) => page.as_mut().map(|page| &mut page.head.as_of),
        Body::Waits(waits) => Some(&mut waits.as_of),
        Body::Sessions(sessions) => Some(&mut sessions.head.as_of),
        Body::Session(page) => page.as_mut().map(|page| &mut page.as_of),
        Body::Status(_) | Body::Lab(_) | Body::Events(_) | Body::QueueMap(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_live_then_says_so_in_a_frame() {
        let why = |state| {
            let mut as_of = AsOf { state, why: "no watch".to_owned(), ..AsOf::default() };
            of_the_past(&mut as_of, 7);
            assert_eq!((as_of.state, as_of.since_ms), (RootState::Past, 7));
            as_of.why
        };
        assert_eq!((&*why(RootState::Live), &*why(RootState::Stale)), ("", "it was stale then: no watch"));
    }
}
