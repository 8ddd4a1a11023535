//! How far what a server says is true now, in words. Pure.

use lockscope_view::api::AgedAsOf;
use lockscope_view::{LIVE_AGE_MAX_MS, visible};
use serde_json::{Value, json};

use super::responses::{Status, is_current};
use super::words::instant;

/// Doubts that are listed one by one.
const NOTES_MAX: usize = 5;

/// Something that keeps an answer from being whole or new.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StalenessNote {
    pub(super) text: String,
    /// Whether what is said may not be true any more; else it is only not all.
    pub(super) is_old: bool,
}

/// What is to be known of a server's view of one ensemble, or of all; with a line for what is left out.
pub(super) fn notes(status: &Status, ensemble: Option<&str>) -> Vec<StalenessNote> {
    let mut all = Vec::new();
    for one in status.ensembles.iter().filter(|one| ensemble.is_none_or(|name| name == one.name)) {
        let of = if status.ensembles.len() > 1 { format!(" of {}", visible(&one.name)) } else { String::new() };
        let is_linked = matches!(one.link.as_str(), "live" | "syncing");
        if !is_linked {
            all.push(note(&one.link, &format!("ZooKeeper{of}"), one.since_ms, &one.why));
        }
        // Without a link every root is as old as the link.
        let roots = one.roots.iter().filter(|root| root.state != "live" && (is_linked || root.state != "stale"));
        all.extend(
            roots.map(|root| note(&root.state, &format!("{}{of}", visible(&root.path)), root.since_ms, &root.why)),
        );
    }
    if all.len() > NOTES_MAX {
        let is_old = all.iter().skip(NOTES_MAX).any(|note| note.is_old);
        let text = format!("and {} more; GET /api/v1/status has all", all.len() - NOTES_MAX);
        all.truncate(NOTES_MAX);
        all.push(StalenessNote { text, is_old });
    }
    all
}

fn note(state: &str, what: &str, since_ms: i64, why: &str) -> StalenessNote {
    StalenessNote {
        text: format!("{}: {what}{}{}", word(state), since(since_ms), because(state, why)),
        is_old: !is_current(state),
    }
}

/// The doubt about one lock; empty when there is none.
pub(super) fn of_lock(as_of: &AgedAsOf) -> Option<StalenessNote> {
    let text = || format!("{}{}{}", word(&as_of.state), since(as_of.at_ms), because(&as_of.state, &as_of.why));
    (as_of.state != "live").then(|| StalenessNote { text: text(), is_old: !is_current(&as_of.state) })
}

/// Lets a lock's answer be as old as it is after a while on its way: the rule of every other reader holds here, too.
pub(super) fn grow_old(lock: &mut Value, took_ms: i64) {
    let Some(as_of) = lock.get_mut("as_of").and_then(Value::as_object_mut) else { return };
    // An older server does not report it.
    let Some(age_ms) = as_of.get("age_ms").and_then(Value::as_i64) else { return };
    let age_ms = age_ms.saturating_add(took_ms);
    as_of.insert("age_ms".to_owned(), json!(age_ms));
    if age_ms > LIVE_AGE_MAX_MS && as_of.get("state").and_then(Value::as_str).is_some_and(is_current) {
        as_of.insert("state".to_owned(), json!("stale"));
        as_of.insert("why".to_owned(), json!("the answer was too long on its way"));
    }
}

fn word(state: &str) -> String {
    if state == "syncing" { "RESYNCING".to_owned() } else { visible(state).to_uppercase() }
}

fn since(at_ms: i64) -> String {
    if at_ms > 0 { format!(" since {}", instant(at_ms)) } else { String::new() }
}

fn because(state: &str, why: &str) -> String {
    let otherwise = match state {
        "syncing" => "resync in progress",
        "stale" | "lost" => "no answer from ZooKeeper",
        "partial" => "some znodes may not be read",
        "denied" => "ZooKeeper's access rules keep Lockscope out",
        "gone" => "the root does not exist",
        "reduced" => "watches can't be followed on this server",
        _ => "",
    };
    let why = if why.is_empty() { otherwise.to_owned() } else { visible(why) };
    if why.is_empty() { why } else { format!(" ({why})") }
}
