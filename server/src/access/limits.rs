//! How often somebody may try to sign in. Pure: the time is an argument. Every try counts as a failure until it proved to
//! be none, so that many at once are no way around.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::grant::NAME_CHARS_MAX;

/// Failures of one account before it has to wait.
pub const ACCOUNT_FREE: u32 = 5;
/// Failures from one address before it has to wait; many people may share one.
pub const ADDRESS_FREE: u32 = 20;
/// The first wait; each failure doubles it.
const WAIT_FIRST_MS: i64 = 1_000;
/// No wait is longer.
pub const WAIT_MS_MAX: i64 = 15 * 60 * 1_000;
/// Failures are forgotten when the last is so old.
const FORGET_MS: i64 = 60 * 60 * 1_000;
/// Accounts, and addresses, that are remembered; the least guilty makes room.
pub(super) const REMEMBERED_MAX: usize = 10_000;

#[derive(Clone, Copy, Debug, Default)]
struct Guilt {
    failures: u32,
    free_at_ms: i64,
    last_ms: i64,
}

#[derive(Debug)]
struct Table<K> {
    free: u32,
    known: HashMap<K, Guilt>,
}

impl<K: Eq + Hash + Ord + Clone> Table<K> {
    fn new(free: u32) -> Self {
        Self { free, known: HashMap::new() }
    }

    fn wait_ms(&self, key: &K, now_ms: i64) -> i64 {
        // A wait can't be longer than the longest, whatever was done to the clock.
        self.known.get(key).map_or(0, |guilt| (guilt.free_at_ms - now_ms).clamp(0, WAIT_MS_MAX))
    }

    fn count(&mut self, key: K, now_ms: i64) {
        if !self.known.contains_key(&key) && self.known.len() >= REMEMBERED_MAX {
            self.known.retain(|_, guilt| now_ms - guilt.last_ms < FORGET_MS);
            if self.known.len() >= REMEMBERED_MAX {
                let least = self.known.iter().min_by_key(|(key, guilt)| (guilt.failures, guilt.last_ms, *key)).map(|(key, _)| key.clone());
                least.and_then(|key| self.known.remove(&key));
            }
        }
        let free = self.free;
        let guilt = self.known.entry(key).or_default();
        if now_ms - guilt.last_ms >= FORGET_MS {
            *guilt = Guilt::default();
        }
        guilt.failures = guilt.failures.saturating_add(1);
        guilt.last_ms = now_ms;
        let wait_ms = guilt.failures.checked_sub(free).map_or(0, |over| WAIT_FIRST_MS.saturating_mul(1 << over.min(20)).min(WAIT_MS_MAX));
        guilt.free_at_ms = now_ms + wait_ms;
    }

    /// Takes one failure back.
    fn pardon(&mut self, key: &K, now_ms: i64) {
        if let Some(guilt) = self.known.get_mut(key) {
            guilt.failures = guilt.failures.saturating_sub(1);
            guilt.free_at_ms = now_ms;
        }
    }
}

/// Failures by account and by address.
#[derive(Debug)]
pub(super) struct Limits {
    accounts: Table<String>,
    addresses: Table<IpAddr>,
}

/// One try.
#[derive(Clone, Debug)]
pub(super) struct Try {
    account: String,
    address: IpAddr,
}

impl Limits {
    pub(super) fn new() -> Self {
        Self { accounts: Table::new(ACCOUNT_FREE), addresses: Table::new(ADDRESS_FREE) }
    }

    /// Lets somebody try, or says for how many milliseconds they must not.
    pub(super) fn begin(&mut self, name: &str, address: Option<IpAddr>, now_ms: i64) -> Result<Try, i64> {
        let account = name.chars().take(NAME_CHARS_MAX + 1).collect();
        let tried = Try { account, address: neighbourhood(address) };
        let wait_ms = self.accounts.wait_ms(&tried.account, now_ms).max(self.addresses.wait_ms(&tried.address, now_ms));
        if wait_ms > 0 {
            return Err(wait_ms);
        }
        self.accounts.count(tried.account.clone(), now_ms);
        self.addresses.count(tried.address, now_ms);
        Ok(tried)
    }

    /// It was right: the account starts afresh. The address keeps its other failures, or an account of one's own would buy
    /// more tries at others'.
    pub(super) fn succeed(&mut self, tried: &Try, now_ms: i64) {
        self.accounts.known.remove(&tried.account);
        self.addresses.pardon(&tried.address, now_ms);
    }

    /// It was never looked at.
    pub(super) fn withdraw(&mut self, tried: &Try, now_ms: i64) {
        self.accounts.pardon(&tried.account, now_ms);
        self.addresses.pardon(&tried.address, now_ms);
    }
}

/// Whoever has one IPv6 address has the whole network of it.
pub(super) fn neighbourhood(address: Option<IpAddr>) -> IpAddr {
    match address.map(|address| address.to_canonical()) {
        Some(IpAddr::V6(ip)) => IpAddr::V6(Ipv6Addr::from_bits(ip.to_bits() & (u128::MAX << 64))),
        Some(ip) => ip,
        None => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(text: &str) -> Option<IpAddr> {
        Some(text.parse().unwrap())
    }

    #[test]
    fn waits_double_to_a_maximum_and_cover_the_account_from_everywhere() {
        let mut limits = Limits::new();
        for _ in 0..ACCOUNT_FREE {
            limits.begin("ann", from("10.0.0.1"), 0).unwrap();
        }
        assert_eq!(limits.begin("ann", from("10.0.0.2"), 0).map(drop), Err(1_000));
        let mut now_ms = 0;
        let mut waits = Vec::new();
        for _ in 0..14 {
            let wait_ms = limits.begin("ann", from("10.0.0.3"), now_ms).map(drop).unwrap_err();
            waits.push(wait_ms / 1_000);
            now_ms += wait_ms;
            limits.begin("ann", from("10.0.0.3"), now_ms).unwrap();
        }
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900, 900]);
        assert!(limits.begin("bob", from("10.0.0.9"), now_ms).is_ok(), "nobody else is held up");
    }

    #[test]
    fn an_address_and_its_neighbours_share_a_limit_that_success_does_not_lift() {
        let mut limits = Limits::new();
        for at in 0..ADDRESS_FREE {
            let tried = limits.begin(&format!("u{at}"), from(&format!("2001:db8::{at:x}")), 0).unwrap();
            if at == 3 {
                limits.succeed(&tried, 0);
            }
        }
        limits.begin("v", from("2001:db8::ffff"), 0).unwrap();
        assert!(limits.begin("w", from("2001:db8::1"), 0).is_err());
        assert!(limits.begin("w", from("2001:db8:0:1::1"), 0).is_ok());
        assert!(limits.begin("x", from("2001:db8::1"), FORGET_MS).is_ok(), "an hour later it is forgotten");
    }

    #[test]
    fn success_and_withdrawal_clear_the_account() {
        let mut limits = Limits::new();
        for at in 0..100 {
            let tried = limits.begin("ann", from("10.0.0.1"), at).unwrap();
            if at % 2 == 0 { limits.succeed(&tried, at) } else { limits.withdraw(&tried, at) }
        }
    }

    #[test]
    fn what_is_remembered_has_a_maximum_and_the_guilty_stay() {
        let mut limits = Limits::new();
        for _ in 0..ACCOUNT_FREE {
            limits.begin("ann", None, 0).unwrap();
        }
        for at in 0..u32::try_from(REMEMBERED_MAX).unwrap() + 300 {
            let _ = limits.begin(&format!("u{at}"), Some(Ipv4Addr::from_bits(0x0a00_0000 + at).into()), 1);
        }
        assert_eq!((limits.accounts.known.len(), limits.addresses.known.len()), (REMEMBERED_MAX, REMEMBERED_MAX));
        assert!(limits.begin("ann", from("10.9.9.9"), 1).is_err());
    }
}
