//! A lane as it is shown.

use lockscope_view::{LabRequests, Lane as WireLane};

use super::figures::thousandths;
use super::relay::Counts;
use super::strategy::events_expected;
use super::strategy_run::StrategyRun;

pub(super) fn lane(lane: &StrategyRun) -> WireLane {
    let measured = lane.measured().clone();
    let now_us = lane.board.now_us();
    let meter = measured.meter.map_or_else(Counts::default, |(before, after)| {
        since(before, after.unwrap_or_else(|| lane.board.meter.snapshot()))
    });
    let took_us = measured.counted_us.map_or(0, |(begin, end)| end.unwrap_or(now_us).saturating_sub(begin));
    let tally = lane.board.tally();
    let seats = tally.seats();
    let clients = u64::from(lane.order.clients).saturating_sub(lost(&seats));
    let expected = (!lane.is_disturbed()).then(|| events_expected(lane.strategy, clients));
    WireLane {
        name: lane.strategy,
        path: lane.path.to_string(),
        state: measured.state,
        seats,
        took_ms: thousandths(took_us),
        acquisitions: tally.progress().acquisitions,
        acquisitions_wanted: clients * u64::from(lane.order.rounds),
        releases: tally.releases,
        watch_events: meter.events,
        watch_events_expected: expected,
        woken: tally.woken,
        wasted: tally.wasted,
        reads: meter.requests.children + meter.requests.exists + meter.requests.data,
        requests: meter.requests,
        bytes: meter.bytes_in + meter.bytes_out,
        bytes_in: meter.bytes_in,
        bytes_out: meter.bytes_out,
        handoff_ms: tally.handoffs.spread(),
        handoff_us: tally.handoffs.buckets(),
        wait_ms: tally.waits.spread(),
        inversions: tally.inversions,
        per_release: tally.per_release.clone(),
        broken: tally.broken,
        server_packets: measured.server.map(|(told, _)| told.received + told.sent),
        own_packets: measured.server.map(|(_, own)| own.received + own.sent),
        server_events: measured.server.map(|(told, _)| told.sent.saturating_sub(told.received)),
    }
}

pub(super) fn lost(seats: &str) -> u64 {
    seats.matches('l').count() as u64
}

fn since(before: Counts, after: Counts) -> Counts {
    let (requests, later) = (before.requests, after.requests);
    Counts {
        requests: LabRequests {
            create: later.create.saturating_sub(requests.create),
            delete: later.delete.saturating_sub(requests.delete),
            children: later.children.saturating_sub(requests.children),
            exists: later.exists.saturating_sub(requests.exists),
            data: later.data.saturating_sub(requests.data),
            ping: later.ping.saturating_sub(requests.ping),
            other: later.other.saturating_sub(requests.other),
        },
        events: after.events.saturating_sub(before.events),
        packets_in: after.packets_in.saturating_sub(before.packets_in),
        packets_out: after.packets_out.saturating_sub(before.packets_out),
        bytes_in: after.bytes_in.saturating_sub(before.bytes_in),
        bytes_out: after.bytes_out.saturating_sub(before.bytes_out),
    }
}
