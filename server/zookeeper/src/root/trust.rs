//! Whether the events of a root's recursive watch can be believed. Some servers report every change below a watched znode
//! as one of the watched znode itself (ClickHouse Keeper, its issue 115475): who believes them misses each change and
//! says that nothing is old. An event of the root itself is therefore proved by reading the root. Pure.

use lockscope_core::znode::{Facts, Zxid};

/// Why no event of a recursive watch is believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Distrust {
    /// An event said that the root came, went or changed, and nothing had happened to it.
    WrongPaths,
    /// The server says that it is ClickHouse Keeper.
    ClickHouse,
}

impl Distrust {
    /// The clause shown for a root that is not followed for this reason.
    pub(in super::super) fn text(self) -> &'static str {
        match self {
            Self::WrongPaths => {
                "the server's watch events name the watched znode in place of the changed one, as those of ClickHouse Keeper do (its issue 115475); read in full after each change and every few seconds instead"
            }
            Self::ClickHouse => {
                "the server is ClickHouse Keeper, whose watch events name the watched znode in place of the changed one (its issue 115475); read in full after each change and every few seconds instead"
            }
        }
    }
}

/// The root as it was read before an event: what the event says can't be true of this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Claim {
    /// It came or went: it is another incarnation, or gone.
    Replaced { czxid: Zxid },
    /// Its data changed: that, or the same.
    Changed { czxid: Zxid, mzxid: Zxid },
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Trust {
    distrust: Option<Distrust>,
    /// `czxid` and `mzxid` of the root, the newest that were read since it was last read anew.
    read: Option<(Zxid, Zxid)>,
    claim: Option<Claim>,
}

impl Trust {
    pub(super) fn distrust(&self) -> Option<Distrust> {
        self.distrust
    }

    /// From now on no event is believed. True when that is news.
    pub(super) fn lose(&mut self, why: Distrust) -> bool {
        self.claim = None;
        self.distrust.replace(why).is_none()
    }

    /// The root is read anew: nothing is known of it, and nothing has to be proved, for all below it is read after it.
    pub(super) fn begin_anew(&mut self) {
        (self.read, self.claim) = (None, None);
    }

    /// The root was read since it is read anew.
    pub(super) fn has_read(&self) -> bool {
        self.read.is_some()
    }

    pub(super) fn is_proving(&self) -> bool {
        self.claim.is_some()
    }

    pub(super) fn claim_change(&mut self) {
        if let (Some((czxid, mzxid)), None) = (self.read, self.claim) {
            self.claim = Some(Claim::Changed { czxid, mzxid });
        }
    }

    /// An event says that the root came or went; it is read anew.
    pub(super) fn claim_replacement(&mut self) {
        let claim = self.read.map(|(czxid, _)| Claim::Replaced { czxid });
        (self.read, self.claim) = (None, claim);
    }

    /// A Stat of the root came that may be older than the last event.
    pub(super) fn note(&mut self, facts: &Facts) {
        self.read = self.read.max(Some((facts.czxid, facts.mzxid)));
    }

    /// The root was read after all events so far. False when one of them was wrong.
    pub(super) fn prove(&mut self, facts: &Facts) -> bool {
        self.note(facts);
        match self.claim.take() {
            None => true,
            Some(Claim::Replaced { czxid }) => facts.czxid != czxid,
            Some(Claim::Changed { czxid, mzxid }) => facts.czxid != czxid || facts.mzxid > mzxid,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(czxid: i64, mzxid: i64) -> Facts {
        let (czxid, mzxid, pzxid) = (Zxid(czxid), Zxid(mzxid), Zxid(0));
        let (ctime_ms, version, cversion, children) = (0, 0, 0, 0);
        Facts {
            czxid,
            mzxid,
            pzxid,
            ctime_ms,
            version,
            cversion,
            children,
            owner: None,
            payload: None,
            payload_bytes: 0,
        }
    }

    fn read(czxid: i64, mzxid: i64) -> Trust {
        let mut trust = Trust::default();
        assert!(trust.prove(&facts(czxid, mzxid)));
        trust
    }

    #[test]
    fn what_happened_to_the_root_itself_is_believed() {
        let mut trust = read(3, 3);
        trust.claim_change();
        assert!(trust.is_proving() && trust.prove(&facts(3, 7)) && !trust.is_proving());
        // It went and came.
        trust.claim_replacement();
        trust.claim_replacement();
        assert!(trust.prove(&facts(9, 9)));
        trust.claim_change();
        assert!(trust.prove(&facts(10, 10)), "it was replaced since");
    }

    #[test]
    fn what_did_not_happen_to_it_is_a_lie() {
        let mut trust = read(3, 7);
        trust.claim_change();
        assert!(!trust.prove(&facts(3, 7)));
        trust.claim_change();
        trust.claim_replacement();
        assert!(!trust.prove(&facts(3, 8)), "the stronger claim counts");
    }

    #[test]
    fn an_event_of_a_root_that_was_not_read_yet_proves_nothing() {
        let mut trust = Trust::default();
        trust.claim_change();
        trust.claim_replacement();
        assert!(!trust.is_proving() && trust.prove(&facts(3, 3)));
    }

    #[test]
    fn a_stat_that_may_be_old_takes_nothing_back() {
        let mut trust = read(3, 7);
        trust.note(&facts(3, 5));
        trust.claim_change();
        trust.note(&facts(3, 7));
        assert!(!trust.prove(&facts(3, 7)));
    }
}
