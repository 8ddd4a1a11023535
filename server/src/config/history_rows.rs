//! The rows of the table about what is kept: the data directory, and the history.

use super::table::FileSection::Top;
use super::table::Layering::{All, Variable as Var};
use super::table::TakesEffect::{Reload, Restart};
use super::table::{Kind, Setting};

pub(super) const DATA_DIR: Setting = Kind(Top, All, Restart).row(
    "data_dir",
    "a directory",
    "$XDG_STATE_HOME/lockscope, else ~/.local/state/lockscope",
    "\"/var/lib/lockscope\"",
    "directory of tokens, users, the audit log and the lab's runs; created when needed",
);

pub(super) const IS_ON: Setting = Kind(Top, Var, Restart).row(
    "history",
    "on, off",
    "on where there is a data directory or a database",
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

pub(super) const URL: Setting = Kind(Top, Var, Restart).row(
    "history_url",
    "a URL like postgres://user:password@host/database",
    "",
    "\"postgres://lockscope@db.example.org/lockscope\"",
    "a PostgreSQL database (13 or newer) that keeps the history, instead of history_dir; several servers may share it; \
     TLS unless it is on this machine, sslrootcert=FILE names the authority, sslmode=disable is plain text; several hosts \
     are separated by commas",
);

pub(super) const URL_FILE: Setting = Kind(Top, Var, Restart).row(
    "history_url_file",
    "a file or credential:NAME",
    "",
    "\"credential:history-url\"",
    "a file with that URL, as it holds a password",
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
