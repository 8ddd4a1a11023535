//! The page.

use leptos::prelude::*;

use super::parts::Chrome;

/// The page.
#[component]
pub(crate) fn StatusPage() -> impl IntoView {
    view! { <Chrome here="status"><p>"…"</p></Chrome> }
}
