//! Rows that are known by a key.

use leptos::prelude::*;

/// Draws each item. What stays keeps its element, and with it focus and selection, wherever it moves; it is drawn anew only when it
/// changed.
#[component]
pub(crate) fn Rows<T: Clone + PartialEq + Send + Sync + 'static>(
    /// What is drawn, in its order.
    items: Memo<Vec<T>>,
    /// What tells an item from the others.
    key: fn(&T) -> &str,
    /// How one is drawn.
    #[prop(into)]
    row: Callback<T, AnyView>,
) -> impl IntoView {
    let child = move |item: T| {
        let name = key(&item).to_owned();
        let item = Memo::new(move |last: Option<&T>| {
            let now = items.with(|items| items.iter().find(|item| key(item) == name).cloned());
            now.or_else(|| last.cloned()).unwrap_or_else(|| item.clone())
        });
        move || row.run(item.get())
    };
    view! { <For each=move || items.get() key=move |item| key(item).to_owned() children=child /> }
}
