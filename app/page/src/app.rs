//! The app: contexts that every page shares, and the routes.

use crate::erase::view;
use leptos::prelude::*;
use leptos_meta::provide_meta_context;
use leptos_router::StaticSegment;
use leptos_router::components::{FlatRoutes, Route, Router};

use super::board::BoardPage;
use super::current_user::CurrentUser;
use super::live::Live;
use super::lock::LockPageView;
use super::parts::{Arrivals, HelpOpen, NotFound, ShownZone};
use super::session::SessionPageView;
use super::sessions::SessionsPage;
use super::status::StatusPage;
use super::waits::WaitsPage;
use super::wall::WallPage;

/// The page's root component.
#[component]
pub fn App() -> AnyView {
    provide_meta_context();
    let live = Live::new();
    provide_context(live);
    provide_context(CurrentUser::meet());
    provide_context(Arrivals::new());
    provide_context(ShownZone::new());
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
            <FlatRoutes fallback=|| view! { <NotFound /> }>
                <Route path=StaticSegment("") view=|| view! { <BoardPage /> } />
                <Route path=StaticSegment("lock") view=|| view! { <LockPageView /> } />
                <Route path=StaticSegment("waits") view=|| view! { <WaitsPage /> } />
                <Route path=StaticSegment("sessions") view=|| view! { <SessionsPage /> } />
                <Route path=StaticSegment("session") view=|| view! { <SessionPageView /> } />
                <Route path=StaticSegment("wall") view=|| view! { <WallPage /> } />
                <Route path=StaticSegment("status") view=|| view! { <StatusPage /> } />
            </FlatRoutes>
        </Router>
    }
}
