//! What every store does. A new one is held against [`suite`].

use std::ops::Range;

use lockscope_core::time::TimeMs;
use lockscope_core::znode::{SessionId, Zxid};
use lockscope_history::codec::{Chunk, ChunkKind};
use lockscope_history::store::rows::{
    Charge, Charged, Charges, Fact, FactKind, FactQuery, Minute, MinuteQuery, ROWS_READ_MAX, Rows, Span, SpanEnd,
    SpanQuery,
};
use lockscope_history::store::{CHUNKS_READ_MAX, Coverage, Gap, GapReason, Retention, Store};

pub(crate) const DAY: i64 = 86_400_000;
pub(crate) const EVENTS: ChunkKind = ChunkKind::Events;
pub(crate) const CHECKPOINT: ChunkKind = ChunkKind::Checkpoint { part: 0 };

/// A chunk of a second; its zxid is ten times its number.
pub(crate) fn chunk(seq: u64, at: i64, kind: ChunkKind) -> Chunk {
    let (first_at, last_at) = (TimeMs(at), TimeMs(at + 999));
    let body = vec![seq as u8; 100].into();
    let mut chunk = Chunk { seq, first_at, last_at, zxid: Zxid(10 * seq as i64), kind, crc: 0, body };
    chunk.crc = chunk.checksum();
    chunk
}

fn all(store: &dyn Store) -> Vec<u64> {
    let (mut found, mut from) = (Vec::new(), 0);
    loop {
        let some = store.chunks(from, 7).unwrap();
        let Some(last) = some.last() else { return found };
        from = last.seq + 1;
        found.extend(some.iter().map(|chunk| chunk.seq));
    }
}

pub(crate) fn gap(after_seq: u64, from: i64, to: i64) -> Gap {
    Gap { after_seq, from: TimeMs(from), to: TimeMs(to), why: GapReason::TooBusy }
}

fn times(range: Range<i64>) -> Range<TimeMs> {
    TimeMs(range.start)..TimeMs(range.end)
}

/// Everything that a store promises. `open` opens the same store, which is empty at first and closed in between.
pub(crate) fn suite(open: &dyn Fn() -> Box<dyn Store>) {
    nothing_is_found_in_an_empty_store(&*open());
    chunks_are_found_by_number_instant_and_transaction(open);
    a_chunk_that_grew_replaces_itself(&*open());
    a_clock_that_steps_back_changes_no_order(&*open());
    rows_come_back_by_range_and_within_limits(open);
    what_is_old_goes_and_the_rest_begins_with_a_checkpoint(&*open());
}

fn nothing_is_found_in_an_empty_store(store: &dyn Store) {
    assert_eq!(store.coverage().unwrap(), Coverage { bytes: store.coverage().unwrap().bytes, ..Coverage::default() });
    assert_eq!((all(store), store.head_at(TimeMs(i64::MAX)).unwrap()), (vec![], None));
    assert_eq!((store.head_of(Zxid(1)).unwrap(), store.checkpoint_before(9).unwrap()), (None, None));
    assert_eq!(store.gaps(times(i64::MIN..i64::MAX)).unwrap(), []);
    let query = SpanQuery { range: times(0..DAY), limit: 10, ..SpanQuery::default() };
    assert_eq!(store.spans(&query).unwrap(), []);
}

fn chunks_are_found_by_number_instant_and_transaction(open: &dyn Fn() -> Box<dyn Store>) {
    let at = |second: i64| 20_000 * DAY + 1_000 * second;
    let store = open();
    let first = [chunk(1, at(0), CHECKPOINT), chunk(2, at(0), ChunkKind::Checkpoint { part: 1 })];
    store.append(&first, &[]).unwrap();
    let events: Vec<Chunk> = (3..=9).map(|seq| chunk(seq, at(seq as i64), EVENTS)).collect();
    store.append(&events, &[]).unwrap();
    store.append(&[chunk(10, at(20), CHECKPOINT)], &[gap(9, at(10), at(20))]).unwrap();
    drop(store);
    let store = open();
    assert_eq!(all(&*store), (1..=10).collect::<Vec<_>>());
    assert_eq!(store.chunks(3, usize::MAX).unwrap()[..7], events);
    assert!(store.chunks(0, usize::MAX).unwrap().len() <= CHUNKS_READ_MAX);
    let seq_at = |ms: i64| store.head_at(TimeMs(ms)).unwrap().map(|head| head.seq);
    assert_eq!(
        [at(0) - 1, at(0), at(5), at(5) + 1, at(19), at(20), i64::MAX].map(seq_at),
        [None, Some(2), Some(5), Some(5), Some(9), Some(10), Some(10)]
    );
    let seq_of = |zxid: i64| store.head_of(Zxid(zxid)).unwrap().map(|head| head.seq);
    assert_eq!([1, 10, 11, 40, 100, 101].map(seq_of), [Some(1), Some(1), Some(2), Some(4), Some(10), None]);
    let before = |seq: u64| store.checkpoint_before(seq).unwrap().map(|head| head.seq);
    assert_eq!([0, 1, 2, 9, 10, 99].map(before), [None, Some(1), Some(1), Some(1), Some(10), Some(10)]);
    let after = |seq: u64| store.checkpoint_after(seq).unwrap().map(|head| head.seq);
    assert_eq!([0, 1, 2, 10, 11].map(after), [Some(1), Some(1), Some(10), Some(10), None]);
    assert_eq!(store.gaps(times(at(0)..at(11))).unwrap(), [gap(9, at(10), at(20))]);
    assert_eq!(store.gaps(times(at(21)..at(30))).unwrap(), []);
    let Coverage { from, to, last_seq, chunks, checkpoints, gaps, gap_ms, bytes } = store.coverage().unwrap();
    assert_eq!((from, to), (Some(TimeMs(at(0))), Some(TimeMs(at(20) + 999))));
    assert_eq!((last_seq, chunks, checkpoints, gaps, gap_ms), (10, 10, 2, 1, 10_000));
    assert!(bytes > 1_000);
}

fn a_chunk_that_grew_replaces_itself(store: &dyn Store) {
    let last = store.coverage().unwrap();
    let seq = last.last_seq + 1;
    let at = last.to.unwrap().0 + 1;
    store.append(&[chunk(seq, at, EVENTS)], &[]).unwrap();
    let mut grown = chunk(seq, at, EVENTS);
    (grown.body, grown.last_at) = (vec![3; 5_000].into(), TimeMs(at + 5_000));
    grown.crc = grown.checksum();
    store.append(&[grown.clone()], &[]).unwrap();
    assert_eq!(store.chunks(seq, 9).unwrap(), [grown]);
    let now = store.coverage().unwrap();
    assert_eq!((now.chunks, now.to), (last.chunks + 1, Some(TimeMs(at + 5_000))));
    assert!(store.append(&[chunk(seq - 1, at, EVENTS)], &[]).is_err(), "a number fell");
    assert!(store.append(&[chunk(0, at, EVENTS)], &[]).is_err());
    assert_eq!(store.coverage().unwrap().chunks, now.chunks);
}

fn a_clock_that_steps_back_changes_no_order(store: &dyn Store) {
    let last = store.coverage().unwrap();
    let (seq, at) = (last.last_seq + 1, last.to.unwrap().0 + 1_000);
    let back = at - 3_600_000;
    store
        .append(&[chunk(seq, at, EVENTS), chunk(seq + 1, back, CHECKPOINT), chunk(seq + 2, back + 1_000, EVENTS)], &[])
        .unwrap();
    let seq_at = |ms: i64| store.head_at(TimeMs(ms)).unwrap().unwrap().seq;
    assert_eq!([back, back + 5_000, at, at + DAY].map(seq_at), [seq + 1, seq + 2, seq + 2, seq + 2]);
    // Back over midnight, and on.
    let yesterday = at - DAY;
    store.append(&[chunk(seq + 3, yesterday, CHECKPOINT)], &[]).unwrap();
    store.append(&[chunk(seq + 4, at + 2 * DAY, CHECKPOINT), chunk(seq + 5, at + 2 * DAY, EVENTS)], &[]).unwrap();
    assert_eq!(all(store), (1..=seq + 5).collect::<Vec<_>>());
    assert_eq!([yesterday, at, at + 3 * DAY].map(seq_at), [seq + 3, seq + 3, seq + 5]);
    assert_eq!(store.checkpoint_before(seq + 3).unwrap().unwrap().seq, seq + 3);
}

pub(crate) fn span(czxid: i64, left_at: i64) -> Span {
    Span {
        czxid: Zxid(czxid),
        lock: format!("/locks/{}", czxid % 3).into(),
        recipe: "sequential_mutex".into(),
        node: "lock-0000000001".into(),
        session: (czxid % 2 == 0).then_some(SessionId(-7)),
        label: Some("\u{202e}<b>me".into()),
        host: (czxid % 5 == 0).then(|| "10.0.0.1".into()),
        joined_at: TimeMs(left_at - 5),
        held_at: None,
        left_at: TimeMs(left_at),
        how: SpanEnd::ALL[czxid as usize % 5],
        charges: charges(czxid),
        wait_ms: 5,
        is_lower_bound: czxid % 2 == 1,
    }
}

/// Some that differ, some that are the same, none.
fn charges(of: i64) -> Option<Charges> {
    let to = |sessions: &[i64]| sessions.iter().map(|session| Charge { session: SessionId(*session), ms: 7 }).collect();
    let direct = Charged { to: to(&[i64::MIN, 0, 3]), others_ms: 1 };
    let root = if of % 2 == 0 { direct.clone() } else { Charged { to: to(&[-9]), others_ms: 0 } };
    (of % 3 > 0).then_some(Charges { direct, root, hand_off_ms: 5, unknown_ms: i64::MAX })
}

fn rows_come_back_by_range_and_within_limits(open: &dyn Fn() -> Box<dyn Store>) {
    let at = |number: i64| 20_001 * DAY - 1_500 + number;
    let minute = |number: i64| Minute {
        lock: format!("/locks/{}", number % 2).into(),
        at: TimeMs(at(number)),
        arrivals: number as u32,
        acquired: u32::MAX,
        gave_up: 0,
        waits: [1, 2].into(),
        holds: [].into(),
        depth_max: 4,
        waiting_ms: 17,
        worst: "stuck".into(),
        top: [].into(),
    };
    let fact = |number: i64| Fact {
        number: number as u64,
        at: TimeMs(at(number)),
        lock: (number % 2 == 0).then(|| "/locks/0".into()),
        kind: FactKind::ALL[number as usize % 8],
        code: "herd".into(),
        severity: 2,
        text: "One release wakes 40.".into(),
    };
    let store = open();
    let rows = Rows {
        spans: (0..3_000).map(|number| span(number, at(number))).collect(),
        minutes: (0..20).map(minute).collect(),
        facts: (0..20).map(fact).collect(),
    };
    store.write_rows(&rows).unwrap();
    store.write_rows(&rows).unwrap();
    drop(store);
    let store = open();
    let spans = |range, lock: Option<&str>, session, limit| {
        let lock = lock.map(Into::into);
        store.spans(&SpanQuery { range: times(range), lock, session, limit, ..SpanQuery::default() }).unwrap()
    };
    let newest_first: Vec<Span> = rows.spans.iter().rev().cloned().collect();
    assert!(spans(0..i64::MAX, None, None, usize::MAX) == newest_first, "over midnight");
    assert_eq!(spans(at(10)..at(20), None, None, 4), newest_first[2_980..2_984]);
    assert_eq!(spans(at(0)..at(30), Some("/locks/1"), None, 99).len(), 10);
    assert_eq!(spans(at(0)..at(30), None, Some(SessionId(-7)), 99).len(), 15);
    assert_eq!(spans(at(0)..at(30), Some("/locks/1' OR 1=1 --"), None, 99), []);
    let joined_before = Some(TimeMs(at(10)));
    let early = SpanQuery { range: times(at(0)..at(99)), joined_before, ..SpanQuery::default() };
    assert!(store.spans(&early).unwrap().iter().map(|span| span.joined_at.0).eq((at(-5)..at(10)).rev()));
    let minutes = |range, lock: Option<&str>, limit| {
        store
            .minutes(&MinuteQuery { range: times(range), lock: lock.map(Into::into), limit, ..MinuteQuery::default() })
            .unwrap()
    };
    assert_eq!(minutes(at(0)..at(99), None, ROWS_READ_MAX), rows.minutes);
    assert_eq!(minutes(at(0)..at(99), Some("/locks/0"), 3), [0, 2, 4].map(minute));
    let facts = store.facts(&FactQuery { range: times(at(0)..at(99)), limit: 2, ..FactQuery::default() }).unwrap();
    assert_eq!(facts, [19, 18].map(fact));
    let of_kind = |kind| store.facts(&FactQuery { kind: Some(kind), ..FactQuery::default() }).unwrap();
    for kind in FactKind::ALL {
        let expected: Vec<Fact> = rows.facts.iter().rev().filter(|fact| fact.kind == kind).cloned().collect();
        assert_eq!(of_kind(kind), expected, "{kind:?}");
    }
}

fn what_is_old_goes_and_the_rest_begins_with_a_checkpoint(store: &dyn Store) {
    let before = store.coverage().unwrap();
    let (now, seq) = (before.to.unwrap(), before.last_seq + 1);
    let ages = |days: i64, chunk_bytes_max| Retention {
        chunks_ms: days * DAY,
        chunk_bytes_max,
        spans_ms: 30 * DAY,
        minutes_ms: 90 * DAY,
    };
    assert_eq!(store.retain(now, ages(90, u64::MAX)).unwrap(), Default::default());
    assert_eq!(store.coverage().unwrap().chunks, before.chunks);
    // Far behind all others; then all others are old.
    let later = now + 40 * DAY;
    store.append(&[chunk(seq, later.0, CHECKPOINT), chunk(seq + 1, later.0 + 1, EVENTS)], &[]).unwrap();
    assert!(store.retain(later, ages(7, u64::MAX)).unwrap().days >= 1);
    assert_eq!(all(store), [seq, seq + 1]);
    assert_eq!(store.coverage().unwrap().from, Some(later));
    let query = SpanQuery { range: times(0..i64::MAX), limit: 10, ..SpanQuery::default() };
    assert_eq!(store.spans(&query).unwrap(), []);
    let query = MinuteQuery { range: times(0..i64::MAX), limit: 100, ..MinuteQuery::default() };
    assert_eq!(store.minutes(&query).unwrap().len(), 20, "minutes are kept for longer");
    store.retain(later + 90 * DAY, ages(999, u64::MAX)).unwrap();
    assert_eq!(store.minutes(&query).unwrap(), []);
    // By size, within one day: down to a checkpoint, and never without one.
    let many = |range: Range<u64>| {
        range.map(|one| {
            let kind = if one % 50 == 0 { CHECKPOINT } else { EVENTS };
            let mut chunk = chunk(seq + 2 + one, later.0 + 10 + one as i64, kind);
            chunk.body = vec![one as u8; 20_000].into();
            chunk
        })
    };
    store.append(&many(0..400).collect::<Vec<_>>(), &[]).unwrap();
    let removed = store.retain(later, ages(7, 4_000_000)).unwrap();
    assert!(removed.chunks >= 50, "{removed:?}");
    let kept = all(store);
    assert_eq!(store.chunks(kept[0], 1).unwrap()[0].kind, CHECKPOINT);
    store.append(&many(400..420).collect::<Vec<_>>(), &[]).unwrap();
    while store.retain(later, ages(7, 1)).unwrap().chunks > 0 {}
    assert_eq!(store.checkpoint_before(u64::MAX).unwrap().unwrap().seq, all(store)[0], "the newest checkpoint stays");
}
