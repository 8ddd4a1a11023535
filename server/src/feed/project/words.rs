//! The model's closed enums in the wire's words, one function each, matched exhaustively.

use app::domain::missing::{Missing as ModelMissing, MissingSet};
use app::domain::observatory::RootState as ModelRootState;
use app::domain::recipe::{Access as ModelAccess, Confidence as ModelConfidence, Recipe as ModelRecipe};
use app::domain::verdict::Verdict as ModelVerdict;
use app::wire;
use app::words::count;

pub(super) fn wire_confidence(confidence: ModelConfidence) -> wire::Confidence {
    match confidence {
        ModelConfidence::High => wire::Confidence::High,
        ModelConfidence::Medium => wire::Confidence::Medium,
        ModelConfidence::Low => wire::Confidence::Low,
    }
}

pub(super) fn wire_access(access: ModelAccess) -> wire::Access {
    match access {
        ModelAccess::Exclusive => wire::Access::Exclusive,
        ModelAccess::Read => wire::Access::Read,
        ModelAccess::Write => wire::Access::Write,
        ModelAccess::Lease => wire::Access::Lease,
        ModelAccess::Leader => wire::Access::Leader,
        ModelAccess::Member => wire::Access::Member,
        ModelAccess::Item => wire::Access::Item,
    }
}

pub(super) fn wire_recipe(recipe: ModelRecipe) -> wire::Recipe {
    match recipe {
        ModelRecipe::SequentialMutex => wire::Recipe::SequentialMutex,
        ModelRecipe::ReadWrite => wire::Recipe::ReadWrite,
        ModelRecipe::Semaphore => wire::Recipe::Semaphore,
        ModelRecipe::SingleNodeMutex => wire::Recipe::SingleNodeMutex,
        ModelRecipe::Election => wire::Recipe::Election,
        ModelRecipe::Barrier => wire::Recipe::Barrier,
        ModelRecipe::DoubleBarrier => wire::Recipe::DoubleBarrier,
        ModelRecipe::Queue => wire::Recipe::Queue,
        ModelRecipe::Membership => wire::Recipe::Membership,
        ModelRecipe::Unknown => wire::Recipe::Unknown,
    }
}

pub(super) fn wire_verdict(verdict: ModelVerdict) -> wire::Verdict {
    match verdict {
        ModelVerdict::Free => wire::Verdict::Free,
        ModelVerdict::Healthy => wire::Verdict::Healthy,
        ModelVerdict::Unknown => wire::Verdict::Unknown,
        ModelVerdict::Slow => wire::Verdict::Slow,
        ModelVerdict::Expiring => wire::Verdict::Expiring,
        ModelVerdict::NobodyHome => wire::Verdict::NobodyHome,
        ModelVerdict::Orphan => wire::Verdict::Orphan,
        ModelVerdict::Stuck => wire::Verdict::Stuck,
        ModelVerdict::MaybeDeadlocked => wire::Verdict::MaybeDeadlocked,
        ModelVerdict::DoubleOwner => wire::Verdict::DoubleOwner,
        ModelVerdict::Deadlocked => wire::Verdict::Deadlocked,
    }
}

pub(super) fn wire_root_state(state: ModelRootState) -> wire::RootState {
    match state {
        ModelRootState::Live => wire::RootState::Live,
        ModelRootState::Syncing => wire::RootState::Syncing,
        ModelRootState::Stale => wire::RootState::Stale,
        ModelRootState::Partial => wire::RootState::Partial,
        ModelRootState::Denied => wire::RootState::Denied,
        ModelRootState::Gone => wire::RootState::Gone,
        ModelRootState::Reduced => wire::RootState::Reduced,
    }
}

pub(super) fn wire_missing(missing: MissingSet) -> Vec<wire::Missing> {
    let name = |missing| match missing {
        ModelMissing::UnreadableChildren => wire::Missing::UnreadableChildren,
        ModelMissing::Unswept => wire::Missing::Unswept,
        ModelMissing::WatchesNotRead => wire::Missing::WatchesNotRead,
        ModelMissing::WaitersWithoutZnodes => wire::Missing::WaitersWithoutZnodes,
    };
    missing.iter().map(name).collect()
}

/// What to make of a root that has no lock, and what helps; nothing while it is being read.
pub fn root_help(state: wire::RootState, znodes: u64, connect: &str) -> String {
    use wire::RootState;
    match state {
        RootState::Stale if znodes == 0 => format!(
            "Asked: {connect}. Is that the client port, 2181 as a rule? Can this machine reach it, through firewalls and DNS? If the ensemble \
             wants TLS or a password, it must be configured here too."
        ),
        RootState::Denied => "Grant the identity that Lockscope uses READ on it and on all below, or configure credentials that have it.".to_owned(),
        RootState::Gone => "There is no such znode. It is watched for, and read as soon as somebody makes it; is the path right?".to_owned(),
        RootState::Syncing => String::new(),
        RootState::Live | RootState::Partial | RootState::Reduced | RootState::Stale if znodes == 1 => "1 znode seen, and it is no lock.".to_owned(),
        RootState::Live | RootState::Partial | RootState::Reduced | RootState::Stale => {
            format!("{} znodes seen, none of them a lock.", count(znodes))
        }
    }
}
