//! Which members own a unit: rendezvous hashing, weighted by capacity. Pure, and the same on every machine and in every
//! version: two replicas that see the same members name the same owners.
//!
//! A member has as many tickets for a unit as it has capacity; the unit's owners are the members with the highest
//! tickets. So a member that leaves takes only its own units with it, and one that comes takes only what it wins.

/// Tickets of one member at most.
pub const CAPACITY_MAX: u8 = 16;

const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

/// The highest ticket of a member for a unit.
fn score(unit: &str, member: &str, capacity: u8) -> u64 {
    // The lengths keep ("ab", "c") apart from ("a", "bc").
    let base = fnv(fnv(fnv(FNV_OFFSET, unit.as_bytes()), &(unit.len() as u64).to_le_bytes()), member.as_bytes());
    (0..capacity.clamp(1, CAPACITY_MAX)).map(|ticket| mix(base ^ (u64::from(ticket) << 56))).max().unwrap_or(0)
}

fn fnv(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(FNV_PRIME))
}

/// Finalizer of SplitMix64: every bit of the input moves half of the output.
fn mix(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

/// The owners of a unit among some members (id and capacity), the first of them first; all of them where there are no more
/// than `owners_max`. The order of `members` does not matter.
pub fn owners<'a>(unit: &str, members: impl IntoIterator<Item = (&'a str, u8)>, owners_max: usize) -> Vec<&'a str> {
    let mut scored: Vec<(u64, &str)> =
        members.into_iter().map(|(id, capacity)| (score(unit, id, capacity), id)).collect();
    // Equal tickets are next to impossible; then the id decides, the same for everybody.
    scored.sort_unstable_by(|a, b| b.cmp(a));
    scored.into_iter().take(owners_max).map(|(_, id)| id).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(unit: &str, members: &[(&'static str, u8)]) -> Vec<&'static str> {
        owners(unit, members.iter().copied(), 2)
    }

    #[test]
    fn owners_are_the_same_in_every_version() {
        let members = [("a:3000", 1), ("b:3000", 1), ("c:3000", 1), ("d:3000", 1)];
        let found: Vec<_> = ["default", "prod-eu", "prod-us", "x"].map(|unit| of(unit, &members).join(" ")).into();
        assert_eq!(found, GOLDEN, "a changed hash moves every unit while versions are mixed");
        let mut turned = members;
        turned.reverse();
        assert_eq!(of("default", &members), of("default", &turned));
    }

    /// What the first version answered.
    const GOLDEN: [&str; 4] = ["c:3000 b:3000", "d:3000 c:3000", "a:3000 d:3000", "a:3000 c:3000"];

    #[test]
    fn few_members_own_everything() {
        assert_eq!(of("x", &[]), Vec::<&str>::new());
        assert_eq!(of("x", &[("a", 1)]), ["a"]);
        assert_eq!(of("x", &[("a", 1), ("b", 9)]).len(), 2);
    }

    #[test]
    fn capacity_is_the_share() {
        let members = [("a", 1), ("b", 2), ("c", 5)];
        let first = |who: &str| (0..8_000).filter(|at| owners(&format!("unit-{at}"), members, 1) == [who]).count();
        for (id, capacity) in members {
            let (count, expected) = (first(id), usize::from(capacity) * 1_000);
            assert!(count.abs_diff(expected) < expected / 8 + 40, "{id} owns {count} of 8000, {expected} expected");
        }
    }
}
