//! Tests of the chain.

use lockscope_view::AuditKind;
use proptest::prelude::*;

use super::*;
use crate::Entry;

fn entry(detail: &str) -> Entry {
    Entry::of_server(AuditKind::Started, detail.to_owned())
}

fn lines(details: &[String]) -> Vec<Vec<u8>> {
    let mut tip = ChainHead::default();
    let link_next = |detail: &String| {
        let (line, next) = link(&tip, entry(detail).into_record(1_790_000_000_000)).unwrap();
        tip = next;
        line
    };
    details.iter().map(link_next).collect()
}

fn check(lines: &[Vec<u8>]) -> Result<Report, BrokenChain> {
    verify(lines.iter().map(Vec::as_slice))
}

#[test]
fn a_line_is_the_record_in_the_order_of_its_fields() {
    let (line, tip) = link(&ChainHead::default(), entry("a \"log\" begins").into_record(7)).unwrap();
    let expected = format!(
        "{{\"id\":1,\"at_ms\":7,\"kind\":\"started\",\"actor\":\"lockscope\",\"actor_by\":\"the server itself\",\"address\":null,\"ensemble\":null,\
         \"lock\":null,\"path\":null,\"intent\":null,\"outcome\":null,\"reason\":null,\"detail\":\"a \\\"log\\\" begins\",\"hash\":\"{}\"}}",
        tip.hash
    );
    assert_eq!(String::from_utf8(line.clone()).unwrap(), expected);
    assert_eq!(hash_at_end(&line), Some(tip.hash.as_str()));
    let record: AuditRecord = serde_json::from_slice(&line).unwrap();
    assert_eq!((record.id, record.hash), (1, tip.hash));
}

#[test]
fn the_hash_is_that_of_the_previous_one_and_the_object_without_its_own() {
    let (line, tip) = link(&ChainHead::default(), entry("x").into_record(7)).unwrap();
    let text = String::from_utf8(line).unwrap();
    let object = format!("{}}}", text.split(",\"hash\":").next().unwrap());
    assert_eq!(hex::encode(Sha256::digest(format!("{GENESIS}{object}").as_bytes())), tip.hash);
}

#[test]
fn the_longest_entry_fits_into_a_line() {
    let long = |chars: usize| "\u{10ffff}".repeat(chars);
    let mut all = Entry {
        kind: AuditKind::ReleaseOutcome,
        actor: None,
        ensemble: Some(long(100_000)),
        lock: Some(long(100_000)),
        path: Some("\\".repeat(100_000)),
        plan: Some(crate::PlanRef { id: long(100_000), czxid: lockscope_view::Zxid(i64::MAX) }),
        intent: Some(u64::MAX),
        outcome: Some("released_other"),
        reason: Some(long(100_000)),
        detail: "\"".repeat(100_000),
    };
    for text in [long(100_000), "\u{202e}".repeat(100_000), "主".repeat(100_000)] {
        all.lock = Some(text);
        let (line, _) =
            link(&ChainHead { id: u64::MAX - 1, hash: GENESIS.to_owned() }, all.clone().into_record(i64::MIN)).unwrap();
        assert!(line.len() < LINE_BYTES_MAX / 2, "{}", line.len());
    }
}

#[test]
fn what_is_no_line_is_told() {
    let good = lines(&["a".to_owned(), "b".to_owned(), "c".to_owned()]);
    let why = |lines: &[Vec<u8>]| check(lines).unwrap_err().to_string();
    assert_eq!(
        why(&[good[1].clone()]),
        "line 1 (record 1 was expected): record 2 stands here: records were taken out, put in or moved"
    );
    assert!(why(&[good[0].clone(), good[0].clone()]).contains("line 2 (record 2 was expected): record 1 stands here"));
    assert!(why(&[b"{}".to_vec()]).contains("does not end in a hash"));
    assert!(why(&[Vec::new()]).contains("does not end in a hash"));
    let mut shouted = good[0].clone();
    let at = shouted.len() - 3;
    shouted[at] = b'G';
    assert!(why(&[shouted]).contains("64 hexadecimal digits"));
    assert!(why(&[vec![b'x'; LINE_BYTES_MAX + 1]]).contains("longer than"));
    let changed = String::from_utf8(good[1].clone()).unwrap().replace("\"b\"", "\"B\"").into_bytes();
    assert!(
        why(&[good[0].clone(), changed, good[2].clone()])
            .contains("line 2 (record 2 was expected): its hash is not that")
    );
}

proptest! {
    #[test]
    fn every_chain_that_is_made_is_whole(details in proptest::collection::vec(".{0,80}", 0..20)) {
        let lines = lines(&details);
        let report = check(&lines).unwrap();
        prop_assert_eq!(report.records, details.len() as u64);
        prop_assert_eq!(Some(report.tip.hash.as_str()), lines.last().map_or(Some(GENESIS), |line| hash_at_end(line)));
    }

    #[test]
    fn anything_may_be_read_and_nothing_but_a_chain_is_one(garbage in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..200), 1..4)) {
        prop_assert!(check(&garbage).is_err());
    }
}
