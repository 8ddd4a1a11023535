//! A log as a stream of transactions: a piece at a time, one record in memory, and on behind damage.

use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use lockscope_txn_log::{LogEntry, TolerantLogDecoder, Transaction};

use super::Damage;

const PIECE_BYTES: usize = 256 << 10;

/// The transactions of one file, in order. Whether it is compressed is seen by its first bytes.
#[derive(Debug)]
pub struct LogStream {
    path: PathBuf,
    file: File,
    decoder: TolerantLogDecoder,
    piece: Vec<u8>,
    /// A server may be writing to it: zeros end it, whatever follows later.
    is_newest: bool,
    is_finished: bool,
}

impl LogStream {
    /// Opens a file to read it.
    ///
    /// # Errors
    /// It can't be opened.
    pub fn open(path: &Path, is_newest: bool) -> Result<Self, Damage> {
        let file = File::open(path).map_err(|error| Damage::new(path, 0, error))?;
        let (decoder, piece) = (TolerantLogDecoder::new(), vec![0; PIECE_BYTES]);
        Ok(Self { path: path.to_owned(), file, decoder, piece, is_newest, is_finished: false })
    }

    /// The next transaction, or what is damaged, behind which it goes on; None at the end.
    ///
    /// # Errors
    /// A place is damaged, or the file can't be read any further.
    pub fn next_transaction(&mut self) -> Result<Option<Transaction>, Damage> {
        loop {
            match self.decoder.next_entry() {
                Some(LogEntry::Transaction(transaction)) => return Ok(Some(transaction)),
                Some(LogEntry::Damage(damage)) => {
                    return Err(Damage::new(&self.path, damage.offset, damage.problem));
                }
                None if self.is_finished => return Ok(None),
                None => self.read_on()?,
            }
        }
    }

    fn read_on(&mut self) -> Result<(), Damage> {
        let read = loop {
            match self.file.read(&mut self.piece) {
                Ok(read) => break read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    self.finish();
                    return Err(Damage::new(&self.path, self.decoder.offset(), error));
                }
            }
        };
        let piece = self.piece.get(..read).unwrap_or_default();
        if read == 0 || (self.is_newest && piece.iter().all(|byte| *byte == 0)) {
            self.finish();
        } else {
            self.decoder.push(piece);
        }
        Ok(())
    }

    fn finish(&mut self) {
        self.is_finished = true;
        self.decoder.finish();
    }
}
