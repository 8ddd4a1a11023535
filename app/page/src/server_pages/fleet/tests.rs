//! The fleet page as markup.

use super::*;
use crate::document_title::DocumentTitle;
use crate::shell::AssetNames;
use lockscope_view::{EnsembleColor, FleetTile, LabelCount, Link, Person, Role, SignedBy};

fn person() -> Person {
    Person {
        name: "ada".to_owned(),
        role: Role::Viewer,
        by: SignedBy::Token,
        may_release: false,
        may_audit: false,
        can_sign_in: false,
        keeps_history: false,
        has_fleet: true,
    }
}

fn tile(name: &str, worst: Option<Verdict>) -> FleetTile {
    FleetTile {
        name: name.to_owned(),
        color: Some(EnsembleColor::Teal),
        labels: [("env".to_owned(), "prod".to_owned())].into(),
        link: Link::Live,
        since_ms: 1_000,
        is_live: true,
        why: String::new(),
        known_at_ms: Some(1_000),
        worst,
        verdicts: worst.map(|worst| (worst, 2)).into_iter().collect(),
        locks: 3,
        held: 2,
        waiters: 4,
        incomplete: 0,
        oldest_wait_at_ms: Some(1_000),
    }
}

fn drawn(of: &FleetView) -> String {
    let (assets, person) = (AssetNames::default(), person());
    let plain = ServerPage {
        assets: &assets,
        nonce: "n",
        person: &person,
        tab: DocumentTitle::default(),
        alerts: None,
        forms: crate::ports::FormTokens::default(),
    };
    fleet_page(&plain, of)
}

fn some() -> FleetView {
    let lost = FleetTile { link: Link::Lost, is_live: false, why: "no server".to_owned(), ..tile("<us>", None) };
    let fleet = Fleet {
        total: 2,
        all: 3,
        verdicts: vec![(Verdict::Stuck, 1)],
        not_live: 1,
        labels: vec![LabelCount { key: "env".to_owned(), value: "prod".to_owned(), ensembles: 2 }],
        ensembles: vec![tile("eu", Some(Verdict::Stuck)), lost],
        ..Fleet::default()
    };
    let query = FleetQuery { q: "e\"u".to_owned(), limit: 1, ..FleetQuery::default() };
    FleetView { query, fleet, now_ms: 61_000 }
}

#[test]
fn each_tile_says_what_is_the_matter_and_leads_to_its_board() {
    let html = drawn(&some());
    for text in [
        "2 of 3 ensembles, the worst first. 1 of them is not live",
        "href=\"/?ensemble=eu\"",
        "3 locks, 2 held, 4 waiting, longest wait 1 min",
        "2 stuck",
        "No connection since",
        "as last read: 3 locks",
        "not known",
        "no server",
        "href=\"/fleet\" rel=\"external\" aria-current=\"page\"",
    ] {
        assert!(html.contains(text), "{text}: {html}");
    }
    let mut unread = some();
    unread.fleet.ensembles[1].locks = 0;
    assert!(drawn(&unread).contains("nothing is known of its locks"));
    assert!(!html.contains("<us>") && html.contains("&lt;us&gt;"), "{html}");
}

#[test]
fn filters_keep_each_other_and_can_be_taken_back() {
    let mut of = some();
    let pair = ("env".to_owned(), "prod".to_owned());
    assert_eq!(of.toggled(&pair), "/fleet?q=e%22u&label=env%3Aprod");
    of.query.labels.push(pair.clone());
    of.query.verdict = Some(Verdict::Slow);
    assert_eq!(of.toggled(&pair), "/fleet?q=e%22u&verdict=slow");
    let html = drawn(&of);
    assert!(html.contains("name=\"label\" value=\"env:prod\"") && html.contains("data-verdict=\"slow\""), "{html}");
    assert!(html.contains("Show all") && html.contains("value=\"e&quot;u\""), "{html}");
}

#[test]
fn pages_lead_on_and_back() {
    let mut of = some();
    of.fleet = Fleet { total: 5, offset: 2, ensembles: vec![tile("eu", None)], ..of.fleet };
    of.query = FleetQuery { offset: 2, limit: 1, ..FleetQuery::default() };
    let html = drawn(&of);
    assert!(html.contains("href=\"/fleet?offset=1\"") && html.contains("href=\"/fleet?offset=3\""), "{html}");
    assert!(html.contains("3 to 3 of 5"), "{html}");
    assert!(drawn(&FleetView::default()).contains("There is no ensemble that you may see."));
}
