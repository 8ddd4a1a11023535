//! One ensemble: link, counters, roots.

use super::members::members;
use crate::format::{count, duration, middle, plural, visible};
use crate::html::Html;
use crate::parts::findings;
use lockscope_wire::{EnsembleStatus, Link, RootState, RootStatus};

fn link_word(link: Link) -> &'static str {
    match link {
        Link::Live => "live",
        Link::Syncing => "reading everything anew",
        Link::Stale => "stale: no answer",
        Link::Lost => "lost: no session",
    }
}

fn root_word(state: RootState) -> &'static str {
    match state {
        RootState::Live => "live",
        RootState::Syncing => "syncing",
        RootState::Stale => "stale",
        RootState::Partial => "partial",
        RootState::Denied => "denied",
        RootState::Gone => "gone",
        RootState::Reduced => "reduced",
    }
}

/// The ensemble.
pub(super) fn ensemble(ensemble: &EnsembleStatus, now_ms: i64) -> Html {
    let why = if ensemble.why.is_empty() { String::new() } else { format!(" ({})", ensemble.why) };
    let link = Html::all(vec![
        Html::of("span", &[("class", "state"), ("data-state", ensemble.link.name())], link_word(ensemble.link)),
        Html::text(" for "),
        Html::age(Some(ensemble.since_ms), false, now_ms),
        Html::of("span", &[("class", "quiet")], &why),
    ]);
    let session = ensemble.session_id.map_or("none".to_owned(), |session| session.to_string());
    let text = |text: String| Html::text(&text);
    let counters = [
        ("Events taken in", ensemble.events.map(count)),
        ("Read anew", ensemble.resyncs.map(|times| plural(times, "time", "times"))),
        ("Events missed", ensemble.missed.map(count)),
        ("Owner unknown", ensemble.owner_unknown.map(|number| format!("{} znodes went before they could be read", count(number)))),
    ];
    let mut pairs = vec![
        Html::pair("Connect string", "mono break-all", Html::text(&ensemble.connect)),
        Html::pair("Link", "", link),
        Html::pair("Session", "mono", text(session)),
        Html::pair("As of zxid", "mono", text(ensemble.zxid.to_string())),
        Html::pair("Clock offset", "", text(offset(ensemble.clock_offset_ms, ensemble.clock_error_ms))),
    ];
    pairs.extend(counters.into_iter().filter_map(|(name, told)| Some(Html::pair(name, "", text(told?)))));
    let columns = [("Path", ""), ("State", ""), ("For", "table-number"), ("Locks", "table-number"), ("Znodes", "table-number"), ("Why", "")];
    let roots = Html::table("table", "", &columns, ensemble.roots.iter().map(|row| root(row, now_ms)).collect());
    let parts = vec![
        Html::of("h2", &[("class", "part-title")], &format!("Ensemble {}", ensemble.name)),
        Html::tag("dl", &[("class", "pairs")], Html::all(pairs)),
        findings(&ensemble.findings, now_ms),
        Html::of("h3", &[("class", "table-caption")], "Roots"),
        roots,
        members(&ensemble.evidence, now_ms),
    ];
    Html::tag("section", &[("class", "part dims"), ("data-key", &ensemble.name)], Html::all(parts))
}

fn offset(ms: Option<i64>, error_ms: Option<i64>) -> String {
    let error = error_ms.map_or("unknown".to_owned(), |ms| format!("{} ms", ms.max(0)));
    match ms {
        None => "not known yet".to_owned(),
        Some(ms) if ms < 0 => format!("ours is {} behind, ±{error}", duration(ms.saturating_neg())),
        Some(ms) => format!("ours is {} ahead, ±{error}", duration(ms)),
    }
}

fn root(root: &RootStatus, now_ms: i64) -> Html {
    let path = visible(&root.path);
    let number = |text: &str| Html::of("td", &[("class", "table-number")], text);
    let state = Html::of("span", &[("class", "state"), ("data-state", root.state.name())], root_word(root.state));
    let cells = vec![
        Html::tag("td", &[("class", "mono"), ("title", &path)], Html::of("bdi", &[], &middle(&path, 60))),
        Html::tag("td", &[], state),
        Html::tag("td", &[("class", "table-number")], Html::age(Some(root.since_ms), false, now_ms)),
        number(&count(root.locks)),
        number(&count(root.znodes)),
        Html::of("td", &[], &root.why),
    ];
    Html::tag("tr", &[("data-key", &path), ("data-root", &path)], Html::all(cells))
}
