//! Which rows of a long list are on screen. Rows have one height, so this is arithmetic.

use leptos::html::ElementType;
use leptos::prelude::*;
use wasm_bindgen::JsCast;

/// Rows drawn beyond each edge of the screen.
const OVERSCAN_ROWS: u32 = 8;
/// Rows the server renders.
pub(crate) const FIRST_ROWS: u32 = 40;

/// A range of rows, the end excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Viewport {
    /// First row drawn.
    pub(crate) start: u32,
    /// First row not drawn any more.
    pub(crate) end: u32,
}

/// The rows that a list with this top (relative to the screen) shows.
fn rows_on_screen(list_top_px: f64, screen_px: f64, row_px: f64) -> Viewport {
    let first = (-list_top_px / row_px).floor().max(0.0) as u32;
    let last = ((screen_px - list_top_px) / row_px).ceil().max(0.0) as u32;
    Viewport { start: first.saturating_sub(OVERSCAN_ROWS), end: last.saturating_add(OVERSCAN_ROWS) }
}

/// The window of rows to fetch for a screen: unchanged while it still covers the screen.
pub(crate) fn fetch_offset(shown: Viewport, offset: u32, limit: u32) -> u32 {
    let covers = shown.start >= offset && (shown.end <= offset + limit || offset + limit < limit);
    if covers {
        return offset;
    }
    let spare = limit.saturating_sub(shown.end - shown.start) / 2;
    // In steps, so that viewers of about the same place share one view on the server.
    shown.start.saturating_sub(spare) / 20 * 20
}

/// Follows scrolling and resizing. `list` is the element that holds all rows, `row_px` their height.
pub(crate) fn use_viewport<E>(list: NodeRef<E>, row_px: Signal<f64>) -> RwSignal<Viewport>
where
    E: ElementType + 'static,
    E::Output: JsCast + Clone + AsRef<web_sys::Element> + 'static,
{
    let shown = RwSignal::new(Viewport { start: 0, end: FIRST_ROWS });
    let measure = move || {
        let Some(list) = list.get_untracked() else { return };
        let list: &web_sys::Element = list.as_ref();
        let screen_px = window().inner_height().ok().and_then(|px| px.as_f64()).unwrap_or(800.0);
        let fresh = rows_on_screen(list.get_bounding_client_rect().top(), screen_px, row_px.get_untracked());
        if shown.get_untracked() != fresh {
            shown.set(fresh);
        }
    };
    Effect::new(move |_| {
        list.track();
        row_px.track();
        measure();
    });
    Effect::new(move |_| {
        let on_scroll = window_event_listener_untyped("scroll", move |_| measure());
        let on_resize = window_event_listener_untyped("resize", move |_| measure());
        on_cleanup(move || {
            on_scroll.remove();
            on_resize.remove();
        });
    });
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_follow_the_scroll_position() {
        assert_eq!(rows_on_screen(100.0, 900.0, 40.0), Viewport { start: 0, end: 28 });
        assert_eq!(rows_on_screen(-4_000.0, 800.0, 40.0), Viewport { start: 92, end: 128 });
    }

    #[test]
    fn the_fetched_window_moves_only_when_it_must() {
        assert_eq!(fetch_offset(Viewport { start: 0, end: 30 }, 0, 100), 0);
        assert_eq!(fetch_offset(Viewport { start: 60, end: 100 }, 0, 100), 0);
        assert_eq!(fetch_offset(Viewport { start: 70, end: 110 }, 0, 100), 40);
        assert_eq!(fetch_offset(Viewport { start: 0, end: 30 }, 40, 100), 0);
    }
}
