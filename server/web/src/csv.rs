//! Lists as tables for spreadsheets: RFC 4180, times in ms as in JSON, units in the names of columns. Names are what
//! clients say of themselves, so no cell of text can be a formula. Pure.

use lockscope_view::past::Unanswered;
use lockscope_view::{Board, Contender, LockPage, SessionGroupRow, SessionRow, Sessions, Window};

use super::api_as_of::AsOfJson;
use super::api_types::{age, as_of_row};
use lockscope_live::Known;

/// Media type of a table with a head.
pub(super) const MEDIA_TYPE: &str = "text/csv; charset=utf-8; header=present";

const LOCKS: [&str; 22] = [
    "ensemble",
    "path",
    "root",
    "recipe",
    "recipe_label",
    "verdict",
    "sentence",
    "state",
    "age_ms",
    "zxid",
    "holder",
    "holder_session_id",
    "holder_address",
    "holder_count",
    "waiter_count",
    "oldest_wait_ms",
    "total_wait_ms",
    "hold_ms",
    "hold_is_lower_bound",
    "complete",
    "missing",
    "findings",
];
const CONTENDERS: [&str; 16] = [
    "lock",
    "position",
    "role",
    "access",
    "node",
    "label",
    "session_id",
    "address",
    "liveness",
    "waiting_ms",
    "holding_ms",
    "created_at_ms",
    "czxid",
    "version",
    "state",
    "age_ms",
];
const SESSIONS: [&str; 15] = [
    "ensemble",
    "session_id",
    "label",
    "address",
    "server",
    "liveness",
    "holds",
    "waits",
    "blocks",
    "ephemerals",
    "oldest_hold_ms",
    "oldest_wait_ms",
    "cycle_verdict",
    "locks",
    "age_ms",
];
const GROUPS: [&str; 9] =
    ["name", "sessions", "holds", "waits", "blocks", "oldest_hold_ms", "oldest_wait_ms", "cycle_verdict", "age_ms"];

/// A table and what to call its file.
pub(super) struct Table {
    /// Says which rows there are where these are not all: a table has no place for that.
    pub(super) file_name: String,
    pub(super) text: String,
}

impl Table {
    /// The first rows of so many.
    pub(super) fn of_first<T, const N: usize>(
        name: &str,
        head: [&str; N],
        rows: Vec<T>,
        total: usize,
        line: impl Fn(&T) -> [String; N],
    ) -> Self {
        let total = u32::try_from(total).unwrap_or(u32::MAX);
        Self::new(name, head, &Window { total, offset: 0, rows }, line)
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

    fn new<T, const N: usize>(
        name: &str,
        head: [&str; N],
        window: &Window<T>,
        line: impl Fn(&T) -> [String; N],
    ) -> Self {
        let (rows, total) = (window.rows.len() as u64, u64::from(window.total));
        let first = u64::from(window.offset) + 1;
        let part = match rows {
            0 => String::new(),
            rows if rows == total => String::new(),
            rows => format!("-{first}-to-{}-of-{total}", first + rows - 1),
        };
        Self { file_name: format!("lockscope-{name}{part}.csv"), text: lines(head, &window.rows, line) }
    }
}

/// Of a name, what is sure to be a name of a file everywhere.
fn file_name_part(name: &str) -> String {
    name.chars().map(|sign| if sign.is_ascii_alphanumeric() { sign } else { '_' }).collect()
}

/// A head, and a line for each row.
pub(super) fn lines<T, const N: usize>(head: [&str; N], rows: &[T], line: impl Fn(&T) -> [String; N]) -> String {
    let mut text = head.join(",");
    text.push_str("\r\n");
    for row in rows {
        text.push_str(&line(row).join(","));
        text.push_str("\r\n");
    }
    text
}

/// The locks of a board.
pub(super) fn locks(board: &Board, known: Known, now_ms: i64) -> Table {
    Table::new("locks", LOCKS, &board.window, |row| {
        let as_of = as_of_row(row, &board.head, known, now_ms);
        let holder = row.holders.first();
        let missing: Vec<&str> = row.missing.iter().map(|missing| missing.name()).collect();
        [
            text(&row.ensemble),
            text(&row.path),
            text(&row.root),
            text(row.recipe.name()),
            text(&row.recipe_label),
            text(row.verdict.name()),
            text(&row.sentence),
            text(as_of.state.name()),
            as_of.age_ms.to_string(),
            as_of.zxid.to_string(),
            text(holder.and_then(|holder| holder.label.as_deref()).unwrap_or_default()),
            known_as(holder.and_then(|holder| holder.session_id)),
            text(holder.and_then(address_of).unwrap_or_default()),
            row.holder_count.to_string(),
            known_as(row.waiter_count),
            since(row.oldest_wait_at_ms, now_ms),
            known_as(row.total_wait_ms(now_ms)),
            since(row.held_since_ms, now_ms),
            row.hold_is_lower_bound.to_string(),
            row.is_complete().to_string(),
            text(&missing.join(" ")),
            text(&row.findings.join(" ")),
        ]
    })
}

/// The contenders of a lock.
pub(super) fn contenders(page: &LockPage, known: Known, now_ms: i64) -> Table {
    let as_of = AsOfJson::new(&page.head.as_of, known, now_ms);
    Table::new("contenders", CONTENDERS, &page.window, |row| {
        [
            text(&page.head.row.path),
            row.position.to_string(),
            text(row.role.name()),
            text(row.access.name()),
            text(row.node.as_deref().unwrap_or_default()),
            text(row.label.as_deref().unwrap_or_default()),
            known_as(row.session_id),
            text(address_of(row).unwrap_or_default()),
            text(row.liveness.name()),
            since(row.waiting_since_ms, now_ms),
            since(row.holding_since_ms, now_ms),
            known_as(row.created_at_ms),
            known_as(row.czxid),
            row.version.to_string(),
            text(as_of.state.name()),
            as_of.age_ms.to_string(),
        ]
    })
}

/// The sessions of a list, or their groups.
pub(super) fn sessions(sessions: &Sessions, is_grouped: bool, known: Known, now_ms: i64) -> Table {
    let age_ms = AsOfJson::new(&sessions.head.as_of, known, now_ms).age_ms;
    if is_grouped {
        return Table::new("session-groups", GROUPS, &sessions.groups, |row| group(row, age_ms, now_ms));
    }
    Table::new("sessions", SESSIONS, &sessions.window, |row| session(row, age_ms, now_ms))
}

fn session(row: &SessionRow, age_ms: i64, now_ms: i64) -> [String; SESSIONS.len()] {
    [
        text(&row.ensemble),
        row.session_id.to_string(),
        text(row.label.as_deref().unwrap_or_default()),
        text(row.client.as_ref().map(|client| client.address.as_str()).unwrap_or_default()),
        text(row.client.as_ref().map(|client| client.server.as_str()).unwrap_or_default()),
        text(row.liveness.name()),
        row.holds.to_string(),
        row.waits.to_string(),
        row.blocks.to_string(),
        row.ephemerals.to_string(),
        since(row.oldest_hold_at_ms, now_ms),
        since(row.oldest_wait_at_ms, now_ms),
        known_as(row.cycle_verdict),
        text(&row.locks.join(" ")),
        age_ms.to_string(),
    ]
}

fn group(row: &SessionGroupRow, age_ms: i64, now_ms: i64) -> [String; GROUPS.len()] {
    [
        text(&row.name),
        row.sessions.to_string(),
        row.holds.to_string(),
        row.waits.to_string(),
        row.blocks.to_string(),
        since(row.oldest_hold_at_ms, now_ms),
        since(row.oldest_wait_at_ms, now_ms),
        known_as(row.cycle_verdict),
        age_ms.to_string(),
    ]
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
    let guard = if is_formula { "'" } else { "" };
    if !value.contains(['"', ',', '\r', '\n']) {
        return format!("{guard}{value}");
    }
    format!("\"{guard}{}\"", value.replace('"', "\"\""))
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
            assert_eq!(text(value), cell, "{value:?}");
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
        let table = |offset, rows, total| {
            Table::new("session-groups", GROUPS, &window(offset, rows, total), |row| group(row, 5, 1_000))
        };
        assert_eq!(table(0, 2, 2).file_name, "lockscope-session-groups.csv");
        assert_eq!(table(0, 0, 2).file_name, "lockscope-session-groups.csv");
        assert_eq!(table(2, 2, 9).file_name, "lockscope-session-groups-3-to-4-of-9.csv");
        assert_eq!(table(0, 1, 1).text, format!("{}\r\n'=0,1,0,2,0,,600,,5\r\n", GROUPS.join(",")));
    }
}
