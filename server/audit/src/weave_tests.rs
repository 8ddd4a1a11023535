//! One log is changed, cut and written anew in many ways; the other saw its head. `AUDIT_VARIANTS=10000` is the long form.

use super::*;
use crate::chain::{ChainHead, link, verify};

/// Records of the log that is tampered with.
const RECORDS: u64 = 40;
/// Ways in which it is.
const VARIANTS: u64 = 800;

/// Numbers that are the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

fn details() -> Vec<String> {
    (0..RECORDS).map(|at| format!("released /locks/{at}")).collect()
}

/// A chain that is whole, and its head.
fn chained(entries: impl IntoIterator<Item = Entry>) -> (Vec<Vec<u8>>, ChainHead) {
    let mut tip = ChainHead::default();
    let mut lines = Vec::new();
    for entry in entries {
        let (line, head) = link(&tip, entry.into_record(7)).unwrap();
        lines.push(line);
        tip = head;
    }
    (lines, tip)
}

fn log_of(details: &[String]) -> (Vec<Vec<u8>>, ChainHead) {
    chained(details.iter().map(|detail| Entry::of_server(AuditKind::Refused, detail.clone())))
}

fn woven(lines: &[Vec<u8>]) -> Woven {
    let mut woven = Woven::default();
    for line in lines {
        // As files are read: in pieces that end anywhere.
        let (begin, end) = line.split_at(line.len() / 2);
        woven.write_all(begin).unwrap();
        woven.write_all(end).unwrap();
        woven.write_all(b"\n").unwrap();
    }
    woven
}

/// The other log, which saw the head of this one.
fn other(head: &ChainHead) -> Woven {
    let note = HeadNote { replica: "lockscope-1".to_owned(), id: head.id, hash: head.hash.clone() };
    woven(&chained([Entry::of_server(AuditKind::Started, String::new()), entry_of(&[note])]).0)
}

#[test]
fn what_is_whole_is_found_whole_also_when_it_went_on() {
    let mut details = details();
    let (_, head) = log_of(&details);
    details.push("after it was seen".to_owned());
    let (lines, _) = log_of(&details);
    assert_eq!(missing(&[woven(&lines), other(&head)]), None);
    assert!(missing(&[other(&head)]).is_some(), "a log that is not named is not known to be whole");
}

#[test]
fn every_change_behind_what_another_saw_is_found() {
    let original = details();
    let (_, head) = log_of(&original);
    let seen = other(&head);
    let (mut random, mut changed, mut cut, mut dropped) = (Random(7), 0, 0, 0);
    let long = std::env::var("AUDIT_VARIANTS").ok().and_then(|number| number.parse().ok());
    for variant in 0..long.unwrap_or(VARIANTS) {
        let mut details = original.clone();
        let at = usize::try_from(random.below(RECORDS)).unwrap();
        match variant % 4 {
            0 => details[at].push_str(&variant.to_string()),
            1 => details.truncate(at),
            2 => drop(details.remove(at)),
            _ => {
                // Cut, and gone on with something else, up to any length.
                details.truncate(at);
                details.extend((0..random.below(2 * RECORDS)).map(|more| format!("made up {variant} {more}")));
            }
        }
        // Whoever does that writes chain and head anew: alone it is whole.
        let (lines, _) = log_of(&details);
        assert!(verify(lines.iter().map(Vec::as_slice)).is_ok());
        let logs = [woven(&lines), Woven { heads: seen.heads.clone(), notes: seen.notes.clone(), rest: Vec::new() }];
        let (by, by_id, note) = missing(&logs).unwrap_or_else(|| panic!("variant {variant} is not found: {details:?}"));
        assert_eq!((by, by_id, note.id), (1, 2, RECORDS));
        match variant % 4 {
            0 => changed += 1,
            2 => dropped += 1,
            _ => cut += 1,
        }
    }
    eprintln!("{changed} changed, {cut} cut, {dropped} with a record dropped, each chained anew: all found");
}

#[test]
fn a_note_is_read_as_it_was_written_and_nothing_else_is_one() {
    let hash = "a".repeat(64);
    let note = |replica: &str, id| HeadNote { replica: replica.to_owned(), id, hash: hash.clone() };
    let notes = [note("host.example:3000", 7), note("[::1]:3000", 8)];
    let (lines, _) = chained([entry_of(&notes), Entry::of_server(AuditKind::Refused, entry_of(&notes).detail)]);
    assert_eq!(noted(&lines[0]), Some((1, notes.to_vec())));
    assert_eq!(noted(&lines[1]), None, "another kind of record may say anything");
    let longest: Vec<_> = (0..8).map(|at| note(&"x".repeat(64), u64::MAX - at)).collect();
    assert_eq!(noted(&chained([entry_of(&longest)]).0[0]).unwrap().1.len(), 8, "nothing is cut off");
}
