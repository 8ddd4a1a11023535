//! No such page.

use crate::erase::view;
use leptos::prelude::*;

use super::Chrome;

#[component]
pub(crate) fn NotFound() -> AnyView {
    view! {
        <Chrome here="" title="No such page">
            <div class="empty">
                <h1 class="empty-title">"No such page"</h1>
                <p>"There is a board of all locks, a page for each lock, and a status page."</p>
                <p><a href="/">"To the board"</a></p>
            </div>
        </Chrome>
    }
}
