//! What an autopsy prints for people: what was read, what went wrong, and the locks in which most was waited. Pure.

use lockscope_autopsy::{Coverage, LockReport, Report};
use lockscope_view::past::Incident;
use lockscope_view::visible;
use lockscope_view::words::plural;

use super::incidents::Found;
use crate::commands::query::incidents::rendered;
use crate::commands::query::table::{Cell, Column, OutputStyle, Tone, of_verdict, render};
use crate::commands::query::words::{duration, instant};

/// Locks that are listed; `--json` has more.
const LOCKS_SHOWN: usize = 20;
/// Incidents that are listed; of more, those in which most was waited.
const INCIDENTS_SHOWN: usize = 50;
/// Damaged places, gaps and differences that are listed.
const NOTES_SHOWN: usize = 20;

pub(super) fn of(report: &Report, found: &Found, shown: OutputStyle) -> String {
    let mut out = coverage(&report.coverage, report.holds, shown);
    out.push_str(&incidents(found, report.coverage.to_at_ms, shown));
    out.push_str(&locks(report, shown));
    out
}

fn coverage(coverage: &Coverage, holds: u64, shown: OutputStyle) -> String {
    let zxids = match (&coverage.first_zxid, &coverage.last_zxid) {
        (Some(first), Some(last)) => format!(", zxid {first} to {last}"),
        _ => String::new(),
    };
    let mut out = format!(
        "{} to {}, {}\n{} in {}{zxids}; {}, {} made, {} ended\n",
        instant(coverage.from_at_ms),
        instant(coverage.to_at_ms),
        duration(coverage.to_at_ms - coverage.from_at_ms),
        plural(coverage.transactions, "transaction", "transactions"),
        plural(coverage.files, "log", "logs"),
        plural(holds, "hold", "holds"),
        plural(coverage.sessions_made, "session", "sessions"),
        coverage.sessions_ended,
    );
    let mut notes: Vec<String> = Vec::new();
    notes.extend(coverage.damaged.iter().map(|damage| {
        let file = visible(&damage.file.display().to_string());
        format!("damaged: {file} at byte {}: {}", damage.offset, visible(&damage.why))
    }));
    notes.extend(coverage.missing.iter().map(|missing| {
        format!("missing: transactions between {} and {}; that time is a gap", missing.after_zxid, missing.before_zxid)
    }));
    notes.extend(coverage.differences.iter().map(|one| {
        let directory = visible(&one.directory.display().to_string());
        format!("differs: {directory}, {} to {}: {}", one.from_zxid, one.to_zxid, visible(&one.why))
    }));
    if coverage.clock_set_back_ms > 0 {
        let back = duration(coverage.clock_set_back_ms);
        notes.push(format!("the leader's clock was set back by {back}; durations around that are too short"));
    }
    if coverage.znodes_left_out > 0 {
        let left_out = plural(coverage.znodes_left_out, "znode was", "znodes were");
        notes.push(format!("{left_out} left out because there are too many; name what matters with --root"));
    }
    if coverage.unknown_kinds > 0 {
        let unknown = plural(coverage.unknown_kinds, "transaction is", "transactions are");
        notes.push(format!("{unknown} of a kind that is not known, and left out"));
    }
    let more =
        notes.len().saturating_sub(NOTES_SHOWN) as u64 + coverage.damaged_left_out + coverage.differences_left_out;
    for note in notes.iter().take(NOTES_SHOWN) {
        out.push_str(&shown.tone(Tone::Odd, note));
        out.push('\n');
    }
    if more > 0 {
        out.push_str(&format!("and {more} more; --json lists them\n"));
    }
    out
}

fn incidents(found: &Found, to_at_ms: i64, shown: OutputStyle) -> String {
    if found.all.is_empty() && found.left_out == 0 {
        return "\nno lock was in trouble\n".to_owned();
    }
    let mut listed: Vec<&Incident> = found.all.iter().map(|one| &one.incident).collect();
    if listed.len() > INCIDENTS_SHOWN {
        listed.sort_by_key(|incident| std::cmp::Reverse(incident.waiting_ms));
        listed.truncate(INCIDENTS_SHOWN);
        listed.sort_by_key(|incident| std::cmp::Reverse(incident.from_at_ms));
    }
    let more = found.all.len().saturating_sub(listed.len()) as u64 + found.left_out;
    let mut out = format!("\n{}", rendered(listed, to_at_ms, shown));
    if more > 0 {
        out.push_str(&format!("{more} more, in which less was waited; --json lists them\n"));
    }
    out
}

fn locks(report: &Report, shown: OutputStyle) -> String {
    if report.locks.is_empty() {
        return "\nno lock is in it\n".to_owned();
    }
    let columns = [
        Column::of_words("WORST", |lock: &LockReport| Cell(of_verdict(lock.worst), lock.worst.replace('_', " "))),
        Column::of_names("LOCK", 16, |lock: &LockReport| visible(&lock.path)),
        Column::of_names("RECIPE", 12, |lock: &LockReport| lock.recipe.as_deref().map(visible)),
        Column::of_numbers("HOLDS", |lock: &LockReport| lock.holds.to_string()),
        Column::of_numbers("WAIT P99", |lock: &LockReport| lock.wait_ms.p99.map(duration)),
        Column::of_numbers("HOLD P99", |lock: &LockReport| lock.hold_ms.p99.map(duration)),
        Column::of_numbers("QUEUE", |lock: &LockReport| lock.depth_max.to_string()),
        Column::of_numbers("WAITING", |lock: &LockReport| duration(lock.waiting_ms)),
    ];
    let mut out = format!("\n{}", render(&columns, report.locks.iter().take(LOCKS_SHOWN), 0, shown));
    let more = report.locks.len().saturating_sub(LOCKS_SHOWN) as u64 + report.locks_left_out;
    if more > 0 {
        out.push_str(&format!("{more} more, in which less was waited; --json lists them\n"));
    }
    out
}

#[cfg(test)]
mod tests {
    use lockscope_autopsy::audit_log::AuditLog;

    use super::*;
    use crate::commands::query::incidents::tests::incident;
    use lockscope_autopsy::{MissingRange, Percentiles};

    const PLAIN: OutputStyle = OutputStyle { columns: None, is_colored: false };

    fn report() -> Report {
        let lock = LockReport {
            path: "/order".to_owned(),
            recipe: None,
            arrivals: 4,
            holds: 2,
            gave_up: 0,
            wait_ms: Percentiles { p50: Some(1), p99: Some(2) },
            hold_ms: Percentiles::default(),
            waiting_ms: 5,
            depth_max: 3,
            worst: "stuck",
        };
        let missing = vec![MissingRange { after_zxid: "0x5".to_owned(), before_zxid: "0x9".to_owned() }];
        let coverage = Coverage { transactions: 7, files: 1, missing, ..Coverage::default() };
        Report { coverage, locks: vec![lock; 25], locks_left_out: 0, holds: 2 }
    }

    #[test]
    fn what_went_wrong_comes_with_who_and_how_it_ended() {
        let found = Found::new((vec![incident()], 0), &AuditLog::default());
        let text = of(&report(), &found, PLAIN);
        assert!(text.contains("7 transactions in 1 log") && text.contains("missing: transactions between 0x5 and 0x9"));
        assert!(text.contains("stuck") && text.contains("import-2 @ 10.0.0.7") && text.contains("≥ 3"), "{text}");
        assert!(text.contains("session ended") && text.contains("5 more, in which less was waited"), "{text}");
        assert!(!text.contains('\u{202e}'));
    }

    #[test]
    fn nothing_is_said_in_words() {
        let report = Report { locks: Vec::new(), ..report() };
        let text = of(&report, &Found::default(), PLAIN);
        assert!(text.contains("no lock was in trouble") && text.ends_with("no lock is in it\n"), "{text}");
    }
}
