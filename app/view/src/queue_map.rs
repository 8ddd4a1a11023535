//! A whole queue in little: how its contenders are, slice by slice, who in it is dead, and where one's own application
//! stands. A view of its own beside the lock's, which has only a window of its rows.

use serde::{Deserialize, Serialize};

use super::query::push_pair;
use super::{Liveness, LockQuery, ParseQueryError, RootState};

/// Slices of a map; a longer queue has more contenders in each.
pub const QUEUE_SLICES_MAX: u32 = 240;
/// Places of dead contenders that are listed, the first ones; more are only counted.
pub const QUEUE_DEAD_MAX: usize = 64;
/// Contenders that are looked at, the first ones: a look keeps others from the model for so long.
pub const QUEUE_MAPPED_MAX: u32 = 20_000;
/// Holds that must have ended before a rate is told.
pub const HAND_OVERS_MIN: usize = 8;

/// Which queue to map, and whose place in it to tell.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct QueueMapQuery {
    /// Ensemble name; empty means the only one.
    pub ensemble: String,
    /// The lock's path.
    pub path: String,
    /// An application (`report` of `report-9@app-2`) or a client's host, upper and lower case alike; empty for none.
    pub app: String,
}

/// Contenders of one slice, by whether they are alive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QueueSlice {
    /// Connected to a member.
    pub connected: u32,
    /// Connected, and not heard from for too long.
    pub silent: u32,
    /// Connected to no member.
    pub disconnected: u32,
    /// With a znode that no session owns.
    pub persistent: u32,
    /// Of which that is not known.
    pub unknown: u32,
}

impl QueueSlice {
    /// Counts one.
    pub fn add(&mut self, liveness: Liveness) {
        let count = match liveness {
            Liveness::Connected => &mut self.connected,
            Liveness::Silent => &mut self.silent,
            Liveness::Disconnected => &mut self.disconnected,
            Liveness::Persistent => &mut self.persistent,
            Liveness::Unknown => &mut self.unknown,
        };
        *count += 1;
    }

    /// Each kind with its number, those first that need to be seen.
    pub fn counts(&self) -> [(Liveness, u32); 5] {
        [
            (Liveness::Disconnected, self.disconnected),
            (Liveness::Silent, self.silent),
            (Liveness::Persistent, self.persistent),
            (Liveness::Unknown, self.unknown),
            (Liveness::Connected, self.connected),
        ]
    }
}

/// Holds that ended one after the other, each seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HandOvers {
    /// So many ended,
    pub count: u32,
    /// after this instant,
    pub since_ms: i64,
    /// the last at this one.
    pub until_ms: i64,
}

impl HandOvers {
    /// In a thousand seconds, by now.
    pub fn in_1000_s(self, now_ms: i64) -> i64 {
        i64::from(self.count).saturating_mul(1_000_000).checked_div(self.took_ms(now_ms)).unwrap_or_default()
    }

    /// How long so many more take at that rate.
    pub fn time_for_ms(self, hand_overs: u32, now_ms: i64) -> i64 {
        let all = self.took_ms(now_ms).saturating_mul(i64::from(hand_overs));
        all.checked_div(i64::from(self.count)).unwrap_or_default()
    }

    /// Where none ends any more, longer and longer. A map is a second old or two before that can be told.
    fn took_ms(self, now_ms: i64) -> i64 {
        const QUIET_MS: i64 = 2_000;
        let seen_ms = self.until_ms.saturating_sub(self.since_ms).max(1);
        let apart_ms = seen_ms.checked_div(i64::from(self.count)).unwrap_or_default();
        let is_going_on = now_ms.saturating_sub(self.until_ms) <= QUIET_MS.max(3 * apart_ms);
        if is_going_on { seen_ms } else { now_ms.saturating_sub(self.since_ms).max(1) }
    }
}

/// Where an application's first waiter stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QueuePlace {
    /// As in the list of contenders, 0 is the first holder.
    pub position: u32,
    /// Holds that must end before its own begins.
    pub ahead: u32,
}

/// Body of the live view `queue_map`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QueueMap {
    /// State of the root's view.
    pub state: RootState,
    /// Contenders, as many as the lock's list has.
    pub total: u32,
    /// Of these, the first so many were looked at.
    pub mapped: u32,
    /// Contenders in each slice; fewer in the last.
    pub per_slice: u32,
    /// In queue order.
    pub slices: Vec<QueueSlice>,
    /// Waiters whose client is connected to no member: at their turn the lock stands still until their session ends.
    pub dead_count: u32,
    /// Places of the first of them.
    pub dead: Vec<u32>,
    /// How quickly the queue moves; null where too few holds were seen to end, and where nobody waits to hold.
    pub hand_overs: Option<HandOvers>,
    /// Of the application that was asked for; null where none was, and where none of its waiters was found.
    pub place: Option<QueuePlace>,
    /// That application or host, as it was asked for.
    pub app: String,
}

/// What the address of a lock's page has besides the lock.
const OF_PAGE: [&str; 5] = ["app", "range", "from", "to", "compare"];

impl LockQuery {
    /// Reads the address of the lock's page, which has besides whose place in the queue is shown, and what of its past:
    /// the server reads that.
    pub fn from_page_pairs<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, ParseQueryError> {
        Self::from_pairs(pairs.into_iter().filter(|(name, _)| !OF_PAGE.contains(name)))
    }

    /// The address of this lock's page with the place of an application.
    pub fn to_url_with_app(&self, app: &str) -> String {
        let mut url = self.to_url();
        let mut pair = String::new();
        push_pair(&mut pair, "app", app);
        url.push_str(&pair.replacen('?', "&", 1));
        url
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_falls_while_nothing_moves_and_not_because_a_map_is_a_second_old() {
        let slow = HandOvers { count: 12, since_ms: 1_000, until_ms: 11_000 };
        assert_eq!((slow.in_1000_s(11_000), slow.in_1000_s(13_400)), (1_200, 1_200));
        assert_eq!(slow.time_for_ms(812, 11_000), 676_666);
        assert_eq!(slow.in_1000_s(101_000), 120);
        let quick = HandOvers { count: 15, since_ms: 1_000, until_ms: 1_300 };
        assert_eq!((quick.in_1000_s(1_300), quick.in_1000_s(3_000), quick.in_1000_s(4_000)), (50_000, 50_000, 5_000));
        let at_once = HandOvers { count: 7, since_ms: 5, until_ms: 5 };
        assert_eq!(at_once.time_for_ms(3, 0), 0, "and nothing is divided by nothing");
    }

    #[test]
    fn the_page_may_name_an_application_and_a_script_may_not() {
        let pairs = [("path", "/l"), ("app", "report & co")];
        let query = LockQuery::from_page_pairs(pairs).unwrap_or_default();
        assert_eq!(query.path, "/l");
        assert!(LockQuery::from_pairs(pairs).is_err());
        assert_eq!(query.to_url_with_app("report & co"), "/lock?path=/l&app=report%20%26%20co");
        assert_eq!(query.to_url_with_app(""), "/lock?path=/l");
    }
}
