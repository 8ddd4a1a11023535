//! Places that callers take and give back: so many in all, and so many for each caller, so that nobody takes what
//! others need. A place may count for several callers at once: for one of many, and for all of these together. Knows
//! neither connections nor people.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

#[derive(Debug)]
pub struct Quota<K>(Arc<Inner<K>>);

#[derive(Debug)]
struct Inner<K> {
    max: usize,
    caller_max: usize,
    taken: Mutex<Usage<K>>,
    refusals: Arc<Refusals>,
}

#[derive(Debug)]
struct Usage<K> {
    all: usize,
    /// Callers with a place; never more than places.
    by_caller: HashMap<K, usize>,
}

#[derive(Debug, Default)]
pub struct Refusals {
    all: AtomicU64,
    caller: AtomicU64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Full {
    All,
    /// This caller has as many as one may have: so many.
    Caller(usize),
}

/// A place; dropping it gives it back.
#[derive(Debug)]
pub struct Permit<K: Eq + Hash> {
    quota: Quota<K>,
    callers: Vec<K>,
}

impl Refusals {
    pub fn count(&self, why: Full) {
        let counter = match why {
            Full::All => &self.all,
            Full::Caller(_) => &self.caller,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Those refused since all places were taken, and those since the caller had too many.
    pub fn counted(&self) -> (u64, u64) {
        (self.all.load(Ordering::Relaxed), self.caller.load(Ordering::Relaxed))
    }
}

impl<K> Clone for Quota<K> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<K: Eq + Hash + Clone> Quota<K> {
    pub fn new(max: usize, caller_max: usize, refusals: Arc<Refusals>) -> Self {
        Self(Arc::new(Inner {
            max,
            caller_max,
            taken: Mutex::new(Usage { all: 0, by_caller: HashMap::new() }),
            refusals,
        }))
    }

    /// Takes a place. No caller: one that stands for many, and has no share of its own.
    pub fn take(&self, caller: Option<K>) -> Result<Permit<K>, Full> {
        self.take_of(caller.map(|caller| (caller, self.0.caller_max)))
    }

    /// Takes a place that counts for each of these callers, who may have so many.
    pub fn take_of(&self, callers: impl IntoIterator<Item = (K, usize)>) -> Result<Permit<K>, Full> {
        let callers: Vec<_> = callers.into_iter().collect();
        let taken = self.0.taken.lock().take(&callers, self.0.max);
        match taken {
            Ok(()) => {
                Ok(Permit { quota: self.clone(), callers: callers.into_iter().map(|(caller, _)| caller).collect() })
            }
            Err(why) => {
                self.0.refusals.count(why);
                Err(why)
            }
        }
    }

    /// How many were refused: since all places were taken, and since the caller had too many.
    pub fn refused(&self) -> (u64, u64) {
        self.0.refusals.counted()
    }

    /// How many are taken.
    pub fn len(&self) -> usize {
        self.0.taken.lock().all
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<K: Eq + Hash + Clone> Usage<K> {
    fn take(&mut self, callers: &[(K, usize)], max: usize) -> Result<(), Full> {
        if self.all >= max {
            return Err(Full::All);
        }
        let is_full = |(caller, most): &&(K, usize)| self.by_caller.get(caller).is_some_and(|count| count >= most);
        if let Some((_, most)) = callers.iter().find(is_full) {
            return Err(Full::Caller(*most));
        }
        for (caller, _) in callers {
            *self.by_caller.entry(caller.clone()).or_default() += 1;
        }
        self.all += 1;
        Ok(())
    }
}

impl<K: Eq + Hash> Usage<K> {
    fn give_back(&mut self, callers: &[K]) {
        self.all = self.all.saturating_sub(1);
        for caller in callers {
            if let Some(count) = self.by_caller.get_mut(caller) {
                *count -= 1;
                if *count == 0 {
                    self.by_caller.remove(caller);
                }
            }
        }
    }
}

impl<K: Eq + Hash> Drop for Permit<K> {
    fn drop(&mut self) {
        self.quota.0.taken.lock().give_back(&self.callers);
    }
}

/// Whoever has one IPv6 address has the whole network of it: both are one caller.
pub fn neighbourhood(address: Option<IpAddr>) -> IpAddr {
    match address.map(|address| address.to_canonical()) {
        Some(IpAddr::V6(ip)) => IpAddr::V6(Ipv6Addr::from_bits(ip.to_bits() & (u128::MAX << 64))),
        Some(ip) => ip,
        None => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caller_has_a_share_and_all_have_a_maximum() {
        let refusals = Arc::<Refusals>::default();
        let quota = Quota::new(5, 2, refusals.clone());
        let mut places = vec![quota.take(Some("a")).unwrap(), quota.take(Some("a")).unwrap()];
        assert_eq!(quota.take(Some("a")).map(drop), Err(Full::Caller(2)));
        places.push(quota.take(Some("b")).unwrap());
        places.extend([quota.take(None).unwrap(), quota.take(None).unwrap()]);
        assert_eq!(quota.take(Some("b")).map(drop), Err(Full::All));
        assert_eq!((quota.len(), refusals.counted()), (5, (1, 1)));
        places.remove(0);
        assert!(quota.take(Some("a")).is_ok());
        places.clear();
        assert!(quota.is_empty() && quota.0.taken.lock().by_caller.is_empty(), "nobody who left is remembered");
    }

    #[test]
    fn one_of_many_has_a_share_and_so_have_all_of_them() {
        let quota = Quota::new(9, 9, Arc::default());
        let take = |one: &'static str| quota.take_of([(one, 2), ("house", 3)]);
        let places = [take("a").unwrap(), take("a").unwrap()];
        assert_eq!(take("a").map(drop), Err(Full::Caller(2)));
        let third = take("b").unwrap();
        assert_eq!(take("c").map(drop), Err(Full::Caller(3)), "the house is full");
        assert_eq!(quota.len(), 3, "whoever was refused has nothing");
        assert!(quota.take_of([("other", 2)]).is_ok());
        drop(places);
        assert!(take("c").is_ok());
        drop(third);
        assert!(quota.is_empty() && quota.0.taken.lock().by_caller.is_empty());
    }

    #[test]
    fn a_network_is_one_caller() {
        let of = |text: &str| neighbourhood(Some(text.parse().unwrap()));
        assert_eq!(of("2001:db8::1"), of("2001:db8::ffff:1"));
        assert_ne!(of("2001:db8::1"), of("2001:db8:0:1::1"));
        assert_eq!(of("::ffff:10.0.0.1"), of("10.0.0.1"));
        assert_ne!(of("10.0.0.1"), of("10.0.0.2"));
    }
}
