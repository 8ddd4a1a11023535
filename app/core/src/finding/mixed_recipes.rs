//! Clients that do not see each other in one directory.

use std::collections::BTreeMap;

use super::lint::{Code, Lint, LintContext, LintWarning, Oddity, Outcome, Severity};
use crate::recipe::{Dialect, NodeRole, Shape, rule};

/// F10.
pub(super) struct MixedRecipes;

impl Lint for MixedRecipes {
    fn code(&self) -> Code {
        Code::MixedRecipes
    }

    fn look(&self, context: &LintContext<'_>) -> Outcome {
        let Some(directory) = context
            .directory()
            .filter(|_| matches!(context.lock.recognition.shape, Shape::Line | Shape::LeaderElection))
        else {
            return Outcome::Ok;
        };
        let rule_count = directory
            .census()
            .iter()
            .filter(|rule_count| rule_count.totals.count > 0 && rule(rule_count.rule).role == NodeRole::Line);
        let mut groups: BTreeMap<&'static str, (u32, Dialect)> = BTreeMap::new();
        for rule_count in rule_count {
            groups.entry(rule(rule_count.rule).label).or_insert((0, rule(rule_count.rule).dialect)).0 +=
                rule_count.totals.count;
        }
        // kazoo's writers are named as its Lock: one library, one lock.
        let dialects: Vec<_> = groups.values().map(|(_, dialect)| *dialect).collect();
        let all_same = dialects.windows(2).all(|pair| pair.first() == pair.last());
        let is_kazoo = all_same && dialects.first() == Some(&Dialect::Kazoo);
        if groups.len() < 2 || is_kazoo {
            return Outcome::Ok;
        }
        let are_blind = dialects.iter().any(|one| dialects.iter().any(|other| !one.sees(*other)));
        let severity = if are_blind { Severity::Critical } else { Severity::Info };
        let recipes = groups.iter().map(|(label, (number, _))| (*number, *label)).collect();
        let oddity = Oddity::MixedRecipes { recipes, are_blind };
        Outcome::Warn(LintWarning { severity, oddity, paths: vec![context.lock.path.to_string()] })
    }
}
