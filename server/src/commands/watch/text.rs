//! Lines of a screen: made of texts that can't steer the terminal, cut or wrapped to the columns there are. Pure.
//!
//! Every text comes in through [`Line::with`] or [`wrapped`], which make it visible: a znode's name or a label may hold
//! escape sequences, marks that pile up, or a hundred thousand characters.

use lockscope_view::visible;
use textwrap::{Options, WordSplitter};
use unicode_width::UnicodeWidthChar as _;

use crate::commands::query::table::{OutputStyle, Tone};
use crate::commands::query::words::{cut, fitting, width};

/// Characters of a longer text that are kept at its start and at its end, before it is looked at any further.
const KEPT_CHARS: usize = 1_000;
/// Marks without a width of their own that are kept behind a character.
const MARKS_MAX: usize = 3;
/// Columns of the mark before a row of a table.
const MARK: usize = 2;

/// A line of parts in their tones. Texts in it are visible.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Line(Vec<(Tone, String)>);

impl Line {
    pub(super) fn of(tone: Tone, text: &str) -> Self {
        Self::default().with(tone, text)
    }

    pub(super) fn with(mut self, tone: Tone, text: &str) -> Self {
        self.0.push((tone, clean(text)));
        self
    }

    /// The same with a text that takes exactly so many columns, cut in its middle if it has more.
    fn cell(self, tone: Tone, text: &str, columns: usize, is_right: bool) -> Self {
        let text = if columns == 0 { String::new() } else { cut(&clean(text), columns) };
        let padding = " ".repeat(columns.saturating_sub(width(&text)));
        self.with(tone, &if is_right { padding + &text } else { text + &padding })
    }

    /// The same with a name that is cut in its middle where the line would be wider than so many columns.
    pub(super) fn name(self, tone: Tone, text: &str, columns: usize) -> Self {
        let room = columns.saturating_sub(self.width()).max(1);
        self.with(tone, &cut(&clean(text), room))
    }

    pub(super) fn width(&self) -> usize {
        self.0.iter().map(|(_, text)| width(text)).sum()
    }

    /// At most so many columns; what is cut off shows as `…`.
    pub(super) fn fit(mut self, columns: usize) -> Self {
        if self.width() <= columns {
            return self;
        }
        let mut room = columns.saturating_sub(1);
        for (_, text) in &mut self.0 {
            let part = fitting(text.chars(), room);
            // Nothing follows a part that was cut.
            room = if part == *text { room - width(&part).min(room) } else { 0 };
            *text = part;
        }
        if columns > 0 { self.with(Tone::Faint, "…") } else { self }
    }

    pub(super) fn render(&self, style: OutputStyle) -> String {
        let text: String = self.0.iter().map(|(tone, text)| style.tone(*tone, text)).collect();
        // Spaces at the end are seen by nobody.
        if style.is_colored { text } else { text.trim_end().to_owned() }
    }

    /// The same in one tone: of what is old, colours say nothing.
    pub(super) fn dimmed(self) -> Self {
        Self(self.0.into_iter().map(|(_, text)| (Tone::Faint, text)).collect())
    }
}

/// What columns of these widths leave to one more.
pub(super) fn rest_of_columns(columns: usize, gap: usize, widths: &[usize]) -> usize {
    let taken: usize = widths.iter().filter(|width| **width > 0).map(|width| width + gap).sum();
    columns.saturating_sub(MARK + taken)
}

/// A table: its columns by head, width and whether they stand at the right, and the gap between them. A column without a
/// width is left out.
pub(super) struct Table<const N: usize> {
    pub(super) columns: [(&'static str, usize, bool); N],
    pub(super) gap: usize,
}

impl<const N: usize> Table<N> {
    pub(super) fn heads(&self) -> Line {
        self.row("", self.columns.map(|(head, ..)| (Tone::Faint, head.to_owned())))
    }

    /// A row behind its mark.
    pub(super) fn row(&self, mark: &str, cells: [(Tone, String); N]) -> Line {
        let mut line = Line::default().cell(Tone::Head, mark, MARK, false);
        let shown = self.columns.iter().zip(cells).filter(|((_, width, _), _)| *width > 0);
        for (at, ((_, width, is_right), (tone, text))) in shown.enumerate() {
            let gap = " ".repeat(if at == 0 { 0 } else { self.gap });
            line = line.with(Tone::Plain, &gap).cell(tone, &text, *width, *is_right);
        }
        line
    }
}

/// A text in lines of at most so many columns, at most so many of them; the first after a lead, the others below its end.
pub(super) fn wrapped(lead: &str, tone: Tone, text: &str, columns: usize, lines_max: usize) -> Vec<Line> {
    let (text, indent) = (clean(text), " ".repeat(width(lead)));
    let options = Options::new(columns).word_splitter(WordSplitter::NoHyphenation);
    let lines = textwrap::wrap(text.trim(), options.initial_indent(lead).subsequent_indent(&indent));
    let mut shown: Vec<Line> = lines.iter().take(lines_max).map(|line| Line::of(tone, line)).collect();
    if lines.len() > lines_max
        && let (Some(last), Some(line)) = (shown.last_mut(), lines.get(lines_max.saturating_sub(1)))
    {
        *last = Line::of(tone, &format!("{}…", fitting(line.chars(), columns.saturating_sub(1))));
    }
    shown
}

/// A text that a terminal can be shown: visible, of bounded length, with few marks on a character.
pub(super) fn clean(text: &str) -> String {
    let bounded = if text.len() > 4 * KEPT_CHARS {
        let end = text.char_indices().rev().nth(KEPT_CHARS - 1).map_or(0, |(at, _)| at);
        let start: String = text.chars().take(KEPT_CHARS).collect();
        visible(&format!("{start}…{}", text.get(end..).unwrap_or_default()))
    } else {
        visible(text)
    };
    let mut marks = 0;
    let is_kept = |char: &char| {
        marks = if char.width().unwrap_or(0) == 0 { marks + 1 } else { 0 };
        marks <= MARKS_MAX
    };
    bounded.chars().filter(is_kept).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: OutputStyle = OutputStyle { columns: None, is_colored: false };

    fn plain(lines: &[Line]) -> Vec<String> {
        lines.iter().map(|line| line.render(PLAIN)).collect()
    }

    #[test]
    fn no_name_steers_the_terminal() {
        let attack = "/a\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m\r\n\u{202e}b\u{200b}";
        let colored = OutputStyle { columns: None, is_colored: true };
        for line in [
            Line::of(Tone::Plain, attack),
            Line::default().cell(Tone::Bad, attack, 12, false),
            wrapped("→ ", Tone::Plain, attack, 9, 5).remove(0),
            Line::of(Tone::Plain, attack).fit(7),
        ] {
            let shown = line.render(colored);
            let ours = shown.replace("\u{1b}[1;31m", "").replace("\u{1b}[2m", "").replace("\u{1b}[0m", "");
            assert!(
                ours.chars().all(|char| !char.is_control() && char != '\u{202e}' && char != '\u{200b}'),
                "{ours:?}"
            );
        }
    }

    #[test]
    fn a_line_is_never_wider_than_the_screen() {
        let texts = ["锁锁锁锁/订单", "e\u{301}\u{301}\u{301}\u{301}\u{301}x", "plain text of some words", "👩‍👩‍👧/家"];
        for text in texts {
            for columns in 0..20 {
                assert!(Line::of(Tone::Plain, text).with(Tone::Good, text).fit(columns).width() <= columns);
                let cell = Line::default().cell(Tone::Plain, text, columns, columns % 2 == 0);
                assert_eq!(cell.width(), columns, "{text}");
                for line in wrapped("→ ", Tone::Plain, text, columns.max(4), 3) {
                    assert!(line.width() <= columns.max(4), "{text} {columns} {line:?}");
                }
            }
        }
    }

    #[test]
    fn words_wrap_below_their_start_and_say_where_they_were_cut() {
        let lines = wrapped("1. ", Tone::Plain, "look at the threads of app-1", 14, 9);
        assert_eq!(plain(&lines), ["1. look at the", "   threads of", "   app-1"]);
        assert_eq!(plain(&wrapped("", Tone::Plain, "one two three", 7, 1)), ["one tw…"]);
        assert_eq!(plain(&wrapped("", Tone::Plain, "/averylongname", 5, 9)), ["/aver", "ylong", "name"]);
    }

    #[test]
    fn a_huge_name_costs_little_and_marks_do_not_pile_up() {
        let huge = format!("/{}/end", "x".repeat(100_000));
        let shown = clean(&huge);
        assert!(shown.chars().count() <= 2 * KEPT_CHARS + 1 && shown.starts_with("/x") && shown.ends_with("/end"));
        assert_eq!(clean(&format!("e{}x", "\u{301}".repeat(500))).chars().count(), 2 + MARKS_MAX);
    }
}
