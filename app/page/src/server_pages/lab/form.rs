//! The form that starts a run, and the presets: small forms of their own, so that they need no script.

use crate::erase::view;
use leptos::prelude::*;

use super::LabView;
use crate::exact::Exact;
use crate::format::visible;
use crate::lab::words::{name, way};
use crate::parts::filled;
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
        name: "50 clients",
        words: "49 events against 1\u{202f}225, one strategy after the other.",
        strategies: &[Strategy::Predecessor, Strategy::HerdChildren],
        clients: 50,
        hold_ms: 100,
        in_turn: true,
    },
    Preset {
        name: "500 clients",
        words: "499 events against 124\u{202f}750, one strategy after the other.",
        strategies: &[Strategy::Predecessor, Strategy::HerdLowest],
        clients: 500,
        hold_ms: 10,
        in_turn: true,
    },
    Preset {
        name: "50 clients, all strategies",
        words: "Three herds and the one that is none, at once.",
        strategies: &Strategy::ALL,
        clients: 50,
        hold_ms: 100,
        in_turn: false,
    },
];

/// The presets.
pub(super) fn presets(view: &LabView) -> AnyView {
    let one = |preset: &Preset| {
        let strategies = preset
            .strategies
            .iter()
            .map(|strategy| view! { <input type="hidden" name="strategies" value=strategy.name() /> })
            .collect_view();
        let is_too_many = preset.clients > view.runs.clients_max;
        let words = if is_too_many {
            format!("Allowed here: {} clients a strategy.", view.runs.clients_max)
        } else {
            preset.words.to_owned()
        };
        view! {
            <form method="post" action="/lab/run">
                {strategies}
                <input type="hidden" name="clients" value=preset.clients.to_string() />
                <input type="hidden" name="hold_ms" value=preset.hold_ms.to_string() />
                <input type="hidden" name="order" value=order(preset.in_turn) />
                <input type="hidden" name="ensemble" value=filled(view.draft.ensemble.clone()).map(Exact) />
                <button class="lab-preset" type="submit" disabled=is_too_many.then_some("disabled")>
                    <span class="lab-preset-name">{preset.name}</span>
                    <span class="lab-preset-words">{words}</span>
                </button>
            </form>
        }
    };
    view! { <div class="lab-presets" data-testid="lab-presets">{PRESETS.iter().map(one).collect_view()}</div> }
}

/// How strategies follow each other, as the form names it.
fn order(in_turn: bool) -> &'static str {
    if in_turn { "in_turn" } else { "at_once" }
}

/// The whole form.
pub(super) fn form(view: &LabView) -> AnyView {
    view! {
        <form class="lab-form" method="post" action="/lab/run" data-testid="lab-form">
            <fieldset class="lab-strategies">
                <legend class="lab-legend-name">"Ways to wait"</legend>
                {Strategy::ALL.map(|strategy| tick(&view.draft, strategy)).collect_view()}
            </fieldset>
            <div class="lab-fields">{fields(view)}</div>
            <button class="tool lab-start" type="submit" data-testid="lab-start">"Start the run"</button>
        </form>
    }
}

fn tick(draft: &LabDraft, strategy: Strategy) -> AnyView {
    let checked = draft.strategies.contains(&strategy).then_some("checked");
    view! {
        <label class="lab-strategy">
            <input class="check-box" type="checkbox" name="strategies" value=strategy.name() checked=checked />
            <span class="lab-strategy-words">
                <span class="lab-strategy-name">{name(strategy)}</span>
                <span class="lab-then">{way(strategy)}</span>
            </span>
        </label>
    }
}

fn fields(view: &LabView) -> AnyView {
    let draft = &view.draft;
    let number = |name: &'static str, label: &'static str, unit: String, value: &str| {
        view! {
            <label class="lab-field">
                <span class="lab-field-name">{label}</span>
                <input
                    class="lab-input"
                    name=name
                    value=filled(visible(value))
                    type="text"
                    inputmode="numeric"
                    autocomplete="off"
                    maxlength="20"
                />
                <span class="lab-then">{unit}</span>
            </label>
        }
    };
    let orders = [("in_turn", "one after the other, to measure them"), ("at_once", "all at once, to see them")];
    let ensembles: Vec<(&str, &str)> = view.runs.ensembles.iter().map(|name| (name.as_str(), name.as_str())).collect();
    view! {
        {number("clients", "Clients", format!("per strategy (max {})", view.runs.clients_max), &draft.clients)}
        {number("rounds", "Rounds", "how often each gets the lock".to_owned(), &draft.rounds)}
        {number("hold_ms", "Hold", "ms, how long each keeps it".to_owned(), &draft.hold_ms)}
        {number("think_ms", "Pause between rounds", "ms, on average".to_owned(), &draft.think_ms)}
        {number("duration_s", "Ends after", "seconds; empty = until done".to_owned(), &draft.duration_s)}
        {number("seed", "Seed", "empty = random".to_owned(), &draft.seed)}
        {choice("order", "Strategies", &orders, order(draft.in_turn))}
        {(ensembles.len() > 1).then(|| choice("ensemble", "Ensemble", &ensembles, &draft.ensemble))}
    }
}

fn choice(name: &'static str, label: &'static str, all: &[(&str, &str)], chosen: &str) -> AnyView {
    let option = |(value, text): &(&str, &str)| {
        let selected = (*value == chosen).then_some("selected");
        view! { <option value=Exact((*value).to_owned()) selected=selected>{visible(text)}</option> }
    };
    view! {
        <label class="lab-field">
            <span class="lab-field-name">{label}</span>
            <select class="lab-input" name=name>{all.iter().map(option).collect_view()}</select>
        </label>
    }
}
