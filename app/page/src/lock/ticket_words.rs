//! A lock as Markdown, for a ticket: what is wrong, who holds, who waits, as of when. Names from ZooKeeper stand in code
//! spans, so that none of them formats anything.

use crate::format::{age, date, duration};
use crate::parts::{holder_name, verdict_word, waiters_text};
use lockscope_view::outgoing::{self, code_span as code};
use lockscope_view::{Contender, LockPage};

const ROWS_MAX: usize = 20;

/// The text; `now_ms` is the moment it is true of.
pub(super) fn markdown(page: &LockPage, now_ms: i64) -> String {
    let (head, row) = (&page.head, &page.head.row);
    let title = format!("{} is {}", code(&row.path), verdict_word(row.verdict));
    let mut text = format!("## {}\n\n{}\n\n", title, escaped(&row.sentence));
    let mut fact = |name: &str, value: String| text.push_str(&format!("* {name}: {value}\n"));
    fact("As of", format!("{}, zxid {}", date(now_ms), head.as_of.zxid));
    fact("Recipe", escaped(&row.recipe_label));
    fact("Waiting", waiters_text(row));
    if let Some(since_ms) = row.oldest_wait_at_ms {
        fact("Longest wait", age(since_ms, now_ms));
    }
    if let Some(ms) = head.stats.hold_p50_ms {
        fact("Usual hold", duration(ms));
    }
    for finding in &head.findings {
        fact(&format!("Finding `{}`", finding.code), escaped(&finding.text));
    }
    text.push_str("\n| | who | session | client | since | znode | czxid |\n|---|---|---|---|---|---|---|\n");
    page.window.rows.iter().take(ROWS_MAX).for_each(|contender| text.push_str(&line(contender, now_ms)));
    let more = (page.window.total as usize).saturating_sub(page.window.rows.len().min(ROWS_MAX));
    if more > 0 {
        text.push_str(&format!("\nAnd {more} more.\n"));
    }
    text
}

fn line(contender: &Contender, now_ms: i64) -> String {
    let since_ms = contender.holding_since_ms.or(contender.waiting_since_ms);
    let cells = [
        contender.role.name().to_owned(),
        code(&holder_name(contender)),
        contender.session_id.map(|id| code(&id.to_string())).unwrap_or_default(),
        contender.client.as_ref().map(|client| code(&client.address)).unwrap_or_default(),
        since_ms.map(|since_ms| age(since_ms, now_ms)).unwrap_or_default(),
        contender.node.as_deref().map(code).unwrap_or_default(),
        contender.czxid.map(|czxid| code(&czxid.to_string())).unwrap_or_default(),
    ];
    format!("| {} |\n", cells.join(" | "))
}

/// A sentence with names in it: nothing in it is markup.
fn escaped(text: &str) -> String {
    outgoing::markdown(text, usize::MAX)
}
