//! Rules: what an alert is about, of which locks, and for how long it must be so. Pure.

use std::sync::Arc;

pub use lockscope_core::configured::is_meant as is_path_meant;
use lockscope_core::diagnosis::{Code, Severity, Verdict};
use lockscope_history::derive::{verdict_name, verdict_of};

pub const RULES_MAX: usize = 64;
pub const CONDITIONS_MAX: usize = 16;
/// The longest time that a rule may name: a week.
pub const TIME_MS_MAX: i64 = 7 * 86_400_000;

/// A rule. It fires for each lock that it means, while one of its conditions has been true for long enough.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    pub name: Arc<str>,
    /// One of these must be true.
    pub when: Vec<Condition>,
    /// Of which locks: a path, in which `*` is any part of one name and `**` any names.
    pub path: String,
    /// Of which ensemble; None: of each.
    pub ensemble: Option<String>,
    pub for_ms: i64,
    pub severity: Severity,
    /// Who is told, by the names of routes.
    pub routes: Vec<String>,
    /// It is there because the configuration names none.
    pub is_built_in: bool,
}

/// What may be true of a lock, or of a watched root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    Verdict(Verdict),
    Finding(Code),
    /// Somebody has waited for it for longer than so many milliseconds.
    Waiting(i64),
    /// It has been held by one for longer than so many milliseconds.
    Held(i64),
    /// More than so many wait for it.
    Depth(u32),
    /// Nobody has held it for longer than so many milliseconds.
    NotHeld(i64),
    /// The watched root could not be seen for longer than so many milliseconds.
    Unseen(i64),
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConditionError {
    #[error(
        "{0:?} is no condition; write a verdict like stuck, the code of a finding like double_owner_window, or one of waiting > 30s, held > 5m, depth > 100, not_held > 30s, unseen > 1m"
    )]
    Unknown(String),
    /// No lock has it, so the rule would never fire.
    #[error("{0:?} is a finding of a whole ensemble, and rules are about locks; the page /status shows it")]
    OfEnsemble(&'static str),
}

impl Condition {
    /// Reads a condition as the configuration has it.
    pub fn parse(text: &str) -> Result<Self, ConditionError> {
        let wrong = || ConditionError::Unknown(text.chars().take(80).collect());
        let text = text.trim();
        if let Some((name, limit)) = text.split_once('>') {
            let (name, limit) = (name.trim(), limit.trim());
            let ms = || parse_ms(limit).ok_or_else(wrong);
            return match name {
                "waiting" => Ok(Self::Waiting(ms()?)),
                "held" => Ok(Self::Held(ms()?)),
                "not_held" => Ok(Self::NotHeld(ms()?)),
                "unseen" => Ok(Self::Unseen(ms()?)),
                "depth" => limit.parse().map(Self::Depth).map_err(|_| wrong()),
                _ => Err(wrong()),
            };
        }
        let verdict = verdict_of(text).map(Self::Verdict);
        match Code::ALL.into_iter().find(|code| code.name() == text) {
            Some(code) if code.is_of_ensemble() => Err(ConditionError::OfEnsemble(code.name())),
            code => verdict.or(code.map(Self::Finding)).ok_or_else(wrong),
        }
    }

    /// As the configuration has it.
    pub fn text(self) -> String {
        match self {
            Self::Verdict(verdict) => verdict_name(verdict).to_owned(),
            Self::Finding(code) => code.name().to_owned(),
            Self::Waiting(ms) => format!("waiting > {}", ms_text(ms)),
            Self::Held(ms) => format!("held > {}", ms_text(ms)),
            Self::Depth(count) => format!("depth > {count}"),
            Self::NotHeld(ms) => format!("not_held > {}", ms_text(ms)),
            Self::Unseen(ms) => format!("unseen > {}", ms_text(ms)),
        }
    }

    /// It can become true or false by arrivals and hand-offs that change neither verdict nor findings.
    pub(crate) fn follows_queue(self) -> bool {
        match self {
            Self::Waiting(_) | Self::Held(_) | Self::Depth(_) | Self::NotHeld(_) => true,
            Self::Verdict(_) | Self::Finding(_) | Self::Unseen(_) => false,
        }
    }
}

impl Rule {
    /// What is watched where nothing is configured: what needs somebody now, and that nothing can be seen.
    pub fn built_in() -> Vec<Self> {
        let rule = |name: &str, when: Vec<Condition>, for_ms, severity| Self {
            name: name.into(),
            when,
            path: "**".to_owned(),
            ensemble: None,
            for_ms,
            severity,
            routes: Vec::new(),
            is_built_in: true,
        };
        let blocked = [Verdict::Stuck, Verdict::Deadlocked, Verdict::Orphan, Verdict::NobodyHome];
        vec![
            rule("blocked", blocked.map(Condition::Verdict).to_vec(), 30_000, Severity::Critical),
            rule("two-owners", vec![Condition::Verdict(Verdict::DoubleOwner)], 1_000, Severity::Critical),
            rule("not-seen", vec![Condition::Unseen(60_000)], 0, Severity::Warning),
        ]
    }

    pub(crate) fn means(&self, path: &str) -> bool {
        is_path_meant(&self.path, path)
    }

    /// Whether it looks at a lock, or at a watched root of that path.
    pub(crate) fn watches(&self, path: &str) -> bool {
        self.means(path) || self.path == path
    }

    /// It names one lock, which it is about even where that is not there.
    pub(crate) fn names_one(&self) -> bool {
        !self.path.contains('*')
    }
}

/// Reads a time like `30s`, `500ms`, `5m` or `2h`; at most a week.
pub fn parse_ms(text: &str) -> Option<i64> {
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let factor = match unit.trim() {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    let ms = number.parse::<i64>().ok()?.checked_mul(factor)?;
    (0..=TIME_MS_MAX).contains(&ms).then_some(ms)
}

/// A time as [`parse_ms`] reads it.
pub fn ms_text(ms: i64) -> String {
    let units = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1_000, "s")];
    let unit = units.into_iter().find(|(factor, _)| ms >= *factor && ms % factor == 0);
    unit.map_or_else(|| format!("{ms}ms"), |(factor, unit)| format!("{}{unit}", ms / factor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read_as_they_are_written() {
        for text in [
            "stuck",
            "deadlocked",
            "double_owner_window",
            "waiting > 30s",
            "held > 5m",
            "depth > 100",
            "not_held > 500ms",
            "unseen > 1d",
        ] {
            assert_eq!(Condition::parse(text).map(Condition::text).as_deref(), Ok(text));
        }
        assert_eq!(Condition::parse(" waiting>90s "), Ok(Condition::Waiting(90_000)));
        for text in ["", "stuk", "waiting", "waiting > 30", "waiting > -1s", "depth > 1s", "held > 8d", "wait > 1s"] {
            assert_eq!(Condition::parse(text), Err(ConditionError::Unknown(text.to_owned())), "{text}");
        }
    }

    #[test]
    fn what_no_lock_has_is_no_condition() {
        let of_ensemble = Code::ALL.into_iter().filter(|code| code.is_of_ensemble());
        for code in of_ensemble {
            assert_eq!(Condition::parse(code.name()), Err(ConditionError::OfEnsemble(code.name())));
        }
    }
}
