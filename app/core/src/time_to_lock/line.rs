//! Who holds and who stands before, played [`PLAYS`] times at once: each time everybody holds for as long as somebody held
//! before. No play is random: each contender's holds are all parts of the distribution, each once, in an order of its own,
//! so sums have the right mean and nearly the right spread, and the same question has the same answer.

use super::{Habits, NoEstimate, WaitRange};

/// Plays.
const PLAYS: usize = 256;
/// Contenders that are played one by one; sums of further ones are nearly normal.
pub const STEPS_MAX: usize = 48;
/// Holders at once that are followed.
pub const LEASES_MAX: usize = 64;

/// How many may hold at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// One.
    One,
    /// So many.
    Some(usize),
    /// One that writes, or any that read.
    Readers,
}

/// One that holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HolderAge {
    /// For how long.
    pub age_ms: i64,
    /// It only reads.
    pub reads: bool,
}

/// A line of waiters, from the front. [`Line::wait`] is of whoever stands next.
#[derive(Clone, Debug)]
pub struct Line<'a> {
    habits: &'a Habits,
    admission: Admission,
    /// A hold, in equal parts.
    hold: Box<[i64; PLAYS]>,
    /// When each place is free, a play behind the other. For readers and writers: when the last writer is through.
    free: Vec<i64>,
    places: usize,
    /// For readers and writers: when the last of all is through.
    through: Vec<i64>,
    steps: usize,
}

impl<'a> Line<'a> {
    /// Nobody has been passed yet.
    pub fn new(habits: &'a Habits, admission: Admission, holders: &[HolderAge]) -> Result<Self, NoEstimate> {
        if holders.len() > LEASES_MAX {
            return Err(NoEstimate::TooManyHolders);
        }
        let places = match admission {
            Admission::One | Admission::Readers => 1,
            Admission::Some(number) => number.max(holders.len()).max(1),
        };
        if places > LEASES_MAX {
            return Err(NoEstimate::TooManyHolders);
        }
        let mut hold = Box::new([0; PLAYS]);
        habits.holds.remaining(0, &mut *hold)?;
        let (free, through) = (vec![0; PLAYS * places], vec![0; PLAYS]);
        let mut line = Self { habits, admission, hold, free, places, through, steps: 0 };
        line.place(holders)?;
        Ok(line)
    }

    /// Puts those that hold in their places.
    fn place(&mut self, holders: &[HolderAge]) -> Result<(), NoEstimate> {
        let mut left = [0; PLAYS];
        for (at, holder) in holders.iter().enumerate() {
            self.habits.holds.remaining(holder.age_ms, &mut left)?;
            let order = Order::of(u64::MAX - at as u64);
            let place = if self.places == 1 { 0 } else { at };
            let is_reader = self.admission == Admission::Readers && holder.reads;
            for (play, through) in self.through.iter_mut().enumerate() {
                let ms = left.get(order.part(play)).copied().unwrap_or(0);
                *through = (*through).max(ms);
                if let Some(free) = self.free.get_mut(play * self.places + place)
                    && !is_reader
                {
                    *free = (*free).max(ms);
                }
            }
        }
        Ok(())
    }

    /// How long whoever stands next waits, before what was learned of former ranges is applied.
    pub fn wait(&self, reads: bool) -> WaitRange {
        let mut starts: Vec<i64> = (0..PLAYS).map(|play| self.start(play, reads)).collect();
        starts.sort_unstable();
        let at = |percent: usize| starts.get(percent * PLAYS / 100).copied().unwrap_or(0);
        WaitRange { low_ms: at(10), middle_ms: at(50), high_ms: at(90) }
    }

    /// The same as it is told.
    pub fn told(&self, reads: bool) -> WaitRange {
        self.habits.correction.of(self.wait(reads))
    }

    /// When whoever stands next would hold in a play. Nobody hands anything over where it is free already.
    fn start(&self, play: usize, reads: bool) -> i64 {
        let places = self.free.get(play * self.places..(play + 1) * self.places).unwrap_or_default();
        let first = places.iter().copied().min().unwrap_or(0);
        let first = match self.admission {
            Admission::Readers if !reads => first.max(self.through.get(play).copied().unwrap_or(0)),
            _ => first,
        };
        if first > 0 { first.saturating_add(self.habits.hand_off_ms.max(0)) } else { 0 }
    }

    /// Goes on behind whoever stands next, as it may give up before its turn.
    pub fn pass(&mut self, reads: bool) {
        let (holds, leaves) = (Order::of(2 * self.steps as u64), Order::of(2 * self.steps as u64 + 1));
        self.steps += 1;
        let leaving = self.leaving(reads);
        for play in 0..PLAYS {
            if leaving > 0 && leaves.part(play) < leaving {
                continue;
            }
            let hold = self.hold.get(holds.part(play)).copied().unwrap_or(0);
            let end = self.start(play, reads).saturating_add(hold);
            let is_reader = self.admission == Admission::Readers && reads;
            if let Some(through) = self.through.get_mut(play) {
                *through = (*through).max(end);
            }
            let places = self.free.get_mut(play * self.places..(play + 1) * self.places).unwrap_or_default();
            if let Some(first) = places.iter_mut().min()
                && !is_reader
            {
                *first = end;
            }
        }
    }

    /// In how many plays whoever stands next gives up: by how long it is likely to wait.
    fn leaving(&self, reads: bool) -> usize {
        if self.habits.give_up_rate <= 0.0 {
            return 0;
        }
        let share = 1.0 - (-self.habits.give_up_rate * self.mean_start(reads)).exp();
        (share * PLAYS as f64) as usize
    }

    fn mean_start(&self, reads: bool) -> f64 {
        (0..PLAYS).map(|play| self.start(play, reads) as f64).sum::<f64>() / PLAYS as f64
    }

    /// Goes on behind so many. Takes no longer for 10,000 than for 48; readers and writers have to be passed one by one.
    pub fn pass_many(&mut self, number: usize) {
        let one_by_one = number.min(STEPS_MAX.saturating_sub(self.steps));
        (0..one_by_one).for_each(|_| self.pass(false));
        let rest = number - one_by_one;
        if rest > 0 {
            self.pass_rest(rest as f64);
        }
    }

    /// The sum of many holds is nearly normal. Of those in line fewer and fewer are left who still wait: in a millisecond
    /// each leaves with the same chance, so after a time `t` the line moves by `hold · exp(−rate · t)` a contender.
    fn pass_rest(&mut self, rest: f64) {
        let (mean, deviation) = self.moments();
        let (places, hand_off) = (self.places as f64, self.habits.hand_off_ms.max(0) as f64);
        let each = (mean + hand_off) / places;
        let (rate, begin) = (self.habits.give_up_rate.max(0.0), self.mean_start(false));
        let moved = match rate * each * rest * (-rate * begin).exp() {
            few if few < 1e-9 => each * rest * (-rate * begin).exp(),
            some => some.ln_1p() / rate,
        };
        let served = if each > 0.0 { moved / each } else { 0.0 };
        let deviation = deviation * served.sqrt() / places;
        let order = Order::of(u64::MAX / 2);
        for play in 0..PLAYS {
            let share = (order.part(play) as f64 + 0.5) / PLAYS as f64;
            let further = (moved + deviation * normal(share)).max(0.0) as i64;
            let places = self.free.get_mut(play * self.places..(play + 1) * self.places).unwrap_or_default();
            places.iter_mut().chain(self.through.get_mut(play)).for_each(|free| *free = free.saturating_add(further));
        }
    }

    /// Mean and standard deviation of a hold.
    fn moments(&self) -> (f64, f64) {
        let mean = self.hold.iter().map(|ms| *ms as f64).sum::<f64>() / PLAYS as f64;
        let variance = self.hold.iter().map(|ms| (*ms as f64 - mean).powi(2)).sum::<f64>() / PLAYS as f64;
        (mean, variance.sqrt())
    }
}

/// Each of [`PLAYS`] numbers once, in an order of its own.
#[derive(Clone, Copy, Debug)]
struct Order {
    odd: u64,
    add: u64,
    odd_again: u64,
}

impl Order {
    fn of(number: u64) -> Self {
        let bits = scramble(number);
        Self { odd: bits | 1, add: bits >> 8, odd_again: (bits >> 16) | 1 }
    }

    /// Odd factors, sums and a shifted `xor` each map 256 numbers to as many.
    fn part(self, play: usize) -> usize {
        const MASK: u64 = PLAYS as u64 - 1;
        let once = (play as u64).wrapping_mul(self.odd).wrapping_add(self.add) & MASK;
        let twice = (once ^ (once >> 3)).wrapping_mul(self.odd_again) & MASK;
        ((twice ^ (twice >> 5)).wrapping_add(self.add >> 24) & MASK) as usize
    }
}

/// Bits that look like none before (SplitMix64: Steele, Lea and Flood, 2014).
fn scramble(number: u64) -> u64 {
    let mut bits = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// What a normal variable does not exceed with this chance, to a hundredth (Tukey's lambda).
fn normal(share: f64) -> f64 {
    (share.powf(0.135) - (1.0 - share).powf(0.135)) / 0.197_5
}
