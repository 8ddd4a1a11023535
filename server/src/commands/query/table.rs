//! A table on a terminal: columns under each other whatever their characters, cut to the width there is, coloured.
//! Pure.

use super::words::{cut, width};
use lockscope_view::past::Coverage;

/// Between two columns.
const GAP: usize = 2;

/// What a text is to whoever reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::commands) enum Tone {
    Plain,
    Head,
    Faint,
    Good,
    /// Worth a look.
    Odd,
    /// Act.
    Bad,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::commands) struct OutputStyle {
    /// Columns there are; None when nobody looks, and nothing is cut.
    pub(in crate::commands) columns: Option<usize>,
    pub(in crate::commands) is_colored: bool,
}

impl OutputStyle {
    pub(in crate::commands) fn tone(self, tone: Tone, text: &str) -> String {
        let code = match tone {
            Tone::Plain => return text.to_owned(),
            _ if !self.is_colored || text.is_empty() => return text.to_owned(),
            Tone::Head => "1",
            Tone::Faint => "2",
            Tone::Good => "32",
            Tone::Odd => "33",
            Tone::Bad => "1;31",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }
}

/// The tone of a verdict. Its word is always beside it.
pub(in crate::commands) fn of_verdict(verdict: &str) -> Tone {
    match verdict {
        "free" => Tone::Faint,
        "healthy" => Tone::Good,
        "slow" | "expiring" | "maybe_deadlocked" => Tone::Odd,
        "nobody_home" | "orphan" | "stuck" | "double_owner" | "deadlocked" => Tone::Bad,
        _ => Tone::Plain,
    }
}

pub(super) fn of_severity(severity: &str) -> Tone {
    match severity {
        "warning" => Tone::Odd,
        "critical" => Tone::Bad,
        _ => Tone::Plain,
    }
}

#[derive(Clone, Copy, Debug)]
pub(in crate::commands) struct Column {
    head: &'static str,
    is_number: bool,
    /// What it keeps when the width is short; None when it is never cut.
    least: Option<usize>,
}

impl Column {
    pub(in crate::commands) const fn of_words(head: &'static str) -> Self {
        Self { head, is_number: false, least: None }
    }

    /// Of names, which may be cut to so many columns.
    pub(in crate::commands) const fn of_names(head: &'static str, least: usize) -> Self {
        Self { head, is_number: false, least: Some(least) }
    }

    /// Of numbers, which stand at the right.
    pub(in crate::commands) const fn of_numbers(head: &'static str) -> Self {
        Self { head, is_number: true, least: None }
    }
}

pub(in crate::commands) struct Cell(pub(in crate::commands) Tone, pub(in crate::commands) String);

impl Cell {
    pub(in crate::commands) fn plain(text: impl Into<String>) -> Self {
        Self(Tone::Plain, text.into())
    }
}

/// The whole table, a line a row, indented by so many spaces. Texts are expected to be visible.
pub(in crate::commands) fn render(columns: &[Column], rows: &[Vec<Cell>], indent: usize, shown: OutputStyle) -> String {
    let widest = |at: usize| rows.iter().filter_map(|row| row.get(at)).map(|cell| width(&cell.1)).max().unwrap_or(0);
    let mut widths: Vec<usize> =
        columns.iter().enumerate().map(|(at, column)| widest(at).max(width(column.head))).collect();
    if let Some(there) = shown.columns {
        fit(columns, &mut widths, there.saturating_sub(indent));
    }
    let heads: Vec<Cell> = columns.iter().map(|column| Cell(Tone::Head, column.head.to_owned())).collect();
    let mut out = String::new();
    for row in std::iter::once(&heads).chain(rows) {
        out.push_str(&" ".repeat(indent));
        line(columns, &widths, row, shown, &mut out);
        out.push('\n');
    }
    out
}

/// Takes from the widest column that may be cut until all fit, or none has more to give.
fn fit(columns: &[Column], widths: &mut [usize], there: usize) {
    let gaps = GAP * columns.len().saturating_sub(1);
    let wanted: usize = widths.iter().sum::<usize>() + gaps;
    for _ in there..wanted {
        let gives = |(column, width): (&Column, &usize)| {
            column.least.is_some_and(|least| *width > least.max(column.head.len())).then_some(*width)
        };
        let widest =
            columns.iter().zip(widths.iter()).map(gives).enumerate().filter_map(|(at, gives)| Some((gives?, at))).max();
        let Some((_, at)) = widest else { return };
        if let Some(width) = widths.get_mut(at) {
            *width -= 1;
        }
    }
}

fn line(columns: &[Column], widths: &[usize], row: &[Cell], shown: OutputStyle, out: &mut String) {
    let last = columns.len().saturating_sub(1);
    for (at, ((column, room), Cell(tone, text))) in columns.iter().zip(widths).zip(row).enumerate() {
        let text = cut(text, *room);
        let padding = " ".repeat(room.saturating_sub(width(&text)));
        let gap = if at == 0 { 0 } else { GAP };
        out.push_str(&" ".repeat(gap));
        if column.is_number {
            out.push_str(&padding);
        }
        out.push_str(&shown.tone(*tone, &text));
        // Nothing follows the last: no spaces that nobody sees.
        if !column.is_number && at < last {
            out.push_str(&padding);
        }
    }
}

/// A table; a sentence where it has no row, and how much of the time is known where that is not all of it.
pub(super) fn list_of(
    columns: &[Column],
    rows: Vec<Vec<Cell>>,
    none: &str,
    coverage: &Coverage,
    more: Option<&str>,
    shown: OutputStyle,
) -> String {
    let mut text = if rows.is_empty() { format!("{none}\n") } else { render(columns, &rows, 0, shown) };
    if let Some(note) = more {
        text.push_str(&format!("{note}\n"));
    }
    if coverage.part < 0.999 {
        text.push_str(&shown.tone(Tone::Odd, &format!("{:.1} % of that time is kept", coverage.part * 100.0)));
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [Column; 4] = [
        Column::of_words("VERDICT"),
        Column::of_names("LOCK", 12),
        Column::of_numbers("WAITERS"),
        Column::of_names("HOLDER", 6),
    ];

    fn rows() -> Vec<Vec<Cell>> {
        let row = |verdict: &str, path: &str, waiters: &str, holder: &str| {
            vec![
                Cell(of_verdict(verdict), verdict.to_owned()),
                Cell::plain(path),
                Cell::plain(waiters),
                Cell::plain(holder),
            ]
        };
        vec![row("stuck", "/locks/a/long/way/down/order", "12", "worker-7"), row("healthy", "/锁/订单", "3", "-")]
    }

    fn shown(columns: Option<usize>) -> OutputStyle {
        OutputStyle { columns, is_colored: false }
    }

    #[test]
    fn columns_stand_under_each_other_whatever_their_characters() {
        let text = render(&COLUMNS, &rows(), 0, shown(None));
        let expected = "\
VERDICT  LOCK                          WAITERS  HOLDER
stuck    /locks/a/long/way/down/order       12  worker-7
healthy  /锁/订单                            3  -
";
        assert_eq!(text, expected);
    }

    #[test]
    fn what_is_too_wide_is_cut_in_its_middle_and_never_below_its_least() {
        let text = render(&COLUMNS, &rows(), 0, shown(Some(45)));
        assert!(text.lines().all(|line| width(line) <= 45), "{text}");
        assert!(text.contains("stuck    /lock…/down/order"), "{text}");
        let narrow = render(&COLUMNS, &rows(), 2, shown(Some(10)));
        assert!(narrow.contains("  stuck    /lo…wn/order") && narrow.contains("w…er-7"), "{narrow}");
    }

    #[test]
    fn colours_change_no_width_and_come_only_when_wished() {
        let plain = render(&COLUMNS, &rows(), 0, shown(Some(60)));
        let colored = render(&COLUMNS, &rows(), 0, OutputStyle { columns: Some(60), is_colored: true });
        assert!(!plain.contains('\u{1b}'));
        assert!(
            colored.contains("\u{1b}[1;31mstuck\u{1b}[0m    /locks") && colored.contains("\u{1b}[32mhealthy\u{1b}[0m"),
            "{colored}"
        );
        let mut bare = String::new();
        let mut rest = colored.as_str();
        while let Some((before, after)) = rest.split_once('\u{1b}') {
            bare.push_str(before);
            rest = after.split_once('m').unwrap().1;
        }
        assert_eq!(bare + rest, plain);
    }
}
