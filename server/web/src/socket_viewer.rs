//! What one subscription of a live socket shows.

use bytes::Bytes;
use lockscope_view::KnownView;

use super::socket_past::PastView;
use lockscope_audit::QuotaOwner;
use lockscope_live::{Encoding, FeedError, FrameError, Subscription};
use lockscope_runtime::quota::Permit;

pub(super) struct Viewer {
    pub(super) source: Source,
    pub(super) is_paused: bool,
    /// Among the views of this caller.
    pub(super) permit: Option<Permit<QuotaOwner>>,
}

pub(super) enum Source {
    Live(Subscription),
    /// A moment of the past; None: its snapshot was sent, or the first look at the present is awaited.
    Past(Option<PastView>),
}

impl Viewer {
    /// Its next frame, where it is shown the present.
    pub(super) fn next(&mut self, id: u32, encoding: Encoding) -> Option<Result<Bytes, FeedError>> {
        match &mut self.source {
            Source::Live(subscription) => subscription.next(id, encoding).transpose(),
            Source::Past(_) => None,
        }
    }

    /// Up to when what was sent of the present is known to be true.
    pub(super) fn known(&self, id: u32) -> Option<KnownView> {
        match &self.source {
            Source::Live(subscription) => subscription.known(id),
            Source::Past(_) => None,
        }
    }
}

pub(super) fn no_such(id: u32) -> FrameError {
    FrameError {
        id: Some(id),
        detail: format!("there is no subscription {id} on this socket; start one with `subscribe`"),
    }
}
