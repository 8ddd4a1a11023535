//! One lock: its head, who holds, the queue in order, what is odd. Pure.

use std::fmt::Write as _;

use lockscope_view::api::AgedContender;
use lockscope_view::visible;

use super::responses::LockDetail;
use super::staleness::of_lock;
use super::table::{Cell, Column, OutputStyle, Tone, of_liveness, of_severity, of_verdict, render as table};
use super::words::{held, host, instant, longest, name, waiters};

/// Findings and notes that are shown.
const SHOWN_MAX: usize = 20;

pub(super) fn render(page: &LockDetail, offset: u32, shown: OutputStyle) -> String {
    let mut out = head(page, shown);
    let lock = &page.lock;
    let holder_count = lock.holder_count;
    let (holders, queue): (Vec<&AgedContender>, Vec<&AgedContender>) =
        page.contenders.iter().partition(|contender| contender.role == "holder");
    if !holders.is_empty() {
        title(&mut out, shown, "Holders", holder_count, holders.len());
        let columns = [
            who(&holders),
            Column::of_names("HOST", 9, |one: &&AgedContender| host(one)),
            session(),
            liveness(),
            Column::of_numbers("HELD", |one: &&AgedContender| held(one.holding_ms, one.holding_is_lower_bound)),
            Column::of_names("ZNODE", 12, |one: &&AgedContender| one.node.as_ref().map(|_| visible(last(&one.path)))),
        ];
        out.push_str(&table(&columns, &holders, 2, shown));
    }
    if !queue.is_empty() {
        title(&mut out, shown, "Queue", page.contender_count.saturating_sub(holder_count), queue.len());
        let columns = [
            Column::of_numbers("#", move |one: &&AgedContender| {
                one.position.saturating_sub(holder_count).saturating_add(1).to_string()
            }),
            who(&queue),
            Column::of_names("HOST", 9, |one: &&AgedContender| host(one)),
            session(),
            liveness(),
            Column::of_numbers("WAITS", |one: &&AgedContender| held(one.waiting_ms, one.waiting_is_lower_bound)),
            Column::of_names("WAITS FOR", 12, |one: &&AgedContender| match one.waits_for.as_slice() {
                [] => None,
                [one] => Some(visible(last(one))),
                [first, rest @ ..] => Some(format!("{} +{}", visible(last(first)), rest.len())),
            }),
        ];
        out.push_str(&table(&columns, &queue, 2, shown));
    }
    let count = u32::try_from(page.contenders.len()).unwrap_or(u32::MAX);
    let end = offset.saturating_add(count);
    if end < page.contender_count {
        let more = page.contender_count - end;
        let _ = writeln!(out, "  … and {more} more: --offset {end} goes on, --limit shows more at once");
    }
    if !lock.findings.is_empty() {
        let count = u32::try_from(lock.findings.len()).unwrap_or(u32::MAX);
        title(&mut out, shown, "Findings", count, lock.findings.len().min(SHOWN_MAX));
        for finding in lock.findings.iter().take(SHOWN_MAX) {
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
    let recipe = format!("{} ({}, {} confidence)", lock.recipe_label, lock.recipe, lock.confidence);
    let mut line = |name: &str, text: &str| {
        // Writing to a String can't fail.
        let _ = writeln!(out, "  {} {text}", shown.tone(Tone::Faint, &format!("{name:<9}")));
    };
    if lock.ensemble != "default" {
        line("ensemble", &visible(&lock.ensemble));
    }
    line("recipe", &visible(&recipe));
    let zxid = lock.as_of.zxid;
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
fn has_kinds(contenders: &[&AgedContender]) -> bool {
    contenders
        .iter()
        .any(|one| one.access != "exclusive" && contenders.first().is_some_and(|first| first.access != one.access))
        || contenders.iter().any(|one| matches!(&*one.access, "read" | "write"))
}

fn who<'a>(contenders: &[&AgedContender]) -> Column<'a, &'a AgedContender> {
    let with_access = has_kinds(contenders);
    Column::of_names("WHO", 12, move |one: &&AgedContender| {
        let name = name(one);
        if with_access { format!("{name} ({})", visible(&one.access)) } else { name }
    })
}

fn session<'a>() -> Column<'a, &'a AgedContender> {
    Column::of_words("SESSION", |one: &&AgedContender| one.session_id.map(|id| id.to_string()))
}

fn liveness<'a>() -> Column<'a, &'a AgedContender> {
    Column::of_words("LIVENESS", |one: &&AgedContender| Cell(of_liveness(&one.liveness), visible(&one.liveness)))
}

fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
