//! The rows of the table about the history.

use super::table::FileSection::Top;
use super::table::Layering::Variable as Var;
use super::table::Setting;
use super::table::TakesEffect::{Reload, Restart};
use super::table_rows::Kind;

pub(super) const IS_ON: Setting = Kind(Top, Var, Restart).row(
    "history",
    "on, off",
    "on where there is a data directory",
    "\"off\"",
    "whether what is observed is recorded, so that any moment of the past can be looked at",
);

pub(super) const DIR: Setting = Kind(Top, Var, Restart).row(
    "history_dir",
    "a directory",
    "history in the data directory",
    "\"/var/lib/lockscope/history\"",
    "where the history is kept, one file an ensemble and day; readable by the server's user alone",
);

pub(super) const AGE: Setting = Kind(Top, Var, Reload).row(
    "history_age",
    "a time like 7d, 12h, 90m",
    "7d",
    "\"14d\"",
    "how long every change is kept; older moments can't be looked at",
);

pub(super) const SIZE: Setting = Kind(Top, Var, Reload).row(
    "history_size",
    "a size like 4GB, 500MB",
    "4GB",
    "\"20GB\"",
    "how many bytes of changes an ensemble may keep; beyond it the oldest go, whatever their age",
);

pub(super) const SPANS_AGE: Setting = Kind(Top, Var, Reload).row(
    "history_spans_age",
    "a time like 30d, 12h, 90m",
    "30d",
    "\"60d\"",
    "how long holds and waits are kept one by one",
);

pub(super) const MINUTES_AGE: Setting = Kind(Top, Var, Reload).row(
    "history_minutes_age",
    "a time like 90d, 12h, 90m",
    "90d",
    "\"400d\"",
    "how long the figures of each minute are kept; not shorter than history_spans_age",
);
