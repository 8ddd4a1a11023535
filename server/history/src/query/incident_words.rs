//! What is said of incidents: one sentence, and Markdown for a ticket. Pure.

use std::fmt::Write as _;

use lockscope_view::Verdict;
use lockscope_view::outgoing::{self, code_span as code};
use lockscope_view::past::{AlikeIncidents, EarlierIncident, Incident, IncidentEnd, OneIncident};
use lockscope_view::words::{date, duration, ordinal, plural};

use crate::incident::IncidentRoot;

/// Rows of a table in Markdown.
const MARKDOWN_ROWS_MAX: usize = 50;

/// What happened, in plain words.
pub(super) fn sentence(incident: &Incident, now_ms: i64) -> String {
    let lasted = duration(incident.lasted_ms(now_ms));
    let others = incident.locks.len().saturating_sub(1) as u64;
    let lock = match others {
        0 => incident.root_lock.clone(),
        others => format!("{} and {}", incident.root_lock, plural(others, "other lock", "other locks")),
    };
    let is_over = incident.to_at_ms.is_some();
    let trouble = trouble(incident.worst, incident.finding.as_deref(), is_over, others > 0);
    let root = incident.root.as_deref().filter(|_| !is_mutual(incident.worst));
    let least = if incident.is_lower_bound { "at least " } else { "" };
    let waited = match (incident.victims, root) {
        (0, Some(root)) => format!("{root} held it and nobody waited for long"),
        (0, None) => "nobody waited for long".to_owned(),
        (victims, root) => {
            let victims = plural(victims as u64, "session", "sessions");
            let by = root.map(|root| format!("{root} held it while ")).unwrap_or_default();
            format!("{by}{least}{victims} waited, {} in all", duration(incident.waiting_ms))
        }
    };
    let end = match incident.ended_by {
        IncidentEnd::Still if incident.is_seen_now == Some(false) => {
            "It went on when ZooKeeper was seen last.".to_owned()
        }
        by => ended(by, root, incident.forced_by.as_deref()),
    };
    format!("{lock} {trouble} for {lasted}: {waited}. {end}")
}

/// Two hold, or each waits for the other: no one of them is at fault.
pub(super) fn is_mutual(worst: Verdict) -> bool {
    matches!(worst, Verdict::Deadlocked | Verdict::MaybeDeadlocked | Verdict::DoubleOwner)
}

fn trouble(worst: Verdict, finding: Option<&str>, is_over: bool, are_many: bool) -> String {
    let be = match (is_over, are_many) {
        (true, false) => "was",
        (true, true) => "were",
        (false, false) => "has been",
        (false, true) => "have been",
    };
    let what = match worst {
        Verdict::Slow => "held for longer than usual",
        Verdict::Expiring => "held by somebody who is not connected",
        Verdict::NobodyHome => "without a directory",
        Verdict::Orphan => "behind a znode that no session owns",
        Verdict::Stuck => "stuck",
        Verdict::MaybeDeadlocked => "perhaps deadlocked",
        Verdict::DoubleOwner => "held by two at once",
        Verdict::Deadlocked => "deadlocked",
        Verdict::Free | Verdict::Healthy | Verdict::Unknown => finding.map_or("in trouble", odd),
    };
    format!("{be} {what}")
}

/// What it was where a finding alone says it.
fn odd(code: &str) -> &'static str {
    match code {
        "orphan_contender" => "behind a znode that nobody works under",
        "duplicate_session" => "behind a session that queues twice",
        "lease_leak" => "short of leases that were not returned",
        "leader_mismatch" => "led by another than the elected one",
        "foreign_child" => "behind a znode that has children",
        "expiry_overdue" => "held by a session that should have ended",
        "stale_ephemeral" => "held by a znode that outlived its session",
        "members_disagree" => "not the same on all members",
        "missing_watch" => "waited for by somebody whom nothing wakes",
        "mixed_recipes" => "used by clients that do not see each other",
        "sequence_overflow" => "past the end of its sequence numbers",
        "old_owner_connected" => "perhaps still used by its previous owner",
        _ => "in trouble",
    }
}

fn ended(by: IncidentEnd, root: Option<&str>, forced_by: Option<&str>) -> String {
    let who = root.unwrap_or("whoever held it");
    match by {
        IncidentEnd::Released => format!("It ended when {who} let go."),
        IncidentEnd::SessionEnded => format!("It ended when the session of {who} ended."),
        IncidentEnd::Forced => {
            format!("It ended when {} released it through Lockscope.", forced_by.unwrap_or("somebody"))
        }
        IncidentEnd::GaveUp => "It ended when those who waited gave up.".to_owned(),
        IncidentEnd::Recovered => "It ended while it was held, or nobody held it.".to_owned(),
        IncidentEnd::Unknown => "Nobody looked when it ended.".to_owned(),
        IncidentEnd::Still => "It goes on.".to_owned(),
    }
}

/// Who the root is, as well as that may be said.
pub(super) fn root_name(root: &IncidentRoot, label: Option<&str>) -> String {
    let session = || root.session.map_or("a znode that no session owns".to_owned(), |id| format!("session {id}"));
    label.or(root.host.as_deref()).map_or_else(session, str::to_owned)
}

/// What it was like before, in plain words; empty where it was not.
pub(super) fn again(of: &Incident, root: Option<&str>, earlier: &[EarlierIncident]) -> String {
    let (Some(newest), Some(oldest)) = (earlier.first(), earlier.last()) else { return String::new() };
    let times = of.seen_before.max(earlier.len()) + 1;
    let since = if times > earlier.len() + 1 { "; the last of them since" } else { " since" };
    let (short, long) = earlier.iter().fold((newest.lasted_ms, newest.lasted_ms), |(short, long), one| {
        (short.min(one.lasted_ms), long.max(one.lasted_ms))
    });
    let lasted = if duration(short) == duration(long) {
        duration(long)
    } else {
        format!("{} to {}", duration(short), duration(long))
    };
    let mut ends: Vec<String> = IncidentEnd::ALL.into_iter().filter_map(|end| end_counted(end, earlier)).collect();
    ends.truncate(3);
    let root = root.filter(|root| earlier.iter().all(|one| one.root.as_deref() == Some(root)));
    let root = root.filter(|_| !is_mutual(of.worst)).map(|root| format!(", each time because of {root}"));
    format!(
        "The {} time{since} {}{}. Before, it lasted {lasted}, and {}.",
        ordinal(u32::try_from(times).unwrap_or(u32::MAX)),
        date(oldest.from_at_ms),
        root.unwrap_or_default(),
        ends.join(", ")
    )
}

/// How many were like one, and how many of them ended as it did.
pub(super) fn alike_sentence(alike: &AlikeIncidents) -> String {
    let AlikeIncidents { ref signature, count, ended_likewise, is_lower_bound, .. } = *alike;
    let least = if is_lower_bound { "at least " } else { "" };
    let times = plural(count as u64, "incident", "incidents");
    let application = signature.application.as_deref();
    let because = application.map(|name| format!(" because of {name}")).unwrap_or_default();
    let ended = match (signature.ended_by, ended_likewise) {
        (IncidentEnd::Still, _) => String::new(),
        (_, 0) => " None of them ended as this one did.".to_owned(),
        (_, 1) if count == 1 => " It ended as this one did.".to_owned(),
        (_, same) if same == count => " All of them ended as this one did.".to_owned(),
        (_, same) => format!(" {same} of them ended as this one did."),
    };
    format!("In the 30 days before, {least}{times} looked like this{because}.{ended}")
}

/// How many ended so.
fn end_counted(end: IncidentEnd, earlier: &[EarlierIncident]) -> Option<String> {
    let number = earlier.iter().filter(|one| one.ended_by == end).count();
    let how = match end {
        IncidentEnd::Released => "ended when its holder let go",
        IncidentEnd::SessionEnded => "ended with its holder's session",
        IncidentEnd::Forced => "was released through Lockscope",
        IncidentEnd::GaveUp => "ended when those who waited gave up",
        IncidentEnd::Recovered => "ended by itself",
        IncidentEnd::Unknown => "ended unseen",
        IncidentEnd::Still => "goes on",
    };
    let times = match number {
        0 => return None,
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        number => format!("{number} times"),
    };
    Some(format!("{times} {how}"))
}

/// All of it for a ticket.
pub fn markdown(of: &OneIncident, url: &str) -> String {
    let OneIncident { incident, lives, releases, alerts, again, .. } = of;
    let mut out = format!("# {}\n\n", code(&incident.root_lock));
    let _ = writeln!(out, "{}\n", escaped(&incident.sentence));
    if let Some(again) = again {
        let _ = writeln!(out, "{}\n", escaped(again));
    }
    let mut item = |name: &str, value: String| {
        let _ = writeln!(out, "- {name}: {value}");
    };
    item("began", date(incident.from_at_ms));
    item("ended", incident.to_at_ms.map_or("not yet".to_owned(), date));
    item("worst verdict", incident.worst.name().replace('_', " "));
    if !incident.findings.is_empty() {
        let names: Vec<String> = incident.findings.iter().map(|code| code.replace('_', " ")).collect();
        item("findings", names.join(", "));
    }
    item("locks", incident.locks.iter().map(|lock| code(lock)).collect::<Vec<_>>().join(", "));
    item("sessions that waited 1 s or longer", incident.victims.to_string());
    item("waiting in all", duration(incident.waiting_ms));
    item("in Lockscope", format!("<{url}>"));
    for release in releases {
        let by = release.by.as_deref().map_or("somebody".to_owned(), escaped);
        let _ = writeln!(out, "- {by} released {} at {} (forced)", code(&release.lock), date(release.at_ms));
    }
    for alert in alerts {
        let fired = date(alert.fired_at_ms);
        let _ = writeln!(out, "- alert {} fired at {fired} for {}", code(&alert.rule), code(&alert.lock));
    }
    out.push_str("\n| Session | Lock | Came | Held from | Left | How |\n|---|---|---|---|---|---|\n");
    for life in lives.iter().take(MARKDOWN_ROWS_MAX) {
        let at = |at_ms: Option<i64>| at_ms.map_or("–".to_owned(), date);
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} |",
            life.session_id.as_deref().unwrap_or("–"),
            code(&life.lock),
            date(life.joined_at_ms),
            at(life.held_at_ms),
            at(life.left_at_ms),
            life.how.replace('_', " ")
        );
    }
    let left_out = lives.len().saturating_sub(MARKDOWN_ROWS_MAX);
    if left_out > 0 {
        let _ = writeln!(out, "\n{} left out.", plural(left_out as u64, "further one is", "further ones are"));
    }
    out
}

/// A sentence in which nothing is markup.
fn escaped(text: &str) -> String {
    outgoing::markdown(text, usize::MAX)
}

#[cfg(test)]
mod tests;
