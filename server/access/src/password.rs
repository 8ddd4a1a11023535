//! Passwords: hashed slowly, few at once, and at the same cost whether or not there is somebody of that name.

use std::net::IpAddr;
use std::sync::Arc;

use argon2::password_hash::PasswordHasher as _;
use argon2::password_hash::phc::PasswordHash;
use argon2::{Algorithm, Argon2, Block, Params, Version};
use parking_lot::Mutex;
use subtle::ConstantTimeEq as _;
use tokio::sync::Semaphore;

use super::AccessError;
use super::secret::Secret;
use lockscope_runtime::quota::{Quota, Refusals, neighbourhood};

/// Memory of one hash: what OWASP names for Argon2id with two rounds and one lane.
const MEMORY_KIB: u32 = 19 * 1024;
const ROUNDS: u32 = 2;
const LANES: u32 = 1;
/// A hash that asks for more memory than this is not one of ours.
const MEMORY_KIB_MAX: u32 = 64 * 1024;
/// Hashes worked out at once: a burst of sign-ins must not take processor and memory from the watch.
const AT_ONCE_MAX: usize = 2;
/// Sign-ins that wait for their turn; more are sent away.
const WAITING_MAX: usize = 32;
/// Of these, sign-ins from one address.
const WAITING_FROM_ADDRESS_MAX: usize = 8;
/// Characters of a password at least, for who sets one.
pub const PASSWORD_CHARS_MIN: usize = 12;
pub const PASSWORD_BYTES_MAX: usize = 1_024;
/// The hash of a password that nobody knows, with the costs above: what a name that is not there is compared with.
const NOBODY: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$bG9ja3Njb3BlLW5vYm9keQ$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// Hashes a password for the file.
///
/// # Errors
/// One sentence that does not quote it: too short, or too long.
pub(super) fn hash_password(password: &Secret) -> Result<String, AccessError> {
    if password.expose().chars().count() < PASSWORD_CHARS_MIN {
        return Err(AccessError(format!(
            "the password is too short; choose at least {PASSWORD_CHARS_MIN} characters, best four or more words"
        )));
    }
    if password.expose().len() > PASSWORD_BYTES_MAX {
        return Err(AccessError(format!(
            "the password has more than {PASSWORD_BYTES_MAX} bytes; choose a shorter one"
        )));
    }
    let failed =
        |error: &dyn std::fmt::Display| AccessError(format!("the password could not be hashed ({error}); try again"));
    let params = Params::new(MEMORY_KIB, ROUNDS, LANES, None).map_err(|error| failed(&error))?;
    let hasher = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
    let hash: PasswordHash = hasher
        .hash_password_with_salt(password.expose().as_bytes(), &rand::random::<[u8; 16]>())
        .map_err(|error| failed(&error))?;
    Ok(hash.to_string())
}

pub(super) fn is_hash(text: &str) -> bool {
    text.starts_with("$argon2id$") && costs(text).is_some()
}

/// A hash and what it costs to compare with it, within bounds.
fn costs(text: &str) -> Option<(PasswordHash, Params)> {
    let hash = PasswordHash::new(text).ok()?;
    let params = Params::try_from(&hash).ok().filter(|params| params.m_cost() <= MEMORY_KIB_MAX)?;
    Some((hash, params))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooBusy;

/// Compares passwords, two at a time.
#[derive(Clone)]
pub(super) struct Passwords {
    turns: Arc<Semaphore>,
    waiting: Quota<IpAddr>,
    refusals: Arc<Refusals>,
    /// Memory to hash in, reused: as many buffers as hashes ever ran at once, [`AT_ONCE_MAX`] at most. An allocation
    /// for each hash would stay with the allocator, once for every thread that ever hashed.
    buffers: Arc<Mutex<Vec<Vec<Block>>>>,
}

impl Passwords {
    pub(super) fn new() -> Self {
        let refusals = Arc::<Refusals>::default();
        let waiting = Quota::new(WAITING_MAX, WAITING_FROM_ADDRESS_MAX, refusals.clone());
        Self { turns: Arc::new(Semaphore::new(AT_ONCE_MAX)), waiting, refusals, buffers: Arc::default() }
    }

    pub(super) fn refusals(&self) -> &Refusals {
        &self.refusals
    }

    /// Whether a password fits the hash of somebody; of nobody it never does, and takes as long.
    pub(super) async fn fits(
        &self,
        password: Secret,
        hash: Option<String>,
        from: Option<IpAddr>,
    ) -> Result<bool, TooBusy> {
        let place = self.waiting.take(Some(neighbourhood(from))).map_err(|_| TooBusy)?;
        let turn = Arc::clone(&self.turns).acquire_owned().await.map_err(|_| TooBusy)?;
        drop(place);
        let buffers = Arc::clone(&self.buffers);
        let compared = tokio::task::spawn_blocking(move || {
            let is_somebody = hash.is_some();
            let mut buffer = buffers.lock().pop().unwrap_or_default();
            let fits = compare(&password, hash.as_deref().unwrap_or(NOBODY), &mut buffer);
            buffers.lock().push(buffer);
            drop(turn);
            fits && is_somebody
        });
        compared.await.map_err(|_| TooBusy)
    }
}

/// Whether a password fits a hash, for a command: in memory of its own.
pub(super) fn is_password_of(password: &Secret, hash: &str) -> bool {
    compare(password, hash, &mut Vec::new())
}

fn compare(password: &Secret, hash: &str, buffer: &mut Vec<Block>) -> bool {
    let is_sane = password.expose().len() <= PASSWORD_BYTES_MAX;
    let password = if is_sane { password.expose().as_bytes() } else { b"" };
    is_same(password, hash, buffer).unwrap_or(false) && is_sane
}

/// None: the hash is none.
fn is_same(password: &[u8], hash: &str, buffer: &mut Vec<Block>) -> Option<bool> {
    let (hash, params) = costs(hash)?;
    let (salt, expected) = (hash.salt?, hash.hash?);
    let version = hash.version.map_or(Ok(Version::default()), Version::try_from).ok()?;
    let blocks = params.block_count();
    if buffer.len() < blocks {
        buffer.resize(blocks, Block::default());
    }
    let hasher = Argon2::new(Algorithm::Argon2id, version, params);
    let mut found = vec![0; expected.len()];
    hasher.hash_password_into_with_memory(password, &salt, &mut found, buffer.get_mut(..blocks)?).ok()?;
    Some(found.ct_eq(expected.as_bytes()).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(text: &str) -> Secret {
        Secret::new(text.to_owned())
    }

    #[tokio::test]
    async fn a_password_fits_its_hash_and_nobody_has_one() {
        let hash = hash_password(&secret("correct horse battery")).unwrap();
        assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$") && is_hash(&hash), "{hash}");
        let passwords = Passwords::new();
        assert_eq!(passwords.fits(secret("correct horse battery"), Some(hash.clone()), None).await, Ok(true));
        assert_eq!(passwords.fits(secret("correct horse batterY"), Some(hash.clone()), None).await, Ok(false));
        assert_eq!(passwords.fits(secret("correct horse battery"), None, None).await, Ok(false));
        assert_eq!(passwords.fits(secret(&"x".repeat(2_000)), Some(hash), None).await, Ok(false));
        let known = "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4";
        assert_eq!(
            passwords.fits(secret("password"), Some(known.to_owned()), None).await,
            Ok(true),
            "other costs than ours, in a used buffer"
        );
        let greedy = known.replace("m=256", "m=1048576");
        assert!(!is_hash(&greedy));
        assert_eq!(passwords.fits(secret("password"), Some(greedy), None).await, Ok(false));
    }

    #[tokio::test]
    async fn hashes_share_two_buffers() {
        let passwords = Passwords::new();
        let tries = (0..WAITING_FROM_ADDRESS_MAX).map(|_| passwords.fits(secret("wrong guess"), None, None));
        futures_util::future::join_all(tries).await;
        let buffers = passwords.buffers.lock();
        assert!((1..=AT_ONCE_MAX).contains(&buffers.len()), "{}", buffers.len());
        assert!(buffers.iter().all(|buffer| buffer.len() == MEMORY_KIB as usize));
    }

    #[test]
    fn nobody_costs_what_somebody_costs() {
        let costs = |hash: &str| Params::try_from(&PasswordHash::new(hash).unwrap()).unwrap();
        let somebody = costs(&hash_password(&secret("correct horse battery")).unwrap());
        assert_eq!(
            (costs(NOBODY).m_cost(), costs(NOBODY).t_cost(), costs(NOBODY).p_cost()),
            (somebody.m_cost(), somebody.t_cost(), somebody.p_cost())
        );
        assert_eq!((somebody.m_cost(), somebody.t_cost(), somebody.p_cost()), (MEMORY_KIB, ROUNDS, LANES));
    }

    #[test]
    fn short_and_endless_passwords_are_refused_unquoted() {
        for text in ["canary", &"canary".repeat(200)] {
            let error = hash_password(&secret(text)).unwrap_err().0;
            assert!(!error.contains("canary"), "{error}");
        }
    }

    #[tokio::test]
    async fn more_than_can_wait_are_sent_away_and_an_address_has_a_share() {
        let passwords = Passwords::new();
        let all = Arc::clone(&passwords.turns).acquire_many_owned(2).await.unwrap();
        let from = |network: usize| Some(format!("10.0.0.{network}").parse().unwrap());
        let mut waiting: Vec<_> = Vec::new();
        for network in 0..WAITING_MAX / WAITING_FROM_ADDRESS_MAX {
            assert!(passwords.waiting.len() == waiting.len());
            waiting.extend(
                (0..WAITING_FROM_ADDRESS_MAX).map(|_| Box::pin(passwords.fits(secret("x"), None, from(network)))),
            );
            for one in waiting.iter_mut().rev().take(WAITING_FROM_ADDRESS_MAX) {
                assert!(futures_util::poll!(one).is_pending());
            }
            assert_eq!(
                passwords.fits(secret("x"), None, from(network)).await,
                Err(TooBusy),
                "one address has its share"
            );
        }
        assert_eq!(passwords.fits(secret("x"), None, from(99)).await, Err(TooBusy), "all places are taken");
        assert_eq!(passwords.refusals().counted(), (2, 3));
        waiting.clear();
        drop(all);
        assert_eq!(passwords.fits(secret("x"), None, None).await, Ok(false), "who gave up leaves their place");
    }
}
