//! The model's closed enums in the wire's words, one function each, matched exhaustively.

use app::domain::observatory::RootState as ModelRootState;
use app::domain::recipe::{Access as ModelAccess, Confidence as ModelConfidence, Recipe as ModelRecipe};
use app::domain::verdict::Verdict as ModelVerdict;
use app::wire;

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
