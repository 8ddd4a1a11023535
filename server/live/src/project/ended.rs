//! How a release ended, in the wire's words and in one sentence with its proof.

use lockscope_core::release::{End, Ending, Fact, Target};
use lockscope_view as view;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutcomeText {
    pub outcome: view::Outcome,
    /// The sentence; without its full stop where something is to follow.
    pub sentence: String,
    /// It was read back from ZooKeeper.
    pub is_verified: bool,
    /// For the record: what it is known by.
    pub proof: &'static str,
}

/// Describes how a release ended; None when it broke off without an end.
pub fn told(end: Option<&End>, target: &Target) -> OutcomeText {
    let Some(end) = end else {
        return OutcomeText {
            outcome: view::Outcome::Unknown,
            sentence: format!(
                "The order broke off inside Lockscope: whether {} was deleted is not known",
                target.czxid
            ),
            is_verified: false,
            proof: "an error of ours",
        };
    };
    OutcomeText {
        outcome: outcome(end.ending),
        sentence: sentence(end, target),
        is_verified: end.is_verified,
        proof: proof(end.fact),
    }
}

fn outcome(ending: Ending) -> view::Outcome {
    match ending {
        Ending::Released => view::Outcome::Released,
        Ending::ReleasedOther => view::Outcome::ReleasedOther,
        Ending::AlreadyGone => view::Outcome::AlreadyGone,
        Ending::ChangedHands => view::Outcome::ChangedHands,
        Ending::VersionMoved => view::Outcome::VersionMoved,
        Ending::Denied => view::Outcome::Denied,
        Ending::Unknown => view::Outcome::Unknown,
        Ending::NotLive => view::Outcome::NotLive,
    }
}

fn sentence(end: &End, target: &Target) -> String {
    let (czxid, path) = (target.czxid, &target.path);
    let there = || {
        end.there.map_or_else(
            || "nothing is at its path now".to_owned(),
            |seen| format!("{} is at its path now", seen.czxid),
        )
    };
    match (end.ending, end.fact) {
        (Ending::Released, _) => format!("{czxid} deleted"),
        (Ending::ReleasedOther, _) => {
            format!(
                "ANOTHER INCARNATION WAS DELETED: {czxid} had gone by itself and a newer znode of the name {path} was hit; {}",
                there()
            )
        }
        (Ending::AlreadyGone, _) => format!("Nothing was deleted: {czxid} was gone already"),
        (Ending::ChangedHands, _) => {
            format!("Nothing was deleted: {czxid} is gone and another has its place; {}", there())
        }
        (Ending::VersionMoved, _) => {
            format!("Nothing was deleted: the data of {czxid} was written since the plan was made; plan again")
        }
        (Ending::NotLive, _) => "Nothing was sent: ZooKeeper could not be reached in time".to_owned(),
        (Ending::Denied, Fact::HasChildren) => format!("Nothing was deleted: {czxid} has children by now"),
        (Ending::Denied, Fact::NoRight) => {
            format!("Nothing was deleted: ZooKeeper denies us DELETE on the directory of {path}")
        }
        (Ending::Denied, _) => {
            "Nothing was deleted: ZooKeeper refuses for now (read-only, over quota or throttled)".to_owned()
        }
        (Ending::Unknown, Fact::Ambiguous) => {
            format!(
                "A znode at {path} was deleted and {czxid} is gone, but whether it was that one or a newer one of the name can't be shown; {}",
                there()
            )
        }
        (Ending::Unknown, Fact::Unread) => {
            format!("ZooKeeper says that it deleted the znode at {path}, but reading it back failed; look again")
        }
        (Ending::Unknown, Fact::GoneUnanswered) => {
            format!("No answer came, and {czxid} is gone: by this order or otherwise, that can't be known; {}", there())
        }
        (Ending::Unknown, Fact::NeverArrived) => {
            format!(
                "Nothing was deleted: the connection broke before the order arrived, it no longer can, and {czxid} is still there; plan again"
            )
        }
        (Ending::Unknown, Fact::MayArrive) => {
            format!(
                "No answer came and {czxid} is still there, but the order may yet arrive until the broken session runs out; look again"
            )
        }
        (Ending::Unknown, _) => format!(
            "No answer came and nothing could be read since: whether {czxid} was deleted is not known; look again"
        ),
    }
}

fn proof(fact: Fact) -> &'static str {
    match fact {
        Fact::NothingSent => "nothing was sent",
        Fact::NothingDeleted => "ZooKeeper answered that it deleted nothing",
        Fact::Counted => "nothing else was deleted meanwhile",
        Fact::Heard => "exactly one deletion of the name was reported on the same connection",
        Fact::Numbered => "a numbered name does not come again while its directory stays",
        Fact::SeenBefore => "a read right before the deletion showed that the planned one was gone",
        Fact::Ambiguous => "counters and events leave room for another incarnation",
        Fact::Unread => "ZooKeeper's answer alone; nothing could be read after it",
        Fact::GoneUnanswered => "no answer; read again after the break",
        Fact::NeverArrived => "no answer; read again on the same session, after which nothing older is carried out",
        Fact::MayArrive => "no answer; read again on another session",
        Fact::Silence => "no answer, and nothing could be read",
        Fact::NoRight => "ZooKeeper answered NoAuth",
        Fact::HasChildren => "it has children",
        Fact::Refused => "ZooKeeper answered with a refusal",
    }
}
