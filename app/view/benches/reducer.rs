//! What a difference of a window costs to make and to apply.
#![expect(clippy::unwrap_used, reason = "a benchmark takes what it made itself for granted")]
use std::hint::black_box;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use lockscope_view::{Window, WindowRow};

#[derive(Clone, PartialEq)]
struct Row {
    key: String,
    value: u64,
}

impl WindowRow for Row {
    fn key(&self) -> &str {
        &self.key
    }
}

fn reducer(criterion: &mut Criterion) {
    let rows =
        |moved: usize| (0..100).map(|at| Row { key: format!("/lock/{}", (at + moved) % 101), value: 7 }).collect();
    let old = Window { total: 10_000, offset: 0, rows: rows(0) };
    let mut new = Window { total: 10_000, offset: 0, rows: rows(1) };
    new.rows.iter_mut().step_by(10).for_each(|row: &mut Row| row.value = 8);
    let delta = old.diff(&new).unwrap();
    criterion.bench_function("diff of a 100-row window, reordered", |bencher| {
        bencher.iter(|| black_box(old.diff(black_box(&new))))
    });
    criterion.bench_function("apply to a 100-row window, reordered", |bencher| {
        bencher.iter_batched(|| old.clone(), |mut window| window.apply(&delta), BatchSize::SmallInput);
    });
}

criterion_group!(benches, reducer);
criterion_main!(benches);
