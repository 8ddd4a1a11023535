//! What fits a few letters: locks, sessions, pages and actions. For the palette, and for the page that finds without
//! scripts.

#[cfg(feature = "hydrate")]
mod palette;
mod words;

use leptos::prelude::*;

use crate::erase::{erase, view};
use crate::format::{middle, visible};
use crate::parts::{Chip, Tag, does, finding_word, lock_url, session_url};
use lockscope_view::{Alert, BoardQuery, FindAnswer, FindPlace, FoundIncident, LockRow, SessionId, SessionRow};
#[cfg(feature = "hydrate")]
pub(crate) use palette::{fetch as fetch_dialogs, listen};

/// Longest path; the whole is in its title.
const PATH_CHARS: usize = 60;

pub(crate) struct Found {
    pub(crate) key: String,
    pub(crate) href: String,
    /// What is done instead of going anywhere.
    #[cfg_attr(not(any(feature = "hydrate", test)), expect(dead_code, reason = "only the browser does anything"))]
    pub(crate) action: Option<FindPlace>,
    pub(crate) title: String,
    pub(crate) inner: AnyView,
}

#[cfg(feature = "ssr")]
pub fn find_places(fits: impl Fn(&str) -> bool) -> Vec<FindPlace> {
    let text = |at: FindPlace| {
        let (name, is_for, _) = words::place(at);
        format!("{name} {is_for} {}", words::also(at))
    };
    FindPlace::ALL.into_iter().filter(|at| fits(&text(*at).to_lowercase())).collect()
}

pub(crate) fn none() -> AnyView {
    view! { <p class="palette-none">"No results. Try part of a path, a client name or a session id."</p> }
}

/// That there are too many locks to forgive mistakes in the names of all.
pub(crate) fn partial(view: &FindAnswer) -> Option<AnyView> {
    let note = || view! { <p class="palette-none" data-testid="partial">"There are too many locks to look through all of them for typing mistakes."</p> };
    view.is_partial.then(note)
}

/// What fits of one kind, under its name.
pub(crate) type Group = (&'static str, Vec<Found>);

/// All that fits, by kind; of the actions only those that can be done where this is shown.
pub(crate) fn groups(view: &FindAnswer, can: impl Fn(FindPlace) -> bool) -> Vec<Group> {
    let mut locks: Vec<Found> = view.locks.iter().map(lock).collect();
    if view.more_locks > 0 {
        let query = BoardQuery { q: view.q.clone(), ..BoardQuery::default() };
        locks.push(plain_link("more", format!("/{}", query.to_url_query()), &words::more_locks(view.more_locks), ""));
    }
    locks.extend(view.verdicts.iter().map(|(verdict, count)| {
        let query = BoardQuery { verdict: Some(*verdict), ..BoardQuery::default() };
        let locks = words::locks_are(*count, *verdict);
        plain_link(verdict.name(), format!("/{}", query.to_url_query()), &locks, words::ON_THE_BOARD)
    }));
    if view.q.starts_with('/') && view.locks.iter().all(|lock| lock.path != view.q) {
        let href = lock_url("", &view.q);
        let open = words::open(&middle(&visible(&view.q), PATH_CHARS));
        locks.push(plain_link("open", href, &open, words::PAGE_OF_PATH));
    }
    let mut sessions: Vec<Found> = view.sessions.iter().map(session).collect();
    if let Some(id) =
        view.q.parse::<SessionId>().ok().filter(|id| view.sessions.iter().all(|row| row.session_id != *id))
    {
        let href = session_url("", id);
        sessions.push(plain_link("session", href, &words::open_session(id), words::PAGE_OF_SESSION));
    }
    let (mut pages, mut actions) = (Vec::new(), Vec::new());
    for at in &view.places {
        let (name, is_for, address) = words::place(*at);
        let found = plain_link(name, address.to_owned(), name, is_for);
        if !address.is_empty() {
            pages.push(found);
        } else if can(*at) {
            actions.push(Found { action: Some(*at), ..found });
        }
    }
    let all = vec![
        (words::LOCKS, locks),
        (words::INCIDENTS, view.incidents.iter().map(|found| incident(found, view.now_ms)).collect()),
        (words::ALERTS, view.alerts.iter().map(|found| alert(found, view.now_ms)).collect()),
        (words::SESSIONS, sessions),
        (words::PAGES, pages),
        (words::ACTIONS, actions),
    ];
    all.into_iter().filter(|(_, found): &Group| !found.is_empty()).collect()
}

fn plain_link(key: &str, href: String, name: &str, is_for: &'static str) -> Found {
    let inner = view! {
        <bdi class="palette-name">{visible(name)}</bdi>
        <span class="palette-words">{is_for}</span>
    };
    Found { key: format!("to-{key}"), href, action: None, title: String::new(), inner: erase(inner) }
}

fn lock(row: &LockRow) -> Found {
    let whole = visible(&row.path);
    let inner = view! {
        <Chip verdict=row.verdict />
        <Tag of=row.tag.clone() />
        <bdi class="palette-name mono">{middle(&whole, PATH_CHARS)}</bdi>
        <span class="palette-words">{visible(&row.recipe_label)}</span>
    };
    let href = lock_url(&row.ensemble, &row.path);
    Found { key: row.key.clone(), href, action: None, title: whole, inner: erase(inner) }
}

fn incident(FoundIncident { problem, link }: &FoundIncident, now_ms: i64) -> Found {
    let first = visible(problem.locks.first().map(String::as_str).unwrap_or_default());
    // Where a finding makes the problem, the verdict may be a calm one.
    let sign = match &problem.finding {
        Some(code) => erase(view! { <span class="chip" data-severity="critical">{finding_word(code)}</span> }),
        None => erase(view! { <Chip verdict=problem.verdict /> }),
    };
    let name = words::and_more_locks(&middle(&first, PATH_CHARS), problem.lock_count.saturating_sub(1));
    let inner = view! {
        {sign}
        <Tag of=problem.tag.clone() />
        <bdi class="palette-name mono">{name}</bdi>
        <span class="palette-words">{words::incident(problem, now_ms)}</span>
    };
    let key = format!("incident-{}", problem.key);
    Found { key, href: link.clone(), action: None, title: first, inner: erase(inner) }
}

fn alert(of: &Alert, now_ms: i64) -> Found {
    let lock = visible(&of.lock);
    let inner = view! {
        <span class="chip" data-severity=of.severity.name()>{of.severity.name()}</span>
        <bdi class="palette-name mono">{middle(&lock, PATH_CHARS)}</bdi>
        <span class="palette-words">{words::alert(of, now_ms)}</span>
    };
    // The page of alerts is where somebody says that they look at it.
    let href = format!("/alerts#alert-{}", of.key);
    Found { key: format!("alert-{}", of.key), href, action: None, title: visible(&of.sentence), inner: erase(inner) }
}

fn session(row: &SessionRow) -> Found {
    let label = visible(row.label.as_deref().unwrap_or_default());
    let inner = view! {
        <Tag of=row.tag.clone() />
        <span class="palette-name mono">{row.session_id.to_string()}</span>
        <bdi class="palette-label">{middle(&label, 30)}</bdi>
        <span class="palette-words">{does(row.holds, row.waits)}</span>
    };
    Found {
        key: row.key.clone(),
        href: session_url(&row.ensemble, row.session_id),
        action: None,
        title: label,
        inner: erase(inner),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockscope_view::{Acknowledgement, AlertState, Headline, LockProblem, Severity, Step, Verdict};

    fn answer(q: &str) -> FindAnswer {
        FindAnswer { q: q.to_owned(), ..FindAnswer::default() }
    }

    fn found(view: &FindAnswer) -> Vec<Found> {
        groups(view, |at| at != FindPlace::Release).into_iter().flat_map(|(_, found)| found).collect()
    }

    fn leads_to(view: &FindAnswer, href: &str) -> bool {
        found(view).iter().any(|found| found.href == href)
    }

    #[cfg(feature = "ssr")]
    #[test]
    fn pages_and_actions_are_found_by_any_of_their_words() {
        let named = |word: &str| find_places(|text| text.contains(word));
        assert_eq!(named("deadlocks"), [FindPlace::Waits]);
        assert_eq!(named("log in"), [FindPlace::SignIn]);
        assert_eq!(named("release this"), [FindPlace::Release]);
        assert_eq!(named("resume"), [FindPlace::Pause]);
    }

    #[test]
    fn only_what_can_be_done_is_shown() {
        let view = FindAnswer { places: vec![FindPlace::Waits, FindPlace::Theme, FindPlace::Release], ..answer("e") };
        let actions: Vec<_> = found(&view).into_iter().filter_map(|found| found.action).collect();
        assert_eq!(actions, [FindPlace::Theme]);
        assert!(leads_to(&view, "/waits"));
        assert!(groups(&view, |_| false).into_iter().flat_map(|(_, found)| found).all(|found| found.action.is_none()));
    }

    #[test]
    fn a_verdict_leads_to_its_locks_on_the_board() {
        let view = FindAnswer { verdicts: vec![(Verdict::Stuck, 2)], ..answer("stuck") };
        assert!(leads_to(&view, "/?verdict=stuck"));
        assert!(found(&view).into_iter().any(|found| found.inner.to_html().contains("2 locks are stuck")));
    }

    #[test]
    fn what_is_wrong_now_is_found_with_who_looks_at_it() {
        let looks =
            Headline { before: "ada has looked at it for".to_owned(), since_ms: Some(820_000), ..Headline::default() };
        let problem = LockProblem {
            key: "k".to_owned(),
            ensemble: "eu".to_owned(),
            tag: None,
            verdict: Verdict::Deadlocked,
            finding: None,
            locks: vec!["/app/<a>".to_owned()],
            lock_count: 3,
            headline: Headline { since_ms: Some(700_000), ..Headline::default() },
            waiter_count: 2,
            waiting_since_sum_ms: 0,
            step: Step::default(),
            looked_after: Some(looks),
        };
        let alert = Alert {
            key: "f00d".to_owned(),
            rule: "blocked".to_owned(),
            ensemble: "eu".to_owned(),
            lock: "/app/a".to_owned(),
            severity: Severity::Critical,
            state: AlertState::Firing,
            since_at_ms: 0,
            fired_at_ms: Some(940_000),
            resolved_at_ms: None,
            unknown_since_ms: None,
            sentence: "It hangs.".to_owned(),
            link: "/incident?path=/app/a".to_owned(),
            silenced_by: None,
            acked_by: Some(Acknowledgement { by: "ada".to_owned(), at_ms: 970_000, reason: String::new() }),
        };
        let link = "/incident?ensemble=eu".to_owned();
        let incidents = vec![FoundIncident { problem, link: link.clone() }];
        let view = FindAnswer { incidents, alerts: vec![alert], now_ms: 1_000_000, ..answer("") };
        assert!(leads_to(&view, &link) && leads_to(&view, "/alerts#alert-f00d"));
        let drawn: String = found(&view).into_iter().map(|found| found.inner.to_html()).collect();
        for text in [
            "/app/&lt;a&gt; +2",
            "for 5 min 00 s · ada has looked at it for 3 min 00 s",
            "blocked fires for 1 min 00 s · ada has looked at it for 30.0 s",
        ] {
            assert!(drawn.contains(text), "{text}: {drawn}");
        }
    }

    #[test]
    fn what_is_typed_stays_text_and_leads_on() {
        let hostile = found(&answer("/<script>\u{202e}"));
        let drawn: String = hostile.into_iter().map(|found| found.inner.to_html()).collect();
        assert!(drawn.contains("&lt;script&gt;") && !drawn.contains('\u{202e}'), "{drawn}");
        assert!(leads_to(&answer("/a b"), "/lock?path=/a%20b"));
        let session = answer("0x100000a1b2c0001");
        assert!(
            found(&session).into_iter().any(|found| found.inner.to_html().contains("Open session 0x100000a1b2c0001"))
        );
    }
}
