//! All figures of a run: one row a figure, one column a lane, and beside each other lane how many times the
//! predecessor's it is.

use crate::erase::view;
use leptos::prelude::*;

use super::lanes::requests;
use super::words::{self, difference, is_under_way, millis, name, times};
use crate::charts::marks::Sign;
use crate::format::{bytes, count};
use crate::parts::mark;
use lockscope_view::{LabRun, Lane, Spread, Strategy};

struct Figure {
    text: String,
    /// To be compared; None where that says nothing.
    number: Option<f64>,
    /// Two ways of waiting side by side slow each other.
    is_time: bool,
    is_bad: bool,
}

impl Figure {
    fn of(text: String, number: f64) -> Self {
        Self { text, number: Some(number), is_time: false, is_bad: false }
    }

    fn words(text: String) -> Self {
        Self { text, number: None, is_time: false, is_bad: false }
    }

    fn none() -> Self {
        Self::words("–".to_owned())
    }

    fn time(ms: f64) -> Self {
        Self { is_time: true, ..Self::of(millis(ms), ms) }
    }

    fn count(number: u64) -> Self {
        Self::of(count(number), number as f64)
    }
}

type Row = (&'static str, fn(&Lane) -> Figure);

fn time(spread: Spread, ms: f64) -> Figure {
    if spread.count == 0 { Figure::none() } else { Figure::time(ms) }
}

const LOCK: &[Row] = &[
    ("Acquisitions", |lane| Figure::words(words::of(lane.acquisitions, lane.acquisitions_wanted))),
    ("Counted for", |lane| Figure::time(lane.took_ms)),
    ("Two held at a time", |lane| Figure { is_bad: lane.broken > 0, ..Figure::words(words::how_often(lane.broken)) }),
];

const EVENTS: &[Row] = &[
    ("Watch events delivered", |lane| Figure::count(lane.watch_events)),
    ("Theory says", |lane| Figure::words(words::theory(lane))),
    ("Difference to theory", |lane| {
        // Half-way through, it would be a difference to what is not claimed.
        let expected = lane.watch_events_expected.filter(|_| !is_under_way(lane.state));
        expected.and_then(|expected| difference(lane.watch_events, expected)).map_or_else(Figure::none, Figure::words)
    }),
    ("Woken in vain", |lane| Figure::count(lane.wasted)),
];

const HANDOFF: &[Row] = &[
    ("p50", |lane| time(lane.handoff_ms, lane.handoff_ms.p50)),
    ("p90", |lane| time(lane.handoff_ms, lane.handoff_ms.p90)),
    ("p99", |lane| time(lane.handoff_ms, lane.handoff_ms.p99)),
    ("max", |lane| time(lane.handoff_ms, lane.handoff_ms.max)),
];

const REQUESTS: &[Row] = &[
    ("All", |lane| Figure::count(requests(lane))),
    ("create", |lane| Figure::count(lane.requests.create)),
    ("delete", |lane| Figure::count(lane.requests.delete)),
    ("getChildren", |lane| Figure::count(lane.requests.children)),
    ("exists", |lane| Figure::count(lane.requests.exists)),
    ("getData", |lane| Figure::count(lane.requests.data)),
    ("ping", |lane| Figure::count(lane.requests.ping)),
    ("others", |lane| Figure::count(lane.requests.other)),
    ("Bytes to the clients", |lane| Figure::of(bytes(lane.bytes_in), lane.bytes_in as f64)),
    ("Bytes from the clients", |lane| Figure::of(bytes(lane.bytes_out), lane.bytes_out as f64)),
];

const FAIR: &[Row] = &[
    ("Longest wait", |lane| time(lane.wait_ms, lane.wait_ms.max)),
    ("Pairs served out of order", |lane| Figure::count(lane.inversions)),
];

const MEMBERS: &[Row] = &[
    ("Packets, they counted", |lane| lane.server_packets.map_or_else(Figure::none, Figure::count)),
    ("Packets, we counted", |lane| lane.own_packets.map_or_else(Figure::none, Figure::count)),
    ("Difference", |lane| {
        lane.server_packets
            .zip(lane.own_packets)
            .and_then(|(theirs, ours)| difference(ours, theirs))
            .map_or_else(Figure::none, Figure::words)
    }),
    ("Watch events, they sent", |lane| lane.server_events.map_or_else(Figure::none, Figure::count)),
];

const GROUPS: &[(&str, &[Row])] = &[
    ("Watch events", EVENTS),
    ("Hand-off, from the delete to the next holder’s knowing", HANDOFF),
    ("The lock", LOCK),
    ("Order", FAIR),
    ("Requests of the clients", REQUESTS),
    ("The ZooKeeper members’ own count", MEMBERS),
];

pub(super) fn table(run: &LabRun) -> AnyView {
    let base = run.strategies.iter().find(|lane| lane.name == Strategy::Predecessor);
    let head = |lane: &Lane| {
        let ratio = is_compared(base, lane).then(|| {
            view! { <th scope="col" class="table-number lab-ratio" title="How many times the predecessor’s">"vs predecessor"</th> }
        });
        view! {
            <th scope="col" class="table-number">
                <span class="lab-column"><Sign lane=lane.name.name() mark=super::lanes::mark(lane.name) />{name(lane.name)}</span>
            </th>
            {ratio}
        }
    };
    let columns = 1 + run.strategies.iter().map(|lane| 1 + usize::from(is_compared(base, lane))).sum::<usize>();
    let groups = GROUPS.iter().map(|(title, rows)| group(run, base, columns, title, rows)).collect_view();
    view! {
        <section class="lab-figures-all">
            <h2 class="lab-part">"All figures"</h2>
            // What scrolls must be reachable by keyboard.
            <div class="overflow-x-auto" tabindex="0" role="group" aria-label="All figures">
                <table class="table lab-table" data-testid="lab-table">
                    <thead><tr><th scope="col">"Figure"</th>{run.strategies.iter().map(head).collect_view()}</tr></thead>
                    {groups}
                </table>
            </div>
        </section>
    }
}

fn is_compared(base: Option<&Lane>, lane: &Lane) -> bool {
    base.is_some_and(|base| base.name != lane.name)
}

fn group(run: &LabRun, base: Option<&Lane>, columns: usize, title: &'static str, rows: &'static [Row]) -> AnyView {
    let row = |(name, figure): &(&'static str, fn(&Lane) -> Figure)| {
        let base_number = base.and_then(|base| figure(base).number);
        let cell = |lane: &Lane| {
            let is = figure(lane);
            let comparable = is.number.filter(|_| !is.is_time || run.order.is_one_at_a_time());
            let ratio = comparable.zip(base_number).filter(|(_, base)| *base > 0.0).map(|(is, base)| times(is / base));
            let ratio = is_compared(base, lane).then(|| view! { <td class="table-number lab-ratio">{ratio}</td> });
            view! {
                <td class="table-number" data-bad=mark(is.is_bad)>{is.text}</td>
                {ratio}
            }
        };
        let cells = run.strategies.iter().map(cell).collect_view();
        view! { <tr><th scope="row" class="lab-row-name">{*name}</th>{cells}</tr> }
    };
    view! {
        <tbody>
            <tr><th class="lab-group" scope="rowgroup" colspan=columns.to_string()>{title}</th></tr>
            {rows.iter().map(row).collect_view()}
        </tbody>
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests as samples;
    use super::*;
    use crate::parts::text;

    #[test]
    fn the_herd_is_compared_with_the_predecessor() {
        let html = text(0, || table(&samples::finished()));
        let row = html.split("Watch events delivered</th>").nth(1).and_then(|rest| rest.split("</tr>").next()).unwrap();
        assert_eq!(
            row,
            "<td class=\"table-number\">49</td><td class=\"table-number\">1\u{202f}225</td><td class=\"table-number lab-ratio\">25.0×</td>"
        );
        assert!(html.contains("n(n − 1)/2 = 1\u{202f}225") && html.contains("n − 1 = 49") && html.contains("±0 %"));
        assert!(!html.contains("NaN") && !html.contains("inf×"));
    }

    #[test]
    fn times_of_lanes_side_by_side_are_not_compared() {
        let row = |run: &LabRun| {
            text(0, || table(run))
                .split("Counted for</th>")
                .nth(1)
                .and_then(|rest| rest.split("</tr>").next())
                .unwrap()
                .to_owned()
        };
        let mut run = samples::finished();
        run.order.in_turn = true;
        assert!(row(&run).contains('×'));
        run.order.in_turn = false;
        assert!(!row(&run).contains('×'), "{}", row(&run));
    }

    #[test]
    fn without_a_predecessor_nothing_is_compared() {
        let mut run = samples::finished();
        run.strategies.remove(0);
        assert!(!text(0, || table(&run)).contains("lab-ratio"));
    }

    #[test]
    fn a_broken_lock_is_not_overlooked() {
        assert!(text(0, || table(&samples::broken())).contains("data-bad=\"true\" class=\"table-number\">once"));
    }
}
