//! The old holder is back while another holds.

use super::lint::{Code, Lint, LintContext, LintWarning, Oddity, Outcome, Severity, identity, took_over};
use crate::lock::ContenderRef;

/// F17, as far as znodes show it: the old client stands in the same queue with another session.
pub(super) struct OldOwnerConnected;

impl Lint for OldOwnerConnected {
    fn code(&self) -> Code {
        Code::OldOwnerConnected
    }

    fn look(&self, context: &LintContext<'_>) -> Outcome {
        let Some((head, past)) = took_over(context) else { return Outcome::Ok };
        let Some(own) = past.hold.label.as_deref().and_then(identity) else { return Outcome::Ok };
        let is_back = |contender: &&ContenderRef<'_>| {
            contender.child.owner().is_some()
                && contender.child.owner() != past.hold.owner
                && context.identity(contender).as_deref() == Some(&*own)
        };
        let Some(back) = context.contenders.iter().find(is_back).filter(|contender| !context.holds(contender)) else {
            return Outcome::Ok;
        };
        let oddity = Oddity::OldOwnerConnected {
            old: own,
            old_token: past.hold.czxid,
            new: context.name(head),
            new_token: head.czxid,
        };
        Outcome::Warn(LintWarning { severity: Severity::Warning, oddity, paths: vec![back.path(), head.path()] })
    }
}
