//! One lock: its head, who holds, the queue in order, what is odd. Pure.

use std::fmt::Write as _;

use lockscope_view::visible;

use super::responses::{Contender, LockDetail};
use super::staleness::of_lock;
use super::table::{Cell, Column, OutputStyle, Tone, of_severity, of_verdict, render as table};
use super::words::{NONE, held, host, instant, longest, name, waiters};

/// Findings and notes that are shown.
const SHOWN_MAX: usize = 20;

const HOLDERS: [Column; 6] = [
    Column::of_names("WHO", 12),
    Column::of_names("HOST", 9),
    Column::of_words("SESSION"),
    Column::of_words("LIVENESS"),
    Column::of_numbers("HELD"),
    Column::of_names("ZNODE", 12),
];
const QUEUE: [Column; 7] = [
    Column::of_numbers("#"),
    Column::of_names("WHO", 12),
    Column::of_names("HOST", 9),
    Column::of_words("SESSION"),
    Column::of_words("LIVENESS"),
    Column::of_numbers("WAITS"),
    Column::of_names("WAITS FOR", 12),
];

pub(super) fn render(page: &LockDetail, offset: u32, shown: OutputStyle) -> String {
    let lock = &page.lock;
    let mut out = head(page, shown);
    let (holders, queue): (Vec<&Contender>, Vec<&Contender>) =
        page.contenders.iter().partition(|contender| contender.role == "holder");
    if !holders.is_empty() {
        title(&mut out, shown, "Holders", lock.holder_count, holders.len());
        let with_access = has_kinds(&holders);
        out.push_str(&table(
            &HOLDERS,
            &holders.iter().map(|one| holder(one, with_access)).collect::<Vec<_>>(),
            2,
            shown,
        ));
    }
    if !queue.is_empty() {
        let queued = page.contender_count.saturating_sub(lock.holder_count);
        title(&mut out, shown, "Queue", queued, queue.len());
        let with_access = has_kinds(&queue);
        out.push_str(&table(
            &QUEUE,
            &queue.iter().map(|one| waiter(one, lock.holder_count, with_access)).collect::<Vec<_>>(),
            2,
            shown,
        ));
    }
    let count = u32::try_from(page.contenders.len()).unwrap_or(u32::MAX);
    let end = offset.saturating_add(count);
    if end < page.contender_count {
        let _ = writeln!(
            out,
            "  … and {} more: --offset {end} goes on, --limit shows more at once",
            page.contender_count - end
        );
    }
    if !page.findings.is_empty() {
        title(
            &mut out,
            shown,
            "Findings",
            u32::try_from(page.findings.len()).unwrap_or(u32::MAX),
            page.findings.len().min(SHOWN_MAX),
        );
        for finding in page.findings.iter().take(SHOWN_MAX) {
            let severity = shown.tone(of_severity(&finding.severity), &visible(&finding.severity));
            let _ = writeln!(out, "  {severity}  {}: {}", visible(&finding.code), visible(&finding.text));
        }
    }
    if !page.notes.is_empty() {
        let _ = writeln!(out, "\n{}", shown.tone(Tone::Head, "Notes"));
        for note in page.notes.iter().take(SHOWN_MAX) {
            let _ = writeln!(out, "  {}", visible(note));
        }
    }
    out
}

fn head(page: &LockDetail, shown: OutputStyle) -> String {
    let lock = &page.lock;
    let (verdict, path) =
        (shown.tone(of_verdict(&lock.verdict), &visible(&lock.verdict)), shown.tone(Tone::Head, &visible(&lock.path)));
    let mut out = format!("{path}  {verdict}\n  {}\n", visible(&lock.sentence));
    let recipe = format!(
        "{} ({}, {} confidence)",
        visible(&lock.recipe_label),
        visible(&lock.recipe),
        visible(&lock.confidence)
    );
    let mut line = |name: &str, text: &str| {
        // Writing to a String can't fail.
        let _ = writeln!(out, "  {} {text}", shown.tone(Tone::Faint, &format!("{name:<9}")));
    };
    if lock.ensemble != "default" {
        line("ensemble", &visible(&lock.ensemble));
    }
    line("recipe", &recipe);
    let zxid = visible(&lock.as_of.zxid);
    match of_lock(&lock.as_of) {
        None => line("as of", &format!("{}, zxid {zxid}", instant(lock.as_of.at_ms))),
        Some(note) => {
            let then = if note.is_old { ": what follows is from then" } else { "" };
            let tone = if note.is_old { Tone::Bad } else { Tone::Odd };
            line("as of", &format!("zxid {zxid}, {}", shown.tone(tone, &format!("{}{then}", note.text))));
        }
    }
    line("waiting", &format!("{}{}", waiters(lock), longest(lock)));
    if !lock.is_complete() {
        line("missing", &visible(&lock.missing.join(", ").replace('_', " ")));
    }
    out
}

fn title(out: &mut String, shown: OutputStyle, what: &str, count: u32, told: usize) {
    let total = if usize::try_from(count).is_ok_and(|count| count == told) {
        count.to_string()
    } else {
        format!("{told} of {count}")
    };
    let _ = writeln!(out, "\n{}", shown.tone(Tone::Head, &format!("{what} ({total})")));
}

/// Whether they want different things, so that each has to be shown.
fn has_kinds(contenders: &[&Contender]) -> bool {
    contenders
        .iter()
        .any(|one| one.access != "exclusive" && contenders.first().is_some_and(|first| first.access != one.access))
        || contenders.iter().any(|one| matches!(one.access.as_str(), "read" | "write"))
}

fn who(contender: &Contender, with_access: bool) -> Cell {
    let name = name(contender);
    Cell::plain(if with_access { format!("{name} ({})", visible(&contender.access)) } else { name })
}

fn some(text: Option<String>) -> Cell {
    Cell::plain(text.unwrap_or_else(|| NONE.to_owned()))
}

fn liveness(contender: &Contender) -> Cell {
    let tone = match contender.liveness.as_str() {
        "connected" => Tone::Good,
        "silent" => Tone::Odd,
        "disconnected" | "persistent" => Tone::Bad,
        _ => Tone::Faint,
    };
    Cell(tone, visible(&contender.liveness))
}

fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn holder(contender: &Contender, with_access: bool) -> Vec<Cell> {
    vec![
        who(contender, with_access),
        some(host(contender)),
        some(contender.session_id.as_deref().map(visible)),
        liveness(contender),
        Cell::plain(held(contender.holding_ms, contender.holding_is_lower_bound)),
        some(contender.node.as_ref().map(|_| visible(last(&contender.path)))),
    ]
}

fn waiter(contender: &Contender, holders: u32, with_access: bool) -> Vec<Cell> {
    let place = contender.position.saturating_sub(holders).saturating_add(1);
    let waits_for = match contender.waits_for.as_slice() {
        [] => None,
        [one] => Some(visible(last(one))),
        [first, rest @ ..] => Some(format!("{} +{}", visible(last(first)), rest.len())),
    };
    vec![
        Cell::plain(place.to_string()),
        who(contender, with_access),
        some(host(contender)),
        some(contender.session_id.as_deref().map(visible)),
        liveness(contender),
        Cell::plain(held(contender.waiting_ms, contender.waiting_is_lower_bound)),
        some(waits_for),
    ]
}
