//! Every setting there is, once: from this table come the keys that a file may have, the reference and the example
//! file. Knows no value that was set.

/// Where in the file a setting may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileSection {
    /// At the top.
    Top,
    /// At the top, or in each `[[ensemble]]`.
    Ensemble,
    /// At the top, as a table of groups and roles.
    Roles,
    /// In `[[lock]]`.
    Lock,
    /// In `[lints]`.
    Lints,
    /// In `[lab]`.
    Lab,
    /// In `[metrics]`.
    Metrics,
    /// In `[cluster]`.
    Cluster,
    /// In `[[alert]]`.
    Alert,
    /// In `[[route]]`.
    Route,
}

impl FileSection {
    /// Tables of the file that hold settings, in the order of the documents.
    pub(super) const TABLES: [Self; 8] =
        [Self::Ensemble, Self::Lock, Self::Lints, Self::Lab, Self::Metrics, Self::Cluster, Self::Alert, Self::Route];

    /// The key of its table; None at the top.
    pub(super) fn table(self) -> Option<&'static str> {
        match self {
            Self::Top | Self::Roles => None,
            Self::Ensemble => Some("ensemble"),
            Self::Lock => Some("lock"),
            Self::Lints => Some("lints"),
            Self::Lab => Some("lab"),
            Self::Metrics => Some("metrics"),
            Self::Cluster => Some("cluster"),
            Self::Alert => Some("alert"),
            Self::Route => Some("route"),
        }
    }

    /// Whether its table may be there several times.
    pub(super) fn is_list(self) -> bool {
        matches!(self, Self::Ensemble | Self::Lock | Self::Alert | Self::Route)
    }
}

/// Where a setting may be given beside the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layering {
    /// As a flag and as a variable, too.
    All,
    /// As a variable, too.
    Variable,
    /// Nowhere.
    File,
}

/// When a change takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TakesEffect {
    /// When the file is read again.
    Reload,
    /// When the server is started again.
    Restart,
}

/// One setting.
#[derive(Debug)]
pub(super) struct Setting {
    pub(super) key: &'static str,
    pub(super) place: FileSection,
    pub(super) ways: Layering,
    pub(super) takes: TakesEffect,
    /// What may be written.
    pub(super) values: &'static str,
    /// What holds when nothing is; empty: nothing.
    pub(super) default: &'static str,
    /// What to write after the equals sign, for instance.
    pub(super) example: &'static str,
    pub(super) meaning: &'static str,
}

/// Where, how and when: what the rows of a kind share.
pub(super) struct Kind(pub(super) FileSection, pub(super) Layering, pub(super) TakesEffect);

impl Kind {
    pub(super) const fn row(
        self,
        key: &'static str,
        values: &'static str,
        default: &'static str,
        example: &'static str,
        meaning: &'static str,
    ) -> Setting {
        Setting { key, place: self.0, ways: self.1, takes: self.2, values, default, example, meaning }
    }
}

/// A variable that is no key of the file.
#[derive(Debug)]
pub(super) struct Variable {
    pub(super) name: &'static str,
    pub(super) meaning: &'static str,
}

impl Setting {
    /// The flag, where there is one.
    pub(super) fn flag(&self) -> Option<String> {
        (self.ways == Layering::All).then(|| format!("--{}", self.key.replace('_', "-")))
    }

    /// The variable, where there is one.
    pub(super) fn variable(&self) -> Option<String> {
        let name = match self.place {
            FileSection::Cluster => format!("cluster_{}", self.key),
            _ => self.key.to_owned(),
        };
        (self.ways != Layering::File).then(|| super::variable(&name))
    }
}

/// The key that was most likely meant.
pub(super) fn nearest<'a>(key: &str, keys: &[&'a str]) -> Option<&'a str> {
    let near = keys.iter().copied().min_by_key(|known| distance(key, known))?;
    (distance(key, near) <= 1 + near.len() / 4).then_some(near)
}

/// Inserted, removed, changed and swapped letters.
fn distance(key: &str, known: &str) -> usize {
    strsim::osa_distance(&key.chars().take(64).collect::<String>(), known)
}
