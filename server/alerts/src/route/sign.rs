//! The signatures that receivers check: HMAC-SHA256, written as each of them wants it. Pure.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lockscope_runtime::mac::hmac_sha256;
use sha2::{Digest as _, Sha256};

/// Feishu's: time in seconds and secret are the key, and nothing is the message.
pub(super) fn feishu(secret: &[u8], at_s: i64) -> String {
    let key = [format!("{at_s}\n").as_bytes(), secret].concat();
    STANDARD.encode(hmac_sha256(&key, &[]))
}

/// DingTalk's: the secret is the key, and time in milliseconds and secret are the message.
pub(super) fn dingtalk(secret: &[u8], at_ms: i64) -> String {
    STANDARD.encode(hmac_sha256(secret, &[format!("{at_ms}\n").as_bytes(), secret]))
}

/// The first 32 bits of the text's SHA-256: enough to tell apart what looks alike after it was cut.
pub(super) fn fingerprint(text: &str) -> String {
    hex::encode(Sha256::digest(text.as_bytes()).get(..4).unwrap_or_default())
}
