//! What is remembered of an ensemble's history over all sessions. It tells servers that went on with an older state of
//! their data, or that are no ensemble, from one that only lags. Pure.

use std::collections::BTreeSet;

use lockscope_core::znode::{Facts, Zxid};

use super::watch::Why;

/// What the servers of the connect string said when a session began.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ServersSaid {
    /// The newest transaction that any of them has applied; None where none says it.
    pub(super) newest: Option<Zxid>,
    /// One that decides is among them, or none was silent. Else those that answered may all lag.
    pub(super) is_whole: bool,
    /// What those that work alone have applied.
    pub(super) alone: BTreeSet<Zxid>,
}

#[derive(Debug, Default)]
pub(super) struct SeenHistory {
    newest: Zxid,
    /// What was seen when the servers were asked.
    asked: Zxid,
    /// Several servers work alone.
    are_alone: bool,
    /// They do, and were seen to have different histories.
    are_separate: bool,
    /// Another history was found, and not every root is read anew for it yet.
    is_other: bool,
}

impl SeenHistory {
    pub(super) fn saw(&mut self, facts: &Facts) {
        self.newest = self.newest.max(facts.czxid).max(facts.mzxid).max(facts.pzxid);
    }

    /// The servers are asked now: what is seen from now on may be newer than their answers.
    pub(super) fn asks_servers(&mut self) {
        self.asked = self.newest;
    }

    pub(super) fn heard(&mut self, said: &ServersSaid) {
        self.are_alone |= said.alone.len() > 1;
        let Some(newest) = said.newest else { return };
        if said.is_whole && newest < self.asked {
            self.is_other = true;
        } else {
            self.newest = self.newest.max(newest);
        }
    }

    /// An answer that can't be late shows an older state than one before it did.
    pub(super) fn found_other(&mut self) {
        self.is_other = true;
    }

    /// Why every root is to be read anew, once for each history that is found.
    pub(super) fn take_other(&mut self) -> Option<Why> {
        if !std::mem::take(&mut self.is_other) {
            return None;
        }
        (self.newest, self.asked) = (Zxid(0), Zxid(0));
        self.are_separate |= self.are_alone;
        Some(if self.are_separate { Why::Separate } else { Why::Restored })
    }

    /// Why roots are read when a session follows another: of servers that are no ensemble it may have met any.
    pub(super) fn why_new_session(&self) -> Why {
        if self.are_separate { Why::Separate } else { Why::NewSession }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(newest: i64, is_whole: bool, alone: &[i64]) -> ServersSaid {
        ServersSaid { newest: Some(Zxid(newest)), is_whole, alone: alone.iter().map(|zxid| Zxid(*zxid)).collect() }
    }

    /// Asks the servers, who say that.
    fn hear(seen: &mut SeenHistory, said: &ServersSaid) {
        seen.asks_servers();
        seen.heard(said);
    }

    fn seen(newest: i64) -> SeenHistory {
        let mut seen = SeenHistory::default();
        hear(&mut seen, &said(newest, true, &[]));
        seen
    }

    #[test]
    fn an_older_leader_has_another_history() {
        let mut seen = seen(100);
        hear(&mut seen, &said(90, true, &[90]));
        assert_eq!((seen.take_other(), seen.take_other()), (Some(Why::Restored), None));
        hear(&mut seen, &said(95, true, &[95]));
        assert_eq!(seen.take_other(), None, "the new history goes on");
    }

    #[test]
    fn one_member_behind_only_lags() {
        let mut seen = seen(100);
        hear(&mut seen, &said(90, false, &[]));
        assert_eq!((seen.take_other(), seen.newest), (None, Zxid(100)));
    }

    #[test]
    fn another_leader_goes_on() {
        let mut seen = seen(0x1_0000_0064);
        hear(&mut seen, &said(0x2_0000_0000, true, &[]));
        assert_eq!(seen.take_other(), None);
    }

    #[test]
    fn what_was_seen_after_the_question_says_nothing() {
        let mut seen = seen(100);
        seen.asks_servers();
        seen.newest = Zxid(120);
        seen.heard(&said(110, true, &[]));
        assert_eq!((seen.take_other(), seen.newest), (None, Zxid(120)));
    }

    #[test]
    fn servers_that_work_alone_are_named_once_they_differ() {
        let mut seen = seen(100);
        hear(&mut seen, &said(100, true, &[50, 100]));
        assert_eq!((seen.take_other(), seen.why_new_session()), (None, Why::NewSession));
        seen.found_other();
        assert_eq!((seen.take_other(), seen.why_new_session()), (Some(Why::Separate), Why::Separate));
    }
}
