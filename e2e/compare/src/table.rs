//! The figures of all rounds as a table: the median of each, the spread, the ratio to a peer, and whether the goal is met.

use std::fmt;

use serde::Serialize;

/// One quantity, of Lockscope and of those that were measured with the same load.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    /// What was measured, with the load.
    pub(crate) what: String,
    pub(crate) unit: &'static str,
    /// Of Lockscope, one a round.
    pub(crate) ours: Vec<f64>,
    pub(crate) peers: Vec<PeerFigures>,
    pub(crate) goal: Goal,
}

/// The same of a peer.
#[derive(Debug, Serialize)]
pub(crate) struct PeerFigures {
    pub(crate) name: &'static str,
    /// One a round; none where it did not get to the end.
    pub(crate) figures: Vec<f64>,
    /// What has to be known of it, such as how much it missed.
    pub(crate) note: String,
}

/// What Lockscope's median is held against.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) enum Goal {
    /// At most this.
    Limit(f64),
    /// At most so many times the median of a peer.
    Ceiling(f64, &'static str),
    /// At least so many times the median of a peer.
    Floor(f64, &'static str),
}

/// The middle one; of an even number the lower of the two.
pub(crate) fn median(figures: &[f64]) -> Option<f64> {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len().checked_sub(1)? / 2).copied()
}

/// The figure below which so many of 100 are.
pub(crate) fn percentile(figures: &[f64], percent: usize) -> f64 {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get((sorted.len() * percent / 100).min(sorted.len().saturating_sub(1))).copied().unwrap_or(f64::NAN)
}

impl Row {
    fn peer(&self, name: &str) -> Option<f64> {
        median(&self.peers.iter().find(|peer| peer.name == name)?.figures)
    }

    /// Whether the goal is met; None where there is nothing to hold against it.
    pub(crate) fn is_met(&self) -> Option<bool> {
        let ours = median(&self.ours)?;
        Some(match self.goal {
            Goal::Limit(limit) => ours <= limit,
            Goal::Ceiling(times, peer) => ours <= times * self.peer(peer)?,
            Goal::Floor(times, peer) => ours >= times * self.peer(peer)?,
        })
    }

    fn verdict(&self) -> &'static str {
        match self.is_met() {
            Some(true) => "met",
            Some(false) => "**missed**",
            None => "not measured",
        }
    }

    fn goal(&self) -> String {
        match self.goal {
            Goal::Limit(limit) => format!("≤ {} {}", number(limit), self.unit),
            Goal::Ceiling(times, peer) => format!("≤ {times} x {peer}"),
            Goal::Floor(times, peer) => format!("≥ {times} x {peer}"),
        }
    }

    fn beside(&self) -> String {
        let ours = median(&self.ours);
        let one = |peer: &PeerFigures| {
            let ratio = ours.zip(median(&peer.figures)).filter(|(_, theirs)| *theirs > 0.0);
            let ratio = ratio.map_or(String::new(), |(ours, theirs)| format!(" ({:.2}x)", ours / theirs));
            let note = if peer.note.is_empty() { String::new() } else { format!(", {}", peer.note) };
            format!("{} {}{ratio}{note}", peer.name, spread(&peer.figures))
        };
        self.peers.iter().map(one).collect::<Vec<_>>().join("; ")
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (ours, beside) = (spread(&self.ours), self.beside());
        write!(f, "{}: {ours} {}; {beside}; {}: {}", self.what, self.unit, self.goal(), self.verdict())
    }
}

/// Median, and what the other rounds had.
fn spread(figures: &[f64]) -> String {
    let Some(middle) = median(figures) else { return "–".to_owned() };
    let least = figures.iter().copied().fold(f64::INFINITY, f64::min);
    let most = figures.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if figures.len() == 1 || least == most {
        return number(middle);
    }
    format!("{} [{}–{}]", number(middle), number(least), number(most))
}

/// Three digits that matter.
fn number(figure: f64) -> String {
    match figure.abs() {
        size if size >= 100.0 => format!("{figure:.0}"),
        size if size >= 10.0 => format!("{figure:.1}"),
        size if size >= 1.0 => format!("{figure:.2}"),
        _ => format!("{figure:.3}"),
    }
}

pub(crate) fn markdown(rows: &[Row]) -> String {
    let mut text = "| what | unit | Lockscope | beside it, and how many times that we need | goal | |\n|---|---|---|---|---|---|\n".to_owned();
    for row in rows {
        let (ours, beside) = (spread(&row.ours), row.beside());
        text += &format!("| {} | {} | {ours} | {beside} | {} | {} |\n", row.what, row.unit, row.goal(), row.verdict());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(ours: &[f64], theirs: &[f64], goal: Goal) -> Row {
        let peers = vec![PeerFigures { name: "bare", figures: theirs.to_vec(), note: String::new() }];
        Row { what: "CPU an event".to_owned(), unit: "µs", ours: ours.to_vec(), peers, goal }
    }

    #[test]
    fn medians_are_held_against_the_goal() {
        assert_eq!(row(&[9.0, 1.0, 3.0], &[2.0], Goal::Ceiling(1.5, "bare")).is_met(), Some(true));
        assert_eq!(row(&[9.0, 1.0, 3.1], &[2.0], Goal::Ceiling(1.5, "bare")).is_met(), Some(false));
        assert_eq!(row(&[3.0], &[2.0], Goal::Limit(2.9)).is_met(), Some(false));
        assert_eq!(row(&[3.0], &[], Goal::Ceiling(1.5, "bare")).is_met(), None, "nothing to compare with");
        assert_eq!(row(&[0.98], &[1.0], Goal::Floor(0.97, "bare")).is_met(), Some(true));
    }

    #[test]
    fn a_row_reads_well() {
        let row = row(&[30.0, 31.0, 150.0], &[20.0], Goal::Ceiling(1.5, "bare"));
        assert_eq!(row.to_string(), "CPU an event: 31.0 [30.0–150] µs; bare 20.0 (1.55x); ≤ 1.5 x bare: **missed**");
        assert!(
            markdown(&[row])
                .ends_with("| CPU an event | µs | 31.0 [30.0–150] | bare 20.0 (1.55x) | ≤ 1.5 x bare | **missed** |\n")
        );
    }

    #[test]
    fn a_percentile_is_one_of_the_figures() {
        let figures = [5.0, 1.0, 4.0, 2.0, 3.0];
        assert_eq!((percentile(&figures, 50), percentile(&figures, 99)), (3.0, 5.0));
    }
}
