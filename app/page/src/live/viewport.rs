//! Which rows of a long list are on screen. Rows have one height, so this is arithmetic.

use leptos::html::Div;
use leptos::prelude::*;

use crate::erase::effect;

use super::pace;
use crate::follow::followed;

/// Rows drawn beyond each edge of the screen.
const OVERSCAN_ROWS: u32 = 6;
/// Rows asked for beyond each end of those that are drawn, so that they are here before somebody comes to them.
const AHEAD_ROWS: u32 = 20;
/// Rows the server renders, all that a page without scripts shows.
pub(crate) const FIRST_ROWS: u32 = 100;
/// Rows asked of the server at first, and on a page without scripts.
pub(crate) const FETCH_ROWS: u32 = 100;
/// The same of who scrolls.
const FETCH_ROWS_MAX: u32 = 200;

/// A list of at most this many rows is drawn as a whole.
const SHORT_ROWS: u32 = 48;

/// A range of rows, the end excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Viewport {
    pub(crate) start: u32,
    /// First row not drawn any more.
    pub(crate) end: u32,
}

impl Viewport {
    /// With so many rows more before it and behind it.
    fn and(self, before: u32, behind: u32) -> Self {
        Self { start: self.start.saturating_sub(before), end: self.end.saturating_add(behind) }
    }

    /// Whether all of these rows that there are were sent: so many of so many, from the first of them on.
    pub(crate) fn is_within(self, first: u32, sent: usize, total: u32) -> bool {
        let sent = Self { start: first, end: first + sent as u32 };
        sent.has(Self { start: self.start.min(total), end: self.end.min(total) })
    }

    fn has(self, other: Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }
}

/// The rows that a list with this top (relative to the screen) shows.
fn rows_on_screen(list_top_px: f64, screen_px: f64, row_px: f64) -> Viewport {
    let first = (-list_top_px / row_px).floor().max(0.0) as u32;
    let last = ((screen_px - list_top_px) / row_px).ceil().max(0.0) as u32;
    Viewport { start: first, end: last }.and(OVERSCAN_ROWS, OVERSCAN_ROWS)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fetch {
    pub(crate) offset: u32,
    pub(crate) limit: u32,
    /// Nothing else is asked for than before, but other rows.
    pub(crate) is_moved: bool,
}

impl Fetch {
    fn rows(self) -> Viewport {
        Viewport { start: self.offset, end: self.offset + self.limit }
    }

    /// What to ask for next: the same while that has what is drawn, and what is next.
    fn following(self, drawn: Viewport, total: u32) -> Self {
        let wanted = drawn.and(AHEAD_ROWS, AHEAD_ROWS);
        let wanted = Viewport { end: wanted.end.min(total), ..wanted };
        if self.rows().has(wanted) {
            return Self { is_moved: false, ..self };
        }
        let spare = FETCH_ROWS_MAX.saturating_sub(drawn.end - drawn.start) / 2;
        // In steps, so that viewers of about the same place share one view on the server.
        Self { offset: drawn.start.saturating_sub(spare) / 20 * 20, limit: FETCH_ROWS_MAX, is_moved: true }
    }
}

/// Asks for the rows around those that are drawn: `look_at` may read signals that change what is asked.
pub(crate) fn use_fetch(shown: RwSignal<Viewport>, first: u32, total: Signal<u32>, look_at: Callback<Fetch>) {
    let asked = StoredValue::new(Fetch { offset: first, limit: FETCH_ROWS, is_moved: false });
    effect(move || {
        let (mut shown, total) = (shown.get(), total.get());
        shown.end = shown.end.min(total);
        shown.start = shown.start.min(shown.end);
        let next = asked.get_value().following(shown, total);
        asked.set_value(next);
        look_at.run(next);
    });
}

/// Where the rows of a list stand. In a document that was only rendered they follow each other; in the browser each is
/// moved to its place, so that a row which moves makes no other be laid out anew, and nothing counts as a jump of the page.
#[derive(Clone, Copy)]
pub(crate) struct Places {
    row_px: RwSignal<f64>,
    is_set: RwSignal<bool>,
}

impl Places {
    /// True once rows are moved to their places.
    pub(crate) fn are_set(self) -> bool {
        self.is_set.get()
    }

    /// What moves a row down by so many rows. Follows the height of rows.
    pub(crate) fn style(self, rows: i64) -> Option<String> {
        followed(self.is_set).then(|| style(rows, followed(self.row_px)))
    }
}

fn style(rows: i64, row_px: f64) -> String {
    format!("transform:translateY({}px)", (rows as f64 * row_px) as i64)
}

/// Makes the list as tall as all of its rows, and says where those that are drawn go. Neither depends on what was
/// fetched, so a jump to the end is not cut short.
pub(crate) fn use_places(list: NodeRef<Div>, total: Signal<u32>) -> Places {
    let places = Places { row_px: use_row_px(list), is_set: RwSignal::new(false) };
    effect(move || {
        if let Some(list) = list.get() {
            let height_px = (f64::from(total.get()) * places.row_px.get()) as u64;
            // Setting a property of a style of ours cannot fail.
            let _ = web_sys::HtmlElement::style(&list).set_property("height", &format!("{height_px}px"));
            if !places.is_set.get_untracked() {
                places.is_set.set(true);
            }
        }
    });
    places
}

/// The height of a row: it is another on another width of screen only. Asking for it makes the browser work out all
/// styles.
fn use_row_px(list: NodeRef<Div>) -> RwSignal<f64> {
    let height = RwSignal::new(ROW_PX);
    let measure = move || {
        if let Some(fresh) =
            list.get_untracked().map(|list| row_px(&list)).filter(|fresh| *fresh != height.get_untracked())
        {
            height.set(fresh);
        }
    };
    effect(move || {
        list.track();
        measure();
    });
    effect(move || {
        let on_resize = window_event_listener_untyped("resize", move |_| measure());
        on_cleanup(move || on_resize.remove());
    });
    height
}

/// Where the style sheet has none.
const ROW_PX: f64 = 48.0;

/// The height of a row, from the style sheet's `--row-px`.
fn row_px(list: &web_sys::Element) -> f64 {
    let style = window().get_computed_style(list).ok().flatten();
    let text = style.and_then(|style| style.get_property_value("--row-px").ok()).unwrap_or_default();
    text.trim().parse::<u16>().ok().filter(|px| *px >= 8).map_or(ROW_PX, f64::from)
}

/// Brings a row on screen, with a little room around it. Browser only.
pub(crate) fn scroll_to_row(list: &web_sys::HtmlElement, at: u32) {
    let height_px = row_px(list);
    let top_px = list.get_bounding_client_rect().top() + f64::from(at) * height_px;
    let screen_px = window().inner_height().ok().and_then(|px| px.as_f64()).unwrap_or(800.0);
    let room_px = 3.0 * height_px;
    let by_px = if top_px < room_px {
        top_px - room_px
    } else if top_px + height_px > screen_px - height_px {
        top_px + 2.0 * height_px - screen_px
    } else {
        return;
    };
    window().scroll_by_with_x_and_y(0.0, by_px);
}

/// Follows scrolling and resizing. `list` is the element that holds the rows, `first` the index of the first
/// row that was rendered, `total` the number of rows there are.
pub(crate) fn use_viewport(list: NodeRef<Div>, first: u32, total: Signal<u32>) -> RwSignal<Viewport> {
    let shown = RwSignal::new(Viewport { start: first, end: first + FIRST_ROWS });
    let row_px = use_row_px(list);
    // Only whether all are drawn: where the list stands on the screen does not depend on how many rows it has.
    let is_short = Memo::new(move |_| total.get() <= SHORT_ROWS);
    let measure = move || {
        // By then the list may be gone.
        let Some(list) = list.try_get_untracked().flatten() else { return };
        let fresh = if is_short.get_untracked() {
            Viewport { start: 0, end: SHORT_ROWS }
        } else {
            let screen_px = window().inner_height().ok().and_then(|px| px.as_f64()).unwrap_or(800.0);
            rows_on_screen(list.get_bounding_client_rect().top(), screen_px, row_px.get_untracked())
        };
        if shown.get_untracked() != fresh {
            shown.set(fresh);
        }
    };
    effect(move || {
        list.track();
        is_short.track();
        row_px.track();
        measure();
    });
    effect(move || {
        let on_scroll = window_event_listener_untyped("scroll", move |_| pace::draw_soon(measure));
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
        assert_eq!(rows_on_screen(100.0, 900.0, 40.0), Viewport { start: 0, end: 26 });
        assert_eq!(rows_on_screen(-4_000.0, 800.0, 40.0), Viewport { start: 94, end: 126 });
    }

    #[test]
    fn a_row_is_moved_by_all_rows_before_it() {
        assert_eq!(style(0, 34.0), "transform:translateY(0px)");
        assert_eq!(style(10_000, 54.0), "transform:translateY(540000px)");
        assert_eq!(style(-2, 34.0), "transform:translateY(-68px)");
    }

    #[test]
    fn rows_are_asked_for_before_they_are_drawn() {
        let first = Fetch { offset: 0, limit: FETCH_ROWS, is_moved: false };
        let at = |start: u32| Viewport { start, end: start + 60 };
        assert_eq!(first.following(at(0), 10_000), first);
        let next = first.following(at(21), 10_000);
        assert_eq!(next, Fetch { offset: 0, limit: FETCH_ROWS_MAX, is_moved: true });
        let (mut asked, mut questions) = (next, 0);
        for start in 21..2_000 {
            assert!(asked.rows().has(at(start)), "who scrolls comes to what was asked for");
            asked = asked.following(at(start), 10_000);
            questions += u32::from(asked.is_moved);
        }
        assert!(questions < 80, "{questions}");
        let end = asked.following(Viewport { start: 9_950, end: 10_000 }, 10_000);
        assert!(!end.following(Viewport { start: 9_960, end: 10_000 }, 10_000).is_moved, "nothing follows");
    }

    #[test]
    fn rows_that_there_are_not_are_not_missed() {
        let shown = Viewport { start: 280, end: 320 };
        assert!(shown.is_within(200, 101, 301));
        assert!(!shown.is_within(200, 100, 301) && !shown.is_within(281, 20, 301));
        assert!(shown.is_within(0, 0, 0));
    }
}
