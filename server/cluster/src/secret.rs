//! How replicas know each other on a connection: by a secret that all of them have. It never crosses the network, and what
//! does is of use at one replica, once, and for some minutes: whoever writes a false address into a member's znode gets
//! nothing that another replica would take, and can't answer as one. Pure but for the random numbers.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};

use crate::member::is_id;

/// The header with which the one that answers proves itself.
pub const PROOF_HEADER: &str = "lockscope-replica-proof";
/// Bytes of a secret, at least: 32 random ones in hexadecimal have 64.
pub const SECRET_BYTES_MIN: usize = 32;
/// Bytes of a secret, at most.
const SECRET_BYTES_MAX: usize = 4_096;
/// By how much the clocks of two replicas may differ.
const CLOCKS_APART_MAX_MS: i64 = 300_000;
/// Greetings that are remembered. Overflow policy: while so many came within the time in which one is taken, no more are.
const GREETINGS_MAX: usize = 4_096;
/// The scheme of the header.
const SCHEME: &str = "Lockscope-Replica ";
/// Longest header that is read.
const HEADER_BYTES_MAX: usize = 512;

/// The secret of a cluster. It can't be printed.
#[derive(Clone)]
pub struct ReplicaSecret(Arc<[u8]>);

impl fmt::Debug for ReplicaSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ReplicaSecret")
    }
}

impl PartialEq for ReplicaSecret {
    fn eq(&self, other: &Self) -> bool {
        self.sign("equal") == other.sign("equal")
    }
}

impl Eq for ReplicaSecret {}

/// What a replica says of itself when it opens a connection to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Greeting {
    /// Its id.
    pub from: String,
    /// The id of whom it means.
    pub to: String,
    /// When, ms since the epoch.
    pub at_ms: i64,
    /// A random number, used once.
    pub nonce: u128,
}

/// Why a greeting is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GreetingError {
    /// There is none, or it is none.
    #[error("only other replicas of the cluster may open this; people and scripts use /api/v1/live")]
    Missing,
    /// It was made with another secret, or for another replica.
    #[error(
        "the replica has another `secret_file`, or means another replica than this one; give all of a cluster the same secret"
    )]
    NotOurs,
    /// The clocks differ.
    #[error("the clocks of the two replicas differ by {0} ms; set them, and keep them set")]
    Clocks(i64),
    /// It was taken before.
    #[error("this greeting was used before; a replica makes a new one for each connection")]
    Used,
    /// Too many came.
    #[error("too many replicas connect; try again later")]
    TooMany,
}

impl ReplicaSecret {
    /// Of the bytes of a file, without white space around them; None where they are too few or too many.
    pub fn new(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.trim_ascii();
        (SECRET_BYTES_MIN..=SECRET_BYTES_MAX).contains(&bytes.len()).then(|| Self(bytes.into()))
    }

    /// The value of the header `authorization` for a connection to a replica at an address.
    pub fn greet(&self, greeting: &Greeting, address: &str) -> String {
        self.header(greeting, &asked(greeting, address))
    }

    pub(crate) fn header(&self, greeting: &Greeting, signed: &str) -> String {
        let Greeting { from, to, at_ms, nonce } = greeting;
        format!("{SCHEME}{from} {to} {at_ms} {nonce:032x} {}", hex(&self.sign(signed)))
    }

    /// What the one who is meant proves itself with.
    pub fn prove(&self, greeting: &Greeting, address: &str) -> String {
        hex(&self.sign(&answered(greeting, address)))
    }

    /// Whether that came from one who has the secret, in answer to this very greeting.
    pub fn is_proof(&self, greeting: &Greeting, address: &str, proof: &str) -> bool {
        self.is_signed(&answered(greeting, address), proof)
    }

    /// The greeting in a header, if it was made with this secret for the replica of this id and address.
    ///
    /// # Errors
    /// See [`GreetingError`].
    pub fn read(&self, header: &str, (id, address): (&str, &str), now_ms: i64) -> Result<Greeting, GreetingError> {
        self.read_signed(header, (id, address), now_ms, |greeting| asked(greeting, address))
    }

    /// `signed`: what the signature of a greeting is about.
    pub(crate) fn read_signed(
        &self,
        header: &str,
        (id, _): (&str, &str),
        now_ms: i64,
        signed: impl FnOnce(&Greeting) -> String,
    ) -> Result<Greeting, GreetingError> {
        let rest = header.strip_prefix(SCHEME).filter(|_| header.len() <= HEADER_BYTES_MAX);
        let fields: Vec<&str> = rest.ok_or(GreetingError::Missing)?.split(' ').collect();
        let [from, to, at_ms, nonce, mac] = fields[..] else { return Err(GreetingError::Missing) };
        let at_ms = at_ms.parse().map_err(|_| GreetingError::Missing)?;
        let nonce = u128::from_str_radix(nonce, 16).map_err(|_| GreetingError::Missing)?;
        let greeting = Greeting { from: from.to_owned(), to: to.to_owned(), at_ms, nonce };
        if !is_id(from) || to != id || !self.is_signed(&signed(&greeting), mac) {
            return Err(GreetingError::NotOurs);
        }
        let apart_ms = now_ms.saturating_sub(at_ms);
        if apart_ms.saturating_abs() > CLOCKS_APART_MAX_MS {
            return Err(GreetingError::Clocks(apart_ms));
        }
        Ok(greeting)
    }

    /// The same as [`Self::greet`] for one request, of which nothing can be changed on the way.
    pub fn sign_request(&self, greeting: &Greeting, address: &str, body: &[u8]) -> String {
        self.header(greeting, &about(&asked(greeting, address), body))
    }

    /// The greeting in the header of one request, if it was made for this replica and this body.
    ///
    /// # Errors
    /// See [`GreetingError`].
    pub fn verify_request(
        &self,
        header: &str,
        us: (&str, &str),
        now_ms: i64,
        body: &[u8],
    ) -> Result<Greeting, GreetingError> {
        self.read_signed(header, us, now_ms, |greeting| about(&asked(greeting, us.1), body))
    }

    /// What the one who is meant proves itself with, and that this is its answer.
    pub fn sign_answer(&self, greeting: &Greeting, address: &str, answer: &[u8]) -> String {
        hex(&self.sign(&about(&answered(greeting, address), answer)))
    }

    /// Whether an answer came from one who has the secret, as it is, to this very greeting.
    pub fn verify_answer(&self, greeting: &Greeting, address: &str, answer: &[u8], proof: &str) -> bool {
        self.is_signed(&about(&answered(greeting, address), answer), proof)
    }

    fn mac(&self, text: &str) -> Option<Hmac<Sha256>> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).ok()?;
        mac.update(text.as_bytes());
        Some(mac)
    }

    pub(crate) fn sign(&self, text: &str) -> Vec<u8> {
        self.mac(text).map(|mac| mac.finalize().into_bytes().to_vec()).unwrap_or_default()
    }

    /// In a time that says nothing of where the two differ.
    fn is_signed(&self, text: &str, signature: &str) -> bool {
        unhex(signature).is_some_and(|bytes| self.is_mac(text, &bytes))
    }

    /// The same of a signature in bytes.
    pub(crate) fn is_mac(&self, text: &str, mac: &[u8]) -> bool {
        self.mac(text).is_some_and(|own| own.verify_slice(mac).is_ok())
    }
}

fn asked(greeting: &Greeting, address: &str) -> String {
    let Greeting { from, to, at_ms, nonce } = greeting;
    format!("lockscope replica 1: asks\n{from}\n{to}\n{address}\n{at_ms}\n{nonce}")
}

fn answered(greeting: &Greeting, address: &str) -> String {
    let Greeting { from, to, at_ms, nonce } = greeting;
    format!("lockscope replica 1: answers\n{from}\n{to}\n{address}\n{at_ms}\n{nonce}")
}

/// The headers of a forwarded answer, in lower case; none has a line break.
pub const ANSWER_HEADERS: [&str; 4] = ["content-type", "content-security-policy", "content-disposition", "retry-after"];

/// What the signature of an answer covers: the status, the values of [`ANSWER_HEADERS`], empty where there is none, and
/// the body.
pub fn answer_text(status: u16, headers: &[String; ANSWER_HEADERS.len()], body: &[u8]) -> Vec<u8> {
    [format!("{status}\n{}\n", headers.join("\n")).as_bytes(), body].concat()
}

/// A text that is about some bytes as well.
pub(crate) fn about(text: &str, bytes: &[u8]) -> String {
    format!("{text}\nabout {}", hex(&Sha256::digest(bytes)))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let is_hex = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let digits = text.as_bytes().chunks(2).map(|two| u8::from_str_radix(str::from_utf8(two).ok()?, 16).ok());
    if is_hex { digits.collect() } else { None }
}

/// Greetings that were taken, each of them once; clones share them.
#[derive(Clone, Debug, Default)]
pub struct Greetings(Arc<Mutex<VecDeque<(i64, u128)>>>);

impl Greetings {
    /// Takes a greeting that was read.
    ///
    /// # Errors
    /// It was taken before, or too many were.
    pub fn take(&self, greeting: &Greeting, now_ms: i64) -> Result<(), GreetingError> {
        let mut taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // By our clock, and for twice as long as the clocks may differ.
        taken.retain(|(at_ms, _)| now_ms.saturating_sub(*at_ms).saturating_abs() <= 2 * CLOCKS_APART_MAX_MS);
        if taken.iter().any(|(_, nonce)| *nonce == greeting.nonce) {
            return Err(GreetingError::Used);
        }
        if taken.len() >= GREETINGS_MAX {
            return Err(GreetingError::TooMany);
        }
        taken.push_back((now_ms, greeting.nonce));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(text: &str) -> ReplicaSecret {
        ReplicaSecret::new(text.as_bytes()).unwrap()
    }

    fn greeting() -> Greeting {
        Greeting { from: "b".to_owned(), to: "a".to_owned(), at_ms: 1_000_000, nonce: 7 }
    }

    const US: (&str, &str) = ("a", "https://a.example");

    #[test]
    fn one_with_the_secret_is_known_and_proves_to_be_the_other() {
        let ours = secret("0123456789abcdef0123456789abcdef\n");
        let header = ours.greet(&greeting(), US.1);
        assert!(!header.contains("0123456789abcdef0123456789abcdef"));
        assert_eq!(ours.read(&header, US, 1_000_500), Ok(greeting()));
        let proof = ours.prove(&greeting(), US.1);
        assert!(ours.is_proof(&greeting(), US.1, &proof));
        assert!(!ours.is_proof(&Greeting { nonce: 8, ..greeting() }, US.1, &proof));
        // What was sent proves nothing when it is sent back.
        assert!(!ours.is_proof(&greeting(), US.1, header.rsplit(' ').next().unwrap()));
    }

    #[test]
    fn whatever_differs_is_refused() {
        let ours = secret("0123456789abcdef0123456789abcdef");
        let header = ours.greet(&greeting(), US.1);
        let theirs = secret("1123456789abcdef0123456789abcdef").greet(&greeting(), US.1);
        assert_eq!(ours.read(&theirs, US, 1_000_000), Err(GreetingError::NotOurs));
        assert_eq!(ours.read(&header, ("c", US.1), 1_000_000), Err(GreetingError::NotOurs));
        assert_eq!(ours.read(&header, ("a", "https://evil.example"), 1_000_000), Err(GreetingError::NotOurs));
        assert_eq!(ours.read(&header.replace("1000000", "1000001"), US, 1_000_000), Err(GreetingError::NotOurs));
        assert_eq!(ours.read(&header, US, 1_400_000), Err(GreetingError::Clocks(400_000)));
        for none in
            ["", "Bearer x", "Lockscope-Replica ", "Lockscope-Replica b a x y z", &"Lockscope-Replica ".repeat(99)]
        {
            assert_eq!(ours.read(none, US, 1_000_000), Err(GreetingError::Missing), "{none}");
        }
        assert_eq!(ReplicaSecret::new(b"short"), None);
        assert_eq!(ReplicaSecret::new(&[b'x'; SECRET_BYTES_MAX + 1]), None);
        assert_eq!(format!("{ours:?}"), "ReplicaSecret");
    }

    #[test]
    fn nothing_of_a_request_or_its_answer_can_be_changed() {
        let ours = secret("0123456789abcdef0123456789abcdef");
        let header = ours.sign_request(&greeting(), US.1, b"{}");
        assert_eq!(ours.verify_request(&header, US, 1_000_000, b"{}"), Ok(greeting()));
        assert_eq!(ours.verify_request(&header, US, 1_000_000, b"{ }"), Err(GreetingError::NotOurs));
        assert_eq!(ours.read(&header, US, 1_000_000), Err(GreetingError::NotOurs), "it opens no socket");
        let socket = ours.greet(&greeting(), US.1);
        assert_eq!(ours.verify_request(&socket, US, 1_000_000, b""), Err(GreetingError::NotOurs), "and is none");
        let proof = ours.sign_answer(&greeting(), US.1, b"200\nyes");
        assert!(ours.verify_answer(&greeting(), US.1, b"200\nyes", &proof));
        assert!(!ours.verify_answer(&greeting(), US.1, b"200\nno", &proof));
        assert!(!ours.verify_answer(&greeting(), US.1, b"200\nyes", &ours.prove(&greeting(), US.1)));
    }

    #[test]
    fn a_greeting_is_taken_once() {
        let taken = Greetings::default();
        assert_eq!(taken.take(&greeting(), 1_000_000), Ok(()));
        assert_eq!(taken.clone().take(&greeting(), 1_000_001), Err(GreetingError::Used));
        for nonce in 0..GREETINGS_MAX as u128 - 1 {
            assert_eq!(taken.take(&Greeting { nonce: 100 + nonce, ..greeting() }, 1_000_002), Ok(()));
        }
        let more = Greeting { nonce: 99, ..greeting() };
        assert_eq!(taken.take(&more, 1_000_003), Err(GreetingError::TooMany));
        assert_eq!(taken.take(&more, 2_000_000), Ok(()), "what is too old to be taken again is forgotten");
    }
}
