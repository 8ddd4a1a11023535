//! Two moments compared.

use std::ops::Range;

use lockscope_core::differences::{self, Differences};
use lockscope_core::observatory::Observatory;
use lockscope_core::time::TimeMs;
use lockscope_view::Scope;
use lockscope_view::past::{Diff, FindingChange, HolderChange, Membership};

use super::readable;

/// What differs between an ensemble's models at both ends of a range, of one lock or, where `path` is empty, of all.
pub fn diff(
    (before, after): (&Observatory, &Observatory),
    range: &Range<TimeMs>,
    (ensemble, path): (&str, &str),
    scope: &Scope,
) -> Diff {
    let is_meant = |lock: &str| (path.is_empty() || lock == path) && scope.covers(ensemble, lock);
    let of = Differences::between(before, after, is_meant);
    let finding = |of: differences::FindingChange| FindingChange {
        lock: of.lock.to_string(),
        code: of.code.name(),
        text: readable(of.code.name(), &of.text, scope).to_owned(),
    };
    let holders = |of: differences::HolderChange| HolderChange {
        lock: of.lock.to_string(),
        before: of.before.into_iter().map(member).collect(),
        after: of.after.into_iter().map(member).collect(),
    };
    Diff {
        ensemble: ensemble.to_owned(),
        from_at_ms: range.start.0,
        to_at_ms: range.end.0,
        joined: of.joined.into_iter().map(member).collect(),
        left: of.left.into_iter().map(member).collect(),
        holder_changed: of.holder_changed.into_iter().map(holders).collect(),
        sessions_new: of.sessions_new.into_iter().map(|session| session.to_string()).collect(),
        sessions_gone: of.sessions_gone.into_iter().map(|session| session.to_string()).collect(),
        findings_raised: of.findings_raised.into_iter().map(finding).collect(),
        findings_cleared: of.findings_cleared.into_iter().map(finding).collect(),
        complete: of.is_complete,
    }
}

fn member(of: differences::Membership) -> Membership {
    Membership {
        lock: of.lock.to_string(),
        node: of.node.into(),
        czxid: of.czxid.map(|czxid| czxid.to_string()),
        session_id: of.session.map(|session| session.to_string()),
        label: of.label.map(Into::into),
    }
}
