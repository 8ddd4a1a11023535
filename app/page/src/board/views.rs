//! Saved views: names for what the board shows (filter, order, grouping, pins), kept in this browser. A view is an address,
//! so it can be sent to others as one.

use leptos::html::Input;
use leptos::prelude::*;

use super::state::BoardState;
use crate::erase::{dynamic, view};

const KEY: &str = "lockscope.views";
/// Views kept; the oldest goes first.
const VIEWS_MAX: usize = 20;
const NAME_CHARS: usize = 40;

/// A name and the query of an address, with its `?`; empty for the bare board.
type Saved = (String, String);

/// One a line: the name, a tab, the query.
fn read(text: &str) -> Vec<Saved> {
    let line = |line: &str| line.split_once('\t').map(|(name, query)| (name.to_owned(), query.to_owned()));
    text.lines()
        .filter_map(line)
        .filter(|(_, query)| query.is_empty() || query.starts_with('?'))
        .take(VIEWS_MAX)
        .collect()
}

fn written(views: &[Saved]) -> String {
    views.iter().map(|(name, query)| format!("{name}\t{query}\n")).collect()
}

/// The views with one more; one of the same name gives way.
fn with(mut views: Vec<Saved>, name: &str, query: String) -> Vec<Saved> {
    let name: String = name.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(NAME_CHARS).collect();
    if name.is_empty() {
        return views;
    }
    views.retain(|(other, _)| *other != name);
    views.push((name, query));
    let extra = views.len().saturating_sub(VIEWS_MAX);
    views.drain(..extra);
    views
}

fn storage() -> Option<web_sys::Storage> {
    window().local_storage().ok().flatten()
}

/// The menu.
#[component]
pub(super) fn SavedViews(state: BoardState) -> AnyView {
    let views: RwSignal<Vec<Saved>> = RwSignal::new(Vec::new());
    Effect::new(move |_| {
        let text = storage().and_then(|storage| storage.get_item(KEY).ok().flatten()).unwrap_or_default();
        views.set(read(&text));
    });
    let keep = move |changed: Vec<Saved>| {
        if let Some(storage) = storage() {
            // Fails only for a full or forbidden storage; then the views last as long as the page.
            let _ = storage.set_item(KEY, &written(&changed));
        }
        views.set(changed);
    };
    let name = NodeRef::<Input>::new();
    let save = move || {
        let Some(input) = name.get_untracked() else { return };
        let query = state.query.with_untracked(lockscope_wire::BoardQuery::to_url_query);
        keep(with(views.get_untracked(), &input.value(), query));
        input.set_value("");
    };
    let line = move |(name, query): Saved| {
        let label = format!("Forget {name}");
        let forgotten = name.clone();
        view! {
            <div class="view-line">
                <a class="tool" href=format!("/{query}") data-noscroll="true">{name}</a>
                <button
                    class="tool"
                    type="button"
                    aria-label=label
                    on:click=move |_| keep(views.get_untracked().into_iter().filter(|(name, _)| *name != forgotten).collect())
                >
                    "×"
                </button>
            </div>
        }
    };
    // Enter would send the form of filters.
    let on_key = move |event: leptos::ev::KeyboardEvent| {
        if event.key() == "Enter" {
            event.prevent_default();
            save();
        }
    };
    view! {
        <details class="menu needs-script" data-testid="views">
            <summary class="tool">"Views"</summary>
            <div class="menu-list menu-start">
                {dynamic(move || views.get().into_iter().map(line).collect_view())}
                <div class="view-line">
                    <input class="filter-input" type="text" maxlength="40" placeholder="Name this view" aria-label="Name of the view" node_ref=name on:keydown=on_key />
                    <button class="tool" type="button" on:click=move |_| save()>"Save"</button>
                </div>
            </div>
        </details>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_are_kept_by_name() {
        let views = with(Vec::new(), "  mine \t of\nall ", "?q=/a".to_owned());
        assert_eq!(views, [("mine of all".to_owned(), "?q=/a".to_owned())]);
        let views = with(views, "mine of all", "?q=/b".to_owned());
        assert_eq!(read(&written(&views)), [("mine of all".to_owned(), "?q=/b".to_owned())]);
        assert_eq!(with(views.clone(), " ", String::new()), views, "a view has a name");
        let many = (0..30).fold(views, |views, at| with(views, &format!("v{at}"), String::new()));
        assert_eq!((many.len(), many.first().map(|(name, _)| name.as_str())), (VIEWS_MAX, Some("v10")));
    }

    #[test]
    fn only_views_of_the_board_are_read() {
        assert_eq!(
            read("evil\tjavascript:alert(1)\nfine\t?sort=path\nbroken"),
            [("fine".to_owned(), "?sort=path".to_owned())]
        );
    }
}
