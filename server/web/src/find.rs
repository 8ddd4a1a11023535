//! Finding by a few letters, for people: a page of its own, and what the page's palette shows. Within what whoever asks
//! may see.

use axum::extract::State;
use axum::response::Response;
use lockscope_page::{find_page, find_places};
use lockscope_view::{
    Alert, BoardQuery, FindAnswer, FindPlace, FoundIncident, LockProblem, LockQuery, LockRow, Scope, SessionRow,
    SessionsQuery, Verdict, WINDOW_ROWS_MAX,
};

use super::caller::Caller;
use super::compact::compact;
use super::near::NearNames;
use super::params::{NamedValues, Params};
use super::problem::ErrorResponse;
use super::{Http, near, server_pages};
use lockscope_audit::{Actor, Right};
use lockscope_live::FoundLocks;

/// Locks and sessions shown; the board and the list of sessions have the rest.
const LOCKS: u32 = 8;
const SESSIONS: u32 = 5;
/// Problems and alerts shown of each kind; the board and the page of alerts have the rest.
const TROUBLES: usize = 4;
/// Rows that are looked through for what is nearly meant, the worst first.
const NEARLY_ROWS: u32 = WINDOW_ROWS_MAX;
/// Longest text that is looked for; a path may be that long.
const TEXT_CHARS_MAX: usize = 400;

/// `GET /find?q=TEXT`.
pub(super) async fn show(
    State(http): State<Http>,
    caller: Caller,
    Params(pairs): Params,
) -> Result<Response, ErrorResponse> {
    let (own, owner) = (http.clone(), caller.principal.owner.clone());
    let show = move || {
        let view = look(&own, &caller.actor, &caller.scope, pairs)?;
        server_pages::page(&own, &caller, |of| find_page(of, &view))
    };
    http.work.ask(&owner, show).await?
}

/// `GET /find/answer?q=TEXT`: the same for the palette, in the compact encoding.
pub(super) async fn answer(
    State(http): State<Http>,
    Caller { actor, scope, principal, .. }: Caller,
    Params(pairs): Params,
) -> Result<Response, ErrorResponse> {
    let (own, caller) = (http.clone(), principal.owner);
    Ok(compact(&http.work.ask(&caller, move || look(&own, &actor, &scope, pairs)).await??))
}

fn look(http: &Http, actor: &Actor, scope: &Scope, pairs: NamedValues) -> Result<FindAnswer, ErrorResponse> {
    let q = pairs.into_iter().next_back().map(|(_, text)| text).unwrap_or_default();
    if q.chars().count() > TEXT_CHARS_MAX {
        return Err(ErrorResponse::bad_request(format!(
            "`q` may have at most {TEXT_CHARS_MAX} characters; look for a part of the path"
        )));
    }
    let q = q.trim().to_owned();
    let words = near::words(&q);
    let board = http.hub.look(BoardQuery { q: q.clone(), limit: LOCKS, ..BoardQuery::default() }, scope)?.1.body;
    let (mut locks, total) = (board.window.rows, board.window.total);
    let more_locks = total.saturating_sub(u32::try_from(locks.len()).unwrap_or(u32::MAX));
    // With nothing typed, where to go comes before who is there.
    let mut sessions = if q.is_empty() {
        Vec::new()
    } else {
        let query = SessionsQuery { q: q.clone(), limit: SESSIONS, ..SessionsQuery::default() };
        http.hub.look(query, scope)?.1.body.window.rows
    };
    let verdicts = verdicts(&words, &board.head.totals.verdicts);
    for (verdict, _) in &verdicts {
        let query = BoardQuery { verdict: Some(*verdict), limit: LOCKS, ..BoardQuery::default() };
        let rows = http.hub.look(query, scope)?.1.body.window.rows;
        let is_new = |row: &LockRow| locks.iter().all(|lock| lock.key != row.key);
        let fresh: Vec<_> = rows.into_iter().filter(is_new).collect();
        locks.extend(fresh);
    }
    let mut places = find_places(|text| near::fits(&words, text));
    let incidents = incidents(http, scope, &words)?;
    let alerts = alerts(http, scope, &words);
    let mut is_partial = false;
    let is_found = !(locks.is_empty() && sessions.is_empty() && incidents.is_empty() && alerts.is_empty());
    if !is_found && places.is_empty() {
        let named = locks_named_nearly(http, scope, &words);
        is_partial = !named.is_complete;
        locks = if named.rows.is_empty() { locks_nearly(http, scope, &words)? } else { named.rows };
        sessions = sessions_nearly(http, scope, &words)?;
    }
    if places.is_empty() {
        places = find_places(|text| near::fits_nearly(&words, text));
    }
    let has_fleet = http.hub.projection().has_fleet(scope);
    places.retain(|place| match place {
        FindPlace::Audit => actor.may(Right::ReadAudit),
        FindPlace::Fleet => has_fleet,
        _ => true,
    });
    let now_ms = http.hub.now_ms();
    Ok(FindAnswer { q, locks, more_locks, sessions, places, verdicts, incidents, alerts, now_ms, is_partial })
}

/// Problems that go on and fit: by a lock of theirs, by what is said of them, or by who looks at them.
fn incidents(http: &Http, scope: &Scope, words: &[String]) -> Result<Vec<FoundIncident>, ErrorResponse> {
    let problems = http.hub.look(BoardQuery { limit: 1, ..BoardQuery::default() }, scope)?.1.body.head.problems;
    let text = |problem: &LockProblem| {
        let looks = problem.looked_after.as_ref().map_or("", |looks| &*looks.before);
        let finding = problem.finding.as_deref().unwrap_or_default();
        let said = [problem.verdict.name(), finding, &problem.headline.before, &problem.headline.after, looks];
        format!("incidents {} {}", problem.locks.join(" "), said.join(" ").replace('_', " ")).to_lowercase()
    };
    let fitting = problems.into_iter().filter(|problem| near::fits(words, &text(problem))).take(TROUBLES);
    Ok(fitting.map(|problem| FoundIncident { link: link(http, scope, &problem), problem }).collect())
}

/// The incident that a problem is now, where it is recorded.
fn link(http: &Http, scope: &Scope, problem: &LockProblem) -> String {
    let path = problem.locks.first().cloned().unwrap_or_default();
    let query = LockQuery { ensemble: problem.ensemble.clone(), path, ..LockQuery::default() };
    let around = format!("around={}", http.hub.now_ms());
    match query.to_url().strip_prefix("/lock?").filter(|_| http.recorded(scope, &problem.ensemble).is_ok()) {
        Some(lock) => format!("/incident?{lock}&{around}"),
        None => query.to_url(),
    }
}

/// Alerts that fire and fit: by their lock, their rule, what is wrong, or who looks at them.
fn alerts(http: &Http, scope: &Scope, words: &[String]) -> Vec<Alert> {
    let text = |alert: &Alert| {
        let looks = alert.acked_by.as_ref().map(|looks| format!("{} has looked at it", looks.by)).unwrap_or_default();
        format!("alerts {} {} {} {looks}", alert.lock, alert.rule, alert.sentence).to_lowercase()
    };
    let loud = http.loud_alerts(scope).unwrap_or_default().into_iter();
    loud.filter(|alert| near::fits(words, &text(alert))).take(TROUBLES).collect()
}

/// Verdicts that are meant by what is typed, of those that locks have.
fn verdicts(words: &[String], there: &[(Verdict, u32)]) -> Vec<(Verdict, u32)> {
    let named = |verdict: Verdict| match verdict {
        Verdict::DoubleOwner => "two owners double owner".to_owned(),
        Verdict::Deadlocked => "deadlocked deadlocks".to_owned(),
        Verdict::MaybeDeadlocked => "maybe deadlocked deadlocks".to_owned(),
        Verdict::Orphan => "orphaned".to_owned(),
        other => other.name().replace('_', " "),
    };
    there.iter().copied().filter(|(verdict, _)| near::begins(words, &named(*verdict))).collect()
}

/// The worst of those locks whose path is nearly what is typed, of all locks.
fn locks_named_nearly(http: &Http, scope: &Scope, words: &[String]) -> FoundLocks {
    // Of what nobody types by hand no mistakes are forgiven.
    let Some(mut names) = NearNames::new(words) else {
        return FoundLocks { is_complete: true, ..FoundLocks::default() };
    };
    http.hub.projection().locks_named(&mut |name| names.fits(name), LOCKS as usize, scope)
}

/// Those of the worst locks whose path, recipe or holders are nearly what is typed.
fn locks_nearly(http: &Http, scope: &Scope, words: &[String]) -> Result<Vec<LockRow>, ErrorResponse> {
    let query = BoardQuery { limit: NEARLY_ROWS, ..BoardQuery::default() };
    let rows = http.hub.look(query, scope)?.1.body.window.rows;
    let fits = |row: &LockRow| {
        let labels = row.holders.iter().filter_map(|holder| holder.label.as_deref());
        let text = [&*row.path, &*row.recipe_label].into_iter().chain(labels).collect::<Vec<_>>().join(" ");
        near::fits_nearly(words, &text.to_lowercase())
    };
    Ok(rows.into_iter().filter(fits).take(LOCKS as usize).collect())
}

fn sessions_nearly(http: &Http, scope: &Scope, words: &[String]) -> Result<Vec<SessionRow>, ErrorResponse> {
    let query = SessionsQuery { limit: NEARLY_ROWS, ..SessionsQuery::default() };
    let rows = http.hub.look(query, scope)?.1.body.window.rows;
    let fits =
        |row: &SessionRow| row.label.as_ref().is_some_and(|label| near::fits_nearly(words, &label.to_lowercase()));
    Ok(rows.into_iter().filter(fits).take(SESSIONS as usize).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_meant_by_their_words_and_shown_where_locks_have_them() {
        let there = [(Verdict::Healthy, 9), (Verdict::Stuck, 2), (Verdict::DoubleOwner, 1)];
        let meant = |typed: &str| verdicts(&near::words(typed), &there);
        assert_eq!(meant("stuck"), [(Verdict::Stuck, 2)]);
        assert_eq!(meant("two owners"), [(Verdict::DoubleOwner, 1)]);
        assert_eq!(meant("deadlocked"), []);
        assert_eq!(meant("order"), []);
        assert_eq!(meant(""), []);
    }
}
