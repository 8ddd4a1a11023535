//! How some waits of a range differ from the rest.

use serde::Serialize;

use super::Coverage;
use crate::name::named_enum;

named_enum! {
    /// By what waits may differ. What is not kept of a life is none: how old its session was, and to which member it talked.
    DimensionKind {
        /// The host that a client came from.
        Host = "host",
        /// Who a client said it is.
        Client = "client",
        /// The application that this name stands for.
        Application = "application",
        /// The recipe of the lock.
        Recipe = "recipe",
        /// The lock.
        Lock = "lock",
        /// The hour of the day (UTC) in which it joined.
        Hour = "hour",
        /// How its life ended.
        End = "end",
    }
}

/// How some waits of a range differ from the rest.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Differs {
    /// The ensemble.
    pub ensemble: String,
    /// The waits that are held against the rest.
    pub selection: DiffersSelection,
    /// How many waits are selected.
    pub selected: u64,
    /// How many are the rest: all others of the range.
    pub others: u64,
    /// Lives of the range of which no wait is known, which are in neither.
    pub without_wait: u64,
    /// Those first that differ most.
    pub dimensions: Vec<Dimension>,
    /// True when so many lives ended in one minute of the range that short ones may have been left out; null where only a part
    /// of all lives was looked at, which can't tell.
    pub is_sampled: Option<bool>,
    /// Contenders that joined in the range and left at this moment or later are not counted, ms since the epoch; null where
    /// all that left are counted.
    pub left_before_ms: Option<i64>,
    /// How much of the range is known.
    pub coverage: Coverage,
}

/// Which waits are selected.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DiffersSelection {
    /// They joined no earlier, ms since the epoch.
    pub from_at_ms: i64,
    /// They joined earlier.
    pub to_at_ms: i64,
    /// They waited at least so long.
    pub min_wait_ms: i64,
    /// They waited for less than this; null for any.
    pub max_wait_ms: Option<i64>,
}

/// How they differ in one way.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Dimension {
    /// In which: `host`, `client`, `application`, `recipe`, `lock`, `hour` or `end`.
    pub name: &'static str,
    /// Half the sum of the absolute differences of all shares (the total variation distance), from 0 to 1; null where nothing
    /// is selected or nothing is left.
    pub difference: Option<f64>,
    /// Some values were counted together: the difference is at least this.
    pub is_lower_bound: bool,
    /// Those first whose shares differ most.
    pub values: Vec<DimensionValue>,
    /// All further values together; null where there are none.
    pub others: Option<OtherValues>,
}

/// A value, and how many have it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DimensionValue {
    /// The value; null where it is not known.
    pub value: Option<String>,
    /// How many have it.
    #[serde(flatten)]
    pub counts: WaitCounts,
}

/// Further values together.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OtherValues {
    /// How many values; at least so many where `is_lower_bound`.
    pub values: usize,
    /// How many have it.
    #[serde(flatten)]
    pub counts: WaitCounts,
}

/// How many, and which share.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WaitCounts {
    /// Of the selected waits.
    pub selection: u64,
    /// Of the rest.
    pub rest: u64,
    /// Its share of the selected waits, from 0 to 1; null where nothing is selected.
    pub selection_part: Option<f64>,
    /// Its share of the rest; null where nothing is left.
    pub rest_part: Option<f64>,
}
