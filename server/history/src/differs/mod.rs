//! How some waits differ from the rest, by who waited, where, when and how it ended. Pure.
//!
//! For each dimension the shares of its values among the selected waits are held against their shares among the rest. The
//! difference of a dimension is half the sum of the absolute differences of these shares: the total variation distance, 0
//! where both are made of the same, 1 where they have no value in common.

mod heat;
mod search;
mod tally;

use std::ops::Range;

use lockscope_core::time::TimeMs;

use crate::incident::Life;
use crate::store::rows::{Span, SpanEnd};

pub use crate::names::DimensionKind;
pub use heat::{COLUMNS_MAX, ROWS_FROM_MS, WaitsMap, row_ms};
pub use search::{DiffersFound, DiffersQuery, LATER_LIVES_MAX, LIVES_MAX, search};

/// Values of a dimension that are named. Overflow policy: those that differ least are counted together.
pub const VALUES_NAMED_MAX: usize = 20;
/// Values of a dimension that are told apart. Overflow policy: further ones are counted together, and that is said.
pub const VALUES_MAX: usize = 50_000;

const HOUR_MS: i64 = 3_600_000;

/// The waits that are held against the rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    pub joined: Range<TimeMs>,
    /// How long they waited; the longest one is not among them.
    pub wait_ms: Range<i64>,
}

impl Selection {
    fn takes(&self, span: &Span) -> bool {
        self.joined.contains(&span.joined_at) && self.wait_ms.contains(&span.wait_ms)
    }
}

/// The application that a client's name stands for.
pub type ApplicationOf<'a> = &'a dyn Fn(&str) -> String;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub selection: u64,
    pub rest: u64,
}

impl Counts {
    fn note(&mut self, is_selected: bool) {
        if is_selected {
            self.selection += 1;
        } else {
            self.rest += 1;
        }
    }

    fn add(&mut self, more: Self) {
        self.selection += more.selection;
        self.rest += more.rest;
    }

    /// By how much its shares differ, times what there is of the selection and of the rest: whole numbers, so that the order
    /// of values is the same each time.
    fn distance(self, all: Self) -> u128 {
        let times = |one: u64, other: u64| u128::from(one) * u128::from(other);
        times(self.selection, all.rest).abs_diff(times(self.rest, all.selection))
    }

    /// Its share of the selection; None where nothing is selected.
    pub fn selection_part(self, all: Self) -> Option<f64> {
        (all.selection > 0).then(|| self.selection as f64 / all.selection as f64)
    }

    /// Its share of the rest; None where there is no rest.
    pub fn rest_part(self, all: Self) -> Option<f64> {
        (all.rest > 0).then(|| self.rest as f64 / all.rest as f64)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DimensionValue {
    /// The value; None where it is not known.
    pub value: Option<Box<str>>,
    pub counts: Counts,
}

/// Values that are counted together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OtherValues {
    /// How many values: at least so many where not all of them are told apart.
    pub values: usize,
    pub counts: Counts,
}

/// How the selection differs from the rest in one way.
#[derive(Clone, Debug, PartialEq)]
pub struct Dimension {
    pub kind: DimensionKind,
    /// From 0 to 1; None where either side is empty.
    pub difference: Option<f64>,
    /// There are more values than are told apart: the difference is at least this.
    pub is_lower_bound: bool,
    /// Those first whose shares differ most.
    pub values: Vec<DimensionValue>,
    pub others: OtherValues,
}

/// How the selection differs from the rest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Differs {
    pub counts: Counts,
    /// Lives of the range of which no wait is known: they held before anybody looked, were gone after a gap and never seen to
    /// hold, or wait for nothing by their recipe.
    pub without_wait: u64,
    /// Those first that differ most.
    pub dimensions: Vec<Dimension>,
}

impl Differs {
    /// Of these lives, all of which joined in the range. Without `application_of` nothing is said of clients.
    pub fn of<'a>(
        spans: impl IntoIterator<Item = &'a Span>,
        selection: &Selection,
        application_of: Option<ApplicationOf<'_>>,
    ) -> Self {
        let mut tally = DiffersTally::new(selection.clone(), application_of.is_some());
        spans.into_iter().for_each(|span| tally.take(span));
        tally.finish(application_of)
    }
}

/// Whether it is known how long a contender waited. Who waits for nothing that anybody should let go has no wait.
pub fn is_wait_known(span: &Span) -> bool {
    let is_end_unknown = span.held_at.is_none() && span.how == SpanEnd::Unknown;
    !span.is_lower_bound && !is_end_unknown && Life::is_waiting_in(&span.recipe)
}

#[derive(Debug)]
pub struct DiffersTally {
    selection: Selection,
    /// Whether clients are told apart.
    has_clients: bool,
    counts: Counts,
    without_wait: u64,
    hosts: tally::Values,
    clients: tally::Values,
    recipes: tally::Values,
    locks: tally::Values,
    hours: tally::Values,
    ends: tally::Values,
}

impl DiffersTally {
    pub fn new(selection: Selection, has_clients: bool) -> Self {
        let [hosts, clients, recipes, locks, hours, ends] = std::array::from_fn(|_| tally::Values::default());
        let counts = Counts::default();
        Self { selection, has_clients, counts, without_wait: 0, hosts, clients, recipes, locks, hours, ends }
    }

    /// One more that joined in the range.
    pub fn take(&mut self, span: &Span) {
        if !is_wait_known(span) {
            self.without_wait += 1;
            return;
        }
        let is_selected = self.selection.takes(span);
        self.counts.note(is_selected);
        self.hosts.note(span.host.as_deref(), is_selected);
        if self.has_clients {
            self.clients.note(span.label.as_deref(), is_selected);
        }
        self.recipes.note(Some(&span.recipe), is_selected);
        self.locks.note(Some(&span.lock), is_selected);
        self.hours.note(Some(&hour_of(span.joined_at)), is_selected);
        self.ends.note(Some(span.how.name()), is_selected);
    }

    pub fn finish(self, application_of: Option<ApplicationOf<'_>>) -> Differs {
        let Self { selection: _, has_clients, counts, without_wait, hosts, clients, recipes, locks, hours, ends } =
            self;
        let mut found = vec![
            (DimensionKind::Host, hosts),
            (DimensionKind::Recipe, recipes),
            (DimensionKind::Lock, locks),
            (DimensionKind::Hour, hours),
            (DimensionKind::End, ends),
        ];
        if has_clients {
            found.extend(application_of.map(|of| (DimensionKind::Application, clients.renamed(of))));
            found.push((DimensionKind::Client, clients));
        }
        let mut dimensions: Vec<_> = found.into_iter().map(|(kind, values)| values.dimension(kind, counts)).collect();
        // Of two that differ as much the order is always the same.
        dimensions.sort_by_key(|(dimension, distance)| (std::cmp::Reverse(*distance), dimension.kind));
        Differs { counts, without_wait, dimensions: dimensions.into_iter().map(|(dimension, _)| dimension).collect() }
    }
}

/// The hour of the day in UTC.
fn hour_of(at: TimeMs) -> String {
    format!("{:02}", at.0.div_euclid(HOUR_MS).rem_euclid(24))
}
