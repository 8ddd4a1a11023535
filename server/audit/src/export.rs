//! The whole log as a stream of exactly the bytes of its files.

use std::io::{self, Read as _};
use std::path::PathBuf;

use bytes::Bytes;
use futures_util::stream::{self, StreamExt as _};
use tokio::sync::{OwnedSemaphorePermit, mpsc};

use super::verify::{Segment, VerifiedLog};
use super::{Export, read};

const CHUNK_BYTES: usize = 64 * 1024;
/// Chunks that wait for a slow reader.
const CHUNKS_MAX: usize = 4;

/// Reads on a thread of its own, no faster than it is taken; `permit` is held until it ends.
pub(super) fn stream(dir: PathBuf, segments: Vec<Segment>, permit: OwnedSemaphorePermit) -> Export {
    let bytes = segments.iter().map(|segment| segment.bytes).sum();
    let (sink, inbox) = mpsc::channel(CHUNKS_MAX);
    tokio::task::spawn_blocking(move || {
        let _permit = permit;
        // A closed channel is a reader that went away.
        let sent = chunks(&dir, &segments, |chunk| sink.blocking_send(Ok(Bytes::from(chunk))).is_ok());
        if let Err(error) = sent {
            let _ = sink.blocking_send(Err(error));
        }
    });
    let chunks = stream::unfold(inbox, |mut inbox| async move { inbox.recv().await.map(|chunk| (chunk, inbox)) });
    Export { bytes, chunks: chunks.boxed() }
}

/// Copies a verified log, as far as it is whole.
pub fn copy_all(dir: &std::path::Path, whole: &VerifiedLog, to: &mut dyn io::Write) -> io::Result<()> {
    let mut written = Ok(());
    chunks(dir, &whole.segments, |chunk| {
        written = to.write_all(&chunk);
        written.is_ok()
    })?;
    written.and_then(|()| to.flush())
}

fn chunks(dir: &std::path::Path, segments: &[Segment], mut take: impl FnMut(Vec<u8>) -> bool) -> io::Result<()> {
    for segment in segments {
        let mut file = read::open(dir, segment)?.take(segment.bytes);
        let mut left = segment.bytes;
        while left > 0 {
            let mut chunk = vec![0; CHUNK_BYTES.min(usize::try_from(left).unwrap_or(CHUNK_BYTES))];
            file.read_exact(&mut chunk)?;
            left -= chunk.len() as u64;
            if !take(chunk) {
                return Ok(());
            }
        }
    }
    Ok(())
}
