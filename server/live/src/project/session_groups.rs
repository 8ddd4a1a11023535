//! Sessions by client host or by application.

use std::collections::{BTreeMap, HashSet};

use lockscope_view as view;

use super::applications::ApplicationRule;
use super::session_sums::{SPOTS_MAX, Sum};
use super::{ProjectionContext, count32};

/// The host of a client's address, which has a port behind the last colon.
pub(super) fn host_of(address: &str) -> &str {
    address.rsplit_once(':').map_or(address, |(host, _)| host)
}

/// A group while it is summed up, with the locks its sessions hold.
struct Group<'a> {
    row: view::SessionGroupRow,
    held: HashSet<(&'a str, &'a str)>,
}

/// The groups of sessions, in the order asked for.
pub(super) fn groups(
    sums: &[(ProjectionContext<'_>, Sum)],
    query: &view::SessionsQuery,
    rule: &ApplicationRule,
) -> Vec<view::SessionGroupRow> {
    let mut groups: BTreeMap<String, Group<'_>> = BTreeMap::new();
    for (look, sum) in sums {
        let name = look.group_name(sum, query.group, rule);
        let group = groups.entry(name).or_insert_with_key(|name| Group {
            row: view::SessionGroupRow {
                name: name.clone(),
                sessions: 0,
                holds: 0,
                waits: 0,
                blocks: 0,
                oldest_hold_at_ms: None,
                oldest_wait_at_ms: None,
                cycle_verdict: None,
            },
            held: HashSet::new(),
        });
        let row = &mut group.row;
        row.sessions += 1;
        row.cycle_verdict = row.cycle_verdict.max(sum.cycle_verdict);
        for spot in look.spots(sum.session).take(SPOTS_MAX) {
            let at_ms = Some(look.instant(spot.since).0);
            if spot.hold.is_none() {
                if spot.lock.recognition.counts_as_waiting() {
                    row.waits += 1;
                    row.oldest_wait_at_ms = row.oldest_wait_at_ms.into_iter().chain(at_ms).min();
                }
                continue;
            }
            row.holds += 1;
            row.oldest_hold_at_ms = row.oldest_hold_at_ms.into_iter().chain(at_ms).min();
            if spot.lock.recognition.counts_as_waiting() && group.held.insert((&*look.ensemble.name, &*spot.lock.path))
            {
                row.blocks = row.blocks.saturating_add(spot.lock.waiters_seen());
            }
        }
    }
    let mut rows: Vec<view::SessionGroupRow> = groups.into_values().map(|group| group.row).collect();
    rows.sort_by_key(|row| sort_key(row, query.sort));
    rows
}

/// Groups come in order of their names and the sort is stable, so equals stay in that order.
fn sort_key(row: &view::SessionGroupRow, sort: view::SessionSort) -> (std::cmp::Reverse<Option<view::Verdict>>, i64) {
    let key = match sort {
        view::SessionSort::Worst => return (std::cmp::Reverse(row.cycle_verdict), -i64::from(row.blocks)),
        view::SessionSort::Blocks => -i64::from(row.blocks),
        view::SessionSort::Holds => -i64::from(row.holds),
        view::SessionSort::OldestWait => row.oldest_wait_at_ms.unwrap_or(i64::MAX),
        view::SessionSort::Ephemerals => -i64::from(row.sessions),
        view::SessionSort::Id => 0,
    };
    (std::cmp::Reverse(None), key)
}

/// Whether a session is of the host and the application asked for.
pub(super) fn is_of(
    look: &ProjectionContext<'_>,
    sum: &Sum,
    query: &view::SessionsQuery,
    rule: &ApplicationRule,
) -> bool {
    let is_in = |name: &str, by| name.is_empty() || look.group_name(sum, by, rule) == name;
    is_in(&query.host, view::SessionGroup::Host) && is_in(&query.application, view::SessionGroup::Application)
}

impl ProjectionContext<'_> {
    /// The group a session is in; empty where that is not known.
    fn group_name(&self, sum: &Sum, by: view::SessionGroup, rule: &ApplicationRule) -> String {
        match by {
            view::SessionGroup::Session => sum.session.to_string(),
            view::SessionGroup::Host => {
                let (client, ..) = self.peer(sum.session, self.now);
                client.map(|client| host_of(&client.address).to_owned()).unwrap_or_default()
            }
            view::SessionGroup::Application => {
                let label = self.spots(sum.session).take(SPOTS_MAX).find_map(|spot| self.label_of(&spot));
                label.map(|label| rule.application_of(&label).to_owned()).unwrap_or_default()
            }
        }
    }
}

pub(super) fn window(
    rows: Vec<view::SessionGroupRow>,
    query: &view::SessionsQuery,
) -> view::Window<view::SessionGroupRow> {
    let total = count32(rows.len());
    let rows = rows.into_iter().skip(query.offset as usize).take(query.limit as usize).collect();
    view::Window { total, offset: query.offset, rows }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_is_the_address_without_its_port() {
        let told = ["10.0.0.5:41234", "[::1]:2181", "0:0:0:0:0:0:0:1:2181", "unknown"];
        assert_eq!(told.map(host_of), ["10.0.0.5", "[::1]", "0:0:0:0:0:0:0:1", "unknown"]);
    }
}
