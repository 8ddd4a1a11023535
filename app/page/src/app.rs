//! The app: contexts that every page shares, and the routes.

use crate::erase::{effect, view};
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
use super::split::{SplitLoaderError, split_view, wasm_split};
use super::status::StatusPage;
use super::waits::WaitsPage;
use super::wall::WallPage;

#[component]
pub fn App() -> AnyView {
    provide_meta_context();
    let live = Live::new();
    provide_context(live);
    let user = CurrentUser::meet();
    let may_release = user.may_release();
    provide_context(user);
    provide_context(Arrivals::new());
    provide_context(ShownZone::new());
    provide_context(HelpOpen(RwSignal::new(false)));
    effect(move || {
        live.start();
        if let Some(body) = document().body() {
            // The body is ours; setting an attribute on it cannot fail.
            let _ = body.set_attribute("data-hydrated", "true");
        }
        if may_release {
            // Whoever may release has the dialog's code before they ask for it; what could not be fetched is fetched again then.
            leptos::task::spawn_local(async { drop(super::release::fetch().await) });
        }
    });
    view! {
        <Router>
            <FlatRoutes fallback=|| view! { <NotFound /> }>
                <Route path=StaticSegment("") view=|| view! { <BoardPage /> } />
                <Route path=StaticSegment("lock") view=|| view! { <LockPageView /> } />
                <Route path=StaticSegment("waits") view=|| chunk_page(ChunkPage::Waits) />
                <Route path=StaticSegment("sessions") view=|| chunk_page(ChunkPage::Sessions) />
                <Route path=StaticSegment("session") view=|| chunk_page(ChunkPage::Session) />
                <Route path=StaticSegment("wall") view=|| chunk_page(ChunkPage::Wall) />
                <Route path=StaticSegment("status") view=|| chunk_page(ChunkPage::Status) />
            </FlatRoutes>
        </Router>
    }
}

/// Whether the page at a path is in a chunk of its own: all are but the board and a lock's.
pub(super) fn is_in_chunk(path: &str) -> bool {
    !matches!(path, "/" | "/lock")
}

fn chunk_page(page: ChunkPage) -> AnyView {
    split_view(fetch_pages(), move || draw_page(page))
}

#[derive(Clone, Copy)]
pub(super) enum ChunkPage {
    Waits,
    Sessions,
    Session,
    Wall,
    Status,
}

/// Draws one; one function for all, since the code is known to be there by the function that was fetched.
#[wasm_split(pages, wasm_split_path = leptos::wasm_split, fallible, preload(fetch_pages))]
pub(super) fn draw_page(page: ChunkPage) -> Result<AnyView, SplitLoaderError> {
    Ok(match page {
        ChunkPage::Waits => view! { <WaitsPage /> },
        ChunkPage::Sessions => view! { <SessionsPage /> },
        ChunkPage::Session => view! { <SessionPageView /> },
        ChunkPage::Wall => view! { <WallPage /> },
        ChunkPage::Status => view! { <StatusPage /> },
    })
}
