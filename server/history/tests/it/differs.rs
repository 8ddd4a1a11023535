//! How waits differ: of made-up lives, against a plain account, and of a store.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use lockscope_core::time::TimeMs;
use lockscope_core::znode::Zxid;
use lockscope_history::derive::SPANS_A_MINUTE_MAX;
use lockscope_history::differs::{
    COLUMNS_MAX, Counts, Differs, DiffersFound, DiffersQuery, Dimension, DimensionKind, ROWS_FROM_MS, Selection,
    VALUES_MAX, VALUES_NAMED_MAX, WaitsMap, is_wait_known, row_ms, search,
};
use lockscope_history::store::rows::{Rows, Span, SpanEnd};
use lockscope_history::store::sqlite::SqliteStore;
use lockscope_history::store::{Store as _, StoreError};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::historian::START;

fn at(ms: i64) -> TimeMs {
    TimeMs(START + ms)
}

/// Joined then, waited so long, and left a little later.
fn life(number: i64, joined_ms: i64, wait_ms: i64) -> Span {
    Span {
        czxid: Zxid(number),
        lock: "/locks/order".into(),
        recipe: "sequential_mutex".into(),
        node: "lock-0000000001".into(),
        session: None,
        label: Some(format!("report-{}@app", number % 3).into()),
        host: Some("10.0.0.1".into()),
        joined_at: at(joined_ms),
        held_at: Some(at(joined_ms + wait_ms)),
        left_at: at(joined_ms + wait_ms + 5),
        how: SpanEnd::Released,
        charges: None,
        wait_ms,
        is_lower_bound: false,
    }
}

fn selection(joined: (i64, i64), wait_ms: (i64, i64)) -> Selection {
    Selection { joined: at(joined.0)..at(joined.1), wait_ms: wait_ms.0..wait_ms.1 }
}

fn long_waits() -> Selection {
    selection((0, i64::MAX - START), (1_000, i64::MAX))
}

/// What stands before the number.
fn application_of(label: &str) -> String {
    label.split('-').next().unwrap_or_default().to_owned()
}

fn of(lives: &[Span], selection: &Selection) -> Differs {
    Differs::of(lives, selection, Some(&application_of))
}

fn dimension(differs: &Differs, kind: DimensionKind) -> &Dimension {
    differs.dimensions.iter().find(|dimension| dimension.kind == kind).unwrap()
}

fn lives() -> impl Strategy<Value = Vec<Span>> {
    let hostile = prop_oneof![Just("\u{202e}<b>me".to_owned()), Just(String::new()), "[a-c]-[0-9]{1,2}", ".{0,9}"];
    let life = (0..200_000_000_i64, 0..3_000_i64, 0..60_u8, hostile, 0..5_usize, 0..20_u8);
    let made = life.prop_map(|(joined_ms, wait_ms, host, label, end, dice)| Span {
        host: (host > 2).then(|| format!("10.0.0.{host}").into()),
        label: (dice > 3).then(|| label.into()),
        lock: format!("/locks/{}", dice % 5).into(),
        recipe: if dice == 19 { "election" } else { "read_write" }.into(),
        how: SpanEnd::ALL[end],
        held_at: (dice % 2 == 0).then(|| at(joined_ms + wait_ms)),
        is_lower_bound: dice == 7,
        ..life_of(joined_ms, wait_ms)
    });
    vec(made, 0..120)
}

fn life_of(joined_ms: i64, wait_ms: i64) -> Span {
    life(1, joined_ms, wait_ms)
}

fn selections() -> impl Strategy<Value = Selection> {
    let (joined, wait_ms) = ((0..200_000_000_i64, 0..200_000_000_i64), (0..3_000_i64, 0..3_000_i64));
    (joined, wait_ms).prop_map(|(joined, wait_ms)| selection(joined, wait_ms))
}

/// A value of a life in one dimension, by the definition.
fn value(span: &Span, kind: DimensionKind) -> Option<String> {
    let text = |text: &Option<Box<str>>| text.as_deref().map(str::to_owned);
    match kind {
        DimensionKind::Host => text(&span.host),
        DimensionKind::Client => text(&span.label),
        DimensionKind::Application => span.label.as_deref().map(application_of),
        DimensionKind::Recipe => Some(span.recipe.to_string()),
        DimensionKind::Lock => Some(span.lock.to_string()),
        DimensionKind::Hour => Some(format!("{:02}", span.joined_at.0 / 3_600_000 % 24)),
        DimensionKind::End => Some(span.how.name().to_owned()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn counts_and_differences_are_those_of_a_plain_account(lives in lives(), chosen in selections()) {
        let differs = of(&lives, &chosen);
        let waited: Vec<&Span> = lives.iter().filter(|span| is_wait_known(span)).collect();
        let is_chosen = |span: &Span| chosen.joined.contains(&span.joined_at) && chosen.wait_ms.contains(&span.wait_ms);
        let all = differs.counts;
        prop_assert_eq!(all.selection, waited.iter().filter(|span| is_chosen(span)).count() as u64);
        prop_assert_eq!(all.selection + all.rest, waited.len() as u64);
        prop_assert_eq!(differs.without_wait, (lives.len() - waited.len()) as u64);
        prop_assert_eq!(differs.dimensions.len(), DimensionKind::ALL.len());
        for Dimension { kind, difference, is_lower_bound, values, others } in &differs.dimensions {
            let mut plain = BTreeMap::<Option<String>, (u64, u64)>::new();
            for span in &waited {
                let counts = plain.entry(value(span, *kind)).or_default();
                if is_chosen(span) { counts.0 += 1 } else { counts.1 += 1 }
            }
            for named in values {
                let counts = (named.counts.selection, named.counts.rest);
                prop_assert_eq!(plain.get(&named.value.as_deref().map(str::to_owned)), Some(&counts), "{:?}", kind);
            }
            prop_assert!(values.len() <= VALUES_NAMED_MAX && values.len() + others.values == plain.len());
            prop_assert!(!is_lower_bound);
            let sum = |side: fn(&Counts) -> u64| {
                values.iter().map(|named| side(&named.counts)).sum::<u64>() + side(&others.counts)
            };
            prop_assert_eq!((sum(|of| of.selection), sum(|of| of.rest)), (all.selection, all.rest), "{:?}", kind);
            let share = |count: u64, of: u64| count as f64 / of as f64;
            let half = plain.values().map(|(chosen, rest)| {
                (share(*chosen, all.selection) - share(*rest, all.rest)).abs() / 2.0
            });
            match difference {
                None => prop_assert!(all.selection == 0 || all.rest == 0),
                Some(found) => {
                    prop_assert!((0.0..=1.0).contains(found) && (found - half.sum::<f64>()).abs() < 1e-9);
                }
            }
        }
        let differences: Vec<_> = differs.dimensions.iter().map(|dimension| dimension.difference).collect();
        prop_assert!(differences.is_sorted_by(|one, next| one >= next), "{:?}", differences);
    }

    #[test]
    fn the_order_is_that_of_the_figures_and_not_of_the_lives(lives in lives(), chosen in selections()) {
        let mut turned = lives.clone();
        turned.reverse();
        prop_assert_eq!(of(&lives, &chosen), of(&turned, &chosen));
    }

    #[test]
    fn what_is_made_of_the_same_does_not_differ(lives in lives(), times in 1..4_usize) {
        // The same lives waited for long, `times` times each.
        let all = lives.iter().flat_map(|span| {
            let long = Span { wait_ms: 5_000 + span.wait_ms, ..span.clone() };
            std::iter::once(Span { wait_ms: 3, ..span.clone() }).chain(std::iter::repeat_n(long, times))
        });
        let differs = of(&all.collect::<Vec<_>>(), &long_waits());
        for dimension in &differs.dimensions {
            prop_assert_eq!(dimension.difference, (differs.counts.rest > 0).then_some(0.0), "{:?}", dimension);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_cell_of_the_map_has_as_many_as_its_selection(lives in lives(), length_ms in 1..200_000_000_i64) {
        let mut map = WaitsMap::new(at(0)..at(length_ms));
        lives.iter().for_each(|span| map.note(span));
        let columns: Vec<_> = map.columns().collect();
        prop_assert!(columns.len() <= COLUMNS_MAX as usize);
        let mut end = at(0);
        for (joined, counts) in &columns {
            prop_assert!(joined.start == end && joined.end > end);
            end = joined.end;
            for (row, count) in counts.iter().enumerate() {
                let (min_ms, max_ms) = row_ms(row).unwrap();
                let wait_ms = min_ms..max_ms.unwrap_or(i64::MAX);
                let is_there = |span: &&Span| joined.contains(&span.joined_at) && wait_ms.contains(&span.wait_ms);
                let there = lives.iter().filter(|span| is_wait_known(span)).filter(is_there);
                prop_assert_eq!(there.count() as u64, *count);
            }
        }
        prop_assert_eq!((end, row_ms(ROWS_FROM_MS.len())), (at(length_ms), None));
    }
}

#[test]
fn what_the_selection_has_in_common_comes_first() {
    let host = |number: i64| if number % 2 == 0 { "10.0.0.1" } else { "10.0.0.2" };
    let short = (0..40).map(|number| Span { host: Some(host(number).into()), ..life(number, 0, 3) });
    let long = (40..50).map(|number| Span { host: Some("10.0.0.9".into()), ..life(number, 0, 2_000) });
    let differs = of(&short.chain(long).collect::<Vec<_>>(), &long_waits());
    assert_eq!(differs.counts, Counts { selection: 10, rest: 40 });
    let first = &differs.dimensions[0];
    assert_eq!((first.kind, first.difference), (DimensionKind::Host, Some(1.0)));
    let rows: Vec<_> = first.values.iter().map(|row| (row.value.as_deref().unwrap(), row.counts)).collect();
    let counts = |selection, rest| Counts { selection, rest };
    assert_eq!(rows, [("10.0.0.9", counts(10, 0)), ("10.0.0.1", counts(0, 20)), ("10.0.0.2", counts(0, 20))]);
    let parts =
        (first.values[1].counts.selection_part(differs.counts), first.values[1].counts.rest_part(differs.counts));
    assert_eq!(parts, (Some(0.0), Some(0.5)));
    // All are of one application, though not of one client.
    assert_eq!(dimension(&differs, DimensionKind::Application).values[0].value.as_deref(), Some("report"));
    assert_eq!(dimension(&differs, DimensionKind::Application).difference, Some(0.0));
    // Nothing is said of clients to whom that is not shown.
    let without = Differs::of(&[life(1, 0, 3)], &long_waits(), None);
    let kinds = without.dimensions.iter().map(|dimension| dimension.kind);
    assert!(kinds.eq([
        DimensionKind::Host,
        DimensionKind::Recipe,
        DimensionKind::Lock,
        DimensionKind::Hour,
        DimensionKind::End
    ]));
}

#[test]
fn values_are_bounded_and_a_label_is_data() {
    let label = |number: i64| format!("{}<script>\u{202e}-{number}", "x".repeat(60));
    let most = i64::try_from(VALUES_MAX).unwrap();
    let lives = (0..most + 500).map(|number| Span { label: Some(label(number).into()), ..life(number, 0, number) });
    let differs = of(&lives.collect::<Vec<_>>(), &long_waits());
    let clients = dimension(&differs, DimensionKind::Client);
    assert_eq!((clients.values.len(), clients.is_lower_bound), (VALUES_NAMED_MAX, true));
    assert_eq!(clients.others.values, VALUES_MAX - VALUES_NAMED_MAX + 1);
    assert!(clients.values.iter().all(|row| row.value.as_deref().unwrap().contains("<script>\u{202e}-")));
    let named = clients.values.iter().map(|row| row.counts.selection + row.counts.rest).sum::<u64>();
    let others = clients.others.counts;
    assert_eq!(named + others.selection + others.rest, VALUES_MAX as u64 + 500);
    assert!(clients.difference.is_some_and(|difference| difference <= 1.0));
}

fn stored(lives: Vec<Span>) -> (tempfile::TempDir, SqliteStore) {
    let directory = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(directory.path(), "prod").unwrap();
    store.write_rows(&Rows { spans: lives, ..Rows::default() }).unwrap();
    (directory, store)
}

fn question<'a>(range: (i64, i64)) -> DiffersQuery<'a> {
    DiffersQuery {
        range: at(range.0)..at(range.1),
        lock: None,
        selection: long_waits(),
        sees: None,
        application_of: Some(&application_of),
        give_up_at: Instant::now() + Duration::from_secs(60),
    }
}

#[test]
fn those_that_joined_in_the_range_are_counted_whenever_they_left() {
    const DAY_MS: i64 = 86_400_000;
    let (_directory, store) = stored(vec![
        life(1, 10, 2_000),
        life(2, 20, 3 * DAY_MS),
        life(3, 59_999, 1),
        life(4, 60_000, 1),
        life(5, 9, 1),
        Span { lock: "/locks/hidden".into(), ..life(6, 30, 5_000) },
    ]);
    let DiffersFound { differs, is_sampled, left_before } =
        search(&store, &question((10, 60_000)), &mut |_| {}).unwrap();
    assert_eq!((differs.counts, left_before), (Counts { selection: 3, rest: 1 }, None));
    assert_eq!(is_sampled, Some(false));
    let sees = |lock: &str| lock != "/locks/hidden";
    let some = DiffersQuery { sees: Some(&sees), application_of: None, ..question((10, 60_000)) };
    let found = search(&store, &some, &mut |_| {}).unwrap();
    assert_eq!((found.differs.counts, found.is_sampled), (Counts { selection: 2, rest: 1 }, None));
    let all = format!("{:?}", found.differs);
    assert!(!all.contains("hidden") && !all.contains("report"), "{all}");
    let of_lock = DiffersQuery { lock: Some("/locks/hidden"), ..question((10, 60_000)) };
    assert_eq!(search(&store, &of_lock, &mut |_| {}).unwrap().differs.counts, Counts { selection: 1, rest: 0 });
}

#[test]
fn a_minute_that_is_full_is_said_and_what_takes_too_long_is_given_up() {
    // Three minutes, so that one of them is a whole one.
    let lives = (0..3 * i64::from(SPANS_A_MINUTE_MAX)).map(|number| life(number, number * 100, 1));
    let (_directory, store) = stored(lives.collect());
    assert_eq!(search(&store, &question((90_000, 90_200)), &mut |_| {}).unwrap().is_sampled, Some(true));
    let found = search(&store, &question((0, 200_000)), &mut |_| {}).unwrap();
    assert_eq!((found.is_sampled, found.differs.counts.rest), (Some(true), 3 * u64::from(SPANS_A_MINUTE_MAX)));
    let late = DiffersQuery { give_up_at: Instant::now(), ..question((0, 200_000)) };
    assert!(matches!(search(&store, &late, &mut |_| {}), Err(StoreError::TooLong)));
}
