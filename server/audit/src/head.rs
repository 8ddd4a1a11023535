//! The head file: number and hash of the last record, so that a cut at the end is seen.

use std::io;
use std::path::Path;

use super::chain::{self, ChainHead};
use super::files;

/// What the file says; None when there is none.
pub(super) fn read(dir: &Path) -> io::Result<Option<ChainHead>> {
    let Some(text) = files::read(&dir.join(files::HEAD))? else { return Ok(None) };
    let unlike = || io::Error::new(io::ErrorKind::InvalidData, "it does not hold a number and a hash");
    let head: ChainHead = serde_json::from_slice(&text).map_err(|_| unlike())?;
    if head.id == 0 || !chain::is_hash(&head.hash) || text != line(&head) {
        return Err(unlike());
    }
    Ok(Some(head))
}

/// Puts a new one in its place.
pub(super) fn write(dir: &Path, tip: &ChainHead) -> io::Result<()> {
    files::replace(dir, files::HEAD, &line(tip))
}

fn line(tip: &ChainHead) -> Vec<u8> {
    format!("{{\"id\":{},\"hash\":\"{}\"}}\n", tip.id, tip.hash).into_bytes()
}
