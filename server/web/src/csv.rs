//! Lists as tables for spreadsheets: RFC 4180, times in ms as in JSON, units in the names of columns. Names are what
//! clients say of themselves, so no cell of text can be a formula. Pure.

use csv::{Terminator, WriterBuilder};
use lockscope_view::past::Unanswered;
use lockscope_view::{Board, Contender, LockPage, LockRow, SessionGroupRow, Sessions, Window};

use super::api_as_of::aged_as_of;
use super::api_types::{age, as_of_row};
use lockscope_live::Known;

pub(super) const MEDIA_TYPE: &str = "text/csv; charset=utf-8; header=present";

/// A column's name, and its cell of a row.
pub(super) type Column<'a, T> = (&'static str, &'a dyn Fn(&T) -> String);

pub(super) struct Table {
    /// Says which rows there are where these are not all: a table has no place for that.
    pub(super) file_name: String,
    pub(super) text: String,
}

impl Table {
    /// The first rows of so many.
    pub(super) fn of_first<T, const N: usize>(
        name: &str,
        rows: Vec<T>,
        total: usize,
        columns: [Column<'_, T>; N],
    ) -> Self {
        let total = u32::try_from(total).unwrap_or(u32::MAX);
        Self::new(name, &Window { total, offset: 0, rows }, columns)
    }

    /// The same, without the rows of ensembles that could not be asked.
    pub(super) fn without(mut self, unanswered: &[Unanswered]) -> Self {
        let stem = self.file_name.trim_end_matches(".csv");
        self.file_name = match unanswered {
            [] => return self,
            [one] => format!("{stem}-without-{}.csv", file_name_part(&one.ensemble)),
            some => format!("{stem}-without-{}-ensembles.csv", some.len()),
        };
        self
    }

    fn new<T, const N: usize>(name: &str, window: &Window<T>, columns: [Column<'_, T>; N]) -> Self {
        let (rows, total) = (window.rows.len() as u64, u64::from(window.total));
        let first = u64::from(window.offset) + 1;
        let part = match rows {
            0 => String::new(),
            rows if rows == total => String::new(),
            rows => format!("-{first}-to-{}-of-{total}", first + rows - 1),
        };
        Self { file_name: format!("lockscope-{name}{part}.csv"), text: lines(&window.rows, columns) }
    }
}

/// Of a name, what is sure to be a name of a file everywhere.
fn file_name_part(name: &str) -> String {
    name.chars().map(|sign| if sign.is_ascii_alphanumeric() { sign } else { '_' }).collect()
}

/// A head, and a line for each row.
pub(super) fn lines<T, const N: usize>(rows: &[T], columns: [Column<'_, T>; N]) -> String {
    let mut writer = WriterBuilder::new().terminator(Terminator::CRLF).from_writer(Vec::new());
    // Writing to a Vec cannot fail, and what was text stays text.
    let _ = writer.write_record(columns.map(|(head, _)| head));
    rows.iter().for_each(|row| drop(writer.write_record(columns.map(|(_, cell)| cell(row)))));
    writer.into_inner().ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default()
}

pub(super) fn locks(board: &Board, known: Known, now_ms: i64) -> Table {
    let as_of = |row: &LockRow| as_of_row(row, &board.head, known, now_ms);
    Table::new(
        "locks",
        &board.window,
        [
            ("ensemble", &|row| text(&row.ensemble)),
            ("path", &|row| text(&row.path)),
            ("root", &|row| text(&row.root)),
            ("recipe", &|row| text(row.recipe.name())),
            ("recipe_label", &|row| text(&row.recipe_label)),
            ("verdict", &|row| text(row.verdict.name())),
            ("sentence", &|row| text(&row.sentence)),
            ("state", &|row| text(&as_of(row).state)),
            ("age_ms", &|row| as_of(row).age_ms.to_string()),
            ("zxid", &|row| as_of(row).zxid.to_string()),
            ("holder", &|row| text(row.holders.first().and_then(|holder| holder.label.as_deref()).unwrap_or_default())),
            ("holder_session_id", &|row| known_as(row.holders.first().and_then(|holder| holder.session_id))),
            ("holder_address", &|row| text(row.holders.first().and_then(address_of).unwrap_or_default())),
            ("holder_count", &|row| row.holder_count.to_string()),
            ("waiter_count", &|row| known_as(row.waiter_count)),
            ("oldest_wait_ms", &|row| since(row.oldest_wait_at_ms, now_ms)),
            ("total_wait_ms", &|row| known_as(row.total_wait_ms(now_ms))),
            ("hold_ms", &|row| since(row.held_since_ms, now_ms)),
            ("hold_is_lower_bound", &|row| row.hold_is_lower_bound.to_string()),
            ("complete", &|row| row.is_complete().to_string()),
            ("missing", &|row| text(&row.missing.iter().map(|missing| missing.name()).collect::<Vec<_>>().join(" "))),
            ("findings", &|row| text(&row.findings.join(" "))),
        ],
    )
}

pub(super) fn contenders(page: &LockPage, known: Known, now_ms: i64) -> Table {
    let as_of = aged_as_of(&page.head.as_of, known, now_ms);
    Table::new(
        "contenders",
        &page.window,
        [
            ("lock", &|_| text(&page.head.row.path)),
            ("position", &|row| row.position.to_string()),
            ("role", &|row| text(row.role.name())),
            ("access", &|row| text(row.access.name())),
            ("node", &|row| text(row.node.as_deref().unwrap_or_default())),
            ("label", &|row| text(row.label.as_deref().unwrap_or_default())),
            ("session_id", &|row| known_as(row.session_id)),
            ("address", &|row| text(address_of(row).unwrap_or_default())),
            ("liveness", &|row| text(row.liveness.name())),
            ("waiting_ms", &|row| since(row.waiting_since_ms, now_ms)),
            ("holding_ms", &|row| since(row.holding_since_ms, now_ms)),
            ("created_at_ms", &|row| known_as(row.created_at_ms)),
            ("czxid", &|row| known_as(row.czxid)),
            ("version", &|row| row.version.to_string()),
            ("state", &|_| text(&as_of.state)),
            ("age_ms", &|_| as_of.age_ms.to_string()),
        ],
    )
}

pub(super) fn sessions(sessions: &Sessions, is_grouped: bool, known: Known, now_ms: i64) -> Table {
    let age_ms = aged_as_of(&sessions.head.as_of, known, now_ms).age_ms;
    if is_grouped {
        return groups(&sessions.groups, age_ms, now_ms);
    }
    Table::new(
        "sessions",
        &sessions.window,
        [
            ("ensemble", &|row| text(&row.ensemble)),
            ("session_id", &|row| row.session_id.to_string()),
            ("label", &|row| text(row.label.as_deref().unwrap_or_default())),
            ("address", &|row| text(row.client.as_ref().map(|client| client.address.as_str()).unwrap_or_default())),
            ("server", &|row| text(row.client.as_ref().map(|client| client.server.as_str()).unwrap_or_default())),
            ("liveness", &|row| text(row.liveness.name())),
            ("holds", &|row| row.holds.to_string()),
            ("waits", &|row| row.waits.to_string()),
            ("blocks", &|row| row.blocks.to_string()),
            ("ephemerals", &|row| row.ephemerals.to_string()),
            ("oldest_hold_ms", &|row| since(row.oldest_hold_at_ms, now_ms)),
            ("oldest_wait_ms", &|row| since(row.oldest_wait_at_ms, now_ms)),
            ("cycle_verdict", &|row| known_as(row.cycle_verdict)),
            ("locks", &|row| text(&row.locks.join(" "))),
            ("age_ms", &|_| age_ms.to_string()),
        ],
    )
}

fn groups(window: &Window<SessionGroupRow>, age_ms: i64, now_ms: i64) -> Table {
    Table::new(
        "session-groups",
        window,
        [
            ("name", &|row| text(&row.name)),
            ("sessions", &|row| row.sessions.to_string()),
            ("holds", &|row| row.holds.to_string()),
            ("waits", &|row| row.waits.to_string()),
            ("blocks", &|row| row.blocks.to_string()),
            ("oldest_hold_ms", &|row| since(row.oldest_hold_at_ms, now_ms)),
            ("oldest_wait_ms", &|row| since(row.oldest_wait_at_ms, now_ms)),
            ("cycle_verdict", &|row| known_as(row.cycle_verdict)),
            ("age_ms", &|_| age_ms.to_string()),
        ],
    )
}

fn address_of(contender: &Contender) -> Option<&str> {
    contender.client.as_ref().map(|client| client.address.as_str())
}

/// Of numbers, ids and closed names; empty where nothing is known.
pub(super) fn known_as(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

fn since(since_ms: Option<i64>, now_ms: i64) -> String {
    known_as(since_ms.map(|since_ms| age(now_ms, since_ms)))
}

/// A cell of text. Spreadsheets take what begins with one of these signs for a formula, which could fetch or run
/// something; an apostrophe makes it text. Wide forms are read as the narrow ones by some of them.
pub(super) fn text(value: &str) -> String {
    let is_formula = value.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']);
    format!("{}{value}", if is_formula { "'" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_quoted_where_it_must_be_and_no_formula() {
        let cells = [
            ("plain", "plain"),
            ("", ""),
            ("a,b", "\"a,b\""),
            ("say \"hi\"", "\"say \"\"hi\"\"\""),
            ("two\r\nlines", "\"two\r\nlines\""),
            ("=1+1", "'=1+1"),
            ("=HYPERLINK(\"http://x\",\"y\")", "\"'=HYPERLINK(\"\"http://x\"\",\"\"y\"\")\""),
            ("+1", "'+1"),
            ("-1", "'-1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "'\t=1"),
            ("\r=1", "\"'\r=1\""),
            ("＝1", "'＝1"),
            ("a=1", "a=1"),
        ];
        for (value, cell) in cells {
            let row = lines(&[value], [("", &|value| text(value)), ("", &|_| String::new())]);
            assert_eq!(row, format!(",\r\n{cell},\r\n"), "{value:?}");
        }
    }

    #[test]
    fn the_name_of_a_file_says_which_rows_there_are() {
        let window = |offset, rows: u32, total| Window {
            total,
            offset,
            rows: (0..rows)
                .map(|at| SessionGroupRow {
                    name: format!("={at}"),
                    sessions: 1,
                    holds: 0,
                    waits: 2,
                    blocks: 0,
                    oldest_hold_at_ms: None,
                    oldest_wait_at_ms: Some(400),
                    cycle_verdict: None,
                })
                .collect(),
        };
        let table = |offset, rows, total| groups(&window(offset, rows, total), 5, 1_000);
        assert_eq!(table(0, 2, 2).file_name, "lockscope-session-groups.csv");
        assert_eq!(table(0, 0, 2).file_name, "lockscope-session-groups.csv");
        assert_eq!(table(2, 2, 9).file_name, "lockscope-session-groups-3-to-4-of-9.csv");
        assert_eq!(
            table(0, 1, 1).text,
            "name,sessions,holds,waits,blocks,oldest_hold_ms,oldest_wait_ms,cycle_verdict,age_ms\r\n'=0,1,0,2,0,,600,,5\r\n"
        );
    }
}
