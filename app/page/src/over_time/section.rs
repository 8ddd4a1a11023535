//! The section around the picture: what it says in short, its range, and the tables.

use leptos::prelude::*;

use super::choice::{Choice, Former, Length, Range, Step};
use super::picture::Picture;
use super::view::{OverTime, OverTimeView};
use super::{tables, words};
use crate::charts::over_time::hues;
use crate::current_user::CurrentUser;
use crate::erase::{erase, view};
use crate::exact::Exact;
use crate::format::visible;
use crate::parts::text;
use lockscope_view::LockQuery;

/// The section as the host drew it for a page; a context of the page.
#[derive(Clone, Debug)]
pub struct OverTimeMarkup(pub String);

pub fn over_time_markup(of: &OverTime, choice: &Choice, now_ms: i64) -> String {
    text(now_ms, || section(of, choice, now_ms))
}

/// What is in the document at first: the section where it was drawn, else the ways to it. A script draws it as soon as it
/// comes into view; without one each way leads to it.
pub(crate) fn initial(query: &LockQuery) -> String {
    if let Some(OverTimeMarkup(markup)) = use_context() {
        return markup;
    }
    let is_kept = CurrentUser::of_app().0.is_some_and(|person| person.keeps_history);
    let choice = Choice::of(&query.ensemble, &query.path);
    let inner = if is_kept {
        framed("waits", ranges(&choice, None))
    } else {
        framed("off", view! { <p class="quiet" data-testid="ot-off">{words::HISTORY_OFF}</p> })
    };
    inner.to_html().replace("<!>", "")
}

fn section(of: &OverTime, choice: &Choice, now_ms: i64) -> AnyView {
    match of {
        OverTime::Off => framed("off", view! { <p class="quiet" data-testid="ot-off">{words::HISTORY_OFF}</p> }),
        OverTime::Refused(why) => {
            let why = why.clone();
            let inner = view! {
                {ranges(choice, None)}
                <p class="finding" data-severity="warning" role="alert" data-testid="ot-refused">{why}</p>
            };
            framed("drawn", inner)
        }
        OverTime::Found(view) => {
            let state = if choice.follows_now() { "follows" } else { "drawn" };
            framed(state, view! { <div data-every=refresh_minutes(view.grain_ms)>{drawn(view, now_ms)}</div> })
        }
    }
}

/// `state`: whether there is a picture, and whether its end moves with the clock.
fn framed(state: &'static str, inner: AnyView) -> AnyView {
    view! {
        <section class="part ot" aria-labelledby="over-time-title" data-testid="over-time" data-state=state>
            <h2 class="part-title" id="over-time-title">"Over time"</h2>
            {inner}
        </section>
    }
}

/// How many minutes go by before what follows the clock is fetched anew: each minute, and seldom where one is a small part
/// of a piece.
fn refresh_minutes(grain_ms: i64) -> i64 {
    (grain_ms / 180_000).clamp(1, 10)
}

fn drawn(view: &OverTimeView, now_ms: i64) -> AnyView {
    let hues = hues(view.clients.iter().map(|client| client.name.as_str()));
    let picture = Picture::new(view, &hues).draw();
    let (from_ms, to_ms) = view.range_ms;
    let former = view.choice.former.map(|former| {
        let is_empty = view.former.as_deref().unwrap_or_default().is_empty();
        if is_empty {
            view! { <span data-testid="ot-not-compared">{words::NOT_COMPARED}</span> }
        } else {
            view! {
                <span class="ot-former-key" data-testid="ot-compared">
                    <svg viewBox="0 0 24 8" aria-hidden="true"><path class="ot-former" d="M0 4H24" /></svg>
                    {words::former(former).2}
                </span>
            }
        }
    });
    let incident = view.incident.as_ref().map(|(text, url)| {
        view! { <p class="ot-summary" data-testid="ot-incident"><a href=Exact(url.clone())>{visible(text)}</a></p> }
    });
    view! {
        {ranges(&view.choice, Some((view.range_ms, now_ms)))}
        {incident}
        <p class="ot-summary" data-testid="ot-summary">{words::summary(view)}</p>
        {picture}
        <p class="ot-notes quiet">
            <span>{tables::instant(from_ms)}" to "{tables::instant(to_ms)}" "<span data-zone="">"UTC"</span></span>
            <span>{words::grain_line(view.grain_ms)}</span>
            {former}
            <span class="ot-hint">"Click for that moment, drag to zoom"</span>
        </p>
        {tables::gaps(view)}
        {tables::legend(view, &hues)}
        {tables::pieces(view)}
        {tables::happened(view)}
    }
}

/// A way to another choice. Its key is how the script finds it again.
fn way(choice: &Choice, key: String, is_chosen: bool, title: Option<&'static str>, name: &'static str) -> AnyView {
    let href = format!("{}#over-time", choice.url());
    let current = is_chosen.then_some("true");
    view! { <a class="tool ot-way" href=href rel="external" data-choice=key aria-current=current title=title aria-label=title>{name}</a> }
}

fn ranges(choice: &Choice, drawn: Option<((i64, i64), i64)>) -> AnyView {
    let length = |length: Length| {
        let range = Range::Last(length);
        let is_chosen = drawn.is_some() && choice.range == range;
        way(&choice.with_range(range), length.name().to_owned(), is_chosen, None, words::length(length))
    };
    let step = |step: Step| {
        let ((from_ms, to_ms), now_ms) = drawn?;
        let (from_ms, to_ms) = step.from((from_ms, to_ms), now_ms)?;
        let (sign, title) = words::step(step);
        let range = Range::Between(from_ms, to_ms);
        Some(way(&choice.with_range(range), format!("{step:?}"), false, Some(title), sign))
    };
    let former = |former: Former| {
        let is_chosen = choice.former == Some(former);
        // Chosen once more, it is no longer.
        let other = Choice { former: (!is_chosen).then_some(former), ..choice.clone() };
        let (name, title, _) = words::former(former);
        way(&other, former.name().to_owned(), is_chosen, Some(title), name)
    };
    let steps = Step::ALL.map(step);
    let steps = drawn
        .map(|_| view! { <nav class="ot-ways" aria-label="Zoom and move">{steps.into_iter().collect_view()}</nav> });
    let formers = drawn.map(|_| view! { <nav class="ot-ways" aria-label="Compare">{Former::ALL.map(former).into_iter().collect_view()}</nav> });
    view! {
        <div class="ot-tools">
            <nav class="ot-ways" aria-label="Range" data-testid="ot-ranges">{Length::ALL.map(length).into_iter().collect_view()}</nav>
            {steps.map(erase)}
            {formers.map(erase)}
        </div>
    }
}
