//! The form that replays an incident in the lab.

use crate::erase::view;
use leptos::prelude::*;

use crate::exact::Exact;
use crate::format::visible;
use crate::lab::words::name;
use crate::server_pages::words;
use lockscope_wire::Strategy;

/// Speeds to choose from.
const SPEEDS: [i64; 7] = [1, 2, 5, 10, 20, 50, 100];
/// How long one strategy takes at the speed that is chosen already, if one of them does.
const USUAL_MS: i64 = 60_000;

/// What may be replayed, and where.
#[derive(Clone, Debug)]
pub struct IncidentReplay {
    /// The ensemble that was recorded.
    pub ensemble: String,
    /// The lock where it began.
    pub path: String,
    /// Further locks of the incident, which may be played with it.
    pub further_locks: Vec<String>,
    /// Where the range begins.
    pub from_ms: i64,
    /// Where it ends.
    pub to_ms: i64,
    /// Ensembles in whose lab it may be played; one at least.
    pub labs: Vec<String>,
}

/// The lowest speed at which a range is over soon.
fn usual_speed(lasts_ms: i64) -> i64 {
    SPEEDS.into_iter().find(|speed| lasts_ms / speed <= USUAL_MS).unwrap_or(SPEEDS[SPEEDS.len() - 1])
}

pub(super) fn replay_form(of: &IncidentReplay) -> AnyView {
    let usual = usual_speed(of.to_ms - of.from_ms);
    let strategy = |strategy: Strategy| {
        let is_usual = matches!(strategy, Strategy::Predecessor | Strategy::HerdChildren);
        view! {
            <label class="field">
                <input type="checkbox" name="strategies" value=strategy.name() checked=is_usual />
                <span class="field-name">{name(strategy)}</span>
            </label>
        }
    };
    let speed = |speed: i64| {
        view! { <option value=speed.to_string() selected=speed == usual>{words::replay_speed(speed)}</option> }
    };
    let lab = |lab: &String| view! { <option value=Exact(lab.clone())>{visible(lab)}</option> };
    let labs = (of.labs.len() > 1).then(|| {
        view! {
            <label class="field">
                <span class="field-name">{words::REPLAY_LAB}</span>
                <select class="select" name="lab">{of.labs.iter().map(lab).collect_view()}</select>
            </label>
        }
    });
    let further = |path: &String| {
        let shown = visible(path);
        view! {
            <label class="field">
                <input type="checkbox" name="further_locks" value=Exact(path.clone()) checked=true />
                <span class="field-name"><code><bdi>{shown}</bdi></code></span>
            </label>
        }
    };
    let further = (!of.further_locks.is_empty()).then(|| {
        view! {
            <fieldset class="replay-locks">
                <legend class="quiet">{words::REPLAY_FURTHER}</legend>
                {of.further_locks.iter().map(further).collect_view()}
            </fieldset>
        }
    });
    let only = of.labs.first().filter(|_| of.labs.len() == 1).cloned();
    view! {
        <details class="waits-fold" data-testid="incident-replay">
            <summary>{words::REPLAY}</summary>
            <p class="quiet">{words::REPLAY_LEAD}</p>
            <form method="post" action="/lab/replay">
                <input type="hidden" name="ensemble" value=Exact(of.ensemble.clone()) />
                <input type="hidden" name="path" value=Exact(of.path.clone()) />
                <input type="hidden" name="from_ms" value=of.from_ms.to_string() />
                <input type="hidden" name="to_ms" value=of.to_ms.to_string() />
                {only.map(|lab| view! { <input type="hidden" name="lab" value=Exact(lab) /> })}
                {further}
                <div class="release-buttons">
                    {Strategy::ALL.map(strategy).collect_view()}
                    <label class="field">
                        <span class="field-name">{words::REPLAY_SPEED}</span>
                        <select class="select" name="speed">{SPEEDS.map(speed).collect_view()}</select>
                    </label>
                    {labs}
                    <button class="tool" type="submit">{words::REPLAY}</button>
                </div>
            </form>
        </details>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_range_is_played_faster() {
        assert_eq!([1_000, 60_000, 61_000, 3_600_000, i64::MAX].map(usual_speed), [1, 1, 2, 100, 100]);
    }

    #[test]
    fn there_is_a_choice_of_labs_where_there_are_several() {
        let of = |labs: &[&str]| IncidentReplay {
            ensemble: "a".to_owned(),
            path: "/l\u{202e}".to_owned(),
            further_locks: vec!["/m\u{202e}".to_owned()],
            from_ms: 1,
            to_ms: 600_001,
            labs: labs.iter().map(|lab| (*lab).to_owned()).collect(),
        };
        let html = |labs: &[&str]| replay_form(&of(labs)).to_html();
        let one = html(&["a"]);
        assert!(
            one.contains("type=\"hidden\" name=\"lab\" value=\"a\"") && one.matches("<select").count() == 1,
            "{one}"
        );
        assert!(one.contains("value=\"/l&#8238;\"") && one.contains("<option value=\"10\" selected>"), "{one}");
        assert!(one.contains("name=\"further_locks\" value=\"/m&#8238;\" checked"), "{one}");
        let two = html(&["a", "b"]);
        assert!(two.matches("<select").count() == 2 && !two.contains("type=\"hidden\" name=\"lab\""), "{two}");
    }
}
