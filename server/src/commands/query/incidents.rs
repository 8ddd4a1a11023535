//! `lockscope history incidents`: when something was wrong with which locks, because of whom, and how it ended. An autopsy
//! prints its incidents as the same table.

use lockscope_view::visible;
use serde::Deserialize;

use super::client::QueryClient;
use super::past_range::at;
use super::responses::Coverage;
use super::table::{Cell, Column, OutputStyle, Tone, list_of, of_verdict, render as table};
use super::terminal;
use super::words::{self, NONE, duration, instant};
use crate::cli::IncidentsArgs;
use crate::error::RunError;
use crate::stdout;

/// Columns of the table.
const COLUMNS: [Column; 9] = [
    Column::of_words("FROM"),
    Column::of_numbers("LASTED"),
    Column::of_words("WORST"),
    Column::of_names("LOCK", 16),
    Column::of_names("BECAUSE OF", 12),
    Column::of_numbers("VICTIMS"),
    Column::of_numbers("WAITED"),
    Column::of_words("ENDED"),
    Column::of_numbers("BEFORE"),
];

/// Answer of `/api/v1/incidents`.
#[derive(Debug, Deserialize)]
struct Incidents {
    incidents: Vec<Incident>,
    left_out: usize,
    coverage: Coverage,
}

/// One of them, as the API has it.
#[derive(Clone, Debug, Deserialize)]
pub(in crate::commands) struct Incident {
    pub(in crate::commands) from_at_ms: i64,
    to_at_ms: Option<i64>,
    worst: String,
    findings: Vec<String>,
    locks: Vec<String>,
    root_lock: String,
    root_client: Option<String>,
    root_host: Option<String>,
    root_session_id: Option<String>,
    victims: usize,
    pub(in crate::commands) waiting_ms: i64,
    is_lower_bound: bool,
    ended_by: String,
    is_seen_now: Option<bool>,
    forced_by: Option<String>,
    seen_before: usize,
}

/// Asks, and prints the answer.
pub(super) async fn ask(args: &IncidentsArgs, now_ms: i64) -> Result<(), RunError> {
    let from = at("--from", &args.from, now_ms)?;
    let to = args.to.as_deref().map(|to| at("--to", to, now_ms)).transpose()?.unwrap_or_default();
    let (min_ms, limit) = (args.min_ms.to_string(), args.limit.to_string());
    let pairs = [
        ("ensemble", args.ensemble.as_deref().unwrap_or_default()),
        ("from", &from),
        ("to", &to),
        ("path", args.path.as_deref().unwrap_or_default()),
        ("min_ms", &min_ms),
        ("limit", &limit),
    ];
    let server = QueryClient::new(&args.server)?;
    let text = server.incidents(&pairs).await?;
    if args.form.json {
        stdout::print(&words::json(&text));
        return Ok(());
    }
    stdout::print(&listed(&server.read(&text)?, now_ms, terminal::stdout_style(args.form.color)));
    Ok(())
}

fn listed(answer: &Incidents, now_ms: i64, shown: OutputStyle) -> String {
    let rows = answer.incidents.iter().map(|incident| incident.row(now_ms)).collect();
    let more = (answer.left_out > 0)
        .then(|| format!("{} older are left out; ask for a shorter time or a higher --limit", answer.left_out));
    list_of(&COLUMNS, rows, "nothing was wrong then", &answer.coverage, more.as_deref(), shown)
}

/// The table of some; `now_ms` is how far those are that go on.
pub(in crate::commands) fn rendered<'a>(
    incidents: impl IntoIterator<Item = &'a Incident>,
    now_ms: i64,
    shown: OutputStyle,
) -> String {
    let rows: Vec<_> = incidents.into_iter().map(|incident| incident.row(now_ms)).collect();
    table(&COLUMNS, &rows, 0, shown)
}

impl Incident {
    fn row(&self, now_ms: i64) -> Vec<Cell> {
        let least = if self.is_lower_bound { "≥ " } else { "" };
        let lock = match self.locks.len().saturating_sub(1) {
            0 => visible(&self.root_lock),
            others => format!("{} +{others}", visible(&self.root_lock)),
        };
        let lasted_ms = self.to_at_ms.unwrap_or(now_ms).saturating_sub(self.from_at_ms);
        vec![
            Cell::plain(instant(self.from_at_ms)),
            Cell::plain(duration(lasted_ms.max(0))),
            self.worst(),
            Cell::plain(lock),
            Cell::plain(self.root()),
            Cell::plain(format!("{least}{}", self.victims)),
            Cell::plain(format!("{least}{}", duration(self.waiting_ms))),
            Cell::plain(self.ended()),
            Cell::plain(if self.seen_before == 0 { NONE.to_owned() } else { self.seen_before.to_string() }),
        ]
    }

    /// The worst verdict, or the findings where they alone say that something was wrong.
    fn worst(&self) -> Cell {
        if matches!(self.worst.as_str(), "healthy" | "free" | "unknown") && !self.findings.is_empty() {
            return Cell(Tone::Odd, visible(&self.findings.join(", ")).replace('_', " "));
        }
        Cell(of_verdict(&self.worst), visible(&self.worst).replace('_', " "))
    }

    /// Who is at its root: what it says of itself, else its host, else its session.
    fn root(&self) -> String {
        match (&self.root_client, &self.root_host, &self.root_session_id) {
            (Some(client), Some(host), _) if !client.contains('@') && !client.contains(&**host) => {
                visible(&format!("{client} @ {host}"))
            }
            (Some(name), ..) | (None, Some(name), _) | (None, None, Some(name)) => visible(name),
            (None, None, None) => NONE.to_owned(),
        }
    }

    fn ended(&self) -> String {
        if self.is_seen_now == Some(false) {
            return "not seen now".to_owned();
        }
        match (self.ended_by.as_str(), &self.forced_by) {
            ("forced", Some(by)) => format!("forced by {}", visible(by)),
            ("still", _) => "still on".to_owned(),
            (ended, _) => visible(ended).replace('_', " "),
        }
    }
}

#[cfg(test)]
pub(in crate::commands) mod tests {
    use super::*;

    const PLAIN: OutputStyle = OutputStyle { columns: None, is_colored: false };

    pub(in crate::commands) fn incident() -> Incident {
        Incident {
            from_at_ms: 0,
            to_at_ms: Some(62_000),
            worst: "stuck".to_owned(),
            findings: Vec::new(),
            locks: vec!["/order\u{202e}".to_owned(), "/other".to_owned()],
            root_lock: "/order\u{202e}".to_owned(),
            root_client: Some("import-2".to_owned()),
            root_host: Some("10.0.0.7".to_owned()),
            root_session_id: Some("0x1".to_owned()),
            victims: 3,
            waiting_ms: 100_000,
            is_lower_bound: true,
            ended_by: "session_ended".to_owned(),
            is_seen_now: None,
            forced_by: None,
            seen_before: 2,
        }
    }

    fn answer(incidents: Vec<Incident>, left_out: usize) -> Incidents {
        Incidents { incidents, left_out, coverage: Coverage { part: 0.5 } }
    }

    #[test]
    fn a_row_says_what_was_wrong_because_of_whom_and_how_it_ended() {
        let text = listed(&answer(vec![incident()], 7), 0, PLAIN);
        let expected = "import-2 @ 10.0.0.7      ≥ 3  ≥ 1 min 40 s  session ended       2\n";
        assert!(text.contains("1 min 02 s  stuck") && text.contains(" +1  ") && text.contains(expected), "{text}");
        assert!(text.contains("7 older are left out") && text.ends_with("50.0 % of that time is kept\n"), "{text}");
        assert!(!text.contains('\u{202e}'));
        assert!(listed(&answer(Vec::new(), 0), 0, PLAIN).starts_with("nothing was wrong then\n"));
    }

    #[test]
    fn what_goes_on_has_no_end_and_a_finding_stands_for_a_verdict() {
        let on = Incident { to_at_ms: None, ended_by: "still".to_owned(), is_seen_now: Some(true), ..incident() };
        assert!(rendered([&on], 5_000, PLAIN).contains(" 5.0 s  stuck") && on.ended() == "still on");
        assert_eq!(Incident { is_seen_now: Some(false), ..on }.ended(), "not seen now");
        let forced = Incident { ended_by: "forced".to_owned(), forced_by: Some("ada".to_owned()), ..incident() };
        assert_eq!(forced.ended(), "forced by ada");
        let findings = vec!["lease_leak".to_owned(), "missing_watch".to_owned()];
        let odd = Incident { worst: "healthy".to_owned(), findings, root_client: None, ..incident() };
        assert_eq!((odd.worst().1.as_str(), odd.root().as_str()), ("lease leak, missing watch", "10.0.0.7"));
        let nobody = Incident { root_host: None, root_session_id: None, ..odd };
        assert_eq!(nobody.root(), NONE);
    }
}
