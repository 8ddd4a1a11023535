//! The markup: hostile text stays text, what is selected is marked, and what is not known is said.

use super::super::waits::WaitsFilter;
use super::*;
use crate::ports::PastAnswer;
use crate::shell::AssetNames;
use lockscope_view::past::{Coverage, Differs, Dimension, DimensionValue, WaitCounts};
use lockscope_view::{Person, Role, SignedBy};

fn drawn(of: &DiffersView) -> String {
    let person = Person {
        name: "anna".to_owned(),
        role: Role::Viewer,
        by: SignedBy::Token,
        may_release: false,
        may_audit: false,
        can_sign_in: true,
        keeps_history: true,
        has_fleet: false,
    };
    let assets = AssetNames::default();
    let tab = crate::document_title::DocumentTitle::default();
    differs_page(
        &ServerPage {
            assets: &assets,
            nonce: "n",
            person: &person,
            tab,
            alerts: None,
            forms: crate::ports::FormTokens::default(),
        },
        of,
    )
}

fn view_of(figures: DiffersFigures) -> DiffersView {
    let range_ms = (1_700_000_000_000, 1_700_003_600_000);
    let chosen = ChosenWaits { joined_ms: range_ms, min_wait_ms: 1_000, max_wait_ms: Some(3_000), is_part: true };
    DiffersView {
        filter: WaitsFilter { range_ms, ..WaitsFilter::default() },
        found: PastAnswer::Found(Box::new(figures)),
        chosen,
        ..DiffersView::default()
    }
}

fn figures(value: &str) -> DiffersFigures {
    let counts = WaitCounts { selection: 3, rest: 0, selection_part: Some(1.0), rest_part: Some(0.0) };
    let values = vec![DimensionValue { value: Some(value.to_owned()), counts }];
    let cell = WaitsCell {
        count: 3,
        joined_ms: (1_700_000_000_000, 1_700_000_090_000),
        is_chosen: true,
        url: "/differs?from=1&to=2".to_owned(),
    };
    let differs = Differs {
        selected: 3,
        others: 12,
        coverage: Coverage { part: 1.0, ..Coverage::default() },
        dimensions: vec![Dimension { name: "client", difference: Some(1.0), values, ..Dimension::default() }],
        ..Differs::default()
    };
    let rows = vec![WaitsRow { min_wait_ms: 1_000, max_wait_ms: Some(3_000), cells: vec![cell, WaitsCell::default()] }];
    DiffersFigures { differs, rows }
}

/// The same, changed.
fn figures_with(change: impl FnOnce(&mut Differs)) -> DiffersFigures {
    let mut figures = figures("app-7");
    change(&mut figures.differs);
    figures
}

#[test]
fn what_clients_wrote_stays_text() {
    let hostile = "</script><script>alert(1)</script>\u{202e}".to_owned();
    let mut of = view_of(figures(&hostile));
    of.filter.path = hostile.clone();
    of.filter.ensemble = hostile.clone();
    of.filter.ensembles = vec![hostile.clone()];
    let html = drawn(&of);
    assert_eq!(html.matches("<script").count(), 2, "those of the head and the end of the document alone");
    assert!(!html.contains('\u{202e}'), "{html}");
}

#[test]
fn a_selection_is_marked_and_held_against_the_rest() {
    let html = drawn(&view_of(figures("app-7")));
    for text in [
        "3 of 15 waits of 1.0 s to 3.0 s <a href=\"/help#number-waits-selected\"",
        "class=\"heat-5 heat-chosen\"",
        "3 waits of 1.0 s to 3.0 s, from 2023-11-14 22:13:20 UTC",
        "href=\"/differs?from=1&amp;to=2\"",
        "href=\"/help#number-difference\"",
        "differs by</a> 100.0 %",
        "100.0 % · 3",
        "name=\"min_wait_ms\" value=\"1000\"",
        "All of it is recorded.",
    ] {
        assert!(html.contains(text), "{text} is not in {html}");
    }
    let part = figures_with(|of| (of.is_sampled, of.without_wait, of.coverage.part) = (Some(true), 2, 0.9999));
    let html = drawn(&view_of(part));
    for text in ["99.9 % of it is recorded.", "short waits may have been left out", "Of 2 further contenders no wait"] {
        assert!(html.contains(text), "{text} is not in {html}");
    }
}

#[test]
fn nothing_is_one_sentence() {
    let html = drawn(&DiffersView::default());
    assert!(html.contains("No history is kept here") && !html.contains("<table"), "{html}");
    let html = drawn(&view_of(DiffersFigures {
        differs: Differs { coverage: Coverage { part: 1.0, ..Coverage::default() }, ..Differs::default() },
        rows: Vec::new(),
    }));
    assert!(html.contains("No wait for a lock that began in this range") && !html.contains("<table"), "{html}");
    let html = drawn(&view_of(DiffersFigures::default()));
    assert!(html.contains("Nothing of this range is recorded.") && !html.contains("No wait for"), "{html}");
    for (selected, others, said) in [(0, 5, "No wait is selected"), (5, 0, "All waits of the range are selected")] {
        let html = drawn(&view_of(figures_with(|of| (of.selected, of.others) = (selected, others))));
        assert!(html.contains(said) && !html.contains("data-testid=\"dimensions\""), "{html}");
    }
}
