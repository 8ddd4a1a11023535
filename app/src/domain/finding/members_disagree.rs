//! Some members have a contender that others have not.

use super::{Code, Lint, Outcome, Severity, Survey, Warning};

/// F14 (ZOOKEEPER-5010): the lists of ephemerals differed in the same way in two rounds.
pub(super) struct MembersDisagree;

impl Lint for MembersDisagree {
    fn code(&self) -> Code {
        Code::MembersDisagree
    }

    fn look(&self, survey: &Survey<'_>) -> Outcome {
        let parts = &survey.lock.parts;
        let is_ours = |path: &str| {
            let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
            if survey.lock.is_alone() { *path == *survey.lock.path } else { parts.hold(parent) }
        };
        let mut disputed = survey.book.disputed().iter().filter(|(path, _)| is_ours(path));
        let Some((path, first)) = disputed.next() else { return Outcome::Ok };
        let more = disputed.count();
        let on = if first.on.is_empty() { "no member".to_owned() } else { first.on.join(", ") };
        let more = if more > 0 { format!(", and {more} more znodes differ") } else { String::new() };
        let text = format!(
            "Members disagree: {path} is only on {on}{more}. Clients of different members see different holders; a restart of the member that is wrong makes it read its state anew."
        );
        Outcome::Warn(Warning { severity: Severity::Critical, text, paths: vec![path.to_string()] })
    }
}
