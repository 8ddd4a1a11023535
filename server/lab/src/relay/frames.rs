//! Finds the frames in a stream of bytes, however it is sliced. Keeps the head of one frame and nothing of its body, so
//! a list of megabytes costs no memory. Must not know what frames mean.

/// Bytes of the length before each frame.
const LENGTH_BYTES: usize = 4;

/// Longest head that is kept: the length, and the header of a reply (number, transaction, error).
const HEAD_BYTES_MAX: usize = LENGTH_BYTES + 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    bytes: [u8; HEAD_BYTES_MAX],
    len: usize,
    /// Where the frame began in the bytes that were given last; None: before them.
    pub(super) begins: Option<usize>,
}

/// A stream, as far as it was read.
#[derive(Debug)]
pub(super) struct Frames {
    head: [u8; HEAD_BYTES_MAX],
    have: usize,
    /// Bytes of the head that are asked for, where the frame is that long.
    wanted: usize,
    /// Bytes of the body that are still to come.
    left: usize,
}

/// A frame with a length below nothing: this is not ZooKeeper's protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Malformed;

impl Head {
    fn number(&self, at: usize) -> Option<i32> {
        let bytes =
            self.bytes.get(LENGTH_BYTES + at..LENGTH_BYTES + at + 4).filter(|_| LENGTH_BYTES + at + 4 <= self.len)?;
        Some(i32::from_be_bytes(bytes.try_into().ok()?))
    }

    /// The number that joins a reply to its request.
    pub(super) fn xid(&self) -> Option<i32> {
        self.number(0)
    }

    pub(super) fn opcode(&self) -> Option<i32> {
        self.number(4)
    }

    /// How a reply says that it went; 0: well.
    pub(super) fn error(&self) -> Option<i32> {
        self.number(12)
    }
}

impl Frames {
    /// Frames of requests: number and kind are kept.
    pub(super) fn of_requests() -> Self {
        Self::new(LENGTH_BYTES + 8)
    }

    /// Frames of replies: number, transaction and error are kept.
    pub(super) fn of_replies() -> Self {
        Self::new(HEAD_BYTES_MAX)
    }

    fn new(wanted: usize) -> Self {
        Self { head: [0; HEAD_BYTES_MAX], have: 0, wanted, left: 0 }
    }

    fn length(&self) -> Result<usize, Malformed> {
        let [a, b, c, d, ..] = self.head;
        usize::try_from(i32::from_be_bytes([a, b, c, d])).map_err(|_| Malformed)
    }

    /// Reads on; `found` gets each head as soon as it is whole.
    ///
    /// # Errors
    /// When this can't be the protocol.
    pub(super) fn read(&mut self, bytes: &[u8], mut found: impl FnMut(Head)) -> Result<(), Malformed> {
        let mut at = 0;
        let mut begins = None;
        while at < bytes.len() {
            if self.left > 0 {
                let skipped = self.left.min(bytes.len() - at);
                self.left -= skipped;
                at += skipped;
                continue;
            }
            if self.have == 0 {
                begins = Some(at);
            }
            let goal =
                if self.have < LENGTH_BYTES { LENGTH_BYTES } else { self.wanted.min(LENGTH_BYTES + self.length()?) };
            let taken = (goal - self.have).min(bytes.len() - at);
            self.head[self.have..self.have + taken].copy_from_slice(&bytes[at..at + taken]);
            self.have += taken;
            at += taken;
            if self.have < LENGTH_BYTES {
                continue;
            }
            let length = self.length()?;
            if self.have >= self.wanted.min(LENGTH_BYTES + length) {
                found(Head { bytes: self.head, len: self.have, begins });
                self.left = LENGTH_BYTES + length - self.have;
                self.have = 0;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn stream(bodies: &[Vec<u8>]) -> Vec<u8> {
        bodies.iter().flat_map(|body| [&u32::try_from(body.len()).unwrap().to_be_bytes()[..], body].concat()).collect()
    }

    fn heads(mut frames: Frames, slices: &[&[u8]]) -> Vec<(Option<i32>, Option<i32>, Option<i32>)> {
        let mut found = Vec::new();
        for slice in slices {
            frames.read(slice, |head| found.push((head.xid(), head.opcode(), head.error()))).unwrap();
        }
        found
    }

    proptest! {
        #[test]
        fn any_slicing_finds_the_same(
            bodies in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..60), 0..12),
            mut cuts in prop::collection::vec(0_usize..800, 0..30),
        ) {
            let bytes = stream(&bodies);
            cuts.retain(|cut| *cut <= bytes.len());
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let slices: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
            for make in [Frames::of_requests, Frames::of_replies] {
                let whole = heads(make(), &[&bytes]);
                prop_assert_eq!(whole.len(), bodies.len());
                for (body, head) in bodies.iter().zip(&whole) {
                    let xid = body.get(..4).map(|four| i32::from_be_bytes(four.try_into().unwrap()));
                    prop_assert_eq!(xid, head.0);
                }
                prop_assert_eq!(&heads(make(), &slices), &whole);
            }
        }

        #[test]
        fn garbage_is_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Frames::of_replies().read(&bytes, |_| ());
        }
    }

    #[test]
    fn a_frame_says_where_it_began() {
        let bytes = stream(&[vec![0; 16], vec![1; 40]]);
        let mut begins = Vec::new();
        let mut frames = Frames::of_replies();
        frames.read(&bytes[..22], |head| begins.push(head.begins)).unwrap();
        frames.read(&bytes[22..], |head| begins.push(head.begins)).unwrap();
        assert_eq!(begins, [Some(0), None]);
    }

    #[test]
    fn a_length_below_nothing_is_refused() {
        assert_eq!(Frames::of_replies().read(&[0xff; 8], |_| ()), Err(Malformed));
    }
}
