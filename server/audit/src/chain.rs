//! The chain: what a line is, what its hash covers, and whether lines fit together. Pure.
//!
//! A line is one JSON object in the field order of [`AuditRecord`], its last field the hash. The hash is SHA-256 over
//! the previous line's hash (its 64 characters; [`GENESIS`] for the first) and the line's object without the field
//! `hash`. So the chain can be checked with `sha256sum` and a text editor alone.

use lockscope_view::AuditRecord;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// What the first record's hash is chained to.
pub const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";
pub const HASH_CHARS: usize = GENESIS.len();
/// The longest line, without its newline. No record that the log makes comes near it; see `text`.
pub const LINE_BYTES_MAX: usize = 128 * 1024;

const BEFORE_HASH: &[u8] = b",\"hash\":\"";
const AFTER_HASH: &[u8] = b"\"}";

/// The end of a chain: what the next record is chained to.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChainHead {
    /// Number of the last record; 0 before the first.
    pub id: u64,
    pub hash: String,
}

impl Default for ChainHead {
    fn default() -> Self {
        Self { id: 0, hash: GENESIS.to_owned() }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    pub records: u64,
    pub tip: ChainHead,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line} (record {id} was expected): {why}")]
pub struct BrokenChain {
    /// Which line, from 1.
    pub line: u64,
    /// Which record should be there.
    pub id: u64,
    pub why: String,
}

/// Reads lines one by one and says whether each goes on where the one before ended.
#[derive(Clone, Debug, Default)]
pub struct Verifier {
    tip: ChainHead,
    line: u64,
}

#[derive(Deserialize)]
struct Numbered {
    id: u64,
}

impl Verifier {
    /// Goes on from a known end, at the first line of another file.
    pub fn after(tip: ChainHead) -> Self {
        Self { tip, line: 0 }
    }

    /// Takes the next line, without its newline.
    ///
    /// # Errors
    /// When it does not go on from the line before.
    pub fn take(&mut self, line: &[u8]) -> Result<(), BrokenChain> {
        self.line += 1;
        let (object, hash) = split(line).map_err(|why| self.broken(why))?;
        let id = number_of(&object)
            .ok_or_else(|| self.broken("it is not a record: not an object with a number".to_owned()))?;
        if id != self.tip.id + 1 {
            return Err(self.broken(format!("record {id} stands here: records were taken out, put in or moved")));
        }
        let right = hash_of(&self.tip.hash, &object);
        if right != hash {
            return Err(self
                .broken("its hash is not that of its text and the record before: one of them was changed".to_owned()));
        }
        self.tip = ChainHead { id, hash: right };
        Ok(())
    }

    /// What is wrong at the next line, when that could not even be read.
    pub fn broken_next(&self, why: String) -> BrokenChain {
        BrokenChain { line: self.line + 1, id: self.tip.id + 1, why }
    }

    pub fn tip(&self) -> &ChainHead {
        &self.tip
    }

    fn broken(&self, why: String) -> BrokenChain {
        BrokenChain { line: self.line, id: self.tip.id + 1, why }
    }
}

/// Whether lines are a whole chain from its beginning.
///
/// # Errors
/// The first line that does not fit.
pub fn verify<'a>(lines: impl IntoIterator<Item = &'a [u8]>) -> Result<Report, BrokenChain> {
    let mut verifier = Verifier::default();
    for line in lines {
        verifier.take(line)?;
    }
    Ok(Report { records: verifier.tip.id, tip: verifier.tip })
}

/// Chains a record to what is there: sets its number and hash, and gives its line without newline.
///
/// # Errors
/// When it would be longer than a line may be.
pub fn link(tip: &ChainHead, mut record: AuditRecord) -> Result<(Vec<u8>, ChainHead), String> {
    record.id = tip.id + 1;
    record.hash = String::new();
    let mut line =
        serde_json::to_vec(&record).map_err(|error| format!("the record can't be written as JSON ({error})"))?;
    // The empty hash is taken off again, so that there is one way to write a record and not two.
    line.truncate(line.len().saturating_sub(BEFORE_HASH.len() + AFTER_HASH.len()));
    line.push(b'}');
    let hash = hash_of(&tip.hash, &line);
    line.pop();
    line.extend_from_slice(BEFORE_HASH);
    line.extend_from_slice(hash.as_bytes());
    line.extend_from_slice(AFTER_HASH);
    if line.len() > LINE_BYTES_MAX {
        return Err(format!("the record has {} bytes; a line has at most {LINE_BYTES_MAX}", line.len()));
    }
    Ok((line, ChainHead { id: record.id, hash }))
}

/// The hash at a line's end, not checked.
pub fn hash_at_end(line: &[u8]) -> Option<&str> {
    let (_, hash) = split_raw(line)?;
    std::str::from_utf8(hash).ok()
}

/// The number of a line, not checked.
pub fn number_of(line: &[u8]) -> Option<u64> {
    serde_json::from_slice::<Numbered>(line).ok().map(|numbered| numbered.id)
}

pub fn is_hash(text: &str) -> bool {
    text.len() == HASH_CHARS && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn split_raw(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let (rest, hash) = line.strip_suffix(AFTER_HASH)?.split_last_chunk::<HASH_CHARS>()?;
    Some((rest.strip_suffix(BEFORE_HASH)?, hash))
}

/// The object without its hash, and the hash.
fn split(line: &[u8]) -> Result<(Vec<u8>, &str), String> {
    if line.len() > LINE_BYTES_MAX {
        return Err(format!("it is longer than {LINE_BYTES_MAX} bytes"));
    }
    let (object, hash) = split_raw(line).ok_or("it does not end in a hash")?;
    let hash =
        std::str::from_utf8(hash).ok().filter(|hash| is_hash(hash)).ok_or("its hash is not 64 hexadecimal digits")?;
    let mut object = object.to_vec();
    object.push(b'}');
    Ok((object, hash))
}

fn hash_of(previous: &str, object: &[u8]) -> String {
    hex::encode(Sha256::new().chain_update(previous.as_bytes()).chain_update(object).finalize())
}

#[cfg(test)]
#[path = "chain_tests.rs"]
mod tests;
