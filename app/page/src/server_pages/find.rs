//! What fits a few letters: locks, sessions, pages and acts. A page of its own, and the same as the content of the palette.

use leptos::prelude::*;

use super::ServerPage;
use crate::erase::{erase, view};
use crate::exact::Exact;
use crate::format::{middle, plural, visible};
use crate::parts::{Chip, Tag, filled, session_url};
use lockscope_wire::{LockQuery, LockRow, SessionId, SessionQuery, SessionRow};

/// Longest path; the whole is in its title.
const PATH_CHARS: usize = 60;

/// What was asked for, and what fits it.
#[derive(Clone, Debug, Default)]
pub struct FindView {
    /// As it was typed.
    pub q: String,
    /// The worst of those that fit.
    pub locks: Vec<LockRow>,
    /// How many more there are.
    pub more_locks: u32,
    /// The first of those that fit.
    pub sessions: Vec<SessionRow>,
    /// Whoever looks may read the audit log.
    pub may_audit: bool,
}

struct Found {
    key: String,
    href: String,
    /// What is done instead of going anywhere; empty for none.
    act: &'static str,
    title: String,
    inner: AnyView,
}

const PAGES: [(&str, &str, &str); 6] = [
    ("/", "Board", "every lock, worst first"),
    ("/waits", "Waits", "who waits for whom, deadlocks"),
    ("/sessions", "Sessions", "clients that hold or wait"),
    ("/lab", "Lab", "herd against predecessor"),
    ("/status", "Status", "links, roots, members, evidence"),
    ("/audit", "Audit", "the audit log"),
];

/// The last names the button that is pressed instead.
const ACTS: [(&str, &str, &str); 4] = [
    ("Copy link", "the address of this page", "copy"),
    ("Switch theme", "dark, light, as the system", "theme"),
    ("Pause or go on", "hold updates back", "pause"),
    ("Keys", "shortcuts, help", "help-open"),
];

/// The page.
pub fn find_page(plain: &ServerPage<'_>, view: &FindView) -> String {
    let one = |found: Found| view! { <li><a class="palette-option" href=filled(found.href) title=filled(found.title)>{found.inner}</a></li> };
    let part = |(name, found): Group| {
        view! {
            <section class="part">
                <h2 class="part-title">{name}</h2>
                <ul>{found.into_iter().map(one).collect_view()}</ul>
            </section>
        }
    };
    super::page(plain, "Find", "find", 0, || {
        let parts = groups(view, false);
        let nothing = parts.is_empty().then(|| none(view));
        view! {
            <h1 class="page-title">"Find"</h1>
            <form class="filters find-form" method="get" action="/find" role="search">
                <input class="filter-input" type="search" name="q" value=filled(visible(&view.q)) aria-label="Lock path, session id, page" />
                <button class="tool" type="submit">"Find"</button>
            </form>
            {nothing}
            {parts.into_iter().map(part).collect_view()}
        }
    })
}

/// The palette's content.
pub fn find_drawn(view: &FindView) -> String {
    super::text(0, || {
        let groups = groups(view, true);
        let number: usize = groups.iter().map(|(_, found)| found.len()).sum();
        let list = if groups.is_empty() { none(view) } else { listbox(groups) };
        view! {
            <p class="sr-only" role="status">{plural(number as u64, "result", "results")}</p>
            {list}
            <p class="palette-foot" aria-hidden="true">"↑ ↓ choose · Enter open · Esc close"</p>
        }
    })
}

fn listbox(groups: Vec<Group>) -> AnyView {
    let mut at = 0;
    let mut one = |found: Found| {
        let id = format!("palette-{at}");
        at += 1;
        if found.act.is_empty() {
            view! {
                <a
                    class="palette-option"
                    role="option"
                    aria-selected="false"
                    tabindex="-1"
                    id=id
                    data-key=Exact(found.key)
                    href=filled(found.href)
                    title=filled(found.title)
                >{found.inner}</a>
            }
        } else {
            view! {
                <div class="palette-option" role="option" aria-selected="false" tabindex="-1" id=id data-key=Exact(found.key) data-act=found.act>
                    {found.inner}
                </div>
            }
        }
    };
    let drawn = groups.into_iter().map(|(name, found)| {
        view! {
            <div role="group" aria-label=name data-key=name>
                <div class="palette-group" aria-hidden="true">{name}</div>
                {found.into_iter().map(&mut one).collect_view()}
            </div>
        }
    });
    let drawn = drawn.collect_view();
    view! { <div role="listbox" id="palette-options" aria-label="Found">{drawn}</div> }
}

fn none(view: &FindView) -> AnyView {
    let words = format!("Nothing fits “{}”. A path, a part of one, a session id, or a page.", middle(&visible(&view.q), PATH_CHARS));
    view! { <p class="palette-none">{words}</p> }
}

/// What fits of one kind, under its name.
type Group = (&'static str, Vec<Found>);

fn groups(view: &FindView, has_acts: bool) -> Vec<Group> {
    let mut locks: Vec<Found> = view.locks.iter().map(lock).collect();
    if view.more_locks > 0 {
        let query = lockscope_wire::BoardQuery { q: view.q.clone(), ..lockscope_wire::BoardQuery::default() };
        let words = format!("{} on the board", plural(view.more_locks.into(), "more lock", "more locks"));
        locks.push(plain_link("more", format!("/{}", query.to_url_query()), &words, ""));
    }
    if view.q.starts_with('/') && view.locks.iter().all(|lock| lock.path != view.q) {
        let href = LockQuery { path: view.q.clone(), ..LockQuery::default() }.to_url();
        let words = format!("Open {}", middle(&visible(&view.q), PATH_CHARS));
        locks.push(plain_link("open", href, &words, "the page of this path, lock or not"));
    }
    let mut sessions: Vec<Found> = view.sessions.iter().map(session).collect();
    if let Some(id) = view.q.parse::<SessionId>().ok().filter(|id| view.sessions.iter().all(|row| row.session_id != *id)) {
        let href = SessionQuery { id, ..SessionQuery::default() }.to_url();
        sessions.push(plain_link("session", href, &format!("Open session {id}"), "what is remembered of it"));
    }
    let fits = |name: &str, words: &str| {
        let text = format!("{name} {words}").to_lowercase();
        view.q.to_lowercase().split_whitespace().all(|term| text.contains(term))
    };
    let pages = PAGES.into_iter().filter(|(href, name, words)| fits(name, words) && (*href != "/audit" || view.may_audit));
    let pages = pages.map(|(href, name, words)| plain_link(name, href.to_owned(), name, words)).collect();
    let acts = ACTS.into_iter().filter(|(name, words, _)| has_acts && fits(name, words));
    let acts = acts.map(|(name, words, act)| Found { act, ..plain_link(name, String::new(), name, words) }).collect();
    let all = vec![("Locks", locks), ("Sessions", sessions), ("Pages", pages), ("Acts", acts)];
    all.into_iter().filter(|(_, found): &Group| !found.is_empty()).collect()
}

fn plain_link(key: &str, href: String, name: &str, words: &'static str) -> Found {
    let inner = view! {
        <bdi class="palette-name">{visible(name)}</bdi>
        <span class="palette-words">{words}</span>
    };
    Found { key: format!("to {key}"), href, act: "", title: String::new(), inner: erase(inner) }
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
    Found { key: row.key.clone(), href, act: "", title: whole, inner: erase(inner) }
}

fn session(row: &SessionRow) -> Found {
    let label = visible(row.label.as_deref().unwrap_or_default());
    let inner = view! {
        <Tag of=row.tag.clone() />
        <span class="palette-name mono">{row.session_id.to_string()}</span>
        <bdi class="palette-label">{middle(&label, 30)}</bdi>
        <span class="palette-words">{format!("holds {}, waits for {}", row.holds, row.waits)}</span>
    };
    Found { key: row.key.clone(), href: session_url(&row.ensemble, row.session_id), act: "", title: label, inner: erase(inner) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(q: &str) -> FindView {
        FindView { q: q.to_owned(), ..FindView::default() }
    }

    #[test]
    fn pages_and_acts_are_found_by_any_of_their_words() {
        let drawn = find_drawn(&view("deadlocks"));
        assert!(drawn.contains("href=\"/waits\"") && !drawn.contains("href=\"/lab\"") && drawn.contains("1 result<"));
        assert!(find_drawn(&view("theme")).contains("data-act=\"theme\""));
        assert!(!find_drawn(&view("audit")).contains("/audit"), "only for those who may");
        assert!(find_drawn(&FindView { may_audit: true, ..view("audit") }).contains("href=\"/audit\""));
    }

    #[test]
    fn what_is_typed_stays_text_and_leads_on() {
        let drawn = find_drawn(&view("<script>\u{202e}"));
        assert!(drawn.contains("Nothing fits “&lt;script&gt;") && !drawn.contains('\u{202e}'));
        assert!(find_drawn(&view("/a b")).contains("href=\"/lock?path=/a%20b"));
        assert!(find_drawn(&view("0x100000a1b2c0001")).contains("Open session 0x100000a1b2c0001"));
    }
}
