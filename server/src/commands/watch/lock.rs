//! One lock as lines: its sentence, what to do, findings, and who holds and waits. Pure.

use lockscope_view::{Contender, ContenderRole, LockPage};

use super::board::cut;
use super::text::{Line, Table, rest_of_columns, wrapped};
use super::words;
use crate::commands::query::table::{Tone, of_liveness, of_severity, of_verdict};

const SENTENCE_LINES: usize = 3;
const FINDINGS_MAX: usize = 3;
const NOTES_MAX: usize = 2;
const ALIVE_COLUMNS_MIN: usize = 64;
const HOST_COLUMNS_MIN: usize = 92;
const SESSION_COLUMNS_MIN: usize = 112;
/// Between two columns.
const GAP: usize = 1;
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
        lines.extend(wrapped("  ", of_severity(finding.severity.name()), &finding.text, columns, SENTENCE_LINES));
    }
    for note in page.head.notes.iter().take(NOTES_MAX) {
        lines.extend(wrapped("", Tone::Faint, note, columns, SENTENCE_LINES));
    }
    cut(lines, lines_max)
}

/// The table of the queue, by the width there is.
pub(super) fn table(columns: usize) -> Table<7> {
    let if_wide = |least: usize, width: usize| if columns >= least { width } else { 0 };
    let (host, session) = (if_wide(HOST_COLUMNS_MIN, HOST), if_wide(SESSION_COLUMNS_MIN, SESSION));
    let alive = if_wide(ALIVE_COLUMNS_MIN, ALIVE);
    let columns = [
        ("#", PLACE, true),
        ("WHO", rest_of_columns(columns, GAP, &[PLACE, host, session, DOES, alive, SINCE]), false),
        ("HOST", host, false),
        ("SESSION", session, false),
        ("DOES", DOES, false),
        ("LIVENESS", alive, false),
        ("FOR", SINCE, true),
    ];
    Table { columns, gap: GAP }
}

/// What stands in the row of a holder or waiter.
pub(super) fn cells(of: &Contender, holders: u32, now_ms: i64) -> [(Tone, String); 7] {
    let is_holder = of.role == ContenderRole::Holder;
    let (place, since) = if is_holder {
        (String::new(), words::least(of.holding_since_ms, of.holding_is_lower_bound, now_ms))
    } else {
        let place = of.position.saturating_sub(holders).saturating_add(1);
        (place.to_string(), words::least(of.waiting_since_ms, of.waiting_is_lower_bound, now_ms))
    };
    [
        (Tone::Plain, place),
        (if is_holder { Tone::Head } else { Tone::Plain }, words::name(of)),
        (Tone::Plain, host(of)),
        (Tone::Plain, of.session_id.map_or_else(|| words::NONE.to_owned(), |id| id.to_string())),
        (Tone::Plain, words::role(of.role, of.access).to_owned()),
        (of_liveness(of.liveness.name()), of.liveness.name().to_owned()),
        (Tone::Plain, since),
    ]
}

fn host(of: &Contender) -> String {
    let address = of.client.as_ref().map_or("", |client| client.address.as_str());
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    if host.is_empty() { words::NONE.to_owned() } else { host.to_owned() }
}
