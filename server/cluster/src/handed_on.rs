//! How one replica hands a request on to another, and how the answer comes back in pieces. The request is signed whole; of
//! the answer each piece is, with its number and whether it is the last: nobody on the way can change, leave out, repeat or
//! cut anything without being noticed. Pure.

use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};

use crate::secret::{Greeting, GreetingError, ReplicaSecret, about};

/// Bytes of one piece, at most.
pub const PIECE_BYTES_MAX: usize = 64 * 1024;
/// What an answer in pieces is called.
pub const PIECES_TYPE: &str = "application/vnd.lockscope.pieces";
/// Bytes of a signature.
const MAC_BYTES: usize = 32;
/// What comes before the bytes of a piece: how many those are, whether it is the last, and the signature.
const HEAD_BYTES: usize = 4 + 1 + MAC_BYTES;

/// Why pieces can't be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PieceError {
    /// A piece was not made by one who has the secret, in answer to this very request, at this place.
    #[error("what it sends is not proved to be its answer")]
    NotOurs,
    /// A piece is longer than pieces are.
    #[error("it sends a piece of more than {} KiB", PIECE_BYTES_MAX / 1024)]
    TooLong,
    /// The answer ends before its last piece.
    #[error("its answer was cut off")]
    Cut,
}

/// What a request is, for its signature: a text of its own, so that it opens no socket and asks for nothing else.
fn handed_on(greeting: &Greeting, address: &str) -> String {
    let Greeting { from, to, at_ms, nonce } = greeting;
    format!("lockscope replica 1: hands on\n{from}\n{to}\n{address}\n{at_ms}\n{nonce}")
}

fn piece(greeting: &Greeting, address: &str, number: u64, is_last: bool) -> String {
    let Greeting { from, to, at_ms, nonce } = greeting;
    format!("lockscope replica 1: piece\n{from}\n{to}\n{address}\n{at_ms}\n{nonce}\n{number}\n{is_last}")
}

impl ReplicaSecret {
    /// The value of the header `authorization` of a request that is handed on to a replica at an address.
    pub fn sign_handed_on(&self, greeting: &Greeting, address: &str, body: &[u8]) -> String {
        self.header(greeting, &about(&handed_on(greeting, address), body))
    }

    /// The greeting in the header of such a request, if it was made for this replica and this body.
    ///
    /// # Errors
    /// See [`GreetingError`].
    pub fn verify_handed_on(
        &self,
        header: &str,
        us: (&str, &str),
        now_ms: i64,
        body: &[u8],
    ) -> Result<Greeting, GreetingError> {
        self.read_signed(header, us, now_ms, |greeting| about(&handed_on(greeting, us.1), body))
    }
}

/// Makes the pieces of one answer.
#[derive(Clone, Debug)]
pub struct PieceWriter {
    secret: ReplicaSecret,
    greeting: Greeting,
    address: String,
    next: u64,
}

impl PieceWriter {
    /// Of the answer of a replica at an address to a greeting.
    pub fn new(secret: ReplicaSecret, greeting: Greeting, address: &str) -> Self {
        Self { secret, greeting, address: address.to_owned(), next: 0 }
    }

    /// The next piece; of bytes that are longer than one as many as they take.
    pub fn write(&mut self, bytes: &[u8], is_last: bool) -> Bytes {
        let mut written = BytesMut::with_capacity(bytes.len() + HEAD_BYTES);
        let mut rest = bytes;
        loop {
            let (one, more) = rest.split_at(rest.len().min(PIECE_BYTES_MAX));
            let is_last = is_last && more.is_empty();
            let mac = self.secret.sign(&about(&piece(&self.greeting, &self.address, self.next, is_last), one));
            written.put_u32(u32::try_from(one.len()).unwrap_or(u32::MAX));
            written.put_u8(u8::from(is_last));
            written.put_slice(&mac);
            written.put_slice(one);
            self.next += 1;
            if more.is_empty() {
                return written.freeze();
            }
            rest = more;
        }
    }
}

/// Reads the pieces of one answer. Keeps no more than what came of one piece and of what came with it.
#[derive(Debug)]
pub struct PieceReader {
    secret: ReplicaSecret,
    greeting: Greeting,
    address: String,
    next: u64,
    buffer: BytesMut,
    is_over: bool,
}

impl PieceReader {
    /// Of the answer of a replica at an address to a greeting.
    pub fn new(secret: ReplicaSecret, greeting: Greeting, address: &str) -> Self {
        Self { secret, greeting, address: address.to_owned(), next: 0, buffer: BytesMut::new(), is_over: false }
    }

    /// Takes what came.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The next piece that is there whole, and whether it is the last.
    ///
    /// # Errors
    /// It can't be believed.
    pub fn take(&mut self) -> Result<Option<(Bytes, bool)>, PieceError> {
        if self.is_over {
            // Nothing comes behind the last.
            return if self.buffer.is_empty() { Ok(None) } else { Err(PieceError::NotOurs) };
        }
        let Some((head, _)) = self.buffer.split_at_checked(HEAD_BYTES) else { return Ok(None) };
        let mut head = Bytes::copy_from_slice(head);
        let length = usize::try_from(head.get_u32()).unwrap_or(usize::MAX);
        let is_last = head.get_u8() == 1;
        if length > PIECE_BYTES_MAX {
            return Err(PieceError::TooLong);
        }
        if self.buffer.len() < HEAD_BYTES + length {
            return Ok(None);
        }
        self.buffer.advance(HEAD_BYTES);
        let bytes = self.buffer.split_to(length).freeze();
        let text = about(&piece(&self.greeting, &self.address, self.next, is_last), &bytes);
        if !self.secret.is_mac(&text, &head) {
            return Err(PieceError::NotOurs);
        }
        self.next += 1;
        self.is_over = is_last;
        Ok(Some((bytes, is_last)))
    }

    /// Whether the last piece was there.
    pub fn is_over(&self) -> bool {
        self.is_over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: (&str, &str) = ("a", "https://a.example");

    fn secret() -> ReplicaSecret {
        ReplicaSecret::new(b"0123456789abcdef0123456789abcdef").unwrap()
    }

    fn greeting() -> Greeting {
        Greeting { from: "b".to_owned(), to: "a".to_owned(), at_ms: 1_000_000, nonce: 7 }
    }

    fn read(reader: &mut PieceReader, bytes: &[u8]) -> Result<Vec<(Vec<u8>, bool)>, PieceError> {
        let mut pieces = Vec::new();
        // In the smallest parts that a network can make.
        for byte in bytes {
            reader.push(&[*byte]);
            while let Some((bytes, is_last)) = reader.take()? {
                pieces.push((bytes.to_vec(), is_last));
            }
        }
        Ok(pieces)
    }

    fn reader() -> PieceReader {
        PieceReader::new(secret(), greeting(), US.1)
    }

    #[test]
    fn a_request_that_is_handed_on_is_nothing_else_and_nothing_else_is_one() {
        let ours = secret();
        let header = ours.sign_handed_on(&greeting(), US.1, b"{}");
        assert_eq!(ours.verify_handed_on(&header, US, 1_000_000, b"{}"), Ok(greeting()));
        assert_eq!(ours.verify_handed_on(&header, US, 1_000_000, b"{ }"), Err(GreetingError::NotOurs));
        assert_eq!(
            ours.verify_handed_on(&header, US, 1_000_000 + 3_600_000, b"{}"),
            Err(GreetingError::Clocks(3_600_000))
        );
        assert_eq!(ours.verify_request(&header, US, 1_000_000, b"{}"), Err(GreetingError::NotOurs));
        assert_eq!(ours.read(&header, US, 1_000_000), Err(GreetingError::NotOurs));
        let asked = ours.sign_request(&greeting(), US.1, b"{}");
        assert_eq!(ours.verify_handed_on(&asked, US, 1_000_000, b"{}"), Err(GreetingError::NotOurs));
        let theirs = ReplicaSecret::new(b"1123456789abcdef0123456789abcdef").unwrap();
        let forged = theirs.sign_handed_on(&greeting(), US.1, b"{}");
        assert_eq!(ours.verify_handed_on(&forged, US, 1_000_000, b"{}"), Err(GreetingError::NotOurs));
    }

    #[test]
    fn pieces_come_as_they_were_written_however_they_arrive() {
        let mut writer = PieceWriter::new(secret(), greeting(), US.1);
        let long = vec![7; PIECE_BYTES_MAX + 3];
        let written = [writer.write(b"head", false), writer.write(&long, false), writer.write(b"", true)].concat();
        let mut reader = reader();
        let pieces = read(&mut reader, &written).unwrap();
        let lengths: Vec<_> = pieces.iter().map(|(bytes, is_last)| (bytes.len(), *is_last)).collect();
        assert_eq!(lengths, [(4, false), (PIECE_BYTES_MAX, false), (3, false), (0, true)]);
        assert!(reader.is_over());
        reader.push(b"x");
        assert_eq!(reader.take(), Err(PieceError::NotOurs), "nothing comes behind the last");
    }

    #[test]
    fn what_is_changed_left_out_repeated_or_of_another_answer_is_noticed() {
        let mut writer = PieceWriter::new(secret(), greeting(), US.1);
        let (one, two, last) = (writer.write(b"one", false), writer.write(b"two", false), writer.write(b"", true));
        let whole = [&*one, &*two, &*last].concat();
        assert!(read(&mut reader(), &whole).is_ok());
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            let mut reader = reader();
            assert!(read(&mut reader, &changed).is_err() || !reader.is_over(), "{at}");
        }
        for wrong in [[&*two, &one, &last].concat(), [&*one, &last].concat(), [&*one, &one].concat()] {
            assert_eq!(read(&mut reader(), &wrong).map(|_| ()), Err(PieceError::NotOurs));
        }
        let mut cut = reader();
        assert!(read(&mut cut, &[&*one, &two].concat()).is_ok() && !cut.is_over());
        let other = Greeting { nonce: 8, ..greeting() };
        let mut other = PieceReader::new(secret(), other, US.1);
        assert_eq!(read(&mut other, &whole).map(|_| ()), Err(PieceError::NotOurs));
        let mut endless = reader();
        endless.push(&[0xff; HEAD_BYTES]);
        assert_eq!(endless.take(), Err(PieceError::TooLong));
    }
}
