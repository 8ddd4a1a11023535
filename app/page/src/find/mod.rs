//! What fits a few letters: locks, sessions, pages and actions. For the palette, and for the page that finds without
//! scripts.

#[cfg(feature = "hydrate")]
mod palette;

use leptos::prelude::*;

use crate::erase::{erase, view};
use crate::format::{middle, plural, visible};
use crate::parts::{Chip, Tag, session_url};
use lockscope_wire::{BoardQuery, FindAnswer, LockQuery, LockRow, SessionId, SessionQuery, SessionRow};
#[cfg(feature = "hydrate")]
pub(crate) use palette::listen;

/// Longest path; the whole is in its title.
const PATH_CHARS: usize = 60;

/// One of those that fit.
pub(crate) struct Found {
    pub(crate) key: String,
    pub(crate) href: String,
    /// What is done instead of going anywhere.
    pub(crate) action: Option<Action>,
    pub(crate) title: String,
    pub(crate) inner: AnyView,
}

const PAGES: [(&str, &str, &str); 6] = [
    ("/", "Board", "every lock, worst first"),
    ("/waits", "Waits", "who waits for whom, deadlocks"),
    ("/sessions", "Sessions", "clients that hold or wait"),
    ("/lab", "Lab", "herd against predecessor"),
    ("/status", "Status", "links, roots, members, evidence"),
    ("/audit", "Audit", "the audit log"),
];

/// Something that the page does, and is not shown by going anywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    CopyLink,
    SwitchTheme,
    Pause,
    Help,
}

const ACTIONS: [(&str, &str, Action); 4] = [
    ("Copy link", "the address of this page", Action::CopyLink),
    ("Switch theme", "dark, light, as the system", Action::SwitchTheme),
    ("Pause or go on", "hold updates back", Action::Pause),
    ("Keys", "shortcuts, help", Action::Help),
];

/// That nothing fits.
pub(crate) fn none(view: &FindAnswer) -> AnyView {
    let words = format!(
        "Nothing fits “{}”. A path, a part of one, a session id, or a page.",
        middle(&visible(&view.q), PATH_CHARS)
    );
    view! { <p class="palette-none">{words}</p> }
}

/// What fits of one kind, under its name.
pub(crate) type Group = (&'static str, Vec<Found>);

/// All that fits, by kind; actions only where there is a live page to act on.
pub(crate) fn groups(view: &FindAnswer, has_actions: bool) -> Vec<Group> {
    let mut locks: Vec<Found> = view.locks.iter().map(lock).collect();
    if view.more_locks > 0 {
        let query = BoardQuery { q: view.q.clone(), ..BoardQuery::default() };
        let words = format!("{} on the board", plural(view.more_locks.into(), "more lock", "more locks"));
        locks.push(plain_link("more", format!("/{}", query.to_url_query()), &words, ""));
    }
    if view.q.starts_with('/') && view.locks.iter().all(|lock| lock.path != view.q) {
        let href = LockQuery { path: view.q.clone(), ..LockQuery::default() }.to_url();
        let words = format!("Open {}", middle(&visible(&view.q), PATH_CHARS));
        locks.push(plain_link("open", href, &words, "the page of this path, lock or not"));
    }
    let mut sessions: Vec<Found> = view.sessions.iter().map(session).collect();
    if let Some(id) =
        view.q.parse::<SessionId>().ok().filter(|id| view.sessions.iter().all(|row| row.session_id != *id))
    {
        let href = SessionQuery { id, ..SessionQuery::default() }.to_url();
        sessions.push(plain_link("session", href, &format!("Open session {id}"), "what is remembered of it"));
    }
    let fits = |name: &str, words: &str| {
        let text = format!("{name} {words}").to_ascii_lowercase();
        view.q.to_ascii_lowercase().split_whitespace().all(|term| text.contains(term))
    };
    let pages =
        PAGES.into_iter().filter(|(href, name, words)| fits(name, words) && (*href != "/audit" || view.may_audit));
    let pages = pages.map(|(href, name, words)| plain_link(name, href.to_owned(), name, words)).collect();
    let actions = ACTIONS.into_iter().filter(|(name, words, _)| fits(name, words));
    let actions = actions
        .map(|(name, words, action)| Found { action: Some(action), ..plain_link(name, String::new(), name, words) })
        .collect();
    let all = vec![("Locks", locks), ("Sessions", sessions), ("Pages", pages), ("Actions", actions)];
    let possible = |(name, found): Group| {
        (name, found.into_iter().filter(|found| has_actions || found.action.is_none()).collect())
    };
    all.into_iter().map(possible).filter(|(_, found): &Group| !found.is_empty()).collect()
}

fn plain_link(key: &str, href: String, name: &str, words: &'static str) -> Found {
    let inner = view! {
        <bdi class="palette-name">{visible(name)}</bdi>
        <span class="palette-words">{words}</span>
    };
    Found { key: format!("to {key}"), href, action: None, title: String::new(), inner: erase(inner) }
}

fn lock(row: &LockRow) -> Found {
    let whole = visible(&row.path);
    let inner = view! {
        <Chip verdict=row.verdict />
        <Tag of=row.tag.clone() />
        <bdi class="palette-name mono">{middle(&whole, PATH_CHARS)}</bdi>
        <span class="palette-words">{visible(&row.recipe_label)}</span>
    };
    let href = LockQuery { ensemble: row.ensemble.clone(), path: row.path.clone(), ..LockQuery::default() }.to_url();
    Found { key: row.key.clone(), href, action: None, title: whole, inner: erase(inner) }
}

fn session(row: &SessionRow) -> Found {
    let label = visible(row.label.as_deref().unwrap_or_default());
    let inner = view! {
        <Tag of=row.tag.clone() />
        <span class="palette-name mono">{row.session_id.to_string()}</span>
        <bdi class="palette-label">{middle(&label, 30)}</bdi>
        <span class="palette-words">{format!("holds {}, waits for {}", row.holds, row.waits)}</span>
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

    fn answer(q: &str) -> FindAnswer {
        FindAnswer { q: q.to_owned(), ..FindAnswer::default() }
    }

    fn found(view: &FindAnswer) -> Vec<Found> {
        groups(view, true).into_iter().flat_map(|(_, found)| found).collect()
    }

    fn leads_to(view: &FindAnswer, href: &str) -> bool {
        found(view).iter().any(|found| found.href == href)
    }

    #[test]
    fn pages_and_actions_are_found_by_any_of_their_words() {
        let deadlocks = answer("deadlocks");
        assert!(leads_to(&deadlocks, "/waits") && !leads_to(&deadlocks, "/lab") && found(&deadlocks).len() == 1);
        assert!(found(&answer("theme")).iter().any(|found| found.action == Some(Action::SwitchTheme)));
        assert!(groups(&answer("theme"), false).is_empty(), "nothing to act on");
        assert!(!leads_to(&answer("audit"), "/audit"), "only for those who may");
        assert!(leads_to(&FindAnswer { may_audit: true, ..answer("audit") }, "/audit"));
    }

    #[test]
    fn what_is_typed_stays_text_and_leads_on() {
        let hostile = answer("<script>\u{202e}");
        let drawn = none(&hostile).to_html();
        assert!(
            found(&hostile).is_empty() && drawn.contains("Nothing fits “&lt;script&gt;") && !drawn.contains('\u{202e}')
        );
        assert!(leads_to(&answer("/a b"), "/lock?path=/a%20b"));
        let session = answer("0x100000a1b2c0001");
        assert!(
            found(&session).into_iter().any(|found| found.inner.to_html().contains("Open session 0x100000a1b2c0001"))
        );
    }
}
