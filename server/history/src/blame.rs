//! Whose fault waits were: the charges of all waits of a range, added up. Pure.
//!
//! Of each wait every millisecond is charged to somebody, to nobody (a hand-off), or not known, so the sum of all charges
//! and of these is the sum of all waits; see [`Charges`](crate::store::rows::Charges).

use std::collections::{BTreeMap, HashMap, HashSet};

use lockscope_core::tally::Histogram;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::SessionId;

use lockscope_view::past::BlameBy;

use crate::store::rows::{Charge, Charged, Span};

/// Those who are charged that are told apart. Overflow policy: further ones are charged together, as others.
pub const ACCOUNTS_MAX: usize = 100_000;
/// Pairs of who is charged and who waited. Overflow policy: further victims are not counted, and that is said.
pub const VICTIMS_MAX: usize = 500_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlameRow {
    /// Who, as the way to tell them apart says; the session, where nothing says who that is.
    pub key: String,
    /// Its holds that ended.
    pub holds: u64,
    pub hold_times: Histogram,
    /// What it is charged as who held.
    pub direct_ms: i64,
    /// What it is charged as who was waited for in the end; of a lock the same as the former.
    pub root_ms: i64,
    /// Sessions that waited for it.
    pub victims: u64,
    /// Where and when the wait ended of which it is charged most.
    pub worst: Worst,
}

/// The wait of which somebody is charged most.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Worst {
    pub ms: i64,
    /// Its end.
    pub at: TimeMs,
    pub lock: Box<str>,
}

/// All of them, and what nobody in particular is charged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blame {
    /// Who is charged, those first who are charged most in the end.
    pub rows: Vec<BlameRow>,
    pub waits_ms: i64,
    /// Nobody held.
    pub hand_off_ms: i64,
    /// Nobody looked, or the wait was kept before charges were.
    pub unknown_ms: i64,
    /// Charged to those beyond the bounds, and to holders that could not be read: as who held, and in the end.
    pub others_ms: (i64, i64),
    /// There are more victims than are counted.
    pub is_lower_bound: bool,
}

/// Whose charges are added up.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Account {
    Session(SessionId),
    Lock(Box<str>),
    Ensemble,
}

#[derive(Debug, Default)]
struct Charges {
    direct_ms: i64,
    root_ms: i64,
    worst: Worst,
}

#[derive(Debug, Default)]
struct Holds {
    count: u64,
    times: Histogram,
}

#[derive(Debug, Default)]
pub struct Ledger {
    by: BlameBy,
    ensemble: String,
    leaves_out_roots: bool,
    charges: HashMap<Account, Charges>,
    victims: HashSet<(Account, SessionId)>,
    holds: HashMap<String, Holds>,
    names: HashMap<SessionId, String>,
    sums: Blame,
}

impl Ledger {
    pub fn new(by: BlameBy) -> Self {
        Self { by, ..Self::default() }
    }

    #[must_use]
    pub fn of(self, ensemble: &str) -> Self {
        Self { ensemble: ensemble.to_owned(), ..self }
    }

    /// The same for somebody who may not see who was waited for in the end: those may hold locks elsewhere.
    #[must_use]
    pub fn without_roots(self) -> Self {
        Self { leaves_out_roots: true, ..self }
    }

    pub fn take(&mut self, span: &Span) {
        self.name(span);
        self.sums.waits_ms += span.wait_ms;
        let Some(charges) = &span.charges else {
            self.sums.unknown_ms += span.wait_ms;
            return;
        };
        self.sums.hand_off_ms += charges.hand_off_ms;
        self.sums.unknown_ms += charges.unknown_ms;
        let root = if self.leaves_out_roots { &Charged::default() } else { &charges.root };
        let others = (self.charge(span, &charges.direct, false), self.charge(span, root, true));
        self.sums.others_ms = (self.sums.others_ms.0 + others.0, self.sums.others_ms.1 + others.1);
    }

    /// Who a session is, and how long it held.
    fn name(&mut self, span: &Span) {
        let name = match self.by {
            BlameBy::Lock => Some(span.lock.to_string()),
            BlameBy::Session => span.session.map(session_key),
            BlameBy::Client => span.label.as_deref().map(str::to_owned),
            BlameBy::Host => span.host.as_deref().map(str::to_owned),
            BlameBy::Ensemble => Some(self.ensemble.clone()),
        };
        let Some(name) = name.or_else(|| span.session.map(session_key)) else { return };
        if let Some(held_at) = span.held_at
            && (self.holds.len() < ACCOUNTS_MAX || self.holds.contains_key(&name))
        {
            let holds = self.holds.entry(name.clone()).or_default();
            holds.count += 1;
            holds.times.note(span.left_at.since(held_at));
        }
        if let Some(session) = span.session
            && self.names.len() < ACCOUNTS_MAX
        {
            self.names.entry(session).or_insert(name);
        }
    }

    /// Charges a wait; gives what is left for nobody in particular.
    fn charge(&mut self, span: &Span, charged: &Charged, is_root: bool) -> i64 {
        let whole = match self.by {
            BlameBy::Lock => Some(Account::Lock(span.lock.clone())),
            BlameBy::Ensemble => Some(Account::Ensemble),
            BlameBy::Client | BlameBy::Host | BlameBy::Session => None,
        };
        if let Some(account) = whole {
            let all = Charge { session: SessionId(0), ms: charged.sum_ms() };
            return self.charge_one(span, account, all, is_root);
        }
        let one = |charge: &Charge| self.charge_one(span, Account::Session(charge.session), *charge, is_root);
        charged.others_ms + charged.to.iter().map(one).sum::<i64>()
    }

    fn charge_one(&mut self, span: &Span, account: Account, charge: Charge, is_root: bool) -> i64 {
        if charge.ms <= 0 {
            return charge.ms;
        }
        if self.charges.len() >= ACCOUNTS_MAX && !self.charges.contains_key(&account) {
            return charge.ms;
        }
        let charges = self.charges.entry(account.clone()).or_default();
        if is_root {
            charges.root_ms += charge.ms;
        } else {
            charges.direct_ms += charge.ms;
        }
        if charge.ms > charges.worst.ms {
            let at = span.held_at.unwrap_or(span.left_at);
            charges.worst = Worst { ms: charge.ms, at, lock: span.lock.clone() };
        }
        if let Some(waiter) = span.session {
            if self.victims.len() < VICTIMS_MAX {
                self.victims.insert((account, waiter));
            } else {
                self.sums.is_lower_bound |= !self.victims.contains(&(account, waiter));
            }
        }
        0
    }

    pub fn finish(self) -> Blame {
        let Self { by: _, ensemble, leaves_out_roots: _, charges, victims, mut holds, names, mut sums } = self;
        let key = |account: &Account| match account {
            Account::Lock(path) => path.to_string(),
            Account::Ensemble => ensemble.clone(),
            Account::Session(session) => names.get(session).cloned().unwrap_or_else(|| session_key(*session)),
        };
        let mut of_keys = BTreeMap::<String, HashSet<SessionId>>::new();
        for (account, waiter) in &victims {
            of_keys.entry(key(account)).or_default().insert(*waiter);
        }
        let mut rows = BTreeMap::<String, BlameRow>::new();
        for (account, charges) in charges {
            let key = key(&account);
            let row = rows.entry(key.clone()).or_insert_with(|| {
                let Holds { count, times } = holds.remove(&key).unwrap_or_default();
                let victims = of_keys.get(&key).map_or(0, |victims| victims.len() as u64);
                let worst = Worst::default();
                BlameRow { key, holds: count, hold_times: times, direct_ms: 0, root_ms: 0, victims, worst }
            });
            row.direct_ms += charges.direct_ms;
            row.root_ms += charges.root_ms;
            // The charges come in no order: of two that are alike the earlier one stays.
            let is_worse = (charges.worst.ms, row.worst.at) > (row.worst.ms, charges.worst.at);
            if is_worse {
                row.worst = charges.worst;
            }
        }
        sums.rows = rows.into_values().collect();
        // Those of the same charge stay in the order of their names.
        sums.rows.sort_by_key(|row| std::cmp::Reverse((row.root_ms, row.direct_ms)));
        sums
    }
}

/// What stands for a session of which nothing says who it is.
fn session_key(session: SessionId) -> String {
    if session.0 == 0 { "no session".to_owned() } else { format!("0x{:x}", session.0) }
}
