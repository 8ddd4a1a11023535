//! What the pages of waits that are over have in common: the range, the lock and the ensemble they are of, and what is
//! shown where nothing was found.

use crate::erase::view;
use leptos::prelude::*;

use super::words;
use crate::over_time::{Length, length};
use crate::parts::{ensemble_field, numbers_way, text_field};
use crate::ports::PastAnswer;

#[derive(Clone, Debug)]
pub struct RangeWay {
    pub length: Length,
    pub url: String,
    pub is_chosen: bool,
}

/// Which waits a page is of, and where else they are.
#[derive(Clone, Debug, Default)]
pub struct WaitsFilter {
    /// Only this lock; empty for all.
    pub path: String,
    /// The ensemble; empty where there is one.
    pub ensemble: String,
    /// Ensembles to choose from; none where there is one.
    pub ensembles: Vec<String>,
    pub ways: Vec<RangeWay>,
    /// From when to when, ms since the epoch.
    pub range_ms: (i64, i64),
    /// Address of the figures as a table.
    pub csv: String,
    /// Address of the figures for scripts.
    pub json: String,
}

impl WaitsFilter {
    pub(super) fn ranges(&self, testid: &'static str) -> AnyView {
        let way = |way: &RangeWay| {
            let current = way.is_chosen.then_some("true");
            view! { <a class="tool ot-way" href=way.url.clone() aria-current=current>{length(way.length)}</a> }
        };
        view! {
            <div class="ot-tools">
                <nav class="ot-ways" aria-label="Range" data-testid=testid>{self.ways.iter().map(way).collect_view()}</nav>
            </div>
        }
    }

    /// The lock and the ensemble, to be chosen.
    pub(super) fn fields(&self) -> AnyView {
        view! {
            {text_field("path", words::LOCK, &self.path, Some("all"))}
            {ensemble_field(&self.ensembles, &self.ensemble, None)}
        }
    }

    /// The ways on to files, behind others of the page.
    pub(super) fn ways_on(&self, others: Option<AnyView>, csv: &'static str, json: &'static str) -> AnyView {
        view! {
            <nav class="audit-ways" aria-label="Ways on">
                {others}
                <a class="tool" href=self.csv.clone() rel="external" download data-testid=csv>"CSV"</a>
                <a class="tool" href=self.json.clone() rel="external" target="_blank" data-testid=json>"JSON"</a>
                {numbers_way()}
            </nav>
        }
    }
}

/// What was found, or why nothing is shown.
pub(super) fn found_or_why<T>(page: &str, answer: &PastAnswer<T>, found: impl FnOnce(&T) -> AnyView) -> AnyView {
    match answer {
        PastAnswer::Off => view! { <p class="empty" data-testid=format!("{page}-off")>{words::NO_PAST_WAITS}</p> },
        PastAnswer::Refused(why) => {
            view! { <p class="notice" role="alert" data-testid=format!("{page}-refused")>{words::not_shown(why)}</p> }
        }
        PastAnswer::Found(answer) => found(answer),
    }
}

/// A bar beside a share of a whole.
pub(super) fn share_bar(share: f64, class: &'static str) -> AnyView {
    let width = format!("{:.1}%", share.clamp(0.0, 1.0) * 100.0);
    view! {
        <svg class="blame-bar" aria-hidden="true">
            <rect class="blame-bar-all" width="100%" height="100%" />
            <rect class=class width=width height="100%" />
        </svg>
    }
}
