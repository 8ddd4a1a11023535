//! The sentences of findings in English.

use super::forecasts;
use crate::sentence::oddity::{Duplicate, DuplicateEffect, ForeignEffect, Oddity, OfficeConflict, Trend};
use crate::znode::{SessionId, Zxid};

/// The sentence.
pub(crate) fn sentence(oddity: &Oddity) -> String {
    match oddity {
        Oddity::ContainerReaped { times } => reaped(*times),
        Oddity::Circle { sentence, is_doubtful, is_certain } => {
            format!("{sentence}{}", caveat(*is_doubtful, *is_certain))
        }
        Oddity::DeepQueue { contenders, trend } => deep_queue(*contenders, *trend),
        Oddity::TookOver { old, new } => took_over(old, new),
        Oddity::Duplicates { who, times, effect, more } => duplicates(who, *times, *effect, *more),
        Oddity::ExpiryOverdue { who } => expiry_overdue(who),
        Oddity::StaleEphemeral { who } => format!(
            "The znode of {who} outlived its session, which is in no member's table any more: it will never go by itself (ZOOKEEPER-1208)."
        ),
        Oddity::ParentContender => PARENT_CONTENDER.to_owned(),
        Oddity::ForeignChildren { count, recipe, effect } => foreign_children(*count, recipe, *effect),
        Oddity::Herd { waiters } => {
            format!("{waiters} waiters watch one znode: when it goes all of them are woken and ask at once.")
        }
        Oddity::HerdOfWatchers { sessions, is_least } => herd_of_watchers(*sessions, *is_least),
        Oddity::OfficeConflict(conflict) => format!("Election and office disagree: {}.", office(conflict)),
        Oddity::LeaseLeak { used, max, who } => lease_leak(*used, *max, who),
        Oddity::LockOrder { classes } => lock_order(classes),
        Oddity::MembersDisagree { path, on, more, late } => members_disagree(path, on, *more, late),
        Oddity::MustBeHeld { is_there, waiting } => forecasts::must_be_held(*is_there, *waiting),
        Oddity::WatchInversion { watching, behind, is_first, is_circle } => {
            forecasts::watch_inversion(watching, behind, *is_first, *is_circle)
        }
        Oddity::NeverDrains { arrive, served, gave_up } => forecasts::never_drains(*arrive, *served, *gave_up),
        Oddity::SequenceForecast { days, a_day } => forecasts::sequence(*days, *a_day),
        Oddity::WillBeReaped { times } => forecasts::will_be_reaped(*times),
        Oddity::Timeout { who, advice, more } => forecasts::timeout(who, advice, *more),
        Oddity::MissingWatch { waiters } => missing_watch(*waiters),
        Oddity::MixedRecipes { recipes, are_blind } => mixed_recipes(recipes, *are_blind),
        Oddity::NeverExpires { contenders } => never_expires(*contenders),
        Oddity::OldOwnerConnected { old, old_token, new, new_token } => old_owner(old, *old_token, new, *new_token),
        Oddity::OrderAnomaly { contenders } => order_anomaly(*contenders),
        Oddity::OrphanContender { who } => orphan_contender(who),
        Oddity::Rewritten { znodes } => rewritten(*znodes),
        Oddity::RevocationRequested => REVOCATION_REQUESTED.to_owned(),
        Oddity::NewSession { who, old, new } => new_session(who, *old, *new),
        Oddity::SequenceNegative => SEQUENCE_NEGATIVE.to_owned(),
        Oddity::SequenceStuck => SEQUENCE_STUCK.to_owned(),
        Oddity::SequenceUsed { percent } => sequence_used(*percent),
        Oddity::Churn { gave_up, successes, most_by } => churn(*gave_up, *successes, most_by),
        Oddity::HoldsAndWaits { who, session } => holds_and_waits(who, *session),
        Oddity::WaitsBehindItself { who } => waits_behind_itself(who),
        Oddity::EmptyLocks { count } => empty_locks(*count),
        Oddity::Hoard { session, znodes, more } => hoard(*session, *znodes, *more),
        Oddity::ManyZnodes { root, plain, all } => many_znodes(root, *plain, *all),
    }
}

const PARENT_CONTENDER: &str =
    "A contender's znode has children of its own: it can't be deleted by its client, so the lock can't be released.";
const REVOCATION_REQUESTED: &str =
    "Somebody asked the holder to let go (Curator's revocation request is in its znode).";
const SEQUENCE_NEGATIVE: &str = "The sequence counter ran past 2147483647 into negative numbers. Shown in order of creation; clients that sort names as text put the newcomers first and believe that they hold.";
const SEQUENCE_STUCK: &str = "The sequence counter sticks at 2147483647: newcomers get equal numbers, and several may hold at once. The directory must be made anew.";

/// `1 contender`, `3 contenders`.
fn count(number: usize, word: &str) -> String {
    format!("{number} {word}{}", if number == 1 { "" } else { "s" })
}

fn or_unknown(id: Option<impl ToString>) -> String {
    id.map_or_else(|| "unknown".to_owned(), |id| id.to_string())
}

fn reaped(times: usize) -> String {
    format!(
        "Its directory was deleted while empty and made again {}: a container or TTL parent. Numbers start again at 0 each time.",
        count(times, "time")
    )
}

fn caveat(is_doubtful: bool, is_certain: bool) -> &'static str {
    match (is_doubtful, is_certain) {
        (true, false) => {
            " A session in it has more contenders than these, and may serve threads that do not wait for each other."
        }
        (true, true) => {
            " A session in it has more contenders than these, and may serve threads that do not wait for each other; but all stand still for longer than these locks are ever held."
        }
        (false, _) => " If these are different threads of one client, this is no deadlock.",
    }
}

fn deep_queue(contenders: u32, trend: Trend) -> String {
    let trend = match trend {
        Trend::Grows => ", and it grows",
        Trend::Shrinks => ", and it shrinks",
        Trend::Steady => "",
    };
    format!(
        "{contenders} contenders queue{trend}. Every client that queues up or is woken reads the list of all of them."
    )
}

fn took_over(old: &str, new: &str) -> String {
    format!(
        "{old} did not release: its session ended, and {new} took over. The old client may not know yet and may go on working."
    )
}

fn duplicates(who: &Duplicate, times: usize, effect: DuplicateEffect, more: usize) -> String {
    let who = match who {
        Duplicate::Session(session) => format!("session {session}"),
        Duplicate::ProtectionGuid(guid) => format!("protection GUID {guid}"),
    };
    let others = if more > 0 { format!(" {more} more do the same.") } else { String::new() };
    let why = match effect {
        DuplicateEffect::Threads => "threads share it, since it released one znode while another of its own was here.",
        DuplicateEffect::Waits | DuplicateEffect::BlocksItself => {
            "a create whose reply was lost leaves a znode that nobody knows of, unless threads share the session."
        }
    };
    let effect = match effect {
        DuplicateEffect::BlocksItself => " One of them holds, so the other waits for its own session.",
        DuplicateEffect::Waits | DuplicateEffect::Threads => "",
    };
    format!("The {who} stands in the queue {times} times: {why}{effect}{others}")
}

fn expiry_overdue(who: &str) -> String {
    format!(
        "{who} is connected to no member, its session should have run out, and its znode is still there: the leader may be overloaded, or cut off from the members that report sessions to it."
    )
}

fn foreign_children(number: usize, recipe: &str, effect: ForeignEffect) -> String {
    let children = if number == 1 { "1 child here is".to_owned() } else { format!("{number} children here are") };
    let effect = match effect {
        ForeignEffect::NotKnown => "",
        ForeignEffect::CountsAsLease => "Clients count every child here as a lease, so it takes one.",
        ForeignEffect::CountsAsMember => "Clients count every child here as a member.",
        ForeignEffect::TakenForItem => "Consumers may take it for an item.",
        ForeignEffect::TakenForMember => "Clients that list the members may take it for one.",
        ForeignEffect::DoesNotMatter => "Who holds does not depend on it.",
        ForeignEffect::FailsGoZookeeper => "go-zookeeper fails to acquire when it can't read a number from a name.",
        ForeignEffect::SortedByWriteLock => "WriteLock sorts it among its contenders.",
        ForeignEffect::IgnoredByKazoo => "kazoo ignores it.",
        ForeignEffect::BehindThoseOfCurator => "Curator sorts it with its own; it stands behind them.",
        ForeignEffect::TakenForContender => "Clients that sort all children may take it for a contender.",
    };
    format!("{children} no part of {recipe}. {effect}")
}

fn herd_of_watchers(sessions: u32, is_least: bool) -> String {
    let least = if is_least { "at least " } else { "" };
    format!(
        "{least}{sessions} sessions watch one znode: when it goes all of them are woken and try at once, and one gets it."
    )
}

fn office(conflict: &OfficeConflict) -> String {
    match conflict {
        OfficeConflict::Another { first, owner } => {
            let owner = owner.map_or_else(|| "nobody".to_owned(), |session| format!("session {session}"));
            format!("{first} is first in the election, but the leader znode belongs to {owner}")
        }
        OfficeConflict::NoOffice { first } => {
            format!("{first} is first in the election, but there is no leader znode")
        }
        OfficeConflict::NoCandidate => "there is a leader znode, but nobody stands in the election".to_owned(),
    }
}

fn lease_leak(used: u32, max: u32, who: &str) -> String {
    format!(
        "{used} of {max} leases are out, somebody waits, and {who} holds its lease far longer than the others: a lease that nobody returns shrinks the semaphore."
    )
}

fn lock_order(classes: &[String]) -> String {
    let what = match classes {
        [one] => format!("Different sessions take locks of {one} in opposite orders"),
        [one, other] => {
            format!("Some session that held {one} asked for {other}, and another that held {other} asked for {one}")
        }
        more => {
            let steps: Vec<String> = more.iter().zip(more.iter().cycle().skip(1)).map(step).collect();
            format!("Different sessions asked, {}", steps.join(", "))
        }
    };
    format!("{what}: once they do so at the same time, they wait for each other for ever.")
}

fn step((held, wanted): (&String, &String)) -> String {
    format!("holding {held}, for {wanted}")
}

fn members_disagree(path: &str, on: &[String], more: usize, late: &[String]) -> String {
    let on = if on.is_empty() { "no member".to_owned() } else { on.join(", ") };
    let more = if more > 0 { format!(", and {more} more znodes differ") } else { String::new() };
    let what = format!("{path} is only on {on}{more}. Clients of different members see different holders");
    let lag = match late {
        [] => {
            let cure =
                "the member that is wrong copies the leader's data when it is started with an empty data directory";
            return format!("Members disagree: {what}; {cure}.");
        }
        [_] => "lags",
        _ => "lag",
    };
    format!("{} {lag} behind the others: {what} until it has caught up.", late.join(", "))
}

fn missing_watch(waiters: usize) -> String {
    let (are, them, they) = if waiters == 1 { ("is", "it", "it waits") } else { ("are", "them", "they wait") };
    format!(
        "{} {are} connected and {are} not in any member's watch table for what {they} for: its going may wake nobody. A client that polls does without a watch; else restart {them}.",
        count(waiters, "waiter")
    )
}

fn mixed_recipes(recipes: &[(u32, &str)], are_blind: bool) -> String {
    let names: Vec<String> = recipes.iter().map(|(number, recipe)| format!("{number} × {recipe}")).collect();
    let effect = if are_blind {
        "Not all of them see each other, so more than one can hold. kazoo's extra_lock_patterns may change that and can't be seen from here."
    } else {
        "They see each other."
    };
    format!("Clients of different recipes share this directory: {}. {effect}", names.join(", "))
}

fn never_expires(contenders: usize) -> String {
    let what = count(contenders, "contender");
    if contenders == 1 {
        format!("{what} belongs to no session: it stays when its client dies, until somebody deletes it.")
    } else {
        format!("{what} belong to no session: they stay when their clients die, until somebody deletes them.")
    }
}

fn old_owner(old: &str, old_token: Option<Zxid>, new: &str, new_token: Option<Zxid>) -> String {
    format!(
        "{old} lost this lock with its session and is connected again; work it began under fencing token {} may go on while {new} holds under {}.",
        or_unknown(old_token),
        or_unknown(new_token)
    )
}

fn order_anomaly(contenders: usize) -> String {
    let stand = if contenders == 1 { "stands" } else { "stand" };
    format!(
        "{} {stand} behind znodes that were created later: the numbers are not in the order of creation.",
        count(contenders, "contender")
    )
}

fn orphan_contender(who: &str) -> String {
    format!(
        "{who} is head far longer than holds here last, and the same client queues again behind it: an acquire that failed may have left its znode, and nobody works under it."
    )
}

fn rewritten(znodes: usize) -> String {
    let were = if znodes == 1 { "was" } else { "were" };
    format!(
        "{} {were} written again after creation. Clients of this recipe don't; another process may have taken the znode over, and it vanishes with its creator's session.",
        count(znodes, "znode")
    )
}

fn new_session(who: &str, old: Option<SessionId>, new: SessionId) -> String {
    let old = or_unknown(old);
    format!("{who} lost this lock when its session {old} ended, and is back with session {new}.")
}

fn sequence_used(percent: u64) -> String {
    format!(
        "{percent} % of the 2147483647 sequence numbers are used. Then the counter sticks or runs into negative numbers, and the order breaks."
    )
}

fn churn(gave_up: u64, successes: u64, most_by: &str) -> String {
    format!(
        "Clients try and give up: {gave_up} attempts came to nothing since we watch, {:.1} for each success, most of the last by {most_by}. Each is two writes and a listing.",
        gave_up as f64 / successes as f64
    )
}

fn holds_and_waits(who: &str, session: Option<SessionId>) -> String {
    let session = session.map_or_else(String::new, |session| format!(" with session {session}"));
    format!(
        "{who} holds and waits again{session} behind itself, if the two are one client: a release that was lost leaves the old znode."
    )
}

fn waits_behind_itself(who: &str) -> String {
    format!(
        "{who} waits behind itself, if the two are one client: the znode ahead may be left over from an attempt it gave up."
    )
}

fn empty_locks(number: usize) -> String {
    format!(
        "{number} directories that had children are empty. If clients make a directory for each lock, nothing deletes them; container parents would."
    )
}

fn many_znodes(root: &str, plain: u64, all: u64) -> String {
    format!(
        "{plain} of {all} znodes below {root} are no locks, and each is read, kept and followed. Name the directories of the locks as roots, or exclude what is no lock."
    )
}

fn hoard(session: SessionId, znodes: u32, more: usize) -> String {
    let more = if more > 0 { format!("; {more} more sessions are above that limit") } else { String::new() };
    format!("Session {session} owns {znodes} znodes{more}. All of them go at once when it ends.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_and_several_are_told_apart() {
        assert_eq!(
            foreign_children(1, "kazoo Lock", ForeignEffect::IgnoredByKazoo),
            "1 child here is no part of kazoo Lock. kazoo ignores it."
        );
        assert!(foreign_children(2, "x", ForeignEffect::NotKnown).starts_with("2 children here are no part of x. "));
        assert!(
            never_expires(1).starts_with("1 contender belongs to")
                && never_expires(3).starts_with("3 contenders belong to")
        );
        assert!(missing_watch(1).contains("what it waits for") && missing_watch(2).ends_with("else restart them."));
        assert!(
            order_anomaly(1).starts_with("1 contender stands") && rewritten(2).starts_with("2 znodes were written")
        );
        let on = ["zk1".to_owned()];
        assert!(members_disagree("/a", &on, 0, &[]).starts_with("Members disagree: /a is only on zk1. Clients"));
        assert!(
            members_disagree("/a", &[], 2, &on)
                .starts_with("zk1 lags behind the others: /a is only on no member, and 2 more znodes differ.")
        );
    }

    #[test]
    fn what_is_not_known_is_said_to_be_unknown() {
        assert_eq!(
            new_session("a", None, SessionId(16)),
            "a lost this lock when its session unknown ended, and is back with session 0x10."
        );
        assert!(old_owner("a", None, "b", Some(Zxid(3))).contains("token unknown may go on while b holds under 0x3."));
        assert!(churn(7, 2, "a").contains("since we watch, 3.5 for each success"));
    }
}
