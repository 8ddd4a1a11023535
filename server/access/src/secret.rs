//! What must not be shown: text that somebody keeps to themselves, and the hash we keep of it. Neither can be printed.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

const RANDOM_BYTES: usize = 32;

/// A password, a token or the id of a session. Its `Debug` form says nothing, and it has no `Display`.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    pub fn new(text: String) -> Self {
        Self(text)
    }

    /// 256 bits of chance from a generator made for secrets (seeded and reseeded by the system), in hexadecimal.
    pub fn random() -> Self {
        Self(hex::encode(rand::random::<[u8; RANDOM_BYTES]>()))
    }

    /// The text. Whoever asks sees to it that it goes nowhere else.
    pub fn expose(&self) -> &str {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Its hash. One round of SHA-256 is right for what [`Secret::random`] makes, and only for that: no table and no
    /// search gets anywhere against 256 bits of chance, so there is nothing that a slow hash would slow down. A
    /// password, which people choose, goes through Argon2id instead.
    pub fn digest(&self) -> Digest {
        Digest(Sha256::digest(self.0.as_bytes()).into())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// The hash of a secret: all that is kept of it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digest([u8; 32]);

impl Digest {
    /// Whether two are the same, in a time that does not depend on where they differ.
    pub fn is(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Digest(…)")
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> Self {
        hex::encode(digest.0)
    }
}

impl TryFrom<String> for Digest {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let mut bytes = [0; 32];
        let decoded = hex::decode_to_slice(text, &mut bytes);
        decoded.map(|()| Self(bytes)).map_err(|_| "a hash is not 64 hexadecimal digits".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_secret_nor_hash_can_be_printed() {
        let secret = Secret::new("hunter2-canary".to_owned());
        let digest = secret.digest();
        let shown = format!("{secret:?} {digest:?} {:?}", Some((&secret, &digest)));
        assert!(!shown.contains("canary") && !shown.contains(&String::from(digest)), "{shown}");
    }

    #[test]
    fn a_hash_survives_the_file_and_nothing_else_is_one() {
        let digest = Secret::random().digest();
        assert_eq!(Digest::try_from(String::from(digest)), Ok(digest));
        for text in ["", "00", &"g".repeat(64), &"é".repeat(32), &"0".repeat(66), &"+1".repeat(32)] {
            assert!(Digest::try_from(text.to_owned()).is_err(), "{text}");
        }
        assert_ne!(Secret::random(), Secret::random());
    }
}
