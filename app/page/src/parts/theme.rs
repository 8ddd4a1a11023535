//! Dark, light, or as the system has it; remembered in the browser.

use super::words;
use crate::browser::{store, stored};
use crate::erase::{effect, view};
use leptos::prelude::*;

const KEY: &str = "lockscope.theme";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Theme {
    System,
    Light,
    Dark,
}

impl Theme {
    fn name(self) -> &'static str {
        match self {
            Self::System => "auto",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    fn next(self) -> Self {
        match self {
            Self::System => Self::Dark,
            Self::Dark => Self::Light,
            Self::Light => Self::System,
        }
    }
}

fn remembered() -> Theme {
    match stored(KEY).as_deref() {
        Some("light") => Theme::Light,
        Some("dark") => Theme::Dark,
        _ => Theme::System,
    }
}

fn keep(theme: Theme) {
    let chosen = (theme != Theme::System).then(|| theme.name());
    if let Some(root) = document().document_element() {
        // An attribute of ours: it can't fail.
        let _ = match chosen {
            Some(name) => root.set_attribute("data-theme", name),
            None => root.remove_attribute("data-theme"),
        };
    }
    store(KEY, chosen);
}

/// The switch's work on pages that have none of the page's code: the same round, in the same words.
#[cfg(feature = "ssr")]
pub(crate) const SCRIPT: &str = "{const b=document.querySelector('[data-testid=theme]'),r=document.documentElement,k='lockscope.theme',\
    next=t=>({auto:'dark',dark:'light'})[t]??'auto',now=()=>r.dataset.theme??'auto',\
    show=()=>{b.querySelector('.theme-word').textContent='Theme: '+now();b.setAttribute('aria-label',`Theme: ${now()}. Switch to ${next(now())}`)};\
    show();b.addEventListener('click',()=>{const t=next(now());if(t==='auto')delete r.dataset.theme;else r.dataset.theme=t;\
    try{if(t==='auto')localStorage.removeItem(k);else localStorage.setItem(k,t)}catch{}show()})}";

#[component]
pub(super) fn ThemeSwitch() -> AnyView {
    let theme = RwSignal::new(Theme::System);
    effect(move || theme.set(remembered()));
    let switch = move |_| {
        let next = theme.get_untracked().next();
        keep(next);
        theme.set(next);
    };
    let label = move || words::theme_switch(theme.get().name(), theme.get().next().name());
    view! {
        <button class="tool needs-script" type="button" data-testid="theme" aria-label=label on:click=switch>
            <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
                <circle class="theme-ring" cx="8" cy="8" r="6" />
                <path class="theme-half" d="M8 2a6 6 0 0 1 0 12z" />
            </svg>
            <span class="theme-word">{move || words::theme(theme.get().name())}</span>
        </button>
    }
}
