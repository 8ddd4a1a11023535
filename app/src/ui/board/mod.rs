//! The page.

use leptos::prelude::*;

use super::parts::Chrome;

/// The page.
#[component]
pub(crate) fn BoardPage() -> impl IntoView {
    view! { <Chrome here="board"><p>"…"</p></Chrome> }
}
