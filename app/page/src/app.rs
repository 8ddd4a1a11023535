//! The app: contexts that every page shares, and the routes.

use leptos::prelude::*;
use leptos_meta::provide_meta_context;
use leptos_router::StaticSegment;
use leptos_router::components::{Route, Router, Routes};

use super::at_once::any;
use super::board::BoardPage;
use super::live::Live;
use super::lock::LockPageView;
use super::parts::{HelpOpen, NotFound};
use super::session::SessionPageView;
use super::sessions::SessionsPage;
use super::status::StatusPage;
use super::visitor::Visitor;
use super::waits::WaitsPage;

/// The page's root component.
#[component]
pub fn App() -> impl IntoView {
    provide_meta_context();
    let live = Live::new();
    provide_context(live);
    provide_context(Visitor::meet());
    provide_context(HelpOpen(RwSignal::new(false)));
    Effect::new(move |_| {
        live.start();
        if let Some(body) = document().body() {
            // The body is ours; setting an attribute on it cannot fail.
            let _ = body.set_attribute("data-hydrated", "true");
        }
    });
    view! {
        <Router>
            <Routes fallback=|| any(view! { <NotFound /> })>
                <Route path=StaticSegment("") view=|| any(view! { <BoardPage /> }) />
                <Route path=StaticSegment("lock") view=|| any(view! { <LockPageView /> }) />
                <Route path=StaticSegment("waits") view=|| any(view! { <WaitsPage /> }) />
                <Route path=StaticSegment("sessions") view=|| any(view! { <SessionsPage /> }) />
                <Route path=StaticSegment("session") view=|| any(view! { <SessionPageView /> }) />
                <Route path=StaticSegment("status") view=|| any(view! { <StatusPage /> }) />
            </Routes>
        </Router>
    }
}
