//! Who the members are: the servers of the connect string, the lines of `/zookeeper/config`, and the AdminServers that
//! were named, brought together. Pure: what names resolve to is an argument.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};

use lockscope_core::evidence::MEMBERS_MAX;

use super::super::connect_string::split_chroot;
use super::url;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MemberAddress {
    /// Its name in everything shown: as the connect string spells it, else its client address.
    pub(super) name: Box<str>,
    pub(super) number: Option<i64>,
    /// Its client address, `host:port`.
    pub(super) address: String,
    /// Its AdminServer, where one was named.
    pub(super) admin_url: Option<String>,
    /// Neither the operator nor the ensemble names this address, or only one on its own machine.
    pub(super) is_guess: bool,
}

/// One `server.N` line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) number: i64,
    /// Host of its first quorum address.
    pub(super) host: String,
    /// `host:port` for clients; often missing for members with an old configuration.
    pub(super) client: Option<String>,
}

/// What `host:port` names resolve to; names that do not resolve are not in it.
pub(super) type Resolved = BTreeMap<String, BTreeSet<SocketAddr>>;

/// Host and port; the host keeps its brackets.
pub(super) fn split_port(address: &str) -> (&str, Option<u16>) {
    address.rsplit_once(':').map_or((address, None), |(host, port)| (host, port.parse().ok()))
}

/// The `server.N=host:q:e[|…][:role];[clienthost:]clientport` lines of `/zookeeper/config`; others are passed over.
pub(super) fn listed(config: &str) -> Vec<Listed> {
    let lines = config.lines().filter_map(|line| {
        let (number, value) = line.trim().strip_prefix("server.")?.split_once('=')?;
        let (servers, client) =
            value.split_once(';').map_or((value, None), |(servers, client)| (servers, Some(client.trim())));
        let host = host(servers.split('|').next()?);
        let client = client.map(|client| client.rsplit_once(':').unwrap_or(("0.0.0.0", client))).filter(|(_, port)| {
            // A port that is none would be asked for ever.
            port.parse::<u16>().is_ok_and(|port| port > 0)
        });
        let client = client
            .map(|(client_host, port)| format!("{}:{port}", if is_any(client_host) { host } else { client_host }));
        // A member that lists itself as any address of its machine does not say which machine that is.
        let client = client.filter(|client| !is_any(split_port(client).0));
        (!host.is_empty()).then_some(())?;
        Some(Listed { number: number.trim().parse().ok()?, host: host.to_owned(), client })
    });
    lines.take(MEMBERS_MAX).collect()
}

fn is_any(host: &str) -> bool {
    matches!(host, "0.0.0.0" | "[::]" | "::" | "[0:0:0:0:0:0:0:0]" | "0:0:0:0:0:0:0:0" | "")
}

/// The host before `:quorum:election`.
fn host(server: &str) -> &str {
    let server = server.trim();
    match server.strip_prefix('[').and_then(|rest| rest.find(']')) {
        Some(end) => server.get(..end + 2).unwrap_or(server),
        None => server.split(':').next().unwrap_or_default(),
    }
}

/// All names that have to be resolved to bring members together.
pub(super) fn names(connect: &str, listed: &[Listed], urls: &[String]) -> BTreeSet<String> {
    let mut names: BTreeSet<String> = split_chroot(connect).0.split(',').map(str::to_owned).collect();
    names.extend(listed.iter().map(|one| one.client.clone().unwrap_or_else(|| anyport(&one.host))));
    names.extend(urls.iter().map(|one| url::authority(one).to_owned()));
    names
}

/// A host without a port, as a name that resolves.
fn anyport(host: &str) -> String {
    format!("{host}:0")
}

fn is_listed(resolved: &Resolved, server: &str, one: &Listed) -> bool {
    match &one.client {
        Some(client) => server == client || shares(addresses(resolved, server), addresses(resolved, client)),
        None => split_port(server).0 == one.host || shares(&ips(resolved, server), &ips(resolved, &anyport(&one.host))),
    }
}

/// The numbers of the members that are asked nowhere, or only where they may not be.
pub(super) fn unplaced(listed: &[Listed], places: &[MemberAddress], resolved: &Resolved) -> Vec<i64> {
    let is_placed = |one: &&Listed| {
        let there = places.iter().filter(|place| !place.is_guess && is_listed(resolved, &place.address, one)).count();
        let beside = listed.iter().filter(|other| is_listed(resolved, &anyport(&other.host), one)).count();
        there > 0 && (one.client.is_some() || there >= beside)
    };
    listed.iter().filter(|one| !is_placed(one)).map(|one| one.number).collect()
}

/// Every member once. Ordered by the connect string, then by number.
pub(super) fn places(connect: &str, listed: &[Listed], urls: &[String], resolved: &Resolved) -> Vec<MemberAddress> {
    let servers: Vec<&str> = split_chroot(connect).0.split(',').collect();
    let is_same = |server: &str, one: &Listed| is_listed(resolved, server, one);
    let is_here = |name: &str| addresses(resolved, name).iter().any(|address| address.ip().is_loopback());
    let mut places: Vec<MemberAddress> = Vec::new();
    let mut named = BTreeSet::new();
    for server in &servers {
        let same: Vec<&Listed> = listed.iter().filter(|one| is_same(server, one)).collect();
        if places.iter().any(|place| is_one(resolved, &place.address, server)) {
            continue;
        }
        // A name for several members (one address for all of them) is no member. Where client addresses are missing,
        // members on one host can't be distinguished, and the name stays.
        if same.len() > 1 && same.iter().all(|one| one.client.is_some()) {
            continue;
        }
        let number = match same.as_slice() {
            [one] => Some(one.number).filter(|number| named.insert(*number)),
            _ => None,
        };
        // Two names of one member.
        let is_second = same.len() == 1 && number.is_none() && same.iter().any(|one| one.client.is_some());
        if !is_second {
            places.push(MemberAddress {
                name: (*server).into(),
                number,
                address: (*server).to_owned(),
                admin_url: None,
                is_guess: false,
            });
        }
    }
    let port = servers.first().and_then(|server| split_port(server).1);
    for one in listed.iter().filter(|one| !named.contains(&one.number)) {
        let is_there = one.client.is_none() && servers.iter().any(|server| is_same(server, one));
        // Members that do not report their port nearly always use the same.
        let guess = || port.filter(|_| !is_any(&one.host)).map(|port| format!("{}:{port}", one.host));
        let address = one.client.clone().or_else(guess);
        let Some(address) = address.filter(|address| !is_there && places.iter().all(|place| place.address != *address))
        else {
            continue;
        };
        places.push(MemberAddress {
            name: address.as_str().into(),
            number: Some(one.number),
            is_guess: one.client.is_none() || (is_here(&address) && !servers.iter().any(|server| is_here(server))),
            address,
            admin_url: None,
        });
    }
    // Whoever left goes on running. Where some address is not known, it may be anybody's.
    let is_member = |place: &MemberAddress| listed.iter().any(|one| is_same(&place.address, one));
    let is_known = |place: &MemberAddress| !is_member(place) || !addresses(resolved, &place.address).is_empty();
    if !listed.is_empty() && unplaced(listed, &places, resolved).is_empty() && places.iter().all(is_known) {
        places.retain(is_member);
    }
    places.truncate(MEMBERS_MAX);
    assign(&mut places, urls, resolved);
    places
}

/// Gives each AdminServer to a member: to the only one on its host, else in order, those of its host first.
fn assign(places: &mut [MemberAddress], urls: &[String], resolved: &Resolved) {
    let is_host = |place: &MemberAddress, url: &str| {
        let authority = url::authority(url);
        split_port(&place.address).0 == split_port(authority).0
            || shares(&ips(resolved, &place.address), &ips(resolved, authority))
    };
    let mut left = Vec::new();
    for url in urls {
        let mut on_host = places.iter_mut().filter(|place| is_host(place, url));
        match (on_host.next(), on_host.next()) {
            (Some(only), None) if only.admin_url.is_none() => only.admin_url = Some(url.clone()),
            _ => left.push(url),
        }
    }
    for url in left {
        let free = || places.iter().enumerate().filter(|(_, place)| place.admin_url.is_none());
        let at = free().find(|(_, place)| is_host(place, url)).or_else(|| free().next()).map(|(at, _)| at);
        if let Some(place) = at.and_then(|at| places.get_mut(at)) {
            place.admin_url = Some(url.clone());
        }
    }
}

/// Whether two names are surely of one server. Names that share only some addresses may stand for several.
fn is_one(resolved: &Resolved, a: &str, b: &str) -> bool {
    let (of_a, of_b) = (addresses(resolved, a), addresses(resolved, b));
    let are_here = || of_a.iter().chain(of_b).all(|address| address.ip().is_loopback());
    a == b || (shares(of_a, of_b) && (of_a == of_b || are_here()))
}

fn addresses<'a>(resolved: &'a Resolved, name: &str) -> &'a BTreeSet<SocketAddr> {
    const NONE: &BTreeSet<SocketAddr> = &BTreeSet::new();
    resolved.get(name).unwrap_or(NONE)
}

fn ips(resolved: &Resolved, name: &str) -> BTreeSet<IpAddr> {
    addresses(resolved, name).iter().map(SocketAddr::ip).collect()
}

fn shares<T: Ord>(a: &BTreeSet<T>, b: &BTreeSet<T>) -> bool {
    a.intersection(b).next().is_some()
}

#[cfg(test)]
mod tests;
