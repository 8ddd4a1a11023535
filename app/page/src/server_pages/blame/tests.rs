//! The markup: hostile text stays text, and the sums are all waiting.

use super::super::waits::WaitsFilter;
use super::*;
use crate::ports::PastAnswer;
use crate::shell::AssetNames;
use lockscope_view::past::{Blame, BlameBy, BlameRow, HoldTimes};
use lockscope_view::{Person, Role, SignedBy};

fn drawn(of: &BlameView) -> String {
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
    blame_page(
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

fn view_of(figures: BlameFigures) -> BlameView {
    let range_ms = (1_700_000_000_000, 1_700_003_600_000);
    BlameView {
        filter: WaitsFilter { range_ms, ..WaitsFilter::default() },
        found: PastAnswer::Found(Box::new(figures)),
        ..BlameView::default()
    }
}

fn figures(key: &str) -> BlameFigures {
    let row = BlameRow {
        key: key.to_owned(),
        charged_ms: 61_000,
        charged_root_ms: Some(62_000),
        share: 0.62,
        charged_week_before_ms: Some(31_000),
        holds: 3,
        hold_ms: Some(HoldTimes { p50: 200, p99: 900 }),
        victims: 2,
        worst_at_ms: 1_700_000_000_000,
        worst_lock: key.to_owned(),
    };
    let blame = Blame {
        rows: vec![row],
        total: 1,
        waits_ms: 100_000,
        hand_off_ms: 7_000,
        unknown_ms: 1_000,
        charged_others_ms: 31_000,
        charged_root_others_ms: Some(30_000),
        week_before_part: Some(1.0),
        ..Blame::default()
    };
    let worst = Some("/lock?path=/a&at=1699999999999".to_owned());
    BlameFigures { blame, links: vec![BlameLinks { key: None, worst }], has_roots: true, missing: Vec::new() }
}

#[test]
fn what_clients_wrote_stays_text() {
    let hostile = "</script><script>alert(1)</script>\u{202e}".to_owned();
    let mut found = figures(&hostile);
    found.missing = vec![Missing { from_ms: 1_700_000_000_000, to_ms: 1_700_000_000_500, why: hostile.clone() }];
    let mut of = view_of(found);
    of.filter.path = hostile.clone();
    of.filter.ensemble = hostile.clone();
    of.filter.ensembles = vec![hostile.clone()];
    of.offered = vec![BlameBy::Host];
    of.hidden = vec![("from".to_owned(), hostile.clone())];
    let html = drawn(&of);
    assert_eq!(html.matches("<script").count(), 2, "those of the head and the end of the document alone");
    assert!(!html.contains('\u{202e}'), "{html}");
    let refused = drawn(&BlameView { found: PastAnswer::Refused(hostile), ..BlameView::default() });
    assert!(!refused.contains("<script>alert") && !refused.contains('\u{202e}'), "{refused}");
}

#[test]
fn who_made_others_wait_most_is_a_sentence_and_the_sums_are_all_waiting() {
    let html = drawn(&view_of(figures("app-7")));
    for text in [
        "made others wait most: 1 min 02 s in the end, 62.0 % of all 1 min 40 s of waiting.",
        "2023-11-14 22:13:20 UTC",
        "All of it is recorded.",
        "up from 31.0 s",
        "/lock?path=/a&amp;at=1699999999999",
        "width=\"62.0%\"",
        "data-explain=\"number-all-waiting\" class=\"explain\">All waiting</a></th>",
    ] {
        assert!(html.contains(text), "{text} is not in {html}");
    }
    let html = drawn(&view_of({
        let mut figures = figures("app-7");
        (figures.has_roots, figures.blame.week_before_part) = (false, Some(0.0));
        figures
    }));
    assert!(!html.contains("in the end") && !html.contains("up from"), "{html}");
    assert!(html.contains("made others wait most: 1 min 01 s, 62.0 %"), "{html}");
}

#[test]
fn nothing_is_one_sentence() {
    let html = drawn(&BlameView::default());
    assert!(
        html.contains("No history is kept here") && html.contains("restart Lockscope") && !html.contains("<table"),
        "{html}"
    );
    let html = drawn(&view_of(BlameFigures::default()));
    assert!(html.contains("Nobody waited") && !html.contains("<table"), "{html}");
    let gap = Missing { from_ms: 0, to_ms: i64::MAX / 2, why: "nothing is kept of that time".to_owned() };
    let html = drawn(&view_of(BlameFigures { missing: vec![gap], ..BlameFigures::default() }));
    assert!(html.contains("Nothing of this range is recorded.") && !html.contains("Nobody waited"), "{html}");
}
