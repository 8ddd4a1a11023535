//! The deletion itself, as a state machine without effects: what to ask ZooKeeper next, and what came of it.
//!
//! 1. [`Step::Look`]: `sync`, then the directory's Stat, then the znode's. Any difference ends it, nothing is sent.
//! 2. [`Step::Send`]: in one go on the same connection a read of the znode, `delete(path, version)`, and the same two
//!    reads as before.
//! 3. [`Step::Settle`]: only when the connection broke: once it is back, `sync` and the two reads again.
//!
//! No request of ZooKeeper's can be conditional on a czxid, so another incarnation of a fixed name may be hit within
//! the last round trip. What can be shown afterwards:
//! * **it was the one that was seen** when the directory counts one deletion in all (ours), or no creation that could
//!   have replaced it, or when a watch on the same connection reported one deletion of the name and not two (that takes
//!   for granted that who may read the one incarnation may read the other);
//! * **it was another** when the read sent right before the deletion already shows another or none: requests of one
//!   connection are carried out in order, and a czxid never comes back;
//! * else neither, and that is reported.

use super::target::{Naming, Seen, Target, TargetSnapshot};

/// What to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// `sync`, then look.
    Look,
    /// Read, delete, look: all in one go.
    Send,
    /// Get the connection back, `sync`, look.
    Settle,
    /// Nothing more.
    End(End),
}

/// What ZooKeeper says to a deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Deleted.
    Done,
    /// Nothing is there.
    NoNode,
    /// It has another version.
    BadVersion,
    /// It has children.
    NotEmpty,
    /// No right to.
    NoRight,
    /// Something else, for which nothing was deleted: read-only, throttled, over quota.
    Refused,
}

/// What came back of [`Step::Send`]; None for what the broken connection swallowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// The znode right before the deletion.
    pub just_before: Option<Option<Seen>>,
    /// The answer.
    pub answer: Option<Answer>,
    /// What is there after it.
    pub after: Option<TargetSnapshot>,
    /// Deletions of the name reported since before the first look; None when not every one would have been reported.
    pub deletions_heard: Option<u32>,
}

/// Whether the session survived a broken connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Back {
    /// It did: what was sent before was carried out by now, or never will be.
    SameSession,
    /// It is another: what the old one sent may still arrive.
    NewSession,
}

/// The inputs of the state machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// After [`Step::Look`].
    Looked(TargetSnapshot),
    /// After [`Step::Send`].
    Sent(Sent),
    /// After [`Step::Settle`].
    Settled(Back, TargetSnapshot),
    /// The step could not be done within its time.
    GaveUp,
}

/// How it ended. Meanings as in the wire's enum of the same names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "named as on the wire, documented there")]
pub enum Ending {
    Released,
    ReleasedOther,
    AlreadyGone,
    ChangedHands,
    VersionMoved,
    Denied,
    Unknown,
    NotLive,
}

/// What the ending is known by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fact {
    /// Nothing was sent.
    NothingSent,
    /// ZooKeeper answered that it deleted nothing.
    NothingDeleted,
    /// The directory's counters leave no room for another incarnation.
    Counted,
    /// One deletion of the name was reported, and not two.
    Heard,
    /// A numbered name does not come again while its directory stays, and it stayed.
    Numbered,
    /// It was not there any more right before the deletion, and something was deleted.
    SeenBefore,
    /// It is gone and something was deleted; whether the one is the other can't be shown.
    Ambiguous,
    /// Deleted by ZooKeeper's word; what is there now could not be read.
    Unread,
    /// No answer came, and it is gone: by this order or otherwise.
    GoneUnanswered,
    /// No answer came, it is still there, and the order can no longer arrive: nothing was deleted.
    NeverArrived,
    /// No answer came, it is still there, and the order may still arrive.
    MayArrive,
    /// No answer came, and nothing could be read since.
    Silence,
    /// ZooKeeper denies the right.
    NoRight,
    /// It has children by now.
    HasChildren,
    /// ZooKeeper refuses for another reason.
    Refused,
}

/// The end of a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// How.
    pub ending: Ending,
    /// Known by what.
    pub fact: Fact,
    /// What is at the path now, as far as that was read.
    pub there: Option<Seen>,
    /// That was read back from ZooKeeper.
    pub is_verified: bool,
}

#[derive(Clone, Debug)]
enum State {
    Looking,
    Sending { before: TargetSnapshot },
    Settling { before: TargetSnapshot, sent: Sent },
    Ended(End),
}

/// One release under way.
#[derive(Clone, Debug)]
pub struct Act {
    target: Target,
    state: State,
}

impl Act {
    /// One that was not begun.
    pub fn new(target: Target) -> Self {
        Self { target, state: State::Looking }
    }

    /// What is released.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// What to do now.
    pub fn step(&self) -> Step {
        match &self.state {
            State::Looking => Step::Look,
            State::Sending { .. } => Step::Send,
            State::Settling { .. } => Step::Settle,
            State::Ended(end) => Step::End(*end),
        }
    }

    /// Takes in what came of the step; what does not fit it changes nothing.
    pub fn take(&mut self, input: Input) -> Step {
        self.state = match (&self.state, input) {
            (State::Looking, Input::Looked(looked)) => self.compared(looked),
            (State::Looking, Input::GaveUp) => ended(Ending::NotLive, Fact::NothingSent, None, false),
            (State::Sending { before }, Input::Sent(sent)) => self.sent(*before, sent),
            (State::Sending { before }, Input::GaveUp) => self.sent(*before, Sent::default()),
            (State::Settling { before, sent }, Input::Settled(back, looked)) => {
                self.settled(before, sent, back, looked)
            }
            (State::Settling { sent, .. }, Input::GaveUp) => self.never_settled(sent),
            (state, _) => state.clone(),
        };
        self.step()
    }

    /// Goes on only with exactly what was planned for.
    fn compared(&self, looked: TargetSnapshot) -> State {
        let differs = |ending, seen| ended(ending, Fact::NothingSent, seen, true);
        match looked.node {
            None => differs(Ending::AlreadyGone, None),
            Some(seen) if !self.target.is(&seen) => differs(Ending::ChangedHands, Some(seen)),
            Some(seen) if seen.version != self.target.version => differs(Ending::VersionMoved, Some(seen)),
            Some(seen) if seen.children > 0 => ended(Ending::Denied, Fact::HasChildren, Some(seen), true),
            Some(_) => State::Sending { before: looked },
        }
    }

    fn sent(&self, before: TargetSnapshot, sent: Sent) -> State {
        let there = sent.after.and_then(|after| after.node);
        let is_read = sent.after.is_some();
        match (sent.answer, sent.after) {
            (Some(Answer::Done), Some(after)) => self.deleted(&before, &sent, after),
            (Some(Answer::Done) | None, _) => State::Settling { before, sent },
            (Some(Answer::NoNode | Answer::BadVersion), Some(after)) => {
                let ending = match after.node {
                    None => Ending::AlreadyGone,
                    Some(seen) if self.target.is(&seen) => Ending::VersionMoved,
                    Some(_) => Ending::ChangedHands,
                };
                ended(ending, Fact::NothingDeleted, there, true)
            }
            (Some(Answer::NoNode), None) => ended(Ending::AlreadyGone, Fact::NothingDeleted, None, false),
            (Some(Answer::BadVersion), None) => ended(Ending::VersionMoved, Fact::NothingDeleted, None, false),
            (Some(Answer::NotEmpty), _) => ended(Ending::Denied, Fact::HasChildren, there, is_read),
            (Some(Answer::NoRight), _) => ended(Ending::Denied, Fact::NoRight, there, is_read),
            (Some(Answer::Refused), _) => ended(Ending::Denied, Fact::Refused, there, is_read),
        }
    }

    /// ZooKeeper says it deleted something: which incarnation?
    fn deleted(&self, before: &TargetSnapshot, sent: &Sent, after: TargetSnapshot) -> State {
        if after.node.is_some_and(|seen| seen.czxid == self.target.czxid) {
            // It says so and does not show it: not to be explained, so not to be called a success.
            return ended(Ending::Unknown, Fact::Ambiguous, after.node, true);
        }
        let traffic = before.directory.zip(after.directory).and_then(|(before, after)| before.until(after));
        let stayed = before.directory.zip(after.directory).is_some_and(|(before, after)| before.czxid == after.czxid);
        let was_replaced = sent.just_before.is_some_and(|seen| seen.is_none_or(|seen| seen.czxid != self.target.czxid));
        let (ending, fact) = if was_replaced {
            (Ending::ReleasedOther, Fact::SeenBefore)
        } else if traffic.is_some_and(|traffic| traffic.deletes == 1 || (traffic.deletes > 1 && traffic.creates == 0)) {
            (Ending::Released, Fact::Counted)
        } else if self.target.naming == Naming::Sequential && stayed {
            (Ending::Released, Fact::Numbered)
        } else if sent.deletions_heard == Some(1) {
            (Ending::Released, Fact::Heard)
        } else {
            (Ending::Unknown, Fact::Ambiguous)
        };
        ended(ending, fact, after.node, true)
    }

    fn settled(&self, before: &TargetSnapshot, sent: &Sent, back: Back, looked: TargetSnapshot) -> State {
        if sent.answer == Some(Answer::Done) {
            // What was reported before the connection broke may be less than what happened.
            return self.deleted(before, &Sent { deletions_heard: None, ..*sent }, looked);
        }
        let is_there = looked.node.is_some_and(|seen| seen.czxid == self.target.czxid);
        let fact = match (is_there, back) {
            (false, _) => Fact::GoneUnanswered,
            (true, Back::SameSession) => Fact::NeverArrived,
            (true, Back::NewSession) => Fact::MayArrive,
        };
        ended(Ending::Unknown, fact, looked.node, true)
    }

    fn never_settled(&self, sent: &Sent) -> State {
        let was_there = sent.just_before.is_none_or(|seen| seen.is_some_and(|seen| seen.czxid == self.target.czxid));
        match sent.answer {
            Some(Answer::Done) if !was_there => ended(Ending::ReleasedOther, Fact::SeenBefore, None, false),
            Some(Answer::Done) => ended(Ending::Unknown, Fact::Unread, None, false),
            _ => ended(Ending::Unknown, Fact::Silence, None, false),
        }
    }
}

fn ended(ending: Ending, fact: Fact, there: Option<Seen>, is_verified: bool) -> State {
    State::Ended(End { ending, fact, there, is_verified })
}
