//! Frames in their two encodings, made of a head of one socket and a tail that all subscribers share.
//! Pure; the tests compare it with `view::encode_frame`, byte for byte.

use bytes::Bytes;
use lockscope_view::{
    Body, BodyPatch, DeltaBody, Epoch, PROTOCOL, SUBPROTOCOL_BIN, SUBPROTOCOL_JSON, ServerFrame, decode_frame,
    encode_frame,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::client_message::{ClientMessage, FrameError};
use super::{FeedError, json};

/// Place of `ServerFrame::Snapshot` among its variants; postcard writes it.
const SNAPSHOT_VARIANT: u32 = 1;
const DELTA_VARIANT: u32 = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Text frames for scripts.
    Json,
    /// The page's compact frames.
    Binary,
}

impl Encoding {
    /// Every encoding, the preferred first.
    pub const ALL: [Self; 2] = [Self::Binary, Self::Json];

    pub fn subprotocol(self) -> &'static str {
        match self {
            Self::Json => SUBPROTOCOL_JSON,
            Self::Binary => SUBPROTOCOL_BIN,
        }
    }
}

/// Encodes a whole frame.
///
/// # Errors
/// When a value has no encoding, which no frame can cause.
pub fn encode(frame: &ServerFrame, encoding: Encoding) -> Result<Bytes, FeedError> {
    match encoding {
        Encoding::Json => json::server_frame(frame).map(Bytes::from),
        Encoding::Binary => {
            encode_frame(frame).map(Bytes::from).ok_or_else(|| FeedError::Encoding("no compact form".to_owned()))
        }
    }
}

/// Reads a client frame.
///
/// # Errors
/// One sentence for the client.
pub fn parse_client(bytes: &[u8], encoding: Encoding) -> Result<ClientMessage, FrameError> {
    match encoding {
        Encoding::Json => json::client_frame(bytes),
        Encoding::Binary => match decode_frame(bytes) {
            Some(frame) => Ok(ClientMessage { frame, at: None }),
            None => Err(FrameError {
                id: None,
                detail: format!(
                    "the frame is not a client frame of {SUBPROTOCOL_BIN}: it starts with the byte {PROTOCOL}, then postcard"
                ),
            }),
        },
    }
}

/// A body's shared part of a snapshot frame.
pub(super) fn snapshot_tail(body: &Body, encoding: Encoding) -> Result<Bytes, FeedError> {
    match encoding {
        Encoding::Json => json::body(body).map(Bytes::from),
        Encoding::Binary => compact(body, Vec::new()),
    }
}

/// The shared part of a compact delta frame: the sequence number of the state it leads to, up to when that is known to be
/// true, and the difference.
pub(super) fn compact_delta_tail(seq: u64, known_at_ms: i64, patch: &BodyPatch) -> Result<Bytes, FeedError> {
    compact(&(seq, known_at_ms, patch), Vec::new())
}

pub(super) fn json_delta_tail(seq: u64, known_at_ms: i64, delta: &DeltaBody) -> Result<Bytes, FeedError> {
    let body = json::delta_body(delta)?;
    Ok(format!("\"seq\":{seq},\"known_at_ms\":{known_at_ms},\"body\":{body}}}").into())
}

/// What a snapshot says beside the body.
#[derive(Clone, Copy, Debug)]
pub(super) struct SnapshotHead {
    pub(super) id: u32,
    pub(super) epoch: Epoch,
    pub(super) seq: u64,
    pub(super) server_time_ms: i64,
    pub(super) known_at_ms: i64,
}

pub(super) fn snapshot(head: SnapshotHead, tail: &[u8], encoding: Encoding) -> Result<Bytes, FeedError> {
    let SnapshotHead { id, epoch, seq, server_time_ms, known_at_ms } = head;
    match encoding {
        Encoding::Json => {
            let head = format!(
                r#"{{"type":"snapshot","id":{id},"epoch":"{epoch}","seq":{seq},"server_time_ms":{server_time_ms},"known_at_ms":{known_at_ms},"body":"#
            );
            Ok([head.as_bytes(), tail, b"}"].concat().into())
        }
        Encoding::Binary => joined(&(SNAPSHOT_VARIANT, id, epoch, seq, server_time_ms, known_at_ms), tail),
    }
}

pub(super) fn delta(id: u32, server_time_ms: i64, tail: &[u8], encoding: Encoding) -> Result<Bytes, FeedError> {
    match encoding {
        Encoding::Json => {
            Ok([format!(r#"{{"type":"delta","id":{id},"server_time_ms":{server_time_ms},"#).as_bytes(), tail]
                .concat()
                .into())
        }
        Encoding::Binary => joined(&(DELTA_VARIANT, id, server_time_ms), tail),
    }
}

fn joined(head: &impl Serialize, tail: &[u8]) -> Result<Bytes, FeedError> {
    const HEAD_BYTES_MAX: usize = 48;
    let mut start = Vec::with_capacity(HEAD_BYTES_MAX + tail.len());
    start.push(PROTOCOL);
    let mut frame = postcard::to_extend(head, start).map_err(|error| FeedError::Encoding(error.to_string()))?;
    frame.extend_from_slice(tail);
    Ok(frame.into())
}

fn compact(value: &impl Serialize, start: Vec<u8>) -> Result<Bytes, FeedError> {
    let mut encoded = postcard::to_extend(value, start).map_err(|error| FeedError::Encoding(error.to_string()))?;
    // It is kept: what was left over must not be.
    encoded.shrink_to_fit();
    Ok(encoded.into())
}

/// What the shared part of a compact frame says.
pub(super) fn unpack<T: DeserializeOwned>(tail: &[u8]) -> Result<T, FeedError> {
    postcard::from_bytes(tail).map_err(|error| FeedError::Encoding(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockscope_view::{Board, BoardDelta, BoardHead, CompactFrame, LockRow, Window};

    fn delta_body() -> DeltaBody {
        DeltaBody::Board(BoardDelta { head: Some(BoardHead::default()), window: None })
    }

    fn body_patch() -> BodyPatch {
        BodyPatch::Whole(Body::Board(Board::default()))
    }

    #[test]
    fn spliced_binary_frames_are_the_bytes_of_encode_frame() {
        for (id, seq, server_time_ms) in
            [(0, 1, -1), (1, 127, 1_700_000_000_000), (300, 128, 0), (u32::MAX, u64::MAX, i64::MAX)]
        {
            let epoch = Epoch(-42);
            let known_at_ms = server_time_ms.saturating_sub(9);
            let tail = compact_delta_tail(seq, known_at_ms, &body_patch()).unwrap();
            let body = body_patch();
            let whole = encode_frame(&CompactFrame::Delta { id, server_time_ms, seq, known_at_ms, body }).unwrap();
            assert_eq!(delta(id, server_time_ms, &tail, Encoding::Binary).unwrap(), whole);

            let body = Body::Board(Board { head: BoardHead::default(), window: Window::<LockRow>::default() });
            let tail = snapshot_tail(&body, Encoding::Binary).unwrap();
            let head = SnapshotHead { id, epoch, seq, server_time_ms, known_at_ms };
            let whole =
                encode_frame(&ServerFrame::Snapshot { id, epoch, seq, server_time_ms, known_at_ms, body: body.into() })
                    .unwrap();
            assert_eq!(snapshot(head, &tail, Encoding::Binary).unwrap(), whole);
        }
    }

    #[test]
    fn spliced_json_frames_are_the_text_of_the_whole_frame() {
        let tail = json_delta_tail(8, 4, &delta_body()).unwrap();
        let whole = json::server_frame(&ServerFrame::Delta {
            id: 3,
            server_time_ms: 5,
            seq: 8,
            known_at_ms: 4,
            body: delta_body(),
        })
        .unwrap();
        assert_eq!(delta(3, 5, &tail, Encoding::Json).unwrap(), whole);

        let body = Body::Lock(None);
        let head = SnapshotHead { id: 3, epoch: Epoch(16), seq: 8, server_time_ms: 5, known_at_ms: 4 };
        let tail = snapshot_tail(&body, Encoding::Json).unwrap();
        let whole = json::server_frame(&ServerFrame::Snapshot {
            id: 3,
            epoch: Epoch(16),
            seq: 8,
            server_time_ms: 5,
            known_at_ms: 4,
            body: body.into(),
        })
        .unwrap();
        assert_eq!(snapshot(head, &tail, Encoding::Json).unwrap(), whole);
    }

    #[test]
    fn a_frame_of_another_version_is_refused_in_one_sentence() {
        let refusal = parse_client(&[9, 9, 9], Encoding::Binary).unwrap_err();
        assert!(
            refusal.detail.starts_with("the frame is not a client frame of lockscope.v1.bin"),
            "{}",
            refusal.detail
        );
    }
}
