//! Names and payloads nobody should write.

use std::hint::black_box;

use lockscope_core::label::{LABEL_CHARS_MAX, label_of};
use lockscope_core::{recipe, sequence};
use proptest::prelude::*;

use super::Dice;

const NAMES: usize = 1_000_000;

/// What names of all families are made of, and what comes close.
const PARTS: [&str; 62] = [
    "_c_",
    "_c",
    "c_",
    "lock",
    "-lock-",
    "lock-",
    "-lease-",
    "-latch-",
    "-__READ__",
    "-__WRIT__",
    "__lock__",
    "__rlock__",
    "__party__",
    "__READ__",
    "readLock-",
    "writeLock-",
    "read-",
    "write-",
    "n_",
    "-n_",
    "leader_election-",
    "leader",
    "LEADER",
    "master",
    "controller",
    "member_",
    "entry-",
    "entry-100-",
    "queue-",
    "qn-",
    "element",
    "task",
    "x-",
    "-",
    "--",
    "_-",
    "_",
    ".",
    "%3A",
    "0000000000",
    "0000000007",
    "2147483647",
    "2147483648",
    "-2147483648",
    "9999999999",
    "000000000",
    "1790000000123",
    "72057655109877762",
    "00000000000000000000000000000000",
    "0f1e2d3c00004a4a8b8b0123456789ab",
    "0F1E2D3C00004A4A8B8B0123456789AB",
    "0f1e2d3c00004a4a8b8b0123456789a",
    "0f1e2d3c-0000-4a4a-8b8b-0123456789ab",
    "0f1e2d3c-0000-4a4a-8b8b-0123456789a锁",
    "锁",
    "é",
    "\u{202e}",
    "host-1,16000,",
    "ready",
    "start",
    "lease_holder",
    "ActiveStandbyElectorLock",
];

/// What clients write.
const WHOLE: [&str; 24] = [
    "_c_0f1e2d3c-0000-4a4a-8b8b-0123456789ab-lock-0000000007",
    "_c_0f1e2d3c00004a4a8b8b0123456789ab-lock-0000000007",
    "_c_0f1e2d3c-0000-4a4a-8b8b-0123456789ab-__WRIT__0000000007",
    "_c_0f1e2d3c-0000-4a4a-8b8b-0123456789ab-lease-0000000007",
    "_c_0f1e2d3c-0000-4a4a-8b8b-0123456789ab-latch--2147483648",
    "0f1e2d3c00004a4a8b8b0123456789ab__lock__0000000007",
    "0f1e2d3c00004a4a8b8b0123456789ab__rlock__-2147483648",
    "0f1e2d3c00004a4a8b8b0123456789ab__party__0000000007",
    "0f1e2d3c00004a4a8b8b0123456789ab-host",
    "0f1e2d3c00004a4a8b8b0123456789ab",
    "0f1e2d3c-0000-4a4a-8b8b-0123456789ab",
    "x-72057655109877762-0000000007",
    "72057655109877762-10.0.0.1:8983_solr-n_0000000007",
    "n_0000000007",
    "leader_election-0000000007",
    "readLock-0000000007",
    "write-0000000007",
    "-lock0000000007",
    "member_0000000007",
    "entry-100-0000000007",
    "orders-lock",
    "lease_holder",
    "deploy-barrier",
    "host-1,16000,1790000000123",
];

fn name_into(out: &mut String, dice: &mut Dice) {
    out.clear();
    if dice.roll(2) == 0 {
        // One character more, less, or another, somewhere.
        let name = dice.pick(&WHOLE);
        let (at, with) = (dice.roll(name.len()), ["", "-", "é", "0", "f"][dice.roll(5)]);
        let rest = at + dice.roll(2);
        let cut = |from: usize, to: usize| name.get(from..to).unwrap_or(name);
        [cut(0, at), with, cut(rest, name.len())].into_iter().for_each(|part| out.push_str(part));
        return;
    }
    for _ in 0..=dice.roll(5) {
        let part = dice.pick(&PARTS);
        // Near misses: a part that was cut, one with a character too many.
        match dice.roll(8) {
            0 => out.extend(part.chars().skip(1)),
            1 => out.extend(part.chars().take(part.chars().count() - 1)),
            2 => {
                out.push_str(part);
                out.push(char::from(b'0' + u8::try_from(dice.roll(80)).unwrap() % 75));
            }
            _ => out.push_str(part),
        }
    }
}

#[test]
fn a_million_near_misses_make_nobody_panic() {
    let (mut dice, mut name) = (Dice(0x9e37_79b9_7f4a_7c15), String::new());
    let mut recognised = 0;
    for at in 0..NAMES {
        name_into(&mut name, &mut dice);
        let owned = [None, Some(true), Some(false)][at % 3];
        recognised += usize::from(black_box(recipe::rule_of(&name, owned)).is_some());
        if at % 16 == 0 {
            black_box((sequence::parse(&name), recipe::guid_of(&name), label_of(&name, name.as_bytes())));
        }
    }
    assert!((NAMES / 5..NAMES * 4 / 5).contains(&recognised), "{recognised}: the names should hit and miss");
}

#[test]
fn a_sequence_number_is_what_follows_its_stem() {
    let (mut dice, mut name) = (Dice(7), String::new());
    for _ in 0..20_000 {
        name_into(&mut name, &mut dice);
        if let Some(found) = sequence::parse(&name) {
            assert_eq!(format!("{}{:010}", found.stem, found.number), name);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5_000))]

    #[test]
    fn no_payload_gets_a_steering_character_onto_the_screen(payload in prop_oneof![
        prop::collection::vec(any::<u8>(), 0..256),
        "[\\PC\u{1b}\u{202e}\u{200b}\u{0}\"{}:,\\\\]{0,100}".prop_map(String::into_bytes),
        "\\{\"(host|id|name)\":\"[\\PC\u{1b}\u{202e}\\\\]{0,60}\"\\}".prop_map(String::into_bytes),
        prop::collection::vec(any::<u8>(), 0..120).prop_map(|rest| [b"\xac\xed\x00\x05t\x00".as_slice(), &rest].concat()),
        prop::collection::vec(any::<u8>(), 0..120).prop_map(|rest| [b"\xff\x00\x00\x00\x02idPBUF\x0a".as_slice(), &rest].concat()),
    ], name in "\\PC{0,20}") {
        if let Some(label) = label_of(&name, &payload) {
            prop_assert!(!label.is_empty() && label.chars().count() <= LABEL_CHARS_MAX, "{label:?}");
            let is_hostile = |char: char| char.is_control() || matches!(char, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
            prop_assert!(!label.contains(is_hostile), "{label:?}");
        }
    }
}
