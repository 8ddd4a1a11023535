//! Message authentication codes: HMAC-SHA256.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// The code of parts that follow each other.
#[must_use]
pub fn hmac_sha256(key: &[u8], parts: &[&[u8]]) -> Vec<u8> {
    keyed(key, parts).map(|mac| mac.finalize().into_bytes().to_vec()).unwrap_or_default()
}

/// The same of a text, hexadecimal.
#[must_use]
pub fn hmac_hex(key: &str, text: &str) -> String {
    hex::encode(hmac_sha256(key.as_bytes(), &[text.as_bytes()]))
}

/// Whether a code is [`hmac_hex`]'s, in a time that does not depend on where they differ.
#[must_use]
pub fn is_hmac_hex(key: &str, text: &str, code: &str) -> bool {
    let Ok(code) = hex::decode(code) else { return false };
    keyed(key.as_bytes(), &[text.as_bytes()]).is_some_and(|mac| mac.verify_slice(&code).is_ok())
}

/// Never None: a key of any length is taken.
fn keyed(key: &[u8], parts: &[&[u8]]) -> Option<Hmac<Sha256>> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).ok()?;
    for part in parts {
        mac.update(part);
    }
    Some(mac)
}
