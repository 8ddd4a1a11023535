//! A table on a terminal: columns under each other whatever their characters, cut to the width there is, coloured.
//! Pure.

use super::words::{NONE, cut, width};
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

pub(in crate::commands) fn of_severity(severity: &str) -> Tone {
    match severity {
        "warning" => Tone::Odd,
        "critical" => Tone::Bad,
        _ => Tone::Plain,
    }
}

pub(in crate::commands) fn of_liveness(liveness: &str) -> Tone {
    match liveness {
        "connected" => Tone::Good,
        "silent" => Tone::Odd,
        "disconnected" | "persistent" => Tone::Bad,
        _ => Tone::Faint,
    }
}

/// A column, and what stands in it for a row.
pub(in crate::commands) struct Column<'a, T> {
    head: &'static str,
    is_number: bool,
    /// What it keeps when the width is short; None when it is never cut.
    least: Option<usize>,
    cell: Box<dyn Fn(&T) -> Cell + 'a>,
}

impl<'a, T> Column<'a, T> {
    pub(in crate::commands) fn of_words<C: Into<Cell>>(head: &'static str, cell: impl Fn(&T) -> C + 'a) -> Self {
        Self { head, is_number: false, least: None, cell: Box::new(move |row| cell(row).into()) }
    }

    /// Of names, which may be cut to so many columns.
    pub(in crate::commands) fn of_names<C: Into<Cell>>(
        head: &'static str,
        least: usize,
        cell: impl Fn(&T) -> C + 'a,
    ) -> Self {
        Self { least: Some(least), ..Self::of_words(head, cell) }
    }

    /// Of numbers, which stand at the right.
    pub(in crate::commands) fn of_numbers<C: Into<Cell>>(head: &'static str, cell: impl Fn(&T) -> C + 'a) -> Self {
        Self { is_number: true, ..Self::of_words(head, cell) }
    }
}

/// A text that is visible.
pub(in crate::commands) struct Cell(pub(in crate::commands) Tone, pub(in crate::commands) String);

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self(Tone::Plain, text)
    }
}

impl From<Option<String>> for Cell {
    fn from(text: Option<String>) -> Self {
        text.unwrap_or_else(|| NONE.to_owned()).into()
    }
}

/// The whole table, a line a row, indented by so many spaces.
pub(in crate::commands) fn render<'r, T: 'r>(
    columns: &[Column<'_, T>],
    rows: impl IntoIterator<Item = &'r T>,
    indent: usize,
    shown: OutputStyle,
) -> String {
    let heads = columns.iter().map(|column| Cell(Tone::Head, column.head.to_owned())).collect();
    let cells = rows.into_iter().map(|row| columns.iter().map(|column| (column.cell)(row)).collect());
    let lines: Vec<Vec<Cell>> = std::iter::once(heads).chain(cells).collect();
    let widest = |at: usize| lines.iter().filter_map(|line| line.get(at)).map(|cell| width(&cell.1)).max();
    let mut widths: Vec<usize> = (0..columns.len()).map(|at| widest(at).unwrap_or_default()).collect();
    if let Some(there) = shown.columns {
        fit(columns, &mut widths, there.saturating_sub(indent));
    }
    let mut out = String::new();
    for cells in &lines {
        out.push_str(&" ".repeat(indent));
        line(columns, &widths, cells, shown, &mut out);
        out.push('\n');
    }
    out
}

/// Takes from the widest column that may be cut until all fit, or none has more to give.
fn fit<T>(columns: &[Column<'_, T>], widths: &mut [usize], there: usize) {
    let gaps = GAP * columns.len().saturating_sub(1);
    let wanted: usize = widths.iter().sum::<usize>() + gaps;
    for _ in there..wanted {
        let gives = |(column, width): (&Column<'_, T>, &usize)| {
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

fn line<T>(columns: &[Column<'_, T>], widths: &[usize], row: &[Cell], shown: OutputStyle, out: &mut String) {
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
pub(super) fn list_of<T>(
    columns: &[Column<'_, T>],
    rows: &[T],
    none: &str,
    coverage: &Coverage,
    more: Option<String>,
    shown: OutputStyle,
) -> String {
    let mut text = if rows.is_empty() { format!("{none}\n") } else { render(columns, rows, 0, shown) };
    text.extend(more.map(|note| format!("{note}\n")));
    if coverage.part < 0.999 {
        text.push_str(&shown.tone(Tone::Odd, &format!("{:.1} % of that time is kept", coverage.part * 100.0)));
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(indent: usize, shown: OutputStyle) -> String {
        let columns: [Column<'_, [&str; 4]>; 4] = [
            Column::of_words("VERDICT", |row: &[&str; 4]| Cell(of_verdict(row[0]), row[0].to_owned())),
            Column::of_names("LOCK", 12, |row: &[&str; 4]| row[1].to_owned()),
            Column::of_numbers("WAITERS", |row: &[&str; 4]| row[2].to_owned()),
            Column::of_names("HOLDER", 6, |row: &[&str; 4]| Some(row[3].to_owned()).filter(|name| !name.is_empty())),
        ];
        let rows = [["stuck", "/locks/a/long/way/down/order", "12", "worker-7"], ["healthy", "/锁/订单", "3", ""]];
        render(&columns, &rows, indent, shown)
    }

    fn shown(columns: Option<usize>) -> OutputStyle {
        OutputStyle { columns, is_colored: false }
    }

    #[test]
    fn columns_stand_under_each_other_whatever_their_characters() {
        let text = table(0, shown(None));
        let expected = "\
VERDICT  LOCK                          WAITERS  HOLDER
stuck    /locks/a/long/way/down/order       12  worker-7
healthy  /锁/订单                            3  -
";
        assert_eq!(text, expected);
    }

    #[test]
    fn what_is_too_wide_is_cut_in_its_middle_and_never_below_its_least() {
        let text = table(0, shown(Some(45)));
        assert!(text.lines().all(|line| width(line) <= 45), "{text}");
        assert!(text.contains("stuck    /lock…/down/order"), "{text}");
        let narrow = table(2, shown(Some(10)));
        assert!(narrow.contains("  stuck    /lo…wn/order") && narrow.contains("w…er-7"), "{narrow}");
    }

    #[test]
    fn colours_change_no_width_and_come_only_when_wished() {
        let plain = table(0, shown(Some(60)));
        let colored = table(0, OutputStyle { columns: Some(60), is_colored: true });
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
