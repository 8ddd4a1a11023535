//! The rows of the table that say which ensembles there are, and what of them is watched.

use super::table::FileSection::{Ensemble, Top};
use super::table::Layering::{All, File, Variable as Var};
use super::table::TakesEffect::Reload;
use super::table::{Kind, Setting};

pub(super) const ZK: Setting = Kind(Ensemble, All, Reload).row(
    "zk",
    "HOST:PORT[,HOST:PORT…][/CHROOT]",
    "",
    "\"zk1:2181,zk2:2181,zk3:2181\"",
    "the ensemble; the only setting that must be given",
);

pub(super) const NAME: Setting = Kind(Ensemble, All, Reload).row(
    "name",
    "1 to 32 letters, digits, dots, dashes, underscores",
    "default",
    "\"prod-eu\"",
    "the ensemble's name on every page; required in an `[[ensemble]]`",
);

pub(super) const COLOR: Setting = Kind(Ensemble, Var, Reload).row(
    "color",
    "blue, teal, violet, amber, pink, red",
    "one of these",
    "\"teal\"",
    "the ensemble's colour on every page",
);

pub(super) const ROOT: Setting = Kind(Ensemble, All, Reload).row(
    "root",
    "paths, none inside another",
    "/",
    "[\"/locks\", \"/services\"]",
    "paths to watch, with everything below them; by default every lock is found",
);

pub(super) const EXCLUDE: Setting = Kind(Ensemble, Var, Reload).row(
    "exclude",
    "patterns of paths, at most 100; `*` stands for any part of one name, `**` for any number of names",
    "",
    "[\"/clickhouse/tables/**\"]",
    "paths that are never read, with everything below them; the status page shows how many there are",
);

pub(super) const ZNODES: Setting = Kind(Ensemble, Var, Reload).row(
    "znodes_max",
    "a whole number from 1000 to 50000000",
    "4000000",
    "1000000",
    "znodes that are read at most, some 400 bytes of memory each; a root with more is read in part and says so",
);

pub(super) const LABELS: Setting = Kind(Ensemble, File, Reload).row(
    "labels",
    "a table of texts, at most 16",
    "",
    "{ env = \"prod\", region = \"eu\" }",
    "what the ensemble is, for filters of the fleet page",
);

pub(super) const DIR: Setting = Kind(Top, Var, Reload).row(
    "ensembles_dir",
    "a directory",
    "ensembles.d beside the file, where it exists",
    "\"/etc/lockscope/ensembles.d\"",
    "directory of further ensembles: each file *.toml in it has `[[ensemble]]` tables",
);
