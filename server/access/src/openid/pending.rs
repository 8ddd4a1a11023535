//! Sign-ins that went to the provider and did not come back yet. Pure: the time is an argument. A browser is known
//! again by a cookie of its own; what it left is taken once.

use std::net::IpAddr;

use crate::secret::{Digest, Secret};
use lockscope_runtime::quota::neighbourhood;

/// Sign-ins under way; the oldest makes room.
pub(super) const PENDING_MAX: usize = 4_096;
/// Sign-ins under way from one address, so that nobody crowds others out.
pub(super) const PENDING_AN_ADDRESS_MAX: usize = 64;
/// Whoever stays longer begins again.
pub(super) const PENDING_MS_MAX: i64 = 10 * 60 * 1_000;

/// What has to fit when somebody comes back.
#[derive(Clone, Debug)]
pub(super) struct Proof {
    /// What the token must contain.
    pub(super) nonce: Secret,
    /// What only the one who began can show to the provider.
    pub(super) verifier: Secret,
    /// The redirect address that was given to the provider.
    pub(super) redirect: String,
    /// Where to go afterwards.
    pub(super) next: String,
}

#[derive(Debug)]
struct PendingSignIn {
    cookie: Digest,
    state: Digest,
    address: IpAddr,
    until_ms: i64,
    proof: Proof,
}

/// In the order they began.
#[derive(Debug, Default)]
pub(super) struct PendingSignIns(Vec<PendingSignIn>);

impl PendingSignIns {
    /// Remembers one; `cookie` goes to the browser, `state` by way of the provider.
    pub(super) fn add(&mut self, cookie: &Secret, state: &Secret, address: Option<IpAddr>, proof: Proof, now_ms: i64) {
        self.0.retain(|begun| now_ms < begun.until_ms);
        let address = neighbourhood(address);
        if self.0.iter().filter(|begun| begun.address == address).count() >= PENDING_AN_ADDRESS_MAX
            && let Some(at) = self.0.iter().position(|begun| begun.address == address)
        {
            self.0.remove(at);
        }
        if self.0.len() >= PENDING_MAX {
            self.0.remove(0);
        }
        let until_ms = now_ms.saturating_add(PENDING_MS_MAX);
        self.0.push(PendingSignIn { cookie: cookie.digest(), state: state.digest(), address, until_ms, proof });
    }

    /// Takes one out when both fit. When only one does it stays, or anybody's link could end what somebody else began.
    pub(super) fn take(&mut self, cookie: &Secret, state: &Secret, now_ms: i64) -> Option<Proof> {
        let (cookie, state) = (cookie.digest(), state.digest());
        let at = self.0.iter().position(|begun| begun.cookie.is(&cookie) && begun.state.is(&state))?;
        let begun = self.0.remove(at);
        (now_ms < begun.until_ms).then_some(begun.proof)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proof() -> Proof {
        Proof { nonce: Secret::random(), verifier: Secret::random(), redirect: String::new(), next: "/".to_owned() }
    }

    fn from(number: u32) -> Option<IpAddr> {
        Some(std::net::Ipv4Addr::from_bits(0x0a00_0000 + number).into())
    }

    #[test]
    fn one_is_taken_once_in_time_and_by_who_began() {
        let mut pending = PendingSignIns::default();
        let (cookie, state, other) = (Secret::random(), Secret::random(), Secret::random());
        pending.add(&cookie, &state, from(1), proof(), 0);
        assert!(pending.take(&other, &state, 1).is_none() && pending.take(&cookie, &other, 1).is_none());
        assert!(pending.take(&cookie, &state, PENDING_MS_MAX - 1).is_some(), "what did not fit ended nothing");
        assert!(pending.take(&cookie, &state, 1).is_none());
        pending.add(&cookie, &state, from(1), proof(), 0);
        assert!(pending.take(&cookie, &state, PENDING_MS_MAX).is_none());
    }

    #[test]
    fn a_flood_from_one_address_crowds_nobody_out_and_there_is_a_maximum() {
        let mut pending = PendingSignIns::default();
        let (cookie, state) = (Secret::random(), Secret::random());
        pending.add(&cookie, &state, from(1), proof(), 0);
        (0..10 * PENDING_AN_ADDRESS_MAX)
            .for_each(|_| pending.add(&Secret::random(), &Secret::random(), from(2), proof(), 1));
        assert_eq!(pending.0.len(), PENDING_AN_ADDRESS_MAX + 1);
        assert!(pending.take(&cookie, &state, 1).is_some());
        (0..u32::try_from(PENDING_MAX).unwrap() + 100)
            .for_each(|at| pending.add(&Secret::random(), &Secret::random(), from(at), proof(), 1));
        assert_eq!(pending.0.len(), PENDING_MAX);
        pending.add(&cookie, &state, from(1), proof(), PENDING_MS_MAX + 1);
        assert_eq!(pending.0.len(), 1, "what is too old goes");
    }
}
