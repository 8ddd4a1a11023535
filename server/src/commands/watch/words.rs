//! What the terminal says. Pure. What it has in common with the page comes from the same tables (`lockscope_view`).

use lockscope_view::live::{LinkState, link_words};
pub(super) use lockscope_view::live::{calm, need_you};
use lockscope_view::words::{clock, count, date, duration, plural};
use lockscope_view::{
    Access, BoardHead, Contender, ContenderRole, Headline, LockRow, ProblemsLeftOut, Recipe, RootState, Sort, Step,
    StepAct, Verdict,
};

pub(super) const KEYS: [(&str, &str); 15] = [
    ("j k", "next and previous row; arrows, PgUp, PgDn, Home and End too"),
    ("Enter", "open the chosen lock"),
    ("Esc", "close, clear the filter, go back to the board; Backspace too"),
    ("/", "filter: path, recipe, verdict, holder, session; !text excludes"),
    ("o O", "next and previous sort order"),
    ("g", "group by root"),
    ("s", "pin the chosen lock on top"),
    ("a", "apply a new order of rows at once"),
    ("p", "pause and go on"),
    ("r", "draw the screen anew; Ctrl-L too"),
    ("Ctrl-Z", "suspend"),
    ("?", "this help"),
    ("q", "quit; Ctrl-C too"),
    ("→", "before a step: what to do next"),
    ("≥", "before a number: at least, it may be more than was seen"),
];

/// Footers of the board, a lock and the help: the longest that fits.
pub(super) const BOARD_FOOTERS: [&str; 3] = [
    "j/k move  Enter open  / filter  o order  p pause  ? keys  q quit",
    "j/k Enter / o p  ? keys  q quit",
    "? keys  q",
];
pub(super) const LOCK_FOOTERS: [&str; 3] =
    ["j/k move  Esc board  p pause  ? keys  q quit", "j/k Esc p  ? keys  q quit", "? keys  q"];
pub(super) const HELP_FOOTERS: [&str; 2] = ["any key closes this", "any key"];
pub(super) const HELP_TITLE: &str = "Keys";
pub(super) const HOLDERS_AND_QUEUE: &str = "Holders and queue";
pub(super) const DO_THIS: &str = "Do this";
pub(super) const FINDINGS: &str = "Findings";
pub(super) const NOT_READ: &str = "Nothing came from the server yet.";
pub(super) const NO_ROW: &str = "No lock matches.";
pub(super) const NO_LOCKS: &str = "No locks here yet: one that is taken shows here at once.";
pub(super) const TOO_SMALL: &str = "Too small: 20 × 5 at least";
pub(super) const MORE_BELOW: &str = "… more lines: make the window taller";
pub(super) const NONE: &str = "-";

/// The line that says how far all below can be trusted.
pub(super) fn link(state: &LinkState, is_paused: bool, known_at_ms: Option<i64>, now_ms: i64) -> (String, String) {
    if state.is_live() {
        let fresh = known_at_ms.map_or_else(|| "…".to_owned(), |at_ms| link_words::ago(&age(at_ms, now_ms)));
        let why = if state.why.is_empty() { String::new() } else { format!("{}, ", state.why) };
        return if is_paused {
            (link_words::PAUSED.to_owned(), format!("{} {fresh}", link_words::UPDATES_PAUSED))
        } else {
            (state.word.to_owned(), format!("{why}{fresh}"))
        };
    }
    // What may be cut off comes last.
    let shown = state.since_ms.map_or_else(String::new, |at_ms| format!("{}: ", shown_as_of(at_ms, now_ms)));
    (state.word.to_owned(), format!("{shown}{}", state.why))
}

/// The same where the connection is lost, since an instant on the server's clock.
pub(super) fn lost(lost_at_ms: Option<i64>, known_at_ms: Option<i64>, now_ms: i64) -> (String, String) {
    let ago = lost_at_ms.map_or_else(String::new, |at_ms| format!(" {} ago", age(at_ms, now_ms)));
    let shown = known_at_ms.map_or_else(String::new, |at_ms| format!(", {}", shown_as_of(at_ms, now_ms)));
    (link_words::OFFLINE.0.to_owned(), format!("link lost{ago}{shown}; trying again"))
}

fn shown_as_of(at_ms: i64, now_ms: i64) -> String {
    format!("shown as of {} ago ({})", age(at_ms, now_ms), clock(at_ms))
}

/// A time that goes on: what changes many times a second says nothing.
pub(super) fn age(since_ms: i64, now_ms: i64) -> String {
    match now_ms.saturating_sub(since_ms) {
        ..1_000 => "< 1 s".to_owned(),
        ms => duration(ms),
    }
}

/// The same, which may be longer than was seen.
pub(super) fn least(since_ms: Option<i64>, is_lower_bound: bool, now_ms: i64) -> String {
    match (since_ms, is_lower_bound) {
        (None, _) => NONE.to_owned(),
        (Some(since_ms), false) => age(since_ms, now_ms),
        (Some(since_ms), true) if now_ms.saturating_sub(since_ms) < 1_000 => "≥ 0 s".to_owned(),
        (Some(since_ms), true) => format!("≥ {}", duration(now_ms.saturating_sub(since_ms))),
    }
}

pub(super) fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::NobodyHome => "nobody home",
        Verdict::MaybeDeadlocked => "maybe deadlocked",
        Verdict::DoubleOwner => "two owners",
        other => other.name(),
    }
}

pub(super) fn sort(sort: Sort) -> &'static str {
    match sort {
        Sort::Worst => "worst first",
        Sort::Damage => "by total waiting time",
        Sort::OldestWait => "by oldest wait",
        Sort::Depth => "by waiters",
        Sort::Hold => "by hold time",
        Sort::Path => "by path",
        Sort::Recipe => "by recipe",
        Sort::Holder => "by holder",
    }
}

pub(super) fn totals(head: &BoardHead, now_ms: i64) -> String {
    let totals = &head.totals;
    let least = if totals.incomplete > 0 { "≥ " } else { "" };
    let oldest =
        totals.oldest_wait_at_ms.map_or_else(String::new, |at_ms| format!(", the longest for {}", age(at_ms, now_ms)));
    format!(
        "{}, {} held, {least}{} wait{oldest}",
        plural(totals.locks.into(), "lock", "locks"),
        count(totals.held),
        count(totals.waiters)
    )
}

/// Problems without a line of their own.
pub(super) fn more_problems(number: u32, left_out: &[ProblemsLeftOut]) -> String {
    let kind = |more: &ProblemsLeftOut| {
        let word =
            more.finding.as_ref().map_or_else(|| verdict(more.verdict).to_owned(), |code| code.replace('_', " "));
        format!("{} {word}", count(more.count))
    };
    let kinds: Vec<String> = left_out.iter().map(kind).collect();
    let of = if kinds.is_empty() { String::new() } else { format!(", of them {}", kinds.join(", ")) };
    format!("And {}{of}", plural(number.into(), "more problem", "more problems"))
}

pub(super) fn problem_locks(locks: &[String], lock_count: u32) -> String {
    let more = lock_count.saturating_sub(u32::try_from(locks.len()).unwrap_or(u32::MAX));
    let rest = if more > 0 { format!(" and {} more", count(more)) } else { String::new() };
    format!("{}{rest}", locks.join(", "))
}

pub(super) fn headline(of: &Headline, now_ms: i64) -> String {
    let Some(since_ms) = of.since_ms else { return format!("{}{}", of.before, of.after) };
    let gap = if of.after.starts_with('(') { " " } else { "" };
    format!("{} {}{gap}{}", of.before, least(Some(since_ms), of.is_lower_bound, now_ms), of.after)
}

/// Who it is: what it says of itself, else its session, else its znode.
pub(super) fn name(of: &Contender) -> String {
    let label = of.label.clone().filter(|label| !label.is_empty());
    let session = || of.session_id.map(|id| id.to_string());
    label.or_else(session).or_else(|| of.node.clone()).unwrap_or_else(|| NONE.to_owned())
}

/// A step, with where it can be done; a command that helps stands apart.
pub(super) fn step(step: &Step) -> String {
    let help = match &step.act {
        None | Some(StepAct::Copy { .. }) => String::new(),
        Some(StepAct::Session { id }) => format!(" (session {id})"),
        Some(StepAct::Waits) => " (on the dashboard: Waits)".to_owned(),
        Some(StepAct::Release { .. }) => " (on the dashboard; it needs an operator)".to_owned(),
    };
    format!("{}{help}", step.text)
}

/// A root that is not live.
pub(super) fn root(path: &str, state: RootState, why: &str, since_ms: i64, now_ms: i64) -> String {
    let (word, otherwise) = link_words::root_link(state);
    let why = if why.is_empty() { otherwise } else { why };
    let since = if since_ms > 0 { format!(", for {}", age(since_ms, now_ms)) } else { String::new() };
    format!("{word} {path}: {why}{since}")
}

pub(super) fn more_roots(number: usize) -> String {
    format!("And {} that are not live", plural(u64::try_from(number).unwrap_or(u64::MAX), "more root", "more roots"))
}

pub(super) fn waiters(row: &LockRow) -> String {
    match row.waiter_count {
        _ if matches!(row.recipe, Recipe::Membership | Recipe::Queue) => NONE.to_owned(),
        Some(1..) if row.oldest_wait_at_ms.is_none() => NONE.to_owned(),
        None => "?".to_owned(),
        Some(waiters) if row.is_complete() => count(waiters),
        Some(waiters) => format!("≥ {}", count(waiters)),
    }
}

pub(super) fn role(role: ContenderRole, access: Access) -> &'static str {
    match (role, access) {
        (ContenderRole::Holder, Access::Read) => "reads",
        (ContenderRole::Holder, Access::Write) => "writes",
        (ContenderRole::Holder, Access::Leader) => "leads",
        (ContenderRole::Holder, Access::Member) => "is in",
        (ContenderRole::Holder, _) => "holds",
        (ContenderRole::Waiter, Access::Read) => "waits to read",
        (ContenderRole::Waiter, Access::Write) => "waits to write",
        (ContenderRole::Waiter, Access::Leader) => "stands by",
        (ContenderRole::Waiter, Access::Member) => "gathers",
        (ContenderRole::Waiter, Access::Item) => "item",
        (ContenderRole::Waiter, _) => "waits",
    }
}

pub(super) fn rows(first: u32, last: u32, total: u32) -> String {
    format!("{} to {} of {}", count(first), count(last), count(total))
}

pub(super) fn no_lock(path: &str) -> String {
    format!("There is no lock at {path} now. It shows here once it is taken.")
}

pub(super) fn nothing_came(base: &str) -> String {
    format!("--server {base} opened the live socket and sent nothing; check its load and its log")
}

/// A line of whoever follows without a terminal.
pub(super) fn changed(now_ms: i64, word: &str, what: &str, text: &str) -> String {
    let gap = if text.is_empty() { "" } else { "  " };
    format!("{}  {word}  {what}{gap}{text}", date(now_ms))
}

pub(super) fn not_all(followed: usize, total: u32) -> String {
    format!(
        "{} of {} locks are followed, worst first; name some with --filter",
        count(u64::try_from(followed).unwrap_or(u64::MAX)),
        count(total)
    )
}

pub(super) const LOCK_GONE: &str = "there is no such lock any more";
pub(super) const PART_FAILED: &str = "a part of it failed; please report what stands above";
