//! Pins and saved views: kept by the server for who is signed in, so that they are the same in every browser, else in
//! this one. What this one had is taken to the server once; what found no place there stays here.

use js_sys::{Array, JSON};
use leptos::prelude::*;

use crate::browser::{store, stored};
use crate::erase::effect;
use lockscope_view::{Preferences, SAVED_VIEWS_MAX, SavedView, SignedBy};
use wasm_bindgen::JsValue;

use super::remembered::{remember_pins, remembered_pins};
use super::words;
use crate::compact::{self, object};
use crate::current_user::CurrentUser;

const URL: &str = "/api/v1/preferences";
/// Where a browser keeps views: one a line, the name, a tab, the query.
const KEY: &str = "lockscope.views";
/// How often a change is made anew where another page was faster.
const TRIES: u32 = 4;

#[derive(Clone, Copy)]
pub(super) struct Kept {
    now: RwSignal<Preferences>,
    /// The server keeps it, and not this browser.
    pub(super) is_by_server: RwSignal<bool>,
    /// Why the last change lasts no longer than this page.
    pub(super) fault: RwSignal<Option<&'static str>>,
}

enum Refusal {
    /// Another page was faster.
    Changed,
    Failed,
}

impl Kept {
    /// Begins with this browser's, and asks the server.
    pub(super) fn open() -> Self {
        let kept = Self {
            now: RwSignal::new(Preferences::default()),
            is_by_server: RwSignal::new(false),
            fault: RwSignal::new(None),
        };
        let has_name = CurrentUser::of_app().0.is_some_and(|person| person.by != SignedBy::Nobody);
        effect(move || {
            kept.now.set(of_browser());
            if has_name {
                leptos::task::spawn_local(kept.adopt());
            }
        });
        kept
    }

    pub(super) fn views(self) -> Vec<SavedView> {
        self.now.with(|now| now.views.clone())
    }

    /// The pins that the server keeps; None while this browser does.
    pub(super) fn pins_of_server(self) -> Option<Vec<String>> {
        self.is_by_server.get().then(|| self.now.with(|now| now.pins.clone()))
    }

    /// Changes what is kept. The change is made again on what another page put there meanwhile.
    pub(super) fn change(self, change: impl Fn(&mut Preferences) + 'static) {
        self.now.update(&change);
        if self.is_by_server.get_untracked() {
            leptos::task::spawn_local(self.send(change));
        } else {
            write_views(&self.now.get_untracked().views);
        }
    }

    async fn send(self, change: impl Fn(&mut Preferences)) {
        let Some(mut next) = self.now.try_get_untracked() else { return };
        for _ in 0..TRIES {
            match put(&next).await {
                Ok(kept) => {
                    self.now.try_set(kept);
                    self.fault.try_set(None);
                    return;
                }
                Err(Refusal::Failed) => break,
                Err(Refusal::Changed) => {
                    let Ok(kept) = get().await else { break };
                    next = kept;
                    change(&mut next);
                }
            }
        }
        self.fault.try_set(Some(words::NOT_KEPT));
    }

    /// Takes over what the server keeps, with what this browser had. Where it keeps nothing, all stays as it is.
    async fn adopt(self) {
        for _ in 0..TRIES {
            let Ok(mut kept) = get().await else { return };
            let before = kept.clone();
            let rest = kept.take_in(of_browser());
            if kept != before {
                kept = match put(&kept).await {
                    Ok(kept) => kept,
                    Err(Refusal::Changed) => continue,
                    Err(Refusal::Failed) => return,
                };
            }
            write_views(&rest.views);
            remember_pins(&rest.pins);
            self.now.try_set(kept);
            self.is_by_server.try_set(true);
            return;
        }
    }
}

async fn get() -> Result<Preferences, JsValue> {
    compact::decode(&compact::send("GET", URL, None).await?).await
}

async fn put(next: &Preferences) -> Result<Preferences, Refusal> {
    const CHANGED: u16 = 409;
    let body = body(next).map_err(|_| Refusal::Failed)?;
    let response = compact::send("PUT", URL, Some(&body)).await.map_err(|_| Refusal::Failed)?;
    match response.status() {
        CHANGED => Err(Refusal::Changed),
        _ => compact::decode(&response).await.map_err(|_| Refusal::Failed),
    }
}

/// As the API takes it: in JSON.
fn body(next: &Preferences) -> Result<JsValue, JsValue> {
    let views = Array::new();
    for view in &next.views {
        views.push(&object(&[("name", (&*view.name).into()), ("query", (&*view.query).into())])?);
    }
    let pins: Array = next.pins.iter().map(|pin| JsValue::from_str(pin)).collect();
    // Far below what a double holds: one a second for 280 million years.
    let revision = JsValue::from_f64(next.revision as f64);
    let whole = object(&[("revision", revision), ("pins", pins.into()), ("views", views.into())])?;
    JSON::stringify(&whole).map(JsValue::from)
}

fn of_browser() -> Preferences {
    Preferences { revision: 0, pins: remembered_pins(), views: read(&stored(KEY).unwrap_or_default()) }
}

fn write_views(views: &[SavedView]) {
    store(KEY, Some(&written(views)));
}

fn read(text: &str) -> Vec<SavedView> {
    let line = |line: &str| line.split_once('\t').and_then(|(name, query)| SavedView::named(name, query.to_owned()));
    text.lines().filter_map(line).take(SAVED_VIEWS_MAX).collect()
}

fn written(views: &[SavedView]) -> String {
    views.iter().map(|view| format!("{}\t{}\n", view.name, view.query)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_views_of_the_board_are_read_and_what_is_written_is_read_again() {
        let views = read("evil\tjavascript:alert(1)\nfine\t?sort=path\nbroken\n\t?q=x");
        assert_eq!(views, [SavedView { name: "fine".to_owned(), query: "?sort=path".to_owned() }]);
        assert_eq!(read(&written(&views)), views);
    }
}
