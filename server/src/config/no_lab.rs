//! `[lab]` in the configuration file of a build without the lab: there must be none.

use super::toml_file::Entry;
use super::{ConfigError, Ensemble};

/// Where the lab may run: nowhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lab {}

impl Lab {
    pub(super) fn runs_at(&self) -> (Vec<String>, String) {
        match *self {}
    }

    /// Never.
    pub fn described(&self) -> String {
        match *self {}
    }
}

/// No `[lab]`.
pub(super) fn of(entry: Option<Entry<'_>>, _: &[Ensemble]) -> Result<Option<Lab>, ConfigError> {
    match entry {
        None => Ok(None),
        Some(entry) => Err(ConfigError(format!(
            "{}: this build of lockscope has no lab; leave the table out, or take a build with it",
            entry.from
        ))),
    }
}
