//! Times that move while they are looked at: ages grow, countdowns run down.

use crate::erase::{erase, view};
use leptos::prelude::*;

use super::Piece::{Attribute, Text};
use super::{Markup, Piece};
use crate::format::{age, left};
use crate::live::Live;

/// An age: of a hold, a wait, a state; nothing for None.
#[component]
pub(crate) fn Age(
    since_ms: Option<i64>,
    /// Why it may be longer than that.
    #[prop(optional_no_strip)]
    least: Option<&'static str>,
    /// What stands there for None.
    #[prop(optional)]
    or: Option<&'static str>,
) -> AnyView {
    let live = Live::of_app();
    let sign = if least.is_some() { "≥ " } else { "" };
    let of = move |since_ms: i64| {
        view! {
            <span class="age" title=least data-since=since_ms.to_string() data-sign=sign>
                {move || format!("{sign}{}", age(since_ms, live.now_of_age_ms(since_ms)))}
            </span>
        }
    };
    since_ms.map_or_else(|| erase(or), of)
}

/// An age in a row that is made as text: pieces of a tag and of what is in it.
pub(crate) struct AgeText {
    least: Option<&'static str>,
    since_ms: Option<String>,
    text: String,
}

impl AgeText {
    pub(crate) fn new((since_ms, least): Since, now_ms: i64) -> Self {
        let sign = sign(least).unwrap_or_default();
        let text = since_ms.map(|since_ms| format!("{sign}{}", age(since_ms, now_ms))).unwrap_or_default();
        Self { least: least.filter(|_| since_ms.is_some()), since_ms: since_ms.map(|ms| ms.to_string()), text }
    }

    pub(crate) fn pieces(&self) -> [Piece<'_>; 4] {
        [
            Attribute("title", self.least),
            Attribute("data-since", self.since_ms.as_deref()),
            Attribute("data-sign", sign(self.least)),
            Text(&self.text),
        ]
    }
}

fn sign(least: Option<&str>) -> Option<&'static str> {
    least.map(|_| "≥ ")
}

pub(crate) fn countdown_markup(words: &str, until_ms: i64, now_ms: i64) -> Markup {
    let (until, text) = (until_ms.to_string(), left(words, until_ms, now_ms));
    Markup::fill(
        r#"<span class="until"{}{}>{}</span>"#,
        &[Attribute("data-until", Some(&until)), Attribute("data-sign", Some(words)), Text(&text)],
    )
}

/// Since when, and why it may be longer than that.
pub(crate) type Since = (Option<i64>, Option<&'static str>);

/// An age of something that begins anew all the time: only its texts change. A dash for None.
#[component]
pub(crate) fn AgeOf(since: Memo<Since>) -> AnyView {
    let live = Live::of_app();
    let sign = move || if since.get().1.is_some() { "≥ " } else { "" };
    let text = move || {
        since
            .get()
            .0
            .map_or("–".to_owned(), |since_ms| format!("{}{}", sign(), age(since_ms, live.now_of_age_ms(since_ms))))
    };
    view! {
        <span class="age" title=move || since.get().1 data-since=move || since.get().0.map(|ms| ms.to_string()) data-sign=sign>
            {text}
        </span>
    }
}

/// What is left until an instant, after a few words; once it has passed, that it has.
#[component]
pub(crate) fn Countdown(
    /// The words, with a space behind them.
    words: String,
    until_ms: i64,
) -> AnyView {
    let live = Live::of_app();
    let sign = words.clone();
    view! {
        <span class="until" data-until=until_ms.to_string() data-sign=sign>
            {move || left(&words, until_ms, live.now_ms())}
        </span>
    }
}
