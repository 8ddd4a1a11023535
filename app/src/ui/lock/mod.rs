//! The page.

use leptos::prelude::*;

use super::parts::Chrome;

/// The page.
#[component]
pub(crate) fn LockPageView() -> impl IntoView {
    view! { <Chrome here="lock"><p>"…"</p></Chrome> }
}
