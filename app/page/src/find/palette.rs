//! The palette: a dialog that finds locks, sessions, pages and actions by a few letters. Browser only.

use std::cell::Cell;
use std::time::Duration;

use js_sys::Reflect;
use leptos::html::{Dialog, Input};
use leptos::mount::mount_to_body;
use leptos::prelude::*;
use wasm_bindgen::JsCast as _;
use wasm_bindgen_futures::spawn_local;
use web_sys::{Element, HtmlElement, KeyboardEvent};

use super::{Found, groups, none, partial, words};
use crate::browser::{closest, first};
use crate::clipboard::copy;
use crate::erase::{dynamic, effect, view};
use crate::exact::Exact;
use crate::parts::filled;
use crate::split::{SplitLoaderError, wasm_split};
use lockscope_view::{FindAnswer, FindPlace};

/// Typing pauses this long before it is asked; after no answer it is asked again.
const TYPING_PAUSE: Duration = Duration::from_millis(80);
const NO_ANSWER_PAUSE: Duration = Duration::from_secs(1);

thread_local! {
    /// The palette of this document, once it was wanted.
    static PALETTE: Cell<Option<Palette>> = const { Cell::new(None) };
}

/// Listens for the keys, for buttons that open it, and for buttons that copy; as long as the page lives.
pub(crate) fn listen() {
    window_event_listener(leptos::ev::keydown, |event| {
        if is_shortcut(&event) && !event.alt_key() && !event.shift_key() {
            event.prevent_default();
            open();
        }
    });
    window_event_listener(leptos::ev::click, |event| {
        if let Some(text) = closest(event.target(), "[data-copy]").and_then(|button| button.get_attribute("data-copy"))
        {
            copy(text.replace("{origin}", &location().origin().unwrap_or_default()));
        } else if !event.ctrl_key() && !event.meta_key() && closest(event.target(), "[data-palette]").is_some() {
            event.prevent_default();
            open();
        }
    });
}

fn is_shortcut(event: &KeyboardEvent) -> bool {
    (event.ctrl_key() || event.meta_key()) && event.key().eq_ignore_ascii_case("k")
}

/// Opens it, unless another dialog is in front. It is drawn when it is first wanted, and lives as long as the page.
fn open() {
    if first::<Element>("dialog[open]").is_some() {
        return;
    }
    spawn_local(async {
        // Without its code there is the page that finds: the button is a link to it.
        if draw().await.is_err() {
            let _ = window().location().set_href("/find");
        }
    });
}

/// Draws and opens it: a chunk of its own, with the explanations.
#[wasm_split(dialogs, wasm_split_path = leptos::wasm_split, fallible, preload(fetch))]
pub(crate) fn draw() -> Result<(), SplitLoaderError> {
    if PALETTE.get().is_none() {
        mount_to_body(|| {
            let palette = Palette::new();
            PALETTE.set(Some(palette));
            view! { <PaletteDialog palette=palette /> }
        });
    }
    if let Some(palette) = PALETTE.get() {
        palette.open();
    }
    Ok(())
}

#[derive(Clone, Copy)]
struct Palette {
    dialog: NodeRef<Dialog>,
    input: NodeRef<Input>,
    /// The last answer; None while nothing was asked, an error where there was no answer.
    answer: RwSignal<Option<Result<FindAnswer, ()>>>,
    chosen: RwSignal<usize>,
    /// What is listed answers another text than the one that is typed: nothing of it can be chosen.
    is_old: RwSignal<bool>,
    /// Enter was pressed for what is typed, and waits for the answer.
    enter_waits: StoredValue<bool>,
    /// Rises with each question: only the answer to the last one counts.
    question: StoredValue<u32>,
}

impl Palette {
    fn new() -> Self {
        Self {
            dialog: NodeRef::new(),
            input: NodeRef::new(),
            answer: RwSignal::new(None),
            chosen: RwSignal::new(0),
            is_old: RwSignal::new(true),
            enter_waits: StoredValue::new(false),
            question: StoredValue::new(0),
        }
    }

    fn open(self) {
        let (Some(dialog), Some(input)) = (self.dialog.get_untracked(), self.input.get_untracked()) else { return };
        // Fails only for a dialog that is open already.
        let _ = dialog.show_modal();
        input.set_value("");
        // What was found the last time is not what Enter may open now.
        self.chosen.set(0);
        self.answer.set(None);
        self.is_old.set(true);
        self.enter_waits.set_value(false);
        self.ask();
    }

    fn close(self) {
        if let Some(dialog) = self.dialog.get_untracked() {
            dialog.close();
        }
    }

    /// The text changed: what is listed is not what is meant any more.
    fn typed(self) {
        self.is_old.set(true);
        self.enter_waits.set_value(false);
        self.ask_in(TYPING_PAUSE);
    }

    /// Enter: the chosen one of those that fit what is typed, as soon as they are known.
    fn enter(self) {
        if !self.is_old.get_untracked() {
            self.click_chosen();
        } else if self.input.get_untracked().is_some_and(|input| !input.value().is_empty()) {
            self.enter_waits.set_value(true);
            self.ask();
        }
    }

    fn click_chosen(self) {
        if let Some(option) = option(self.chosen.get_untracked()) {
            option.click();
        }
    }

    fn next_question(self) -> u32 {
        self.question.update_value(|question| *question = question.wrapping_add(1));
        self.question.get_value()
    }

    /// Asks after a pause, unless it is asked before.
    fn ask_in(self, pause: Duration) {
        let mine = self.next_question();
        set_timeout(
            move || {
                if self.question.get_value() == mine && self.dialog.get_untracked().is_some_and(|dialog| dialog.open())
                {
                    self.ask();
                }
            },
            pause,
        );
    }

    fn ask(self) {
        let Some(input) = self.input.get_untracked() else { return };
        let mine = self.next_question();
        let typed = String::from(js_sys::encode_uri_component(&input.value()));
        spawn_local(async move {
            let answer = crate::compact::get::<FindAnswer>(&format!("/find/answer?q={typed}")).await.map_err(drop);
            if self.question.get_value() != mine {
                return;
            }
            let is_there = answer.is_ok();
            if !is_there {
                self.ask_in(NO_ANSWER_PAUSE);
            }
            self.chosen.set(0);
            self.answer.set(Some(answer));
            self.is_old.set(!is_there);
            if is_there && self.enter_waits.get_value() {
                self.enter_waits.set_value(false);
                // By then the options are drawn; by then another text may be typed, too.
                request_animation_frame(move || {
                    if self.question.get_value() == mine {
                        self.click_chosen();
                    }
                });
            }
        });
    }

    /// How many can be chosen.
    fn number(self) -> usize {
        self.answer.with_untracked(|answer| {
            answer.as_ref().and_then(|answer| answer.as_ref().ok()).map_or(0, |answer| found(answer).1)
        })
    }

    fn press(self, event: &KeyboardEvent) {
        // Keys typed here do not reach the page behind.
        event.stop_propagation();
        let is_choosing = !self.is_old.get_untracked();
        let (at, last) = (self.chosen.get_untracked(), self.number().saturating_sub(1));
        match event.key().as_str() {
            "ArrowDown" | "ArrowUp" if !is_choosing => {}
            "ArrowDown" => self.chosen.set(if at >= last { 0 } else { at + 1 }),
            "ArrowUp" => self.chosen.set(if at == 0 { last } else { at - 1 }),
            "Enter" if !event.is_composing() => self.enter(),
            _ if is_shortcut(event) => self.close(),
            _ => return,
        }
        event.prevent_default();
    }
}

/// All that fits, by kind, and how many that are; of the actions those that this page has.
fn found(answer: &FindAnswer) -> (Vec<super::Group>, usize) {
    let groups = groups(answer, |action| action == FindPlace::CopyLink || button(action).is_some());
    let number = groups.iter().map(|(_, found)| found.len()).sum();
    (groups, number)
}

fn button(action: FindPlace) -> Option<HtmlElement> {
    let selector = match action {
        FindPlace::Release => "[data-release]",
        FindPlace::Pause => "[data-testid=pause]",
        FindPlace::Theme => "[data-testid=theme]",
        FindPlace::Keys => "[data-testid=help-open]",
        FindPlace::SignIn => ".visitor a",
        FindPlace::SignOut => ".visitor button",
        _ => return None,
    };
    first(selector)
}

fn id_of(at: usize) -> String {
    format!("palette-{at}")
}

fn option(at: usize) -> Option<HtmlElement> {
    document().get_element_by_id(&id_of(at))?.dyn_into().ok()
}

#[component]
fn PaletteDialog(palette: Palette) -> AnyView {
    effect(move || {
        palette.answer.track();
        let at = palette.chosen.get();
        // By then the options are drawn.
        request_animation_frame(move || {
            if let Some(option) = option(at) {
                let nearest = web_sys::ScrollIntoViewOptions::new();
                // A name and a value that the browser knows.
                let _ = Reflect::set(&nearest, &"block".into(), &"nearest".into());
                option.scroll_into_view_with_scroll_into_view_options(&nearest);
            }
        });
    });
    let active = move || (!palette.is_old.get()).then(|| id_of(palette.chosen.get()));
    let is_old = move || palette.is_old.get();
    let on_click = move |event: leptos::ev::MouseEvent| {
        let dialog = palette.dialog.get_untracked();
        let is_outside = dialog.is_some_and(|dialog| event.target().as_ref() == Some(dialog.as_ref()));
        if is_outside || closest(event.target(), "[role=option]").is_some() {
            // A link is followed by whoever follows links.
            palette.close();
        }
    };
    view! {
        <dialog
            id="palette"
            class="palette"
            aria-label="Find"
            node_ref=palette.dialog
            on:keydown=move |event| palette.press(&event)
            on:click=on_click
        >
            <input
                class="palette-input"
                type="text"
                role="combobox"
                aria-expanded="true"
                aria-autocomplete="list"
                aria-controls="palette-options"
                aria-activedescendant=active
                aria-label="Find a lock, a session, a page"
                placeholder="Lock path, session id, page"
                autocomplete="off"
                spellcheck="false"
                maxlength="400"
                node_ref=palette.input
                on:input=move |_| palette.typed()
            />
            <div class="palette-list" id="palette-list">
                <div class="palette-answer" inert=is_old>
                    {dynamic(move || palette.answer.with(|answer| answer.as_ref().map(|answer| list(palette, answer))))}
                </div>
            </div>
        </dialog>
    }
}

fn list(palette: Palette, answer: &Result<FindAnswer, ()>) -> AnyView {
    let Ok(answer) = answer else {
        return view! { <p class="palette-none" role="status">"No answer from Lockscope."</p> };
    };
    let (groups, number) = found(answer);
    let list = if groups.is_empty() { none() } else { listbox(palette, groups) };
    view! {
        <p class="sr-only" role="status">{words::results(number as u64)}</p>
        {list}
        {partial(answer)}
        <p class="palette-foot" aria-hidden="true">"↑ ↓ choose · Enter open · Esc close"</p>
    }
}

fn listbox(palette: Palette, groups: Vec<super::Group>) -> AnyView {
    let mut places = 0_usize..;
    let mut one = |found: Found| entry(palette, places.next().unwrap_or_default(), found);
    let drawn = groups.into_iter().map(|(name, found)| {
        let entries: Vec<AnyView> = found.into_iter().map(&mut one).collect();
        view! {
            <div role="group" aria-label=name data-key=name>
                <div class="palette-group" aria-hidden="true">{name}</div>
                {entries}
            </div>
        }
    });
    let drawn: Vec<AnyView> = drawn.collect();
    view! { <div role="listbox" id="palette-options" aria-label="Found">{drawn}</div> }
}

fn entry(palette: Palette, at: usize, found: Found) -> AnyView {
    let is_chosen = Signal::derive(move || if palette.chosen.get() == at { "true" } else { "false" });
    let Found { key, href, action, title, inner } = found;
    match action {
        None => view! {
            <a
                class="palette-option"
                role="option"
                aria-selected=is_chosen
                tabindex="-1"
                id=id_of(at)
                data-key=Exact(key)
                href=filled(href)
                title=filled(title)
            >{inner}</a>
        },
        Some(action) => view! {
            <div
                class="palette-option"
                role="option"
                aria-selected=is_chosen
                tabindex="-1"
                id=id_of(at)
                data-key=Exact(key)
                on:click=move |_| execute(action)
            >{inner}</div>
        },
    }
}

fn execute(action: FindPlace) {
    if action == FindPlace::CopyLink {
        copy(location().href().unwrap_or_default());
    } else if let Some(button) = button(action) {
        // The palette is closed first: a button may open another dialog.
        request_animation_frame(move || button.click());
    }
}
