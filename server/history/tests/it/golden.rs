//! Bytes of each format that was ever written: they stay readable, and mean what they meant. `UPDATE_GOLDEN=1` writes
//! those of the present format anew, which only a new version may need.

use std::fs;
use std::path::PathBuf;

use lockscope_core::time::TimeMs;
use lockscope_core::znode::Zxid;
use lockscope_history::codec::{Chunk, ChunkKind, Decoder, VERSION};
use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::TestRunner;

use crate::codec::{Told, encode};
use crate::strategies::{KINDS, kind, observation};

fn file(version: u8, name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/v{version}.{name}"))
}

/// Some of every kind, the same in each run.
fn made() -> Told {
    let mut runner = TestRunner::deterministic();
    let mut wanted = [3; KINDS];
    let mut told = Told::new();
    while wanted.iter().any(|left| *left > 0) {
        let one = observation().new_tree(&mut runner).unwrap().current();
        if wanted[kind(&one)] > 0 {
            wanted[kind(&one)] -= 1;
            told.push((TimeMs(1_790_000_000_000 + 20 * told.len() as i64), one));
        }
    }
    // What no life of a few observations has.
    for one in crate::recalled::rare() {
        told.push((TimeMs(1_790_000_000_000 + 20 * told.len() as i64), one));
    }
    told
}

/// Bodies, each with its length before it.
fn joined(chunks: &[Chunk]) -> Vec<u8> {
    chunks.iter().flat_map(|chunk| [&(chunk.body.len() as u32).to_le_bytes()[..], &chunk.body].concat()).collect()
}

fn chunks_of(mut bytes: &[u8]) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    while let Some((len, rest)) = bytes.split_first_chunk::<4>() {
        let (body, rest) = rest.split_at(u32::from_le_bytes(*len) as usize);
        bytes = rest;
        let (seq, at) = (1 + chunks.len() as u64, TimeMs(0));
        let (zxid, kind) = (Zxid(0), ChunkKind::Events);
        let mut chunk = Chunk { seq, first_at: at, last_at: at, zxid, kind, crc: 0, body: body.into() };
        chunk.crc = chunk.checksum();
        chunks.push(chunk);
    }
    chunks
}

fn said(told: &Told) -> String {
    told.iter().map(|(now, one)| format!("{} {one:?}\n", now.0)).collect()
}

#[test]
fn the_bytes_of_every_version_are_read_as_they_were_meant() {
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        let told = made();
        fs::create_dir_all(file(VERSION, "bytes").parent().unwrap()).unwrap();
        fs::write(file(VERSION, "bytes"), joined(&encode(1, &told))).unwrap();
        fs::write(file(VERSION, "txt"), said(&told)).unwrap();
    }
    for version in 1..=VERSION {
        let chunks = chunks_of(&fs::read(file(version, "bytes")).unwrap());
        let told = crate::codec::decode(&mut Decoder::new(), &chunks).unwrap();
        let mut meant = said(&told);
        if version < 3 {
            // Nothing was said of that then, which means that nothing must be held.
            meant = meant.replace(", must_be_held: []", "");
        }
        if version < 4 {
            // Nothing was said of silences then, which means that none is known.
            let none = lockscope_core::evidence::Silences::default();
            meant = meant.replace(&format!(", silences: {none:?}"), "");
        }
        assert_eq!(meant, fs::read_to_string(file(version, "txt")).unwrap(), "version {version}");
        if version == VERSION {
            assert!(
                joined(&encode(1, &told)) == joined(&chunks),
                "the present format is written otherwise: raise VERSION"
            );
        }
    }
}
