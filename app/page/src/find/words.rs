//! What is found, in words. Pure.

use crate::format::{age, plural, visible};
use crate::parts::verdict_word;
use lockscope_view::{Alert, FindPlace, Headline, LockProblem, SessionId, Verdict};

pub(super) const LOCKS: &str = "Locks";
pub(super) const INCIDENTS: &str = "Incidents";
pub(super) const ALERTS: &str = "Alerts";
pub(super) const SESSIONS: &str = "Sessions";
pub(super) const PAGES: &str = "Pages";
pub(super) const ACTIONS: &str = "Actions";
pub(super) const ON_THE_BOARD: &str = "on the board";
pub(super) const PAGE_OF_PATH: &str = "the page of this path, lock or not";
pub(super) const PAGE_OF_SESSION: &str = "what is remembered of it";

/// The name of a page or of what is done, and what it is for; with the address of a page.
pub(super) fn place(place: FindPlace) -> (&'static str, &'static str, &'static str) {
    match place {
        FindPlace::Board => ("Board", "every lock, worst first", "/"),
        FindPlace::Waits => ("Waits", "who waits for whom, deadlocks", "/waits"),
        FindPlace::Sessions => ("Sessions", "clients that hold or wait", "/sessions"),
        FindPlace::Events => ("Events", "what happened, newest first", "/events"),
        FindPlace::Alerts => ("Alerts", "what fires, who looks at it", "/alerts"),
        FindPlace::Incidents => ("Incidents", "what was wrong when", "/incidents"),
        FindPlace::Blame => ("Blame", "who made others wait", "/blame"),
        FindPlace::Fleet => ("Fleet", "every ensemble, worst first", "/fleet"),
        FindPlace::Lab => ("Lab", "herd against predecessor", "/lab"),
        FindPlace::Status => ("Status", "links, roots, members, evidence", "/status"),
        FindPlace::Audit => ("Audit", "the audit log", "/audit"),
        FindPlace::Release => ("Release …", "this lock’s holder", ""),
        FindPlace::Pause => ("Pause or resume", "hold updates back", ""),
        FindPlace::Theme => ("Switch theme", "dark, light, as the system", ""),
        FindPlace::CopyLink => ("Copy link", "the address of this page", ""),
        FindPlace::Keys => ("Keys", "shortcuts, help", ""),
        FindPlace::SignIn => ("Sign in", "as an operator, an auditor, …", ""),
        FindPlace::SignOut => ("Sign out", "of Lockscope", ""),
    }
}

/// Words that people look for, and that are not shown.
#[cfg(feature = "ssr")]
pub(super) fn also(place: FindPlace) -> &'static str {
    match place {
        FindPlace::Board => "locks home",
        FindPlace::Waits => "graph",
        FindPlace::Release => "release this unlock delete",
        FindPlace::Events => "history log timeline past",
        FindPlace::Alerts => "firing silence acknowledge notifications rules",
        FindPlace::Incidents => "history past outage postmortem trouble",
        FindPlace::Blame => "charged ledger cause waits",
        FindPlace::Fleet => "ensembles clusters tiles labels",
        FindPlace::Pause => "stop freeze go on",
        FindPlace::Theme => "mode colours colors",
        FindPlace::CopyLink => "url share",
        FindPlace::Keys => "keyboard",
        FindPlace::SignIn => "log in login",
        FindPlace::SignOut => "log out logout",
        _ => "",
    }
}

pub(super) fn more_locks(number: u32) -> String {
    format!("{} on the board", plural(number.into(), "more lock", "more locks"))
}

pub(super) fn locks_are(number: u32, verdict: Verdict) -> String {
    let (one, many) = match verdict {
        Verdict::DoubleOwner | Verdict::NobodyHome => ("lock has", "locks have"),
        _ => ("lock is", "locks are"),
    };
    format!("{} {}", plural(number.into(), one, many), verdict_word(verdict))
}

pub(super) fn incident(problem: &LockProblem, now_ms: i64) -> String {
    let since_ms = problem.headline.since_ms;
    let lasts = since_ms.map(|since_ms| format!("for {}", age(since_ms, now_ms)));
    let looks = problem.looked_after.as_ref().map(|looks| aged(looks, now_ms));
    lasts.into_iter().chain(looks).collect::<Vec<_>>().join(" · ")
}

pub(super) fn alert(alert: &Alert, now_ms: i64) -> String {
    let fires = age(alert.fired_at_ms.unwrap_or(alert.since_at_ms), now_ms);
    let by = |looks: &lockscope_view::Acknowledgement| {
        format!(" · {} has looked at it for {}", visible(&looks.by), age(looks.at_ms, now_ms))
    };
    let looks = alert.acked_by.as_ref().map(by).unwrap_or_default();
    format!("{} fires for {fires}{looks}", visible(&alert.rule))
}

fn aged(of: &Headline, now_ms: i64) -> String {
    let lasts = of.since_ms.map(|since_ms| format!(" {}", age(since_ms, now_ms))).unwrap_or_default();
    format!("{}{lasts}", visible(&of.before))
}

pub(super) fn and_more_locks(first: &str, more: u32) -> String {
    if more == 0 { first.to_owned() } else { format!("{first} +{more}") }
}

pub(super) fn open(path: &str) -> String {
    format!("Open {path}")
}

pub(super) fn open_session(id: SessionId) -> String {
    format!("Open session {id}")
}

/// How many fit, for who can't see them.
#[cfg(feature = "hydrate")]
pub(super) fn results(number: u64) -> String {
    plural(number, "result", "results")
}
