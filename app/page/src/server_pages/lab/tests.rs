//! What the lab's pages say and must never do.

use super::*;
use crate::lab::tests::{BEGAN_MS, broken, failed, famous, finished, opening, running, stopped};
use crate::shell::AssetNames;
use lockscope_view::{LabBrief, LabState, Person, Role, SignedBy, Strategy};

const SIGHT: LabSight = LabSight { may_run: true, has_many: false };
const NOW_MS: i64 = BEGAN_MS + 4_200;

fn person() -> Person {
    Person {
        name: "o".to_owned(),
        role: Role::Operator,
        by: SignedBy::Token,
        may_release: true,
        may_audit: false,
        can_sign_in: true,
        keeps_history: false,
        has_fleet: false,
    }
}

fn names() -> AssetNames {
    let own = |name: &str| name.to_owned();
    AssetNames {
        css: own("app.css"),
        server_pages_css: own("server-pages.css"),
        js: own("app.js"),
        loader: own("loader.js"),
        wasm: own("app.wasm"),
        pages: Vec::new(),
    }
}

fn lab_drawn(run: &LabRun, sight: LabSight) -> String {
    crate::parts::text(NOW_MS, || run_view(run, sight))
}

fn page(run: &LabRun, sight: LabSight) -> String {
    let (assets, person) = (names(), person());
    lab_run_page(
        &ServerPage {
            assets: &assets,
            nonce: "n",
            person: &person,
            tab: crate::document_title::DocumentTitle::default(),
            alerts: None,
            forms: crate::ports::FormTokens::default(),
        },
        run,
        sight,
        NOW_MS,
        "http://127.0.0.1:1/lab?run=00ff",
        "",
    )
}

fn view(runs: Vec<LabBrief>) -> LabView {
    let runs = LabRuns { ensembles: vec!["default".to_owned()], clients_max: 500, runs };
    LabView { runs, has_lab: true, may_run: true, can_sign_in: true, draft: LabDraft::default(), error: String::new() }
}

fn list(view: &LabView) -> String {
    let (assets, person) = (names(), person());
    lab_page(
        &ServerPage {
            assets: &assets,
            nonce: "n",
            person: &person,
            tab: crate::document_title::DocumentTitle::default(),
            alerts: None,
            forms: crate::ports::FormTokens::default(),
        },
        view,
    )
}

#[test]
fn a_run_under_way_is_taken_over_and_one_that_ended_is_not() {
    for run in [opening(), running(), famous(), broken()] {
        let html = page(&run, SIGHT);
        assert!(html.contains("data-run=\"00ff00ff00ff00ff\" data-may-run=\"true\""));
        assert!(
            html.contains("draw_run()")
                && html.contains("<noscript><meta http-equiv=\"refresh\" content=\"2\"></noscript>")
        );
        assert!(html.contains("lab-stop"));
    }
    for run in [finished(), stopped(), failed()] {
        let html = page(&run, SIGHT);
        assert!(!html.contains("draw_run") && !html.contains("http-equiv") && !html.contains("lab-stop"));
    }
}

#[test]
fn every_seat_is_drawn_with_what_it_is_at() {
    let html = lab_drawn(&running(), SIGHT);
    let count = |kind: &str| html.matches(&format!("<i data-s=\"{kind}\">")).count();
    // The legend has one of each usual kind.
    assert_eq!([count("done"), count("holds"), count("woken"), count("waits")], [17 + 12 + 1, 2 + 1, 37 + 1, 32 + 1]);
    assert!(html.contains("Herd on the children: 1 holds, 37 were woken in vain, 12 are done"));
    assert!(html.contains("data-size=\"large\"") && lab_drawn(&famous(), SIGHT).contains("data-size=\"small\""));
}

#[test]
fn who_may_only_look_gets_no_button() {
    let html = page(&running(), LabSight { may_run: false, ..SIGHT });
    assert!(!html.contains("method=\"post\" action=\"/lab"), "{html}");
    let html = list(&LabView { may_run: false, ..view(Vec::new()) });
    assert!(!html.contains("action=\"/lab/run\"") && html.contains("Sign in as operator to start one"));
    let html = list(&LabView { may_run: false, can_sign_in: false, ..view(Vec::new()) });
    assert!(!html.contains("href=\"/sign-in"));
}

#[test]
fn faults_are_thrown_only_while_it_runs_and_are_told_with_their_lock() {
    assert_eq!(lab_drawn(&running(), SIGHT).matches("name=\"fault\"").count(), 5);
    assert!(!lab_drawn(&opening(), SIGHT).contains("name=\"fault\""));
    let html = lab_drawn(&broken(), SIGHT);
    assert!(html.contains("href=\"/lock?path=/lockscope-lab/run-00ff00ff00ff00ff/predecessor\""), "{html}");
    assert!(html.contains("expiring, then the next holds") && html.contains("data-s=\"believes\""));
}

#[test]
fn hostile_words_stay_words() {
    let hostile = "</script><script>alert(1)</script>\u{202e}";
    let mut run = broken();
    run.why = hostile.to_owned();
    run.by = hostile.to_owned();
    run.ensemble = hostile.to_owned();
    run.root = hostile.to_owned();
    run.id = "\"><script>".to_owned();
    run.conclusion = hostile.to_owned();
    run.notes = vec![hostile.to_owned()];
    for thrown in &mut run.faults {
        (thrown.path, thrown.expect) = (hostile.to_owned(), hostile.to_owned());
    }
    for lane in &mut run.strategies {
        (lane.path, lane.seats) = (hostile.to_owned(), hostile.to_owned());
    }
    let (assets, person) = (names(), person());
    let plain = ServerPage {
        assets: &assets,
        nonce: "n",
        person: &person,
        tab: crate::document_title::DocumentTitle::default(),
        alerts: None,
        forms: crate::ports::FormTokens::default(),
    };
    let html = lab_run_page(&plain, &run, LabSight { has_many: true, ..SIGHT }, NOW_MS, hostile, hostile);
    assert_eq!(html.matches("<script").count(), 3, "the theme's two and the one that takes the run over");
    assert!(!html.contains('\u{202e}'));
    let gone = lab_gone_page(&plain, hostile);
    assert!(gone.matches("<script").count() == 2 && !gone.contains('\u{202e}'));

    let brief = LabBrief {
        id: hostile.to_owned(),
        state: LabState::Finished,
        ensemble: hostile.to_owned(),
        by: hostile.to_owned(),
        ordered_at_ms: BEGAN_MS,
        clients: 50,
        strategies: vec![Strategy::Predecessor],
        conclusion: hostile.to_owned(),
    };
    let draft = LabDraft {
        clients: hostile.to_owned(),
        seed: hostile.to_owned(),
        ensemble: hostile.to_owned(),
        ..LabDraft::default()
    };
    let html = list(&LabView { draft, error: hostile.to_owned(), ..view(vec![brief]) });
    assert!(html.matches("<script").count() == 2 && !html.replace("value=\"</script>", "").contains("<script>alert"));
}

#[test]
fn the_form_keeps_what_was_typed() {
    let draft = LabDraft {
        clients: "fifty".to_owned(),
        strategies: vec![Strategy::HerdExists],
        in_turn: true,
        ..LabDraft::default()
    };
    let html = list(&LabView { draft, error: "clients must be a whole number".to_owned(), ..view(Vec::new()) });
    assert!(html.contains("value=\"fifty\"") && html.contains("role=\"alert\""));
    assert_eq!(html.matches("checked=\"checked\"").count(), 1);
    assert!(html.contains("<option value=\"in_turn\" selected=\"selected\">"));
}

#[test]
fn a_lab_that_is_off_says_how_to_switch_it_on() {
    let off = LabRuns { ensembles: Vec::new(), ..view(Vec::new()).runs };
    let html = list(&LabView { runs: off.clone(), has_lab: false, ..view(Vec::new()) });
    assert!(html.contains("[lab]") && html.contains("lockscope demo") && !html.contains("/lab/run\""));
    assert!(list(&LabView { runs: off, ..view(Vec::new()) }).contains("wider scope"));
}

/// Writes every page into a folder, to be looked at: `LAB_PAGES=/tmp/lab cargo test -p lockscope-page --features ssr --lib --
/// --ignored lab::tests`.
#[test]
#[ignore = "writes files for people"]
fn pages_to_be_looked_at() {
    let folder = std::path::PathBuf::from(std::env::var("LAB_PAGES").unwrap());
    let css = std::env::var("LAB_CSS").unwrap();
    let (assets, person) = (AssetNames { css, ..names() }, person());
    let plain = ServerPage {
        assets: &assets,
        nonce: "n",
        person: &person,
        tab: crate::document_title::DocumentTitle::default(),
        alerts: None,
        forms: crate::ports::FormTokens::default(),
    };
    let runs = [
        ("opening", opening()),
        ("running", running()),
        ("finished", finished()),
        ("famous", famous()),
        ("stopped", stopped()),
        ("failed", failed()),
        ("broken", broken()),
    ];
    let brief = |run: &LabRun| LabBrief {
        id: run.id.clone(),
        state: run.state,
        ensemble: run.ensemble.clone(),
        by: run.by.clone(),
        ordered_at_ms: run.ordered_at_ms,
        clients: run.order.clients,
        strategies: run.order.strategies.clone(),
        conclusion: run.conclusion.clone(),
    };
    let briefs = vec![brief(&finished()), brief(&stopped()), brief(&failed())];
    for (name, run) in runs {
        let html = lab_run_page(&plain, &run, SIGHT, NOW_MS, "http://127.0.0.1:8080/lab?run=00ff00ff00ff00ff", "");
        std::fs::write(folder.join(format!("{name}.html")), html).unwrap();
    }
    let full = view(briefs);
    let off = LabRuns { ensembles: Vec::new(), clients_max: 500, runs: Vec::new() };
    for (name, view) in [
        ("list", full.clone()),
        ("viewer", LabView { may_run: false, ..full.clone() }),
        ("off", LabView { runs: off, has_lab: false, ..full }),
    ] {
        std::fs::write(folder.join(format!("{name}.html")), lab_page(&plain, &view)).unwrap();
    }
}
