//! Reports each change of the link's state once.

use lockscope_core::observation::{Link, Observation};
use lockscope_core::znode::SessionId;

use super::outbox::Outbox;

#[derive(Debug, Default)]
pub(super) struct LinkTeller {
    told: Option<(Link, Option<SessionId>, &'static str)>,
}

impl LinkTeller {
    /// Says a link state unless it was the last one said.
    pub(super) fn tell(&mut self, link: Link, session: Option<SessionId>, why: &'static str, out: &mut Outbox) {
        if self.told != Some((link, session, why)) {
            self.told = Some((link, session, why));
            out.push(Observation::Link { link, session, why: why.into() });
        }
    }
}
