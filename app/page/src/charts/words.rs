//! What charts say to those who can't see them. Pure.

pub(super) const RELEASES: &str =
    "Events that a release caused, over the number of clients that waited; the table below has the sums";

pub(super) const SHARES: &str = "share of hand-offs, over how long they took";

/// The chart of a depth, for who can't see it: its last and its largest number.
pub(super) fn depth(slices: &[u16]) -> String {
    match (slices.last(), slices.iter().max()) {
        (Some(last), Some(peak)) => format!("{last} waiting, at most {peak} in the last two minutes"),
        _ => "nobody was seen to wait in the last two minutes".to_owned(),
    }
}

/// Hand-offs: the name of each lane, and what is said of it.
pub(super) fn latency<'a>(lanes: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let said: Vec<String> = lanes.map(|(title, words)| format!("{title}: {words}")).collect();
    format!("Hand-off latency. {}", said.join("; "))
}

pub(super) fn tick(us: f64) -> String {
    match us {
        ..1_000.0 => format!("{us:.0} µs"),
        ..1_000_000.0 => format!("{:.0} ms", us / 1_000.0),
        _ => format!("{:.0} s", us / 1_000_000.0),
    }
}
