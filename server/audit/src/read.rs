//! Reads lines of a log that may be written meanwhile: only up to the length that was known to be whole, backwards from
//! the end or forwards from a number. Nothing is kept in memory for it: numbers rise, so a number is found by halving.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use super::chain::{self, LINE_BYTES_MAX};
use super::files;
use super::verify::Segment;

const BLOCK_BYTES: usize = 32 * 1024;

/// Opens a file of the log, also when it was written a moment ago and is full by now.
pub(super) fn open(dir: &Path, segment: &Segment) -> io::Result<File> {
    let full = dir.join(files::full_name(segment.first_id));
    match File::open(&full) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        opened => return opened,
    }
    let last = File::open(dir.join(files::LOG));
    // It may have become full in between, or be just about to be begun anew.
    match File::open(&full) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => last,
        opened => opened,
    }
}

/// Lines from an offset back to the beginning.
#[derive(Debug)]
pub(super) struct ReverseLines {
    file: File,
    /// What was read and not yet given begins here in the file.
    from: u64,
    buffer: Vec<u8>,
}

impl ReverseLines {
    /// From the end of a line on, which `end` must be.
    pub(super) fn new(file: File, end: u64) -> Self {
        Self { file, from: end, buffer: Vec::new() }
    }

    /// The line before, without its newline; None at the beginning.
    pub(super) fn previous(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            let without_end = self.buffer.len().saturating_sub(1);
            let newline = self.buffer.get(..without_end).and_then(|text| text.iter().rposition(|byte| *byte == b'\n'));
            if let Some(at) = newline {
                return Ok(Some(whole(self.buffer.split_off(at + 1))));
            }
            if self.from == 0 {
                return Ok((!self.buffer.is_empty()).then(|| whole(std::mem::take(&mut self.buffer))));
            }
            if self.buffer.len() > LINE_BYTES_MAX {
                return Err(endless());
            }
            let count = self.from.min(BLOCK_BYTES as u64);
            let mut block = vec![0; usize::try_from(count).unwrap_or(BLOCK_BYTES)];
            self.from -= count;
            self.file.read_exact_at(&mut block, self.from)?;
            block.append(&mut self.buffer);
            self.buffer = block;
        }
    }
}

fn whole(mut line: Vec<u8>) -> Vec<u8> {
    line.pop_if(|last| *last == b'\n');
    line
}

fn endless() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("a line is longer than {LINE_BYTES_MAX} bytes; run `lockscope audit verify`"),
    )
}

fn no_record() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "a line is not a record; run `lockscope audit verify`")
}

/// Where the first record with at least this number begins; the end when there is none.
pub(super) fn offset_of(file: &File, bytes: u64, id: u64) -> io::Result<u64> {
    let (mut low, mut high, mut found) = (0, bytes, bytes);
    while low < high {
        let middle = low + (high - low) / 2;
        match line_from(file, middle, bytes)? {
            None => high = middle,
            Some((start, line)) if chain::number_of(&line).ok_or_else(no_record)? < id => {
                low = start + line.len() as u64 + 1
            }
            Some((start, _)) => (found, high) = (start, middle),
        }
    }
    Ok(found)
}

/// The first line that begins at an offset or behind it, and where.
fn line_from(file: &File, offset: u64, bytes: u64) -> io::Result<Option<(u64, Vec<u8>)>> {
    let mut start = offset;
    if offset > 0 {
        // The byte before shows whether a line begins exactly here.
        let Some(rest) = to_newline(file, offset - 1, bytes)? else { return Ok(None) };
        start = offset + rest.len() as u64;
    }
    if start >= bytes {
        return Ok(None);
    }
    Ok(to_newline(file, start, bytes)?.map(|line| (start, line)))
}

/// Bytes from an offset up to the next newline, without it.
fn to_newline(file: &File, offset: u64, bytes: u64) -> io::Result<Option<Vec<u8>>> {
    const LOOK_BYTES: u64 = 2 * 1024;
    let mut text: Vec<u8> = Vec::new();
    loop {
        let at = offset + text.len() as u64;
        let count = bytes.saturating_sub(at).min(LOOK_BYTES);
        if count == 0 {
            return Ok(None);
        }
        let mut block = vec![0; usize::try_from(count).unwrap_or_default()];
        file.read_exact_at(&mut block, at)?;
        if let Some(newline) = block.iter().position(|byte| *byte == b'\n') {
            text.extend(block.drain(..newline));
            return Ok(Some(text));
        }
        text.append(&mut block);
        if text.len() > LINE_BYTES_MAX {
            return Err(endless());
        }
    }
}

/// Records from a number on, with their lines: at most so many, and no more bytes than given once there is one.
pub(super) fn forwards(
    dir: &Path,
    segments: &[Segment],
    id: u64,
    count_max: usize,
    bytes_max: usize,
) -> io::Result<Vec<Vec<u8>>> {
    let Some(segment) = segments.iter().rfind(|segment| segment.first_id <= id) else { return Ok(Vec::new()) };
    let mut file = open(dir, segment)?;
    let offset = offset_of(&file, segment.bytes, id)?;
    io::Seek::seek(&mut file, io::SeekFrom::Start(offset))?;
    let mut reader = BufReader::new(io::Read::take(file, segment.bytes.saturating_sub(offset)));
    let (mut lines, mut used) = (Vec::new(), 0);
    while lines.len() < count_max && used < bytes_max {
        let mut line = Vec::new();
        io::Read::take(&mut reader, LINE_BYTES_MAX as u64 + 1).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            break;
        }
        used += line.len();
        lines.push(whole(line));
    }
    Ok(lines)
}
