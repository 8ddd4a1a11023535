//! The form that starts a run, and the presets: small forms of their own, so that they need no script.

use crate::erase::view;
use leptos::prelude::*;

use super::super::words;
use super::LabView;
use crate::exact::Exact;
use crate::form_token::form_token;
use crate::format::visible;
use crate::lab::words::{name, way};
use crate::parts::{filled, option};
use lockscope_view::Strategy;

/// What stands in the form, as it was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabDraft {
    /// Ensemble; empty for the only one.
    pub ensemble: String,
    pub strategies: Vec<Strategy>,
    /// Sessions a strategy.
    pub clients: String,
    pub rounds: String,
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

struct Preset {
    /// Its name, and what it is for.
    words: (&'static str, &'static str),
    strategies: &'static [Strategy],
    clients: u32,
    hold_ms: u32,
    in_turn: bool,
}

const PRESETS: [Preset; 4] = [
    Preset {
        words: words::PRESETS[0],
        strategies: &[Strategy::Predecessor, Strategy::HerdChildren],
        clients: 8,
        hold_ms: 700,
        in_turn: false,
    },
    Preset {
        words: words::PRESETS[1],
        strategies: &[Strategy::Predecessor, Strategy::HerdChildren],
        clients: 50,
        hold_ms: 100,
        in_turn: true,
    },
    Preset {
        words: words::PRESETS[2],
        strategies: &[Strategy::Predecessor, Strategy::HerdLowest],
        clients: 500,
        hold_ms: 10,
        in_turn: true,
    },
    Preset { words: words::PRESETS[3], strategies: &Strategy::ALL, clients: 50, hold_ms: 100, in_turn: false },
];

pub(super) fn presets(view: &LabView) -> AnyView {
    let one = |preset: &Preset| {
        let strategies = preset
            .strategies
            .iter()
            .map(|strategy| view! { <input type="hidden" name="strategies" value=strategy.name() /> })
            .collect_view();
        let (name, is_for) = preset.words;
        let is_too_many = preset.clients > view.runs.clients_max;
        let words = if is_too_many { words::allowed(view.runs.clients_max) } else { is_for.to_owned() };
        view! {
            <form method="post" action="/lab/run">
                {form_token("/lab/run")}
                {strategies}
                <input type="hidden" name="clients" value=preset.clients.to_string() />
                <input type="hidden" name="hold_ms" value=preset.hold_ms.to_string() />
                <input type="hidden" name="order" value=order(preset.in_turn) />
                <input type="hidden" name="ensemble" value=filled(view.draft.ensemble.clone()).map(Exact) />
                <button class="lab-preset" type="submit" disabled=is_too_many.then_some("disabled")>
                    <span class="lab-preset-name">{name}</span>
                    <span class="lab-preset-words">{words}</span>
                </button>
            </form>
        }
    };
    view! { <div class="lab-presets" data-testid="lab-presets">{PRESETS.iter().map(one).collect_view()}</div> }
}

fn order(in_turn: bool) -> &'static str {
    if in_turn { "in_turn" } else { "at_once" }
}

pub(super) fn form(view: &LabView) -> AnyView {
    view! {
        <form class="lab-form" method="post" action="/lab/run" data-testid="lab-form">
            {form_token("/lab/run")}
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
    let orders = [true, false].map(|in_turn| (order(in_turn), words::order(in_turn)));
    let ensembles: Vec<(&str, &str)> = view.runs.ensembles.iter().map(|name| (name.as_str(), name.as_str())).collect();
    view! {
        {number("clients", words::CLIENTS, words::per_strategy(view.runs.clients_max), &draft.clients)}
        {number("rounds", words::ROUNDS.0, words::ROUNDS.1.to_owned(), &draft.rounds)}
        {number("hold_ms", words::HOLD.0, words::HOLD.1.to_owned(), &draft.hold_ms)}
        {number("think_ms", words::THINK.0, words::THINK.1.to_owned(), &draft.think_ms)}
        {number("duration_s", words::DURATION.0, words::DURATION.1.to_owned(), &draft.duration_s)}
        {number("seed", words::SEED.0, words::SEED.1.to_owned(), &draft.seed)}
        {choice("order", words::STRATEGIES, &orders, order(draft.in_turn))}
        {(ensembles.len() > 1).then(|| choice("ensemble", words::ENSEMBLE, &ensembles, &draft.ensemble))}
    }
}

fn choice(name: &'static str, label: &'static str, all: &[(&str, &str)], chosen: &str) -> AnyView {
    let option = |(value, text): &(&str, &str)| option(value, visible(text), *value == chosen);
    view! {
        <label class="lab-field">
            <span class="lab-field-name">{label}</span>
            <select class="lab-input" name=name>{all.iter().map(option).collect_view()}</select>
        </label>
    }
}
