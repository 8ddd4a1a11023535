//! A log as a stream of transactions: a piece at a time, one record in memory.

use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use txn_log::{LogDecoder, Transaction};

use super::Damage;

/// Bytes that are read at once.
const PIECE_BYTES: usize = 256 << 10;

/// The transactions of one file, in order.
#[derive(Debug)]
pub struct LogStream {
    path: PathBuf,
    file: File,
    decoder: LogDecoder,
    piece: Vec<u8>,
    /// A server may be writing to it: zeros end it, whatever follows later.
    is_newest: bool,
    is_done: bool,
}

impl LogStream {
    /// Opens a file to read it.
    ///
    /// # Errors
    /// It can't be opened.
    pub fn open(path: &Path, is_newest: bool) -> Result<Self, Damage> {
        let file = File::open(path).map_err(|error| Damage::new(path, 0, error))?;
        let (decoder, piece) = (LogDecoder::new(), vec![0; PIECE_BYTES]);
        Ok(Self { path: path.to_owned(), file, decoder, piece, is_newest, is_done: false })
    }

    /// The next transaction, or what is damaged; None at the end. Behind damage nothing more is found in a file.
    pub fn next_transaction(&mut self) -> Result<Option<Transaction>, Damage> {
        while !self.is_done {
            match self.decoder.next_transaction() {
                Ok(Some(transaction)) => return Ok(Some(transaction)),
                Ok(None) => self.read_on()?,
                Err(error) => {
                    self.is_done = true;
                    return Err(Damage::new(&self.path, error.offset, error.problem));
                }
            }
        }
        Ok(None)
    }

    fn read_on(&mut self) -> Result<(), Damage> {
        let read = loop {
            match self.file.read(&mut self.piece) {
                Ok(read) => break read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    self.is_done = true;
                    return Err(Damage::new(&self.path, self.decoder.offset(), error));
                }
            }
        };
        let piece = self.piece.get(..read).unwrap_or_default();
        if read == 0 || (self.is_newest && piece.iter().all(|byte| *byte == 0)) {
            self.is_done = true;
        } else {
            self.decoder.push(piece);
        }
        Ok(())
    }
}
