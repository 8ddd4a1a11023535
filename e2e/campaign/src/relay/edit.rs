//! Changes packets on their way, as a real server could have sent them. Knows of ZooKeeper's protocol that a packet is its
//! length and so many bytes, and which reply is an event. Pure.

/// What is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edit {
    None,
    /// Each event arrives twice.
    DoubleEvents,
}

/// Bytes of a packet's length.
const LENGTH: usize = 4;
/// Where a reply has the number of the request.
const XID: std::ops::Range<usize> = 4..8;
/// The number of what nobody asked for.
const EVENT: [u8; 4] = (-1_i32).to_be_bytes();

/// The packets from a member on one connection.
#[derive(Debug)]
pub(super) struct Packets {
    edit: Edit,
    /// The first packet grants the session and has no number.
    is_open: bool,
    /// A packet that has not arrived as a whole.
    rest: Vec<u8>,
}

impl Packets {
    pub(super) fn new(edit: Edit) -> Self {
        Self { edit, is_open: false, rest: Vec::new() }
    }

    /// What goes on of a chunk. Where nothing is changed, the chunk itself.
    pub(super) fn edit(&mut self, chunk: Vec<u8>) -> Vec<u8> {
        match self.edit {
            Edit::None => chunk,
            Edit::DoubleEvents => self.each(&chunk, double_event),
        }
    }

    fn each(&mut self, chunk: &[u8], edit: impl Fn(&[u8], &mut Vec<u8>)) -> Vec<u8> {
        self.rest.extend_from_slice(chunk);
        let (mut out, mut at) = (Vec::with_capacity(chunk.len()), 0);
        while let Some(packet) = whole(&self.rest[at..]) {
            if self.is_open {
                edit(packet, &mut out);
            } else {
                out.extend_from_slice(packet);
                self.is_open = true;
            }
            at += packet.len();
        }
        self.rest.drain(..at);
        out
    }
}

/// The first packet, with its length.
fn whole(bytes: &[u8]) -> Option<&[u8]> {
    let length = u32::from_be_bytes(bytes.get(..LENGTH)?.try_into().ok()?);
    bytes.get(..LENGTH + usize::try_from(length).ok()?)
}

fn double_event(packet: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(packet);
    if packet.get(XID) == Some(&EVENT) {
        out.extend_from_slice(packet);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(first: i32, second: i32) -> Vec<u8> {
        let body = [first.to_be_bytes(), second.to_be_bytes()].concat();
        [&8_u32.to_be_bytes()[..], &body].concat()
    }

    #[test]
    fn an_event_comes_twice_and_a_reply_once_however_they_are_cut() {
        let sent = [packet(-1, 0), packet(-1, 5), packet(3, 0)].concat();
        let expected = [packet(-1, 0), packet(-1, 5), packet(-1, 5), packet(3, 0)].concat();
        for size in 1..=sent.len() {
            let mut packets = Packets::new(Edit::DoubleEvents);
            let out: Vec<u8> = sent.chunks(size).flat_map(|chunk| packets.edit(chunk.to_vec())).collect();
            assert_eq!(out, expected);
        }
    }
}
