//! Which findings are trouble, as a bad verdict is: those by which somebody is hurt now. What may become trouble one day, or
//! is only worth knowing, is none.

use lockscope_core::diagnosis::{Code, Severity};

pub const HARMFUL: [Code; 14] = [
    Code::OrphanContender,
    Code::DuplicateSession,
    Code::LeaseLeak,
    Code::LeaderMismatch,
    Code::ForeignChild,
    Code::ExpiryOverdue,
    Code::StaleEphemeral,
    Code::MembersDisagree,
    Code::MissingWatch,
    Code::MixedRecipes,
    Code::SequenceOverflow,
    Code::OldOwnerConnected,
    Code::MustBeHeld,
    Code::WatchInversion,
];

/// Whom a finding hurts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Harm {
    /// Those who wait; where nobody does, nobody.
    Waiters,
    /// Whoever relies on the lock: what it promises is not kept.
    Everybody,
}

/// Whom a finding hurts now; None where that is nobody.
pub fn harm_of(code: Code, severity: Severity) -> Option<Harm> {
    match (code, severity) {
        (
            Code::DuplicateSession
            | Code::LeaderMismatch
            | Code::ForeignChild
            | Code::MembersDisagree
            | Code::MixedRecipes
            | Code::SequenceOverflow
            | Code::MustBeHeld,
            Severity::Critical,
        ) => Some(Harm::Everybody),
        (
            Code::OrphanContender
            | Code::DuplicateSession
            | Code::LeaseLeak
            | Code::MissingWatch
            | Code::OldOwnerConnected
            | Code::ExpiryOverdue
            | Code::StaleEphemeral
            | Code::WatchInversion,
            Severity::Warning | Severity::Critical,
        ) => Some(Harm::Waiters),
        // A verdict says it where it hurts: `deadlocked`, `orphan`, `double_owner`, `nobody_home`.
        (Code::Deadlock | Code::NeverExpires | Code::DoubleOwnerWindow | Code::ContainerReaped, _)
        // Nobody is hurt yet, or by that alone.
        | (
            Code::WaitingForItself
            | Code::OrderAnomaly
            | Code::RewrittenNode
            | Code::SameClientNewSession
            | Code::EmptyLocks
            | Code::SessionHoards
            | Code::TryLockChurn
            | Code::Herd
            | Code::DeepQueue
            | Code::LockOrder
            | Code::NeverDrains
            | Code::LongTimeout
            | Code::ShortTimeout
            | Code::WillBeReaped
            | Code::ManyZnodes,
            _,
        )
        | (
            Code::OrphanContender
            | Code::DuplicateSession
            | Code::LeaseLeak
            | Code::LeaderMismatch
            | Code::ForeignChild
            | Code::ExpiryOverdue
            | Code::StaleEphemeral
            | Code::MembersDisagree
            | Code::MissingWatch
            | Code::MixedRecipes
            | Code::SequenceOverflow
            | Code::OldOwnerConnected
            | Code::MustBeHeld
            | Code::WatchInversion,
            _,
        ) => None,
    }
}

/// The same by what is stored: the code of a fact, and how bad it is.
pub fn harm_by_name(code: &str, severity: u8) -> Option<Harm> {
    let severity = match severity {
        0 => Severity::Info,
        1 => Severity::Warning,
        _ => Severity::Critical,
    };
    HARMFUL.into_iter().find(|known| known.name() == code).and_then(|code| harm_of(code, severity))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_trouble_is_what_is_read_of_the_store() {
        for code in Code::ALL {
            let hurts = [Severity::Info, Severity::Warning, Severity::Critical].map(|severity| harm_of(code, severity));
            assert_eq!(hurts.iter().any(Option::is_some), HARMFUL.contains(&code), "{code:?}");
            assert_eq!(hurts[0], None, "{code:?}: what is worth knowing hurts nobody");
            assert!(hurts[1] <= hurts[2], "{code:?}");
        }
    }
}
