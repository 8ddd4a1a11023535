//! One lock as lines: its sentence, what to do, findings, and who holds and waits. Pure.

use lockscope_view::{Contender, ContenderRole, Liveness, LockPage, Severity};

use super::board::cut;
use super::text::{Line, wrapped};
use super::words;
use crate::commands::query::table::{Tone, of_verdict};

const SENTENCE_LINES: usize = 3;
const FINDINGS_MAX: usize = 3;
const NOTES_MAX: usize = 2;
const ALIVE_COLUMNS_MIN: usize = 64;
const HOST_COLUMNS_MIN: usize = 92;
const SESSION_COLUMNS_MIN: usize = 112;
const PLACE: usize = 6;
const DOES: usize = 15;
const ALIVE: usize = 12;
const SINCE: usize = 12;
const HOST: usize = 15;
const SESSION: usize = 18;

/// What stands above the queue, in at most so many lines.
pub(super) fn head(page: &LockPage, now_ms: i64, columns: usize, lines_max: usize) -> Vec<Line> {
    let row = &page.head.row;
    let tone = of_verdict(row.verdict.name());
    let mut lines = vec![
        Line::of(tone, words::verdict(row.verdict))
            .with(Tone::Plain, "  ")
            .name(Tone::Head, &row.path, columns)
            .with(Tone::Faint, &format!("  {}", row.recipe_label)),
    ];
    match &page.head.advice {
        None => lines.extend(wrapped("", Tone::Plain, &row.sentence, columns, SENTENCE_LINES)),
        Some(advice) => {
            let headline = words::headline(&advice.headline, now_ms);
            lines.extend(wrapped("", Tone::Plain, &headline, columns, SENTENCE_LINES));
            if !advice.steps.is_empty() {
                lines.push(Line::of(Tone::Head, words::DO_THIS));
            }
            for (number, step) in advice.steps.iter().enumerate() {
                let lead = format!("{}. ", number + 1);
                lines.extend(super::board::step(&lead, step, columns));
            }
            lines.extend(wrapped("", Tone::Faint, &advice.why, columns, SENTENCE_LINES));
        }
    }
    // What the headline says already is not said again.
    let headline = page.head.advice.as_ref().map_or("", |advice| advice.headline.before.as_str());
    let findings = || page.head.findings.iter().filter(|finding| !headline.contains(finding.text.as_str()));
    if findings().next().is_some() {
        lines.push(Line::of(Tone::Head, words::FINDINGS));
    }
    for finding in findings().take(FINDINGS_MAX) {
        let tone = match finding.severity {
            Severity::Info => Tone::Plain,
            Severity::Warning => Tone::Odd,
            Severity::Critical => Tone::Bad,
        };
        lines.extend(wrapped("  ", tone, &finding.text, columns, SENTENCE_LINES));
    }
    for note in page.head.notes.iter().take(NOTES_MAX) {
        lines.extend(wrapped("", Tone::Faint, note, columns, SENTENCE_LINES));
    }
    cut(lines, lines_max)
}

/// The columns of the queue, by the width there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Columns {
    who: usize,
    host: usize,
    session: usize,
    alive: usize,
}

impl Columns {
    pub(super) fn of(columns: usize) -> Self {
        let host = if columns >= HOST_COLUMNS_MIN { HOST } else { 0 };
        let session = if columns >= SESSION_COLUMNS_MIN { SESSION } else { 0 };
        let alive = if columns >= ALIVE_COLUMNS_MIN { ALIVE } else { 0 };
        let widths =
            [host, session, alive].into_iter().filter(|width| *width > 0).map(|width| width + 1).sum::<usize>();
        let taken = 2 + PLACE + DOES + SINCE + 3 + widths;
        Self { who: columns.saturating_sub(taken), host, session, alive }
    }

    /// The heads.
    pub(super) fn heads(self) -> Line {
        let faint = |text: &str| (Tone::Faint, text.to_owned());
        self.line(
            "  ",
            faint("#"),
            faint("WHO"),
            faint("HOST"),
            faint("SESSION"),
            faint("DOES"),
            faint("LIVENESS"),
            faint("FOR"),
        )
    }

    /// A holder or waiter.
    pub(super) fn row(self, of: &Contender, holders: u32, is_chosen: bool, now_ms: i64) -> Line {
        let plain = |text: String| (Tone::Plain, text);
        let (place, since) = match of.role {
            ContenderRole::Holder => {
                (String::new(), words::least(of.holding_since_ms, of.holding_is_lower_bound, now_ms))
            }
            ContenderRole::Waiter => (
                of.position.saturating_sub(holders).saturating_add(1).to_string(),
                words::least(of.waiting_since_ms, of.waiting_is_lower_bound, now_ms),
            ),
        };
        let alive = match of.liveness {
            Liveness::Connected => Tone::Good,
            Liveness::Silent => Tone::Odd,
            Liveness::Disconnected | Liveness::Persistent => Tone::Bad,
            Liveness::Unknown => Tone::Faint,
        };
        let session = of.session_id.map_or_else(|| words::NONE.to_owned(), |id| id.to_string());
        self.line(
            if is_chosen { "› " } else { "  " },
            plain(place),
            (if of.role == ContenderRole::Holder { Tone::Head } else { Tone::Plain }, words::name(of)),
            plain(host(of)),
            plain(session),
            plain(words::role(of.role, of.access).to_owned()),
            (alive, of.liveness.name().to_owned()),
            plain(since),
        )
    }

    #[expect(clippy::too_many_arguments, reason = "a cell each")]
    fn line(
        self,
        mark: &str,
        place: (Tone, String),
        who: (Tone, String),
        host: (Tone, String),
        session: (Tone, String),
        does: (Tone, String),
        alive: (Tone, String),
        since: (Tone, String),
    ) -> Line {
        let mut line = Line::of(Tone::Head, mark).cell(place.0, &place.1, PLACE, true).with(Tone::Plain, " ");
        line = line.cell(who.0, &who.1, self.who, false).with(Tone::Plain, " ");
        for ((tone, text), width) in [(host, self.host), (session, self.session)] {
            if width > 0 {
                line = line.cell(tone, &text, width, false).with(Tone::Plain, " ");
            }
        }
        line = line.cell(does.0, &does.1, DOES, false).with(Tone::Plain, " ");
        if self.alive > 0 {
            line = line.cell(alive.0, &alive.1, self.alive, false).with(Tone::Plain, " ");
        }
        line.cell(since.0, &since.1, SINCE, true)
    }
}

fn host(of: &Contender) -> String {
    let address = of.client.as_ref().map_or("", |client| client.address.as_str());
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    if host.is_empty() { words::NONE.to_owned() } else { host.to_owned() }
}
