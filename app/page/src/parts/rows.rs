//! Rows that are known by a key.

use leptos::prelude::*;

use crate::erase::{dynamic, erase};

/// Draws each item. What stays keeps its element, and with it focus and selection, wherever it moves; it is drawn anew only when it
/// changed.
pub(crate) fn rows<T: Clone + PartialEq + Send + Sync + 'static>(
    // What is drawn, in its order.
    items: Memo<Vec<T>>,
    // What tells an item from the others.
    key: fn(&T) -> &str,
    // How one is drawn.
    row: impl Fn(T) -> AnyView + Copy + Send + Sync + 'static,
) -> AnyView {
    let keys = Memo::new(move |_| items.with(|items| items.iter().map(|item| key(item).to_owned()).collect::<Vec<String>>()));
    let child = move |name: String| {
        // What is gone is drawn as it was until its row is taken away.
        let item = Memo::new(move |last: Option<&Option<T>>| {
            let now = items.with(|items| items.iter().find(|item| key(item) == name).cloned());
            now.or_else(|| last.cloned().flatten())
        });
        dynamic(move || item.get().map(row))
    };
    erase(view! { <Keyed keys=keys child=Callback::new(child) /> })
}

/// Compiled once for all kinds of rows.
#[component]
fn Keyed(keys: Memo<Vec<String>>, child: Callback<String, AnyView>) -> impl IntoView {
    view! { <For each=move || keys.get() key=String::clone children=move |key| child.run(key) /> }
}
