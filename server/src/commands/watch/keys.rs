//! What a terminal sends as keys. Pure: bytes in, keys out, whatever the pieces they come in.

/// A key that is acted on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    /// A character.
    Char(char),
    /// Enter.
    Enter,
    /// Escape alone.
    Escape,
    /// Delete what stands before.
    Backspace,
    /// A row up.
    Up,
    /// A row down.
    Down,
    /// A screen up.
    PageUp,
    /// A screen down.
    PageDown,
    /// To the first row.
    Home,
    /// To the last row.
    End,
    /// Ctrl-C, Ctrl-D or Ctrl-\.
    Interrupt,
    /// Ctrl-Z.
    Suspend,
    /// Ctrl-L.
    Redraw,
}

/// Bytes of a sequence that are kept until its end; a longer one is none.
const SEQUENCE_MAX: usize = 32;

/// Makes keys of bytes.
#[derive(Debug, Default)]
pub(super) struct KeyReader {
    rest: Vec<u8>,
}

impl KeyReader {
    /// The keys in what came. An escape at its very end is kept: a sequence may be on its way.
    pub(super) fn read(&mut self, bytes: &[u8]) -> Vec<Key> {
        self.rest.extend_from_slice(bytes);
        let mut keys = Vec::new();
        while let Some((key, used)) = next(&self.rest) {
            keys.extend(key);
            self.rest.drain(..used.clamp(1, self.rest.len()));
        }
        keys
    }

    /// Nothing followed for a while: an escape that was kept is the key.
    pub(super) fn settle(&mut self) -> Option<Key> {
        let is_escape = self.rest.first() == Some(&0x1b);
        self.rest.clear();
        is_escape.then_some(Key::Escape)
    }

    /// Whether something is kept.
    pub(super) fn is_waiting(&self) -> bool {
        !self.rest.is_empty()
    }
}

/// The first key and the bytes it takes; None while more have to come.
fn next(bytes: &[u8]) -> Option<(Option<Key>, usize)> {
    let first = *bytes.first()?;
    let key = match first {
        0x1b => return sequence(bytes),
        b'\r' | b'\n' => Key::Enter,
        0x7f | 0x08 => Key::Backspace,
        0x03 | 0x04 | 0x1c => Key::Interrupt,
        0x1a => Key::Suspend,
        0x0c => Key::Redraw,
        0x06 => Key::PageDown,
        0x02 => Key::PageUp,
        0x0e => Key::Down,
        0x10 => Key::Up,
        0x00..=0x1f => return Some((None, 1)),
        0x20..=0x7e => Key::Char(char::from(first)),
        _ => return character(bytes),
    };
    Some((Some(key), 1))
}

/// A character of several bytes.
fn character(bytes: &[u8]) -> Option<(Option<Key>, usize)> {
    let length = match bytes.first()? {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return Some((None, 1)),
    };
    let part = bytes.get(..length.min(bytes.len()))?;
    match std::str::from_utf8(part) {
        Ok(text) => Some((text.chars().next().filter(|char| !char.is_control()).map(Key::Char), length)),
        Err(error) if error.error_len().is_none() && part.len() < length => None,
        Err(_) => Some((None, 1)),
    }
}

/// What begins with an escape.
fn sequence(bytes: &[u8]) -> Option<(Option<Key>, usize)> {
    match bytes.get(1)? {
        b'[' => {}
        // Some terminals send arrows so.
        b'O' => return bytes.get(2).map(|last| (named(*last, &[]), 3)),
        0x1b => return Some((Some(Key::Escape), 1)),
        // Alt and a key: neither is one of ours.
        _ => return Some((None, 2)),
    }
    let body = bytes.get(2..)?;
    let Some(end) = body.iter().position(|byte| (0x40..=0x7e).contains(byte)) else {
        return (bytes.len() > SEQUENCE_MAX).then_some((None, bytes.len()));
    };
    let (parameters, last) = (body.get(..end)?, *body.get(end)?);
    Some((named(last, parameters), end + 3))
}

fn named(last: u8, parameters: &[u8]) -> Option<Key> {
    match (last, parameters) {
        (b'A', _) => Some(Key::Up),
        (b'B', _) => Some(Key::Down),
        (b'H', _) | (b'~', b"1" | b"7") => Some(Key::Home),
        (b'F', _) | (b'~', b"4" | b"8") => Some(Key::End),
        (b'M', b"") => Some(Key::Enter),
        (b'~', b"5") => Some(Key::PageUp),
        (b'~', b"6") => Some(Key::PageDown),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_the_same_whatever_pieces_they_come_in() {
        let bytes = "jk\r\u{7f}/锁\u{1b}[A\u{1b}OB\u{1b}[5~\u{1b}[1;5H\u{1b}[200~q\u{3}\u{1a}\u{c}".as_bytes();
        let expected = [
            Key::Char('j'),
            Key::Char('k'),
            Key::Enter,
            Key::Backspace,
            Key::Char('/'),
            Key::Char('锁'),
            Key::Up,
            Key::Down,
            Key::PageUp,
            Key::Home,
            Key::Char('q'),
            Key::Interrupt,
            Key::Suspend,
            Key::Redraw,
        ];
        for size in 1..bytes.len() {
            let mut reader = KeyReader::default();
            let keys: Vec<Key> = bytes.chunks(size).flat_map(|piece| reader.read(piece)).collect();
            assert_eq!(keys, expected, "{size}");
            assert!(!reader.is_waiting());
        }
    }

    #[test]
    fn an_escape_is_a_key_once_nothing_follows() {
        let mut reader = KeyReader::default();
        assert_eq!(reader.read(b"\x1b"), []);
        assert!(reader.is_waiting());
        assert_eq!(reader.settle(), Some(Key::Escape));
        assert_eq!(reader.settle(), None);
        assert_eq!(reader.read(b"\x1b\x1b[A"), [Key::Escape, Key::Up]);
    }

    #[test]
    fn rubbish_ends() {
        let mut reader = KeyReader::default();
        let mut long = b"\x1b[".to_vec();
        long.extend([b'1'; 200]);
        assert_eq!(reader.read(&long), []);
        assert!(!reader.is_waiting());
        assert_eq!(reader.read(&[0xff, 0xfe, 0xe2, 0x28, b'q']), [Key::Char('('), Key::Char('q')]);
    }
}
