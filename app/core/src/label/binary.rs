//! Identities in serialised payloads: Java's strings and protocol buffers.
//!
//! Sources: Java Object Serialization Stream Protocol, protocol buffers' encoding, HBase
//! `RecoverableZooKeeper.appendMetaData` and `ProtobufUtil.PB_MAGIC`, Hadoop `HAZKInfo.proto` (`ActiveNodeInfo`).

use crate::znode::PAYLOAD_BYTES_MAX;

/// Messages within messages that are looked into.
const DEPTH_MAX: u32 = 4;
/// A shorter text names no host.
const HOST_BYTES_MIN: usize = 3;

/// A string as Java serialises it: magic, version, a tag, its length, its bytes.
pub(super) fn java_string(payload: &[u8]) -> Option<String> {
    let text = match payload.strip_prefix(b"\xac\xed\x00\x05")? {
        [b't', a, b, text @ ..] => text.get(..usize::from(u16::from_be_bytes([*a, *b]))).unwrap_or(text),
        [b'|', a, b, c, d, e, f, g, h, text @ ..] => {
            let length = usize::try_from(u64::from_be_bytes([*a, *b, *c, *d, *e, *f, *g, *h])).ok()?;
            text.get(..length).unwrap_or(text)
        }
        _ => return None,
    };
    Some(String::from_utf8_lossy(text).into_owned())
}

/// The host that a protocol buffer names, by what looks like one: the first text with a dot, else the last text.
pub(super) fn host(payload: &[u8]) -> Option<&str> {
    let message = after_hbase_head(payload).unwrap_or(payload);
    let is_cut = payload.len() >= PAYLOAD_BYTES_MAX;
    let mut texts = Vec::new();
    collect(message, is_cut, DEPTH_MAX, &mut texts)?;
    texts.iter().find(|text| text.contains('.')).or(texts.last()).copied()
}

/// HBase puts a magic byte, a length and who wrote it before the message, and `PBUF` in front of that.
fn after_hbase_head(payload: &[u8]) -> Option<&[u8]> {
    let body = match payload {
        [0xff, a, b, c, d, rest @ ..] => rest.get(usize::try_from(u32::from_be_bytes([*a, *b, *c, *d])).ok()?..)?,
        other => other,
    };
    body.strip_prefix(b"PBUF")
}

/// Collects the texts of a message, nested ones as well; None when these bytes are no message.
fn collect<'a>(mut message: &'a [u8], is_cut: bool, depth: u32, texts: &mut Vec<&'a str>) -> Option<()> {
    while !message.is_empty() {
        let (tag, rest) = varint(message)?;
        if tag >> 3 == 0 {
            return None;
        }
        message = match tag & 7 {
            0 => varint(rest)?.1,
            1 => rest.get(8..)?,
            5 => rest.get(4..)?,
            2 => {
                let (length, rest) = varint(rest)?;
                let length = usize::try_from(length).ok()?;
                let Some((field, rest)) = rest.split_at_checked(length) else { return is_cut.then_some(()) };
                match std::str::from_utf8(field).ok().filter(|text| is_host(text)) {
                    Some(text) => texts.push(text),
                    None if depth > 0 => {
                        let known = texts.len();
                        if collect(field, false, depth - 1, texts).is_none() {
                            texts.truncate(known);
                        }
                    }
                    None => {}
                }
                rest
            }
            _ => return None,
        };
    }
    Some(())
}

fn is_host(text: &str) -> bool {
    text.len() >= HOST_BYTES_MIN
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b':'))
}

fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0_u64;
    for (at, byte) in bytes.iter().enumerate().take(10) {
        value |= u64::from(byte & 0x7f).checked_shl(u32::try_from(at).ok()? * 7)?;
        if byte & 0x80 == 0 {
            return Some((value, bytes.get(at + 1..)?));
        }
    }
    None
}
