//! Identities that a trusted proxy sets in a header, and the addresses that make it trusted.

use std::collections::BTreeMap;
use std::net::IpAddr;

use axum::http::HeaderMap;
use ipnet::IpNet;
use lockscope_view::Role;

use super::Denied;
use super::grant::{Grant, NAME_CHARS_MAX, is_reserved};
use lockscope_audit::{Right, is_clear_name};

/// The header with the client's address; believed from listed proxies only.
const FORWARDED_FOR: &str = "x-forwarded-for";
/// Addresses of one way that are looked at.
const HOPS_MAX: usize = 32;

/// One address or a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Net(IpNet);

impl Net {
    /// Reads `10.0.0.5` or `10.1.0.0/16`; None for anything else, and for a network with bits behind its mask.
    pub fn parse(text: &str) -> Option<Self> {
        let net = text.parse::<IpNet>().or_else(|_| text.parse::<IpAddr>().map(IpNet::from)).ok()?;
        (net.addr() == net.network()).then_some(Self(net))
    }

    pub fn has(&self, address: IpAddr) -> bool {
        self.0.contains(&address.to_canonical())
    }
}

/// Which proxy is believed, and what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proxy {
    pub addresses: Vec<Net>,
    /// The header with the name of who asks, in small letters; None: only the way is believed.
    pub header: Option<String>,
    /// The role of those without a group that has one; None: they have no access.
    pub role: Option<Role>,
    /// The header with their groups, in small letters.
    pub role_header: Option<String>,
    /// What a group may do; of several the one that may most counts.
    pub roles: BTreeMap<String, Role>,
}

impl Proxy {
    pub(super) fn is_trusted(&self, peer: Option<IpAddr>) -> bool {
        peer.is_some_and(|peer| self.addresses.iter().any(|net| net.has(peer)))
    }

    /// The user, as the proxy names it. A header from elsewhere is never believed; that it is there at all is said,
    /// since either the list of addresses is wrong or somebody tries.
    pub(super) fn identify(
        &self,
        headers: &HeaderMap,
        peer: Option<IpAddr>,
    ) -> Result<Option<(String, Grant)>, Denied> {
        let Some(header) = &self.header else { return Ok(None) };
        let mut values = headers.get_all(header.as_str()).iter();
        let Some(value) = values.next() else { return Ok(None) };
        if !self.is_trusted(peer) {
            let from = peer.map_or_else(|| "an unknown address".to_owned(), |peer| peer.to_canonical().to_string());
            return Err(Denied::Proxy(format!(
                "the header {header} came from {from}, which is not in `proxy_addresses`; leave it out, or list the proxy"
            )));
        }
        if values.next().is_some() {
            return Err(Denied::Proxy(format!(
                "the header {header} came twice; have the proxy replace what clients send"
            )));
        }
        let name = std::str::from_utf8(value.as_bytes()).map_err(|_| not_a_name(header))?.trim();
        if name.is_empty() {
            return Ok(None);
        }
        if name.chars().count() > NAME_CHARS_MAX
            || name.contains(|char: char| char.is_control() || char == ',')
            || is_reserved(name)
        {
            return Err(not_a_name(header));
        }
        if !is_clear_name(name) {
            let why = "letters of several scripts, or characters that are not seen";
            return Err(Denied::Proxy(format!(
                "the header {header} holds a name that could be taken for another's: it has {why}"
            )));
        }
        let role = self.role_of(headers)?;
        let role = role.ok_or_else(|| {
            Denied::Proxy(format!(
                "{name} has no role here; add one of their groups to `proxy_roles`, or set `proxy_role`"
            ))
        })?;
        Ok(Some((name.to_owned(), Grant::everywhere(role))))
    }

    fn role_of(&self, headers: &HeaderMap) -> Result<Option<Role>, Denied> {
        let Some(header) = &self.role_header else { return Ok(self.role) };
        let mut values = headers.get_all(header.as_str()).iter();
        let groups =
            values.next().map(|value| std::str::from_utf8(value.as_bytes()).unwrap_or_default()).unwrap_or_default();
        if values.next().is_some() {
            return Err(Denied::Proxy(format!(
                "the header {header} came twice; have the proxy replace what clients send"
            )));
        }
        let mapped = groups.split(',').filter_map(|group| self.roles.get(group.trim()).copied());
        Ok(lockscope_audit::highest(mapped).or(self.role))
    }

    /// Where a request came from: the last address on the way that is no proxy of ours.
    pub(super) fn client(&self, headers: &HeaderMap, peer: Option<IpAddr>) -> Option<IpAddr> {
        if !self.is_trusted(peer) {
            return peer;
        }
        let mut hops: Vec<&str> = headers
            .get_all(FORWARDED_FOR)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','))
            .map(str::trim)
            .collect();
        let mut client = peer;
        for _ in 0..HOPS_MAX {
            // What is not an address is not believed, nor is anything before it.
            let Some(hop) = hops.pop().and_then(|hop| hop.parse::<IpAddr>().ok()) else { break };
            client = Some(hop.to_canonical());
            if !self.is_trusted(client) {
                break;
            }
        }
        client
    }

    pub(super) fn may(&self, right: Right) -> bool {
        let mapped = self.roles.values().filter(|_| self.role_header.is_some());
        self.header.is_some() && mapped.chain(&self.role).any(|role| lockscope_audit::role_may(*role, right))
    }
}

fn not_a_name(header: &str) -> Denied {
    Denied::Proxy(format!(
        "the header {header} holds no name; have the proxy send one name of at most {NAME_CHARS_MAX} characters"
    ))
}

#[cfg(test)]
mod tests;
