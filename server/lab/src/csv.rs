//! A run of the lab as a table for spreadsheets: one row a strategy, units in the names of the columns. Pure.

use lockscope_view::{LabRun, Lane};

type Column = (&'static str, fn(&LabRun, &Lane) -> String);

/// The columns. Nothing of it is free text, so nothing needs quotes.
const COLUMNS: [Column; 39] = [
    ("run", |run, _| run.id.clone()),
    ("strategy", |_, lane| lane.name.to_string()),
    ("state", |_, lane| lane.state.to_string()),
    ("clients", |run, _| run.order.clients.to_string()),
    ("rounds", |run, _| run.order.rounds.to_string()),
    ("hold_ms", |run, _| run.order.hold_ms.to_string()),
    ("think_ms", |run, _| run.order.think_ms.to_string()),
    ("seed", |run, _| known(run.order.seed)),
    ("took_ms", |_, lane| decimal(lane.took_ms)),
    ("acquisitions", |_, lane| lane.acquisitions.to_string()),
    ("acquisitions_wanted", |_, lane| lane.acquisitions_wanted.to_string()),
    ("releases", |_, lane| lane.releases.to_string()),
    ("watch_events", |_, lane| lane.watch_events.to_string()),
    ("watch_events_expected", |_, lane| known(lane.watch_events_expected)),
    ("server_events", |_, lane| known(lane.server_events)),
    ("wasted_wakeups", |_, lane| lane.wasted.to_string()),
    ("reads", |_, lane| lane.reads.to_string()),
    ("requests_create", |_, lane| lane.requests.create.to_string()),
    ("requests_delete", |_, lane| lane.requests.delete.to_string()),
    ("requests_children", |_, lane| lane.requests.children.to_string()),
    ("requests_exists", |_, lane| lane.requests.exists.to_string()),
    ("requests_data", |_, lane| lane.requests.data.to_string()),
    ("requests_ping", |_, lane| lane.requests.ping.to_string()),
    ("requests_other", |_, lane| lane.requests.other.to_string()),
    ("bytes", |_, lane| lane.bytes.to_string()),
    ("bytes_in", |_, lane| lane.bytes_in.to_string()),
    ("bytes_out", |_, lane| lane.bytes_out.to_string()),
    ("own_packets", |_, lane| known(lane.own_packets)),
    ("server_packets", |_, lane| known(lane.server_packets)),
    ("handoff_p50_ms", |_, lane| decimal(lane.handoff_ms.p50)),
    ("handoff_p90_ms", |_, lane| decimal(lane.handoff_ms.p90)),
    ("handoff_p99_ms", |_, lane| decimal(lane.handoff_ms.p99)),
    ("handoff_max_ms", |_, lane| decimal(lane.handoff_ms.max)),
    ("wait_p50_ms", |_, lane| decimal(lane.wait_ms.p50)),
    ("wait_p99_ms", |_, lane| decimal(lane.wait_ms.p99)),
    ("wait_max_ms", |_, lane| decimal(lane.wait_ms.max)),
    ("inversions", |_, lane| lane.inversions.to_string()),
    ("broken", |_, lane| lane.broken.to_string()),
    ("loop_lag_p99_ms", |run, _| decimal(run.loop_lag_ms.p99)),
];

/// The whole table, lines ended as RFC 4180 has it.
pub fn table(run: &LabRun) -> String {
    let mut text = COLUMNS.map(|(name, _)| name).join(",");
    text.push_str("\r\n");
    for lane in &run.strategies {
        text.push_str(&COLUMNS.map(|(_, cell)| cell(run, lane)).join(","));
        text.push_str("\r\n");
    }
    text
}

/// Empty where nothing is known.
fn known(value: Option<u64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

fn decimal(ms: f64) -> String {
    format!("{ms:.3}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::tests::run;

    #[test]
    fn one_row_a_strategy_with_as_many_cells_as_the_head() {
        let text = table(&run());
        let lines: Vec<&str> = text.split_terminator("\r\n").collect();
        assert_eq!(lines.len(), 3);
        assert!(lines.iter().all(|line| line.split(',').count() == COLUMNS.len()), "{text}");
        assert!(lines[1].starts_with("00000000000000aa,predecessor,finished,50,1,0,0,7,"), "{text}");
        let events = COLUMNS.iter().position(|(name, _)| *name == "watch_events").unwrap();
        assert_eq!((lines[1].split(',').nth(events), lines[2].split(',').nth(events)), (Some("49"), Some("1225")));
    }
}
