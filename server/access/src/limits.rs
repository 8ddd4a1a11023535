//! How often somebody may try to sign in. Pure: the time is an argument. Every try counts as a failure until it proved
//! to be none, so that many at once are no way around.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;

use super::grant::NAME_CHARS_MAX;
use super::secret::Digest;
use lockscope_runtime::quota::neighbourhood;

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
struct FailureCount {
    failures: u32,
    free_at_ms: i64,
    last_ms: i64,
}

#[derive(Debug)]
struct Table<K> {
    free: u32,
    known: HashMap<K, FailureCount>,
}

impl<K: Eq + Hash + Ord + Clone> Table<K> {
    fn new(free: u32) -> Self {
        Self { free, known: HashMap::new() }
    }

    fn wait_ms(&self, key: &K, now_ms: i64) -> i64 {
        // A wait can't be longer than the longest, whatever was done to the clock.
        self.known.get(key).map_or(0, |count| (count.free_at_ms - now_ms).clamp(0, WAIT_MS_MAX))
    }

    fn count(&mut self, key: K, now_ms: i64) {
        if !self.known.contains_key(&key) && self.known.len() >= REMEMBERED_MAX {
            self.known.retain(|_, count| now_ms - count.last_ms < FORGET_MS);
            if self.known.len() >= REMEMBERED_MAX {
                let least = self
                    .known
                    .iter()
                    .min_by_key(|(key, count)| (count.failures, count.last_ms, *key))
                    .map(|(key, _)| key.clone());
                least.and_then(|key| self.known.remove(&key));
            }
        }
        let free = self.free;
        let count = self.known.entry(key).or_default();
        if now_ms - count.last_ms >= FORGET_MS {
            *count = FailureCount::default();
        }
        count.failures = count.failures.saturating_add(1);
        count.last_ms = now_ms;
        let wait_ms = count
            .failures
            .checked_sub(free)
            .map_or(0, |over| WAIT_FIRST_MS.saturating_mul(1 << over.min(20)).min(WAIT_MS_MAX));
        count.free_at_ms = now_ms + wait_ms;
    }

    fn refund(&mut self, key: &K, now_ms: i64) {
        if let Some(count) = self.known.get_mut(key) {
            count.failures = count.failures.saturating_sub(1);
            count.free_at_ms = now_ms;
        }
    }
}

/// Failures by account and by address, and by device where one is known.
#[derive(Debug)]
pub(super) struct Limits {
    accounts: Table<String>,
    addresses: Table<IpAddr>,
    devices: Table<Digest>,
}

#[derive(Clone, Debug)]
pub(super) enum Try {
    /// From wherever.
    Unknown { account: String, address: IpAddr },
    /// With a device that this account signed in with before: what others try at the account, or from the same address,
    /// does not count for it.
    Known(Digest),
}

impl Limits {
    pub(super) fn new() -> Self {
        Self {
            accounts: Table::new(ACCOUNT_FREE),
            addresses: Table::new(ADDRESS_FREE),
            devices: Table::new(ACCOUNT_FREE),
        }
    }

    /// Lets somebody try, or says for how many milliseconds they must not. `device`: one that this account is known by.
    pub(super) fn begin(
        &mut self,
        name: &str,
        address: Option<IpAddr>,
        device: Option<Digest>,
        now_ms: i64,
    ) -> Result<Try, i64> {
        let tried = device.map_or_else(
            || Try::Unknown {
                account: name.chars().take(NAME_CHARS_MAX + 1).collect(),
                address: neighbourhood(address),
            },
            Try::Known,
        );
        let wait_ms = match &tried {
            Try::Unknown { account, address } => {
                self.accounts.wait_ms(account, now_ms).max(self.addresses.wait_ms(address, now_ms))
            }
            Try::Known(device) => self.devices.wait_ms(device, now_ms),
        };
        if wait_ms > 0 {
            return Err(wait_ms);
        }
        match &tried {
            Try::Unknown { account, address } => {
                self.accounts.count(account.clone(), now_ms);
                self.addresses.count(*address, now_ms);
            }
            Try::Known(device) => self.devices.count(*device, now_ms),
        }
        Ok(tried)
    }

    /// It was right: the account starts afresh. The address keeps its other failures, or an account of one's own would
    /// buy more tries at others'.
    pub(super) fn succeed(&mut self, tried: &Try, now_ms: i64) {
        match tried {
            Try::Unknown { account, address } => {
                self.accounts.known.remove(account);
                self.addresses.refund(address, now_ms);
            }
            Try::Known(device) => drop(self.devices.known.remove(device)),
        }
    }

    /// It was never looked at.
    pub(super) fn withdraw(&mut self, tried: &Try, now_ms: i64) {
        match tried {
            Try::Unknown { account, address } => {
                self.accounts.refund(account, now_ms);
                self.addresses.refund(address, now_ms);
            }
            Try::Known(device) => self.devices.refund(device, now_ms),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    fn from(text: &str) -> Option<IpAddr> {
        Some(text.parse().unwrap())
    }

    #[test]
    fn waits_double_to_a_maximum_and_cover_the_account_from_everywhere() {
        let mut limits = Limits::new();
        for _ in 0..ACCOUNT_FREE {
            limits.begin("ann", from("10.0.0.1"), None, 0).unwrap();
        }
        assert_eq!(limits.begin("ann", from("10.0.0.2"), None, 0).map(drop), Err(1_000));
        let mut now_ms = 0;
        let mut waits = Vec::new();
        for _ in 0..14 {
            let wait_ms = limits.begin("ann", from("10.0.0.3"), None, now_ms).map(drop).unwrap_err();
            waits.push(wait_ms / 1_000);
            now_ms += wait_ms;
            limits.begin("ann", from("10.0.0.3"), None, now_ms).unwrap();
        }
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900, 900]);
        assert!(limits.begin("bob", from("10.0.0.9"), None, now_ms).is_ok(), "nobody else is held up");
    }

    #[test]
    fn an_address_and_its_neighbours_share_a_limit_that_success_does_not_lift() {
        let mut limits = Limits::new();
        for at in 0..ADDRESS_FREE {
            let tried = limits.begin(&format!("u{at}"), from(&format!("2001:db8::{at:x}")), None, 0).unwrap();
            if at == 3 {
                limits.succeed(&tried, 0);
            }
        }
        limits.begin("v", from("2001:db8::ffff"), None, 0).unwrap();
        assert!(limits.begin("w", from("2001:db8::1"), None, 0).is_err());
        assert!(limits.begin("w", from("2001:db8:0:1::1"), None, 0).is_ok());
        assert!(limits.begin("x", from("2001:db8::1"), None, FORGET_MS).is_ok(), "an hour later it is forgotten");
    }

    #[test]
    fn success_and_withdrawal_clear_the_account() {
        let mut limits = Limits::new();
        for at in 0..100 {
            let tried = limits.begin("ann", from("10.0.0.1"), None, at).unwrap();
            if at % 2 == 0 { limits.succeed(&tried, at) } else { limits.withdraw(&tried, at) }
        }
    }

    #[test]
    fn a_known_device_has_a_limit_of_its_own() {
        let mut limits = Limits::new();
        let device = |text: &str| Some(crate::Secret::new(text.to_owned()).digest());
        for _ in 0..ACCOUNT_FREE {
            limits.begin("ann", from("10.0.0.1"), None, 0).unwrap();
        }
        assert!(limits.begin("ann", from("10.0.0.2"), None, 0).is_err());
        for at in 0..20 {
            let tried = limits.begin("ann", from("10.0.0.1"), device("a"), at).unwrap();
            limits.succeed(&tried, at);
        }
        for _ in 0..ACCOUNT_FREE {
            limits.begin("ann", from("10.0.0.1"), device("a"), 30).unwrap();
        }
        assert_eq!(
            limits.begin("ann", from("10.0.0.1"), device("a"), 30).map(drop),
            Err(1_000),
            "it is no way around either"
        );
        assert!(limits.begin("ann", from("10.0.0.1"), device("b"), 30).is_ok());
    }

    #[test]
    fn what_is_remembered_has_a_maximum_and_the_guilty_stay() {
        let mut limits = Limits::new();
        for _ in 0..ACCOUNT_FREE {
            limits.begin("ann", None, None, 0).unwrap();
        }
        for at in 0..u32::try_from(REMEMBERED_MAX).unwrap() + 300 {
            let _ = limits.begin(&format!("u{at}"), Some(Ipv4Addr::from_bits(0x0a00_0000 + at).into()), None, 1);
        }
        assert_eq!((limits.accounts.known.len(), limits.addresses.known.len()), (REMEMBERED_MAX, REMEMBERED_MAX));
        assert!(limits.begin("ann", from("10.9.9.9"), None, 1).is_err());
    }
}
