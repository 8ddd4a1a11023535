//! The form that starts a run, and the presets: small forms of their own, so that they need no script.

use super::LabView;
use super::words::{name, way};
use crate::format::visible;
use crate::html::Html;
use lockscope_wire::Strategy;

/// What stands in the form, as it was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabDraft {
    /// Ensemble; empty for the only one.
    pub ensemble: String,
    /// Strategies that are ticked.
    pub strategies: Vec<Strategy>,
    /// Sessions a strategy.
    pub clients: String,
    /// Rounds.
    pub rounds: String,
    /// Hold time, ms.
    pub hold_ms: String,
    /// Time between two rounds, ms.
    pub think_ms: String,
    /// Longest time, s; empty: until all is done.
    pub duration_s: String,
    /// One strategy after the other.
    pub in_turn: bool,
    /// Seed; empty: chosen by the server.
    pub seed: String,
}

impl Default for LabDraft {
    fn default() -> Self {
        Self {
            ensemble: String::new(),
            strategies: vec![Strategy::Predecessor, Strategy::HerdChildren],
            clients: "50".to_owned(),
            rounds: "1".to_owned(),
            hold_ms: "100".to_owned(),
            think_ms: "0".to_owned(),
            duration_s: String::new(),
            in_turn: true,
            seed: String::new(),
        }
    }
}

/// A run that is one click away.
struct Preset {
    name: &'static str,
    words: &'static str,
    strategies: &'static [Strategy],
    clients: u32,
    hold_ms: u32,
    in_turn: bool,
}

const PRESETS: [Preset; 4] = [
    Preset {
        name: "8 clients, to see it",
        words: "Slow enough to follow each hand-off with the eye.",
        strategies: &[Strategy::Predecessor, Strategy::HerdChildren],
        clients: 8,
        hold_ms: 700,
        in_turn: false,
    },
    Preset {
        name: "50",
        words: "49 events against 1\u{202f}225, one strategy after the other.",
        strategies: &[Strategy::Predecessor, Strategy::HerdChildren],
        clients: 50,
        hold_ms: 100,
        in_turn: true,
    },
    Preset {
        name: "The famous 500",
        words: "499 events against 124\u{202f}750, one strategy after the other.",
        strategies: &[Strategy::Predecessor, Strategy::HerdLowest],
        clients: 500,
        hold_ms: 10,
        in_turn: true,
    },
    Preset {
        name: "All four, 50",
        words: "Three herds and the one that is none, at once.",
        strategies: &Strategy::ALL,
        clients: 50,
        hold_ms: 100,
        in_turn: false,
    },
];

fn hidden(name: &'static str, value: &str) -> Html {
    Html::tag("input", &[("type", "hidden"), ("name", name), ("value", value)], Html::default())
}

/// The presets.
pub(super) fn presets(view: &LabView) -> Html {
    let one = |preset: &Preset| {
        let mut parts: Vec<Html> = preset.strategies.iter().map(|strategy| hidden("strategies", strategy.name())).collect();
        parts.push(hidden("clients", &preset.clients.to_string()));
        parts.push(hidden("hold_ms", &preset.hold_ms.to_string()));
        parts.push(hidden("order", if preset.in_turn { "in_turn" } else { "at_once" }));
        parts.push(hidden("ensemble", &view.draft.ensemble));
        let is_too_many = preset.clients > view.runs.clients_max;
        let words = if is_too_many { format!("Allowed here: {} clients a strategy.", view.runs.clients_max) } else { preset.words.to_owned() };
        let inner = vec![Html::of("span", &[("class", "lab-preset-name")], preset.name), Html::of("span", &[("class", "lab-preset-words")], &words)];
        let attributes = [("class", "lab-preset"), ("type", "submit"), ("disabled", if is_too_many { "disabled" } else { "" })];
        parts.push(Html::tag("button", &attributes, Html::all(inner)));
        Html::tag("form", &[("method", "post"), ("action", "/lab/run")], Html::all(parts))
    };
    Html::tag("div", &[("class", "lab-presets"), ("data-testid", "lab-presets")], Html::all(PRESETS.iter().map(one).collect()))
}

/// The whole form.
pub(super) fn form(view: &LabView) -> Html {
    let draft = &view.draft;
    let inner = vec![
        strategies(draft),
        Html::tag("div", &[("class", "lab-fields")], Html::all(fields(view))),
        Html::of("button", &[("class", "tool lab-start"), ("type", "submit"), ("data-testid", "lab-start")], "Start the run"),
    ];
    let form = [("class", "lab-form"), ("method", "post"), ("action", "/lab/run"), ("data-testid", "lab-form")];
    Html::tag("form", &form, Html::all(inner))
}

fn strategies(draft: &LabDraft) -> Html {
    let tick = |strategy: &Strategy| {
        let is_on = draft.strategies.contains(strategy);
        let attributes = [
            ("class", "check-box"),
            ("type", "checkbox"),
            ("name", "strategies"),
            ("value", strategy.name()),
            ("checked", if is_on { "checked" } else { "" }),
        ];
        let words =
            vec![Html::of("span", &[("class", "lab-strategy-name")], name(*strategy)), Html::of("span", &[("class", "lab-then")], way(*strategy))];
        let inner = vec![Html::tag("input", &attributes, Html::default()), Html::tag("span", &[("class", "lab-strategy-words")], Html::all(words))];
        Html::tag("label", &[("class", "lab-strategy")], Html::all(inner))
    };
    let inner = vec![Html::of("legend", &[("class", "lab-legend-name")], "Ways to wait"), Html::all(Strategy::ALL.iter().map(tick).collect())];
    Html::tag("fieldset", &[("class", "lab-strategies")], Html::all(inner))
}

fn fields(view: &LabView) -> Vec<Html> {
    let (draft, most) = (&view.draft, view.runs.clients_max.to_string());
    let number = |name: &'static str, label: &str, unit: &str, value: &str, max: &str| {
        let value = visible(value);
        let attributes = [
            ("class", "lab-input"),
            ("name", name),
            ("value", &*value),
            ("type", "text"),
            ("inputmode", "numeric"),
            ("autocomplete", "off"),
            ("maxlength", "20"),
        ];
        let unit = if max.is_empty() { unit.to_owned() } else { format!("{unit}, up to {max}") };
        let inner = vec![
            Html::of("span", &[("class", "lab-field-name")], label),
            Html::tag("input", &attributes, Html::default()),
            Html::of("span", &[("class", "lab-then")], &unit),
        ];
        Html::tag("label", &[("class", "lab-field")], Html::all(inner))
    };
    let mut out = vec![
        number("clients", "Clients", "a strategy", &draft.clients, &most),
        number("rounds", "Rounds", "how often each gets the lock", &draft.rounds, ""),
        number("hold_ms", "Hold", "ms, how long each keeps it", &draft.hold_ms, ""),
        number("think_ms", "Away", "ms between two rounds, on average", &draft.think_ms, ""),
        number("duration_s", "Ends after", "s; empty: when all is done", &draft.duration_s, ""),
        number("seed", "Seed", "empty: chosen here", &draft.seed, ""),
        choice(
            "order",
            "Strategies",
            &[("in_turn", "one after the other, to measure them"), ("at_once", "all at once, to see them")],
            if draft.in_turn { "in_turn" } else { "at_once" },
        ),
    ];
    if view.runs.ensembles.len() > 1 {
        let names: Vec<(&str, &str)> = view.runs.ensembles.iter().map(|name| (name.as_str(), name.as_str())).collect();
        out.push(choice("ensemble", "Ensemble", &names, &draft.ensemble));
    }
    out
}

fn choice(name: &'static str, label: &str, all: &[(&str, &str)], chosen: &str) -> Html {
    let option =
        |(value, text): &(&str, &str)| Html::of("option", &[("value", value), ("selected", if *value == chosen { "selected" } else { "" })], text);
    let select = Html::tag("select", &[("class", "lab-input"), ("name", name)], Html::all(all.iter().map(option).collect()));
    Html::tag("label", &[("class", "lab-field")], Html::all(vec![Html::of("span", &[("class", "lab-field-name")], label), select]))
}
