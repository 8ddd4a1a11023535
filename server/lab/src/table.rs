//! A run of the lab as a table for a terminal: a line a measure, a column a strategy, and how many times the first
//! one's each other's is. Pure.

use std::fmt::Write as _;

use lockscope_view::{LabRun, Lane};

const GAP: &str = "  ";
const NONE: &str = "-";

/// One line: what is measured, the value, and whether it is a time with fractions.
type Measure = (&'static str, fn(&Lane) -> Option<f64>, Form);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Count,
    Ms,
}

#[expect(clippy::cast_precision_loss, reason = "counts of one run are far below 2^52")]
fn count(value: u64) -> Option<f64> {
    Some(value as f64)
}

const MEASURES: [Measure; 18] = [
    ("lock taken", |lane| count(lane.acquisitions), Form::Count),
    ("watch events", |lane| count(lane.watch_events), Form::Count),
    ("  by theory", |lane| lane.watch_events_expected.and_then(count), Form::Count),
    ("  by the servers", |lane| lane.server_events.and_then(count), Form::Count),
    ("woken for nothing", |lane| count(lane.wasted), Form::Count),
    ("requests", requests, Form::Count),
    ("  that read", |lane| count(lane.reads), Form::Count),
    ("packets", |lane| lane.own_packets.and_then(count), Form::Count),
    ("  by the servers", |lane| lane.server_packets.and_then(count), Form::Count),
    ("bytes", |lane| count(lane.bytes), Form::Count),
    ("hand-off p50, ms", |lane| timed(lane, lane.handoff_ms.p50), Form::Ms),
    ("hand-off p90, ms", |lane| timed(lane, lane.handoff_ms.p90), Form::Ms),
    ("hand-off p99, ms", |lane| timed(lane, lane.handoff_ms.p99), Form::Ms),
    ("hand-off max, ms", |lane| timed(lane, lane.handoff_ms.max), Form::Ms),
    ("longest wait, ms", |lane| (lane.wait_ms.count > 0).then_some(lane.wait_ms.max), Form::Ms),
    ("took, ms", |lane| Some(lane.took_ms), Form::Ms),
    ("out of order", |lane| count(lane.inversions), Form::Count),
    ("held by two", |lane| count(lane.broken), Form::Count),
];

fn requests(lane: &Lane) -> Option<f64> {
    let all = &lane.requests;
    count(all.create + all.delete + all.children + all.exists + all.data + all.ping + all.other)
}

fn timed(lane: &Lane, value: f64) -> Option<f64> {
    (lane.handoff_ms.count > 0).then_some(value)
}

/// The whole: what was ordered, the table, the conclusion, and what limits the figures.
pub fn render(run: &LabRun) -> String {
    let mut text = head(run);
    text.push_str("\n\n");
    let rows = rows(run);
    let columns = rows.first().map_or(0, Vec::len);
    let width =
        |at: usize| rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for row in &rows {
        let mut line = String::new();
        for (at, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            // Writing to a String can't fail.
            let _ = if at == 0 { write!(line, "{cell:<width$}") } else { write!(line, "{GAP}{cell:>width$}") };
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    let others = [run.conclusion.as_str(), run.why.as_str()].into_iter().filter(|sentence| !sentence.is_empty());
    for sentence in others.chain(run.notes.iter().map(String::as_str)) {
        let _ = write!(text, "\n{sentence}\n");
    }
    text
}

fn head(run: &LabRun) -> String {
    let order = &run.order;
    let plural = |number: u32, word: &str| {
        format!("{} {word}{}", grouped(&number.to_string()), if number == 1 { "" } else { "s" })
    };
    let turn = if order.in_turn { "one strategy after the other" } else { "all strategies at once" };
    let (clients, rounds) = (plural(order.clients, "client"), plural(order.rounds, "round"));
    format!(
        "run {} ({}) on {}: {clients} a strategy, {rounds}, hold {} ms, {turn}",
        run.id, run.state, run.ensemble, order.hold_ms
    )
}

fn rows(run: &LabRun) -> Vec<Vec<String>> {
    let lanes = &run.strategies;
    let mut top = vec![String::new()];
    for (at, lane) in lanes.iter().enumerate() {
        top.push(lane.name.to_string());
        if at > 0 {
            top.push("ratio".to_owned());
        }
    }
    let line = |(name, value, form): &Measure| {
        let first = lanes.first().and_then(value);
        let mut row = vec![(*name).to_owned()];
        for (at, lane) in lanes.iter().enumerate() {
            row.push(value(lane).map_or_else(|| NONE.to_owned(), |value| written(value, *form)));
            if at > 0 {
                let is_comparable = matches!(form, Form::Count) || run.order.is_one_at_a_time();
                row.push(if is_comparable { ratio(first, value(lane)) } else { NONE.to_owned() });
            }
        }
        row
    };
    std::iter::once(top).chain(MEASURES.iter().map(line)).collect()
}

fn ratio(first: Option<f64>, other: Option<f64>) -> String {
    match (first, other) {
        (Some(first), Some(other)) if first > 0.0 => format!("{:.1}x", other / first),
        _ => NONE.to_owned(),
    }
}

fn written(value: f64, form: Form) -> String {
    match form {
        Form::Count => grouped(&format!("{value:.0}")),
        Form::Ms => {
            let text = format!("{value:.1}");
            let (whole, part) = text.split_once('.').unwrap_or((&text, "0"));
            format!("{}.{part}", grouped(whole))
        }
    }
}

/// Digits in groups of three.
pub(super) fn grouped(digits: &str) -> String {
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
pub(crate) mod tests {
    use lockscope_view::{LabOrder, LabRequests, LabState, Spread, Strategy};

    use super::*;

    fn lane(name: Strategy, events: u64, p50: f64) -> Lane {
        Lane {
            name,
            path: format!("/lockscope-lab/run-00000000000000aa/{name}"),
            state: LabState::Finished,
            seats: "d".repeat(50),
            took_ms: 1_234.56,
            acquisitions: 50,
            acquisitions_wanted: 50,
            releases: 50,
            watch_events: events,
            watch_events_expected: Some(events),
            woken: 1,
            wasted: events - 49,
            reads: 99,
            requests: LabRequests { create: 50, delete: 50, children: 50, exists: 49, ..LabRequests::default() },
            bytes: 12_345,
            bytes_in: 6_000,
            bytes_out: 6_345,
            handoff_ms: Spread { count: 49, p50, p90: 2.0 * p50, p99: 3.0 * p50, max: 4.0 * p50 },
            handoff_us: vec![(2_000, 49)],
            wait_ms: Spread { count: 50, p50: 100.0, p90: 200.0, p99: 300.0, max: 400.0 },
            inversions: 0,
            per_release: vec![(49, 1)],
            broken: 0,
            server_packets: None,
            own_packets: Some(447),
            server_events: None,
        }
    }

    pub(crate) fn run() -> LabRun {
        LabRun {
            id: "00000000000000aa".to_owned(),
            revision: 9,
            ensemble: "default".to_owned(),
            root: "/lockscope-lab/run-00000000000000aa".to_owned(),
            state: LabState::Finished,
            why: String::new(),
            order: LabOrder {
                ensemble: Some("default".to_owned()),
                strategies: vec![Strategy::Predecessor, Strategy::HerdChildren],
                clients: 50,
                rounds: 1,
                hold_ms: 0,
                think_ms: 0,
                duration_ms: None,
                in_turn: true,
                seed: Some(7),
            },
            by: "ann".to_owned(),
            ordered_at_ms: 1,
            ended_at_ms: Some(2),
            strategies: vec![lane(Strategy::Predecessor, 49, 1.5), lane(Strategy::HerdChildren, 1_225, 6.0)],
            faults: Vec::new(),
            loop_lag_ms: Spread::default(),
            server: Vec::new(),
            conclusion: "herd_children woke 25 times as often.".to_owned(),
            notes: vec!["The members were not asked.".to_owned()],
        }
    }

    #[test]
    fn columns_stand_under_each_other_and_ratios_beside() {
        let text = render(&run());
        let expected = "\
run 00000000000000aa (finished) on default: 50 clients a strategy, 1 round, hold 0 ms, one strategy after the other

                   predecessor  herd_children  ratio
lock taken                  50             50   1.0x
watch events                49          1,225  25.0x
  by theory                 49          1,225  25.0x
  by the servers             -              -      -
woken for nothing            0          1,176      -
requests                   199            199   1.0x
  that read                 99             99   1.0x
packets                    447            447   1.0x
  by the servers             -              -      -
bytes                   12,345         12,345   1.0x
hand-off p50, ms           1.5            6.0   4.0x
hand-off p90, ms           3.0           12.0   4.0x
hand-off p99, ms           4.5           18.0   4.0x
hand-off max, ms           6.0           24.0   4.0x
longest wait, ms         400.0          400.0   1.0x
took, ms               1,234.6        1,234.6   1.0x
out of order                 0              0      -
held by two                  0              0      -

herd_children woke 25 times as often.

The members were not asked.
";
        assert_eq!(text, expected);
    }

    #[test]
    fn times_are_compared_of_one_way_of_waiting_at_a_time_only() {
        let row =
            |run: &LabRun, name: &str| render(run).lines().find(|line| line.starts_with(name)).unwrap().to_owned();
        let mut run = run();
        assert!(row(&run, "hand-off p50").ends_with("6.0   4.0x") && row(&run, "took").ends_with("1.0x"));
        run.order.in_turn = false;
        assert!(row(&run, "hand-off p50").ends_with("6.0      -") && row(&run, "took").ends_with('-'));
        assert!(row(&run, "watch events").ends_with("25.0x"), "each is sent its own");
    }

    #[test]
    fn digits_are_grouped_by_three() {
        for (digits, expected) in [("0", "0"), ("999", "999"), ("1000", "1,000"), ("1234567", "1,234,567")] {
            assert_eq!(grouped(digits), expected);
        }
    }
}
