//! Whether our member still follows the leader that the ensemble has, by the epochs that all members report. A member
//! closes its clients' connections before it follows another leader, so ours is in one epoch as long as our connection
//! lasts. Pure.

use std::time::{Duration, Instant};

use lockscope_core::evidence::MemberRole;
use lockscope_core::proof::Proof;

use super::members::{ANSWER_MAX, EPOCHS_EVERY, Led, MemberEpoch, MemberEpochs};
use super::probe::{PULSE, STALE_WITHIN};

const _: () =
    assert!(EPOCHS_EVERY.as_millis() + ANSWER_MAX.as_millis() + PULSE.as_millis() <= STALE_WITHIN.as_millis());
/// Older answers say nothing of now.
const ANSWERS_LAST: Duration = Duration::from_secs(3);
/// Time-outs in a row of one member that count: fewer may be a lost packet, and after more a leader without a quorum has
/// stepped down, or the members may not be asked any more.
const TIMEOUTS: std::ops::Range<u32> = 2..60;

const DEPOSED: &str = "another member is in a newer epoch: ours follows a leader that was deposed";
const TWO_LEADERS: &str = "two members lead: ours may follow the one that was deposed";
const SLEPT: &str = "another member is in a newer epoch, and ours did not answer for a while";
const NO_QUORUM: &str = "the leader that our member follows has no quorum in sync";
const PARTED: &str = "most members do not answer: they may have another leader by now";

#[derive(Debug)]
pub(super) struct EpochGuard {
    /// The connection was made.
    since: Instant,
    /// Our epoch is no lower: a quorum made the session, after members had reported this one.
    least: Option<u32>,
    epoch: Option<u32>,
    /// The newest that any member was in since, also where it does not answer any more.
    newest: Option<u32>,
    is_deposed: bool,
    /// Our epoch, or that of the connection before while it is not known.
    last_epoch: Option<u32>,
    /// The session was taken up again, which needs no quorum, when members were in a newer epoch than the connection before.
    may_be_behind: bool,
    /// The leader had a quorum in sync. How many that takes is not known where voters have weights.
    was_synced: bool,
    /// Our own member did not answer then: silence of all says nothing of the others.
    unanswered_at: Instant,
    /// No member was in a newer epoch than ours then.
    agreed_at: Instant,
}

impl EpochGuard {
    /// Of a new connection; `is_new`: its session was made with it, when members had reported what they report now.
    pub(super) fn new(now: Instant, is_new: bool, members: &MemberEpochs) -> Self {
        let least = newest(members.values()).filter(|_| is_new);
        Self {
            since: now,
            least,
            epoch: None,
            newest: None,
            is_deposed: false,
            last_epoch: None,
            may_be_behind: false,
            was_synced: false,
            unanswered_at: now,
            agreed_at: now,
        }
    }

    /// Of a connection on which the session of this one was taken up again.
    pub(super) fn resumed(&self, now: Instant, members: &MemberEpochs) -> Self {
        let last_epoch = self.epoch.or(self.last_epoch);
        let heard = members.values().filter(|member| member.asked.is_some_and(|at| at + ANSWERS_LAST > now));
        let may_be_behind = last_epoch.is_some() && last_epoch < newest(heard);
        Self { last_epoch, may_be_behind, ..Self::new(now, false, members) }
    }

    /// What the members' reports prove by now, and why what our member shows may be old. `answers`: our member does.
    pub(super) fn judge(
        &mut self,
        now: Instant,
        answers: bool,
        members: &MemberEpochs,
    ) -> (Option<&'static str>, Proof) {
        let since = self.since;
        let is_heard = |member: &&MemberEpoch| member.asked.is_some_and(|at| at >= since && at + ANSWERS_LAST > now);
        let heard: Vec<&MemberEpoch> = members.values().filter(is_heard).collect();
        if !answers {
            self.unanswered_at = now;
        }
        self.newest = self.newest.max(newest(heard.iter().copied()));
        let newest = self.newest;
        let leaders = || heard.iter().filter(|member| member.leads());
        let are_two = are_two_leaders(&heard);
        let is_lower = leaders().any(|leader| leader.epoch.is_some() && leader.epoch < newest);
        let is_newest = |member: &MemberEpoch| member.is_idle || member.epoch == newest;
        // One that does not answer while ours does: of a member that slept both answer again at once.
        let answers_long = now.duration_since(self.unanswered_at) > ANSWERS_LAST;
        let is_not_ours = |member: &MemberEpoch| member.epoch.is_none() && answers_long;
        if self.epoch.is_none() {
            // All report the epoch before until something is committed; followers alone do not tell that one was elected, and
            // of two leaders one is asked again.
            if heard.len() == members.len() && (leaders().count() == 1 || are_two) {
                // Who leads in a lower epoch was deposed, and may be ours or lead it.
                self.is_deposed |= are_two && is_lower && self.least < newest;
                self.epoch = newest;
                self.may_be_behind = false;
            }
        } else if self.epoch < newest {
            if are_two && is_lower {
                self.is_deposed = true;
            } else if heard.len() == members.len()
                && heard.iter().all(|member| is_newest(member) || is_not_ours(member))
            {
                // The first transaction of the leader that ours followed all the while.
                self.epoch = newest;
            }
        }
        if self.epoch >= newest {
            self.agreed_at = now;
        }
        // Ours may have slept through an election, and has not shown yet in which epoch it wakes.
        let slept = self.epoch.is_some() && self.epoch < newest && self.unanswered_at > self.agreed_at;
        let may_sleep = slept || self.may_be_behind;
        let is_doubtful = are_two && !is_lower || may_sleep;
        let voters = || members.values().filter(|member| member.role != Some(MemberRole::Observer));
        let is_most = |count: usize| 2 * count > voters().count();
        let leader = heard.iter().find(|member| member.leads() && member.epoch == self.epoch);
        let is_alone = leader.is_some_and(|leader| leader.role == Some(MemberRole::Standalone));
        let synced = leader.and_then(|leader| leader.followers).map(|followers| is_most(followers + 1));
        self.was_synced |= synced == Some(true);
        let is_silent = |member: &&MemberEpoch| member.timeouts.is_some_and(|count| TIMEOUTS.contains(&count));
        let silent = voters().filter(is_silent).count();
        let is_parted = silent > 1 && is_most(silent) && now.duration_since(self.unanswered_at) > ANSWERS_LAST;
        let known = voters().filter(is_heard).filter(|member| member.is_idle || member.epoch.is_some()).count();
        let why = match () {
            () if self.is_deposed => Some(DEPOSED),
            () if may_sleep => Some(SLEPT),
            () if is_doubtful => Some(TWO_LEADERS),
            () if self.was_synced && synced == Some(false) => Some(NO_QUORUM),
            () if is_parted => Some(PARTED),
            () => None,
        };
        let is_ours = self.epoch.is_some() && self.epoch >= newest;
        let is_known = is_ours && (is_alone || is_most(known) && members.len() > 1);
        let epoch = if self.is_deposed || is_doubtful || is_parted { Some(false) } else { is_known.then_some(true) };
        let quorum = if is_alone { Some(true) } else { synced.filter(|synced| *synced || self.was_synced) };
        (why, Proof { answer: None, epoch, quorum })
    }

    /// Another connection may be better: this one will stay behind, or may be.
    pub(super) fn wants_another(&self) -> bool {
        self.is_deposed || self.may_be_behind
    }
}

/// Whether two members led at the same time: one answered so before and after the other one was asked and answered so.
fn are_two_leaders(heard: &[&MemberEpoch]) -> bool {
    let led: Vec<Led> = heard.iter().filter_map(|member| member.led).collect();
    let is_within = |one: &Led, other: &Led| one.since <= other.asked && other.answered <= one.asked;
    let are_both = |one: &Led, other: &Led| one.since.max(other.since) <= one.asked.min(other.asked);
    let is_at_once = |one: &Led, other: &Led| is_within(one, other) || is_within(other, one) || are_both(one, other);
    led.iter().enumerate().any(|(at, one)| led.iter().skip(at + 1).any(|other| is_at_once(one, other)))
}

fn newest<'a>(members: impl Iterator<Item = &'a MemberEpoch>) -> Option<u32> {
    members.filter_map(|member| member.epoch).max()
}

#[cfg(test)]
mod tests {
    use lockscope_core::evidence::MemberRole::{Follower, Leader, Observer, Standalone};

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn serving(role: MemberRole, epoch: u32) -> MemberEpoch {
        MemberEpoch { role: Some(role), epoch: Some(epoch), timeouts: Some(0), ..MemberEpoch::default() }
    }

    fn idle() -> MemberEpoch {
        MemberEpoch { is_idle: true, ..MemberEpoch::default() }
    }

    fn silent(timeouts: u32) -> MemberEpoch {
        MemberEpoch { timeouts: Some(timeouts), ..MemberEpoch::default() }
    }

    /// What they report when they are asked then.
    fn at(asked: Instant, members: &[MemberEpoch]) -> MemberEpochs {
        let named = members.iter().enumerate();
        let led = |member: &MemberEpoch| {
            (member.role == Some(Leader)).then_some(Led { since: asked, asked, answered: asked })
        };
        let asked = |member: &MemberEpoch| MemberEpoch { asked: Some(asked), led: led(member), ..*member };
        named.map(|(at, member)| (at.to_string().into(), asked(member))).collect()
    }

    /// A guard of a new session, and what it says each second of what members report then.
    struct Watched {
        guard: EpochGuard,
        now: Instant,
    }

    impl Watched {
        fn new(is_new: bool, before: &[MemberEpoch]) -> Self {
            let now = Instant::now();
            Self { guard: EpochGuard::new(now, is_new, &at(now, before)), now }
        }

        fn judged(&mut self, members: &[MemberEpoch]) -> (Option<&'static str>, Proof) {
            self.now += SECOND;
            self.guard.judge(self.now, true, &at(self.now, members))
        }

        fn why(&mut self, members: &[MemberEpoch]) -> Option<&'static str> {
            self.judged(members).0
        }
    }

    #[test]
    fn a_newer_epoch_elsewhere_deposes_ours() {
        let before = [serving(Leader, 4), serving(Follower, 4), serving(Follower, 4)];
        let mut ours = Watched::new(true, &before);
        assert_eq!(ours.judged(&before), (None, Proof { answer: None, epoch: Some(true), quorum: None }));
        let (why, proof) = ours.judged(&[serving(Leader, 4), serving(Leader, 5), serving(Follower, 4)]);
        assert_eq!((why, proof.epoch), (Some(DEPOSED), Some(false)));
        assert_eq!(ours.why(&before), Some(DEPOSED), "until we have another connection");
        assert!(ours.guard.wants_another());
    }

    #[test]
    fn an_ordinary_leader_change_is_no_doubt() {
        // We are with a follower again; the leader that was killed is down, and nothing was committed yet.
        let mut ours = Watched::new(false, &[serving(Leader, 4), serving(Follower, 4), serving(Follower, 4)]);
        for _ in 0..3 {
            assert_eq!(ours.why(&[idle(), serving(Leader, 5), serving(Follower, 4)]), None);
        }
        assert_eq!(ours.judged(&[serving(Follower, 5), serving(Leader, 5), serving(Follower, 5)]).1.epoch, Some(true));
    }

    /// Nothing was committed since the election when we connected; every member reports the epoch before.
    #[test]
    fn the_first_transaction_of_a_new_leader_is_no_doubt() {
        let mut ours = Watched::new(false, &[]);
        assert_eq!(ours.judged(&[idle(), serving(Leader, 4), serving(Follower, 4)]).1.epoch, Some(true));
        let (why, proof) = ours.judged(&[idle(), serving(Leader, 4), serving(Follower, 5)]);
        assert_eq!((why, proof.epoch), (None, None), "the leader was asked just before");
        let (why, proof) = ours.judged(&[idle(), serving(Leader, 5), serving(Follower, 5)]);
        assert_eq!((why, proof.epoch), (None, Some(true)));
    }

    #[test]
    fn a_member_that_slept_is_in_doubt_until_it_shows_its_epoch() {
        let mut ours = Watched::new(true, &[]);
        assert_eq!(ours.why(&[serving(Leader, 4), serving(Follower, 4), serving(Follower, 4)]), None);
        let elected = [silent(1), serving(Leader, 5), serving(Follower, 5)];
        ours.now += SECOND;
        ours.guard.judge(ours.now, false, &at(ours.now, &elected));
        assert_eq!(ours.why(&elected), Some(SLEPT), "it answers us before it answers who asks for its epoch");
        assert_eq!(ours.why(&[serving(Leader, 4), serving(Leader, 5), serving(Follower, 5)]), Some(DEPOSED));
    }

    /// A leader that was frozen takes sessions up again before it knows that there is another one.
    #[test]
    fn session_resumed_by_a_paused_leader_is_in_doubt() {
        let mut ours = Watched::new(true, &[]);
        assert_eq!(ours.why(&[serving(Leader, 4), serving(Follower, 4), serving(Follower, 4)]), None);
        let elected = [silent(2), serving(Leader, 5), serving(Follower, 5)];
        let now = ours.now + SECOND;
        let mut resumed = Watched { guard: ours.guard.resumed(now, &at(now, &elected)), now };
        // The others were asked since, and then it answers as a leader.
        let mut members = at(now, &elected);
        members.insert("0".into(), at(now - SECOND, &elected)["0"]);
        assert_eq!(resumed.guard.judge(now, true, &members).0, Some(SLEPT));
        members.extend(at(now + SECOND / 2, &[serving(Leader, 4)]));
        assert_eq!(resumed.guard.judge(now + SECOND / 2, true, &members).0, Some(SLEPT));
        assert_eq!(resumed.why(&[serving(Leader, 4), serving(Leader, 5), serving(Follower, 5)]), Some(DEPOSED));
        // Of one that was killed the same is over as soon as all were asked.
        let mut resumed = Watched { guard: ours.guard.resumed(now, &at(now, &elected)), now };
        assert!(resumed.guard.wants_another());
        assert_eq!(resumed.why(&[idle(), serving(Leader, 5), serving(Follower, 5)]), None);
        assert!(!resumed.guard.wants_another());
    }

    #[test]
    fn reports_that_were_heard_once_keep_a_sleeping_member_in_doubt() {
        let mut ours = Watched::new(true, &[]);
        assert_eq!(ours.why(&[serving(Leader, 4), serving(Follower, 4), serving(Follower, 4)]), None);
        ours.now += SECOND;
        ours.guard.judge(ours.now, false, &at(ours.now, &[silent(1), serving(Leader, 5), serving(Follower, 5)]));
        assert_eq!(ours.why(&[silent(2), silent(1), silent(1)]), Some(SLEPT), "a busy machine hears nobody");
    }

    /// The first transaction after an election, with a member that is not reached for days.
    #[test]
    fn one_silent_member_keeps_nobody_in_doubt() {
        let mut ours = Watched::new(true, &[]);
        assert_eq!(ours.why(&[serving(Leader, 4), serving(Follower, 4), silent(9)]), None);
        let elected = [serving(Leader, 5), serving(Follower, 5), silent(9)];
        ours.now += SECOND;
        ours.guard.judge(ours.now, false, &at(ours.now, &elected));
        let reasons: Vec<_> = (0..5).map(|_| ours.why(&elected)).collect();
        assert_eq!(reasons, [Some(SLEPT), Some(SLEPT), Some(SLEPT), None, None], "until ours answers for long enough");
    }

    #[test]
    fn two_leaders_of_one_epoch_are_in_doubt_until_one_steps_down() {
        let mut ours = Watched::new(true, &[]);
        assert_eq!(ours.why(&[serving(Leader, 4), serving(Follower, 4), serving(Follower, 4)]), None);
        assert_eq!(ours.why(&[serving(Leader, 4), serving(Leader, 4), serving(Follower, 4)]), Some(TWO_LEADERS));
        assert_eq!(ours.why(&[serving(Leader, 4), serving(Follower, 4), serving(Follower, 4)]), None);
        // The one had answered for the last time before the other one answered first.
        let mut members = at(ours.now, &[serving(Leader, 4), idle(), idle()]);
        members.insert("1".into(), at(ours.now + SECOND, &[serving(Leader, 4)])["0"]);
        assert_eq!(ours.guard.judge(ours.now + SECOND, true, &members).0, None);
    }

    #[test]
    fn followers_alone_do_not_tell_the_epoch() {
        // Nothing was committed since the election, and the new leader was too slow to answer once.
        let mut ours = Watched::new(false, &[]);
        assert_eq!(ours.judged(&[idle(), MemberEpoch::default(), serving(Follower, 4)]), (None, Proof::default()));
        let (why, proof) = ours.judged(&[idle(), serving(Leader, 5), serving(Follower, 4)]);
        assert_eq!((why, proof.epoch), (None, Some(true)));
    }

    #[test]
    fn a_member_that_is_behind_changes_nothing() {
        let mut ours = Watched::new(true, &[]);
        let (leader, follower) = (serving(Leader, 5), serving(Follower, 5));
        assert_eq!(ours.why(&[leader, follower, serving(Follower, 4)]), None);
        assert_eq!(ours.why(&[leader, follower, serving(Leader, 4)]), None, "it was paused, and wakes");
    }

    #[test]
    fn what_was_asked_before_does_not_count() {
        let mut ours = Watched::new(false, &[]);
        let (now, old) = (ours.now + SECOND, ours.now - SECOND);
        let mut members = at(old, &[serving(Leader, 9), serving(Follower, 9), serving(Follower, 9)]);
        assert_eq!(ours.guard.judge(now, true, &members).1.epoch, None);
        members.extend(at(now, &[serving(Leader, 5), serving(Follower, 5)]));
        assert_eq!(ours.guard.judge(now, true, &members), (None, Proof::default()), "one was not asked yet");
        members.extend(at(now, &[serving(Leader, 5), serving(Follower, 5), serving(Follower, 5)]));
        assert_eq!(ours.guard.judge(now, true, &members).1.epoch, Some(true));
    }

    /// A session that is taken up again needs no quorum; a new one does.
    #[test]
    fn two_leaders_leave_a_resumed_session_in_doubt() {
        let two = [serving(Leader, 4), serving(Leader, 5), serving(Follower, 5)];
        assert_eq!(Watched::new(false, &two).why(&two), Some(DEPOSED));
        assert_eq!(Watched::new(true, &two).why(&two), None);
        let before = [serving(Leader, 4), serving(Follower, 4), serving(Follower, 4)];
        assert_eq!(Watched::new(true, &before).why(&two), Some(DEPOSED), "it may have been made just before");
    }

    #[test]
    fn a_leader_that_loses_its_quorum_is_in_doubt() {
        let with = |followers| {
            let leader = MemberEpoch { followers: Some(followers), ..serving(Leader, 5) };
            [leader, serving(Follower, 5), serving(Follower, 5)]
        };
        let mut ours = Watched::new(true, &[]);
        assert_eq!(ours.judged(&with(0)), (None, Proof { answer: None, epoch: Some(true), quorum: None }), "weights?");
        assert_eq!(ours.judged(&with(1)).1.quorum, Some(true));
        let (why, proof) = ours.judged(&with(0));
        assert_eq!((why, proof.quorum), (Some(NO_QUORUM), Some(false)));
        assert_eq!(ours.why(&with(2)), None);
    }

    #[test]
    fn silence_of_most_members_is_doubt() {
        let mut ours = Watched::new(true, &[]);
        let leader = serving(Leader, 5);
        for _ in 0..4 {
            assert_eq!(ours.why(&[leader, serving(Follower, 5), serving(Follower, 5)]), None);
        }
        assert_eq!(ours.why(&[leader, silent(1), silent(1)]), None, "a packet may be lost");
        assert_eq!(ours.why(&[leader, silent(2), silent(2)]), Some(PARTED));
        assert_eq!(ours.why(&[leader, silent(3), serving(Follower, 5)]), None);
        assert_eq!(ours.why(&[leader, idle(), idle()]), None, "they are in no quorum");
        assert_eq!(ours.why(&[leader, silent(60), silent(60)]), None, "they may not be asked any more");
        // Our member is silent as well: that says nothing of the others.
        ours.now += SECOND;
        let members = at(ours.now, &[silent(9), silent(9), silent(9)]);
        assert_eq!(ours.guard.judge(ours.now, false, &members).0, None);
        assert_eq!(ours.why(&[leader, silent(9), silent(9)]), None);
    }

    #[test]
    fn proof_is_missing_where_members_can_not_be_asked() {
        let unknown = MemberEpoch::default();
        let (leader, follower) = (serving(Leader, 5), serving(Follower, 5));
        let proof = |members: &[MemberEpoch]| Watched::new(true, &[]).judged(members);
        assert_eq!(proof(&[]), (None, Proof::default()));
        assert_eq!(proof(&[unknown; 3]), (None, Proof::default()));
        assert_eq!(proof(&[leader, unknown, unknown]), (None, Proof::default()));
        assert_eq!(proof(&[leader]), (None, Proof::default()), "one name of several members");
        assert_eq!(proof(&[leader, follower, unknown]).1.epoch, Some(true), "no quorum is without one of these");
        assert_eq!(proof(&[leader, unknown, serving(Observer, 5), unknown]).1.epoch, None);
        let alone = Proof { answer: None, epoch: Some(true), quorum: Some(true) };
        assert_eq!(proof(&[serving(Standalone, 0)]), (None, alone));
    }
}
