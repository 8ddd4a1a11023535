//! Forms of the page's files that are not embedded: made of the brotli form once, and kept for as long as the process lives.

use std::collections::BTreeMap;
use std::io::{self, Write as _};

use axum::body::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use parking_lot::Mutex;

/// As the embedded files have it.
const BUFFER_BYTES: usize = 4 * 1_024;

/// What was made, by name and whether it is gzip. There is no more than what is embedded: names of files alone get here.
static MADE: Mutex<BTreeMap<(String, bool), Bytes>> = Mutex::new(BTreeMap::new());

/// A file in another form than `brotli`; None where that can't be read. Takes tens of milliseconds the first time.
pub(super) fn form(name: &str, brotli: &[u8], is_gzip: bool) -> Option<Bytes> {
    // Held while it is made, so that it is made once.
    let mut made = MADE.lock();
    let key = (name.to_owned(), is_gzip);
    if let Some(known) = made.get(&key) {
        return Some(known.clone());
    }
    match unpack(brotli, is_gzip).map(Bytes::from) {
        Ok(bytes) => {
            made.insert(key, bytes.clone());
            Some(bytes)
        }
        Err(error) => {
            tracing::error!(%error, name, "a file of the page is damaged");
            None
        }
    }
}

fn unpack(brotli: &[u8], is_gzip: bool) -> io::Result<Vec<u8>> {
    let mut plain = Vec::new();
    io::copy(&mut brotli::Decompressor::new(brotli, BUFFER_BYTES), &mut plain)?;
    if !is_gzip {
        return Ok(plain);
    }
    let mut out = GzEncoder::new(Vec::new(), Compression::best());
    out.write_all(&plain)?;
    out.finish()
}
