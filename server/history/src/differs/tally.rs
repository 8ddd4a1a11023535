//! How often each value of one dimension is in the selection and in the rest. Pure.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::{
    ApplicationOf, Counts, Dimension, DimensionKind, DimensionValue, OtherValues, VALUES_MAX, VALUES_NAMED_MAX,
};

#[derive(Debug, Default)]
pub(super) struct Values {
    known: HashMap<Box<str>, Counts>,
    unknown: Counts,
    /// Those that have a value beyond the bound.
    beyond: Counts,
}

impl Values {
    /// One more that has a value, or none that is known.
    pub(super) fn note(&mut self, value: Option<&str>, is_selected: bool) {
        self.of(value).note(is_selected);
    }

    fn of(&mut self, value: Option<&str>) -> &mut Counts {
        let Some(value) = value else { return &mut self.unknown };
        let is_told_apart = self.known.len() < VALUES_MAX || self.known.contains_key(value);
        if is_told_apart { self.known.entry(value.into()).or_default() } else { &mut self.beyond }
    }

    /// The same by what each value stands for.
    pub(super) fn renamed(&self, name: ApplicationOf<'_>) -> Self {
        let mut renamed = Self { known: HashMap::new(), unknown: self.unknown, beyond: self.beyond };
        for (value, counts) in &self.known {
            renamed.of(Some(&name(value))).add(*counts);
        }
        renamed
    }

    /// How they differ, and by how much as a whole number that can be compared with those of the same waits.
    pub(super) fn dimension(self, kind: DimensionKind, all: Counts) -> (Dimension, u128) {
        let Self { known, unknown, beyond } = self;
        let named = known.into_iter().map(|(value, counts)| DimensionValue { value: Some(value), counts });
        let unnamed =
            Some(DimensionValue { value: None, counts: unknown }).filter(|row| row.counts != Counts::default());
        let mut rows: Vec<_> = named.chain(unnamed).collect();
        rows.sort_by(|one, other| order(one, all).cmp(&order(other, all)));
        let distance = rows.iter().map(|row| row.counts.distance(all)).sum::<u128>() + beyond.distance(all);
        let is_lower_bound = beyond != Counts::default();
        let mut others = OtherValues { values: usize::from(is_lower_bound), counts: beyond };
        for row in rows.split_off(rows.len().min(VALUES_NAMED_MAX)) {
            others.values += 1;
            others.counts.add(row.counts);
        }
        let most = 2 * u128::from(all.selection) * u128::from(all.rest);
        let difference = (most > 0).then(|| distance as f64 / most as f64);
        (Dimension { kind, difference, is_lower_bound, values: rows, others }, distance)
    }
}

/// Those first whose shares differ most, of these the most frequent, and then by name.
fn order(row: &DimensionValue, all: Counts) -> (Reverse<u128>, Reverse<u64>, Option<&str>) {
    let DimensionValue { value, counts } = row;
    (Reverse(counts.distance(all)), Reverse(counts.selection + counts.rest), value.as_deref())
}
