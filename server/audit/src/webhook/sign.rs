//! The signature: HMAC-SHA256 over time and body, so that neither can be changed or sent again later. Pure.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// The value of the header: `t=<ms>,v1=<hexadecimal HMAC-SHA256 of "t.body">`.
pub fn signature(secret: &[u8], at_ms: i64, body: &[u8]) -> String {
    // A key of any length is taken.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret) else { return format!("t={at_ms}") };
    mac.update(format!("{at_ms}.").as_bytes());
    mac.update(body);
    format!("t={at_ms},v1={}", hex::encode(mac.finalize().into_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_hmac_that_everybody_computes() {
        // printf '17.{}' | openssl dgst -sha256 -hmac Jefe
        let expected = "t=17,v1=20436aa1b1c2be79262487183b4bde32ab5295b6c1b6708037853fcdd1912c7b";
        assert_eq!(signature(b"Jefe", 17, b"{}"), expected);
        assert_ne!(signature(b"Jefe", 18, b"{}"), expected);
        assert_ne!(signature(b"jefe", 17, b"{}"), expected);
    }
}
