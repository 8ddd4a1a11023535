//! Everything that can be done to the files of a log without knowing how to chain anew is seen.

use std::collections::BTreeMap;
use std::path::Path;

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use super::*;
use crate::verify_dir;

const ROUNDS: u32 = 12_000;
const ACTS: u64 = 30;

type Files = BTreeMap<String, Vec<u8>>;

fn read(dir: &Path) -> Files {
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap());
    let named = entries.map(|entry| (entry.file_name().into_string().unwrap(), entry.path()));
    named.filter(|(name, _)| name != "audit.lock").map(|(name, path)| (name, std::fs::read(path).unwrap())).collect()
}

fn write(dir: &Path, files: &Files) {
    for entry in std::fs::read_dir(dir).unwrap() {
        std::fs::remove_file(entry.unwrap().path()).unwrap();
    }
    for (name, bytes) in files {
        std::fs::write(dir.join(name), bytes).unwrap();
    }
}

fn lines(bytes: &[u8]) -> Vec<Vec<u8>> {
    bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
}

/// The files that hold records, by name.
fn logs(files: &Files) -> Vec<String> {
    files.keys().filter(|name| name.ends_with(".log")).cloned().collect()
}

fn pick(random: &mut StdRng, names: &[String]) -> String {
    names[random.random_range(0..names.len())].clone()
}

const KINDS: [&str; 10] = [
    "bit",
    "byte",
    "cut",
    "cut at a line",
    "swapped lines",
    "doubled line",
    "dropped line",
    "swapped files",
    "dropped file",
    "put in",
];

fn tamper(kind: &str, files: &mut Files, random: &mut StdRng) {
    let names = logs(files);
    let name = pick(random, &names);
    let everything: Vec<String> = files.keys().cloned().collect();
    match kind {
        "bit" | "byte" => {
            let bytes = files.get_mut(&pick(random, &everything)).unwrap();
            let at = random.random_range(0..bytes.len());
            bytes[at] ^= if kind == "bit" { 1 << random.random_range(0..8) } else { random.random_range(1..=255) };
        }
        "cut" => {
            let bytes = files.get_mut(&pick(random, &everything)).unwrap();
            bytes.truncate(random.random_range(0..bytes.len()));
        }
        "swapped files" => {
            let other = pick(random, &names);
            let (one, two) = (files[&name].clone(), files[&other].clone());
            files.insert(name, two);
            files.insert(other, one);
        }
        "dropped file" => {
            files.remove(&pick(random, &everything));
        }
        _ => {
            let mut all = lines(&files[&name]);
            let at = random.random_range(0..all.len());
            match kind {
                "cut at a line" => all.truncate(at),
                "swapped lines" => {
                    let other = random.random_range(0..all.len());
                    all.swap(at, other);
                }
                "doubled line" => all.insert(random.random_range(0..=all.len()), all[at].clone()),
                "dropped line" => {
                    all.remove(at);
                }
                _ => {
                    let bytes: Vec<u8> = (0..random.random_range(1..50)).map(|_| random.random()).collect();
                    let line = &mut all[at];
                    // After the very last newline it would be what a crash leaves, which is told and no break.
                    let into = random.random_range(0..line.len());
                    line.splice(into..into, bytes);
                }
            }
            files.insert(name, all.concat());
        }
    }
}

#[tokio::test]
async fn whatever_is_done_to_the_files_is_seen() {
    let made = dir();
    filled(made.path(), ACTS).await;
    let whole = verify_dir(made.path(), None).unwrap();
    assert_eq!((whole.tip.id, whole.torn_bytes), (ACTS + 1, 0));
    let good = read(made.path());
    assert!(logs(&good).len() >= 3, "{:?}", good.keys());

    let place = dir();
    write(place.path(), &good);
    assert_eq!(verify_dir(place.path(), None).unwrap().tip, whole.tip);
    let mut random = StdRng::seed_from_u64(5);
    let mut seen = BTreeMap::<&str, u32>::new();
    for round in 0..ROUNDS {
        let kind = KINDS[round as usize % KINDS.len()];
        let mut files = good.clone();
        tamper(kind, &mut files, &mut random);
        if files == good {
            continue;
        }
        write(place.path(), &files);
        let result = verify_dir(place.path(), None);
        assert!(result.is_err(), "round {round}, {kind}: {result:?}");
        *seen.entry(kind).or_default() += 1;
    }
    let total: u32 = seen.values().sum();
    assert!(total >= 10_000 && seen.len() == KINDS.len(), "{total}: {seen:?}");
}

#[tokio::test]
async fn a_log_written_anew_is_seen_by_a_hash_noted_elsewhere() {
    let (old, new) = (dir(), dir());
    filled(old.path(), 5).await;
    let noted = verify_dir(old.path(), None).unwrap().tip;
    filled(old.path(), 0).await;
    assert_eq!(verify_dir(old.path(), Some(&noted.hash)).unwrap().anchored, Some(noted.id));
    filled(new.path(), 4).await;
    assert!(verify_dir(new.path(), None).is_ok());
    let error = verify_dir(new.path(), Some(&noted.hash)).unwrap_err().to_string();
    assert!(error.contains(&format!("no record has the hash {}", noted.hash)), "{error}");
}

#[tokio::test]
async fn breaks_name_file_line_record_and_what_is_wrong() {
    let place = dir();
    filled(place.path(), ACTS).await;
    let good = read(place.path());
    let broken = |change: &dyn Fn(&mut Files)| {
        let mut files = good.clone();
        change(&mut files);
        write(place.path(), &files);
        let error = verify_dir(place.path(), None).unwrap_err().to_string();
        write(place.path(), &good);
        error.replace(&place.path().display().to_string(), "DIR")
    };
    let edited = broken(&|files| {
        let first = files.get_mut("audit-000000000001.log").unwrap();
        *first = String::from_utf8(first.clone()).unwrap().replace("act 3", "act 4").into_bytes();
    });
    assert_eq!(
        edited,
        "DIR/audit-000000000001.log is broken at line 5 (record 5 was expected): its hash is not that of its text and the record before: one of them was changed"
    );
    let headless = broken(&|files| drop(files.remove("audit.head")));
    assert_eq!(headless, "DIR/audit.head is broken: it is missing, so a cut at the end of the log could not be seen");
    let cut = broken(&|files| {
        let last = files.get_mut("audit.log").unwrap();
        let mut kept = lines(last);
        kept.pop();
        *last = kept.concat();
    });
    assert_eq!(
        cut,
        "DIR/audit.head is broken: it names record 31 as written, and the log ends with record 30: the log was cut"
    );
    let stray = broken(&|files| drop(files.insert("audit-000000000003.log".to_owned(), Vec::new())));
    assert!(stray.contains("the chain does not go through it"), "{stray}");
    assert!(broken(&Files::clear).contains("there is no audit record in DIR"));
}
