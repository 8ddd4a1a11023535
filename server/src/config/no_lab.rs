//! `[lab]` in the configuration file of a build without the lab: there must be none.

use super::given::{Section, Table, open};
use super::settings::LabKeys;
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
pub(super) fn read(table: &Table<LabKeys>, _: &[Ensemble]) -> Result<Option<Lab>, ConfigError> {
    let Some(Section { from, .. }) = open(table)? else { return Ok(None) };
    refuse!("{from}: this build of lockscope has no lab; leave the table out, or take a build with it")
}
