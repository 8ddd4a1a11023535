//! The signatures that receivers check: HMAC-SHA256, written as each of them wants it. Pure.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};

/// The value of a webhook's header, as that of the audit log's: `t=<ms>,v1=<hexadecimal HMAC-SHA256 of "t.body">`.
pub(super) fn webhook(secret: &[u8], at_ms: i64, body: &[u8]) -> String {
    let mac = hmac_sha256(secret, &[format!("{at_ms}.").as_bytes(), body]);
    format!("t={at_ms},v1={}", hex::encode(mac))
}

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

fn hmac_sha256(key: &[u8], parts: &[&[u8]]) -> Vec<u8> {
    // A key of any length is taken.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return Vec::new() };
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().to_vec()
}
