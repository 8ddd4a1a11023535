//! Instants as people read them: on the clock of whoever looks, or in UTC. The server does not know that clock, so a page
//! begins in UTC and turns to local time once the browser has it.

use leptos::prelude::*;

use super::words;
use crate::browser::{store, stored};
use crate::erase::{effect, view};
use crate::follow::followed;
use crate::format::date;
use crate::live::Live;
use crate::past;

const KEY: &str = "lockscope.time";

#[derive(Clone, Debug, PartialEq, Eq)]
enum Zone {
    Utc,
    /// The browser's, by the name it gives it.
    Local(String),
}

/// The zone in which the page shows instants; a context of the app.
#[derive(Clone, Copy)]
pub(crate) struct ShownZone(RwSignal<Zone>);

impl ShownZone {
    /// UTC until the browser has taken the page over.
    pub(crate) fn new() -> Self {
        let zone = RwSignal::new(Zone::Utc);
        effect(move || zone.set(if is_utc() { Zone::Utc } else { local() }));
        Self(zone)
    }

    fn of_app() -> Self {
        use_context().unwrap_or_else(|| Self(RwSignal::new(Zone::Utc)))
    }

    /// An instant; with its day when that is not today.
    fn text(self, at_ms: i64, now_ms: i64) -> String {
        match followed(self.0) {
            Zone::Utc => words::utc(&shortened(at_ms, now_ms)),
            Zone::Local(_) => shortened(shifted_ms(at_ms), shifted_ms(now_ms)),
        }
    }
}

/// UTC is what was asked for.
fn is_utc() -> bool {
    stored(KEY).as_deref() == Some("utc")
}

/// An instant whose UTC reads as the local time of `at_ms`.
fn shifted_ms(at_ms: i64) -> i64 {
    // Of that instant, not of now: summer time ends.
    let minutes = js_sys::Date::new(&(at_ms as f64).into()).get_timezone_offset();
    at_ms - minutes as i64 * 60_000
}

/// The browser's zone, by its name in the tz database.
fn local() -> Zone {
    let format = js_sys::Intl::DateTimeFormat::new(&js_sys::Array::new(), &js_sys::Object::new());
    let name = js_sys::Reflect::get(&format.resolved_options(), &"timeZone".into()).ok();
    Zone::Local(name.and_then(|name| name.as_string()).unwrap_or_else(|| words::LOCAL.to_owned()))
}

/// The time of day, behind the day where that differs from that of `now_ms`. Both are counted as if in UTC.
fn shortened(at_ms: i64, now_ms: i64) -> String {
    const DAY_MS: i64 = 86_400_000;
    let whole = date(at_ms);
    let text = whole.trim_end_matches(" UTC");
    let is_today = now_ms == 0 || at_ms.div_euclid(DAY_MS) == now_ms.div_euclid(DAY_MS);
    let clock = if is_today { text.split_once(' ').map(|(_, clock)| clock) } else { None };
    clock.unwrap_or(text).to_owned()
}

/// An instant: local time, and UTC on hover.
#[component]
pub(crate) fn Instant(at_ms: i64) -> AnyView {
    if past::is_shown() {
        return stamp(at_ms);
    }
    let (zone, live) = (ShownZone::of_app(), Live::of_app());
    // Only its day matters, which is another once a day.
    let today = Memo::new(move |_| live.now_ms().div_euclid(3_600_000) * 3_600_000);
    let utc = date(at_ms);
    view! { <time datetime=machine(&utc) title=utc>{move || zone.text(at_ms, today.get())}</time> }
}

fn machine(utc: &str) -> String {
    utc.replacen(' ', "T", 1).replace(" UTC", "Z")
}

/// An instant of a record, with its day. The server draws it in UTC, and the script of its pages turns it into local time;
/// where the browser draws, it does so itself.
pub(crate) fn stamp(at_ms: i64) -> AnyView {
    let utc = date(at_ms);
    let is_local = cfg!(feature = "hydrate") && !is_utc();
    let shown = if is_local { date(shifted_ms(at_ms)).trim_end_matches(" UTC").to_owned() } else { utc.clone() };
    view! { <time datetime=machine(&utc) title=utc data-stamp="">{shown}</time> }
}

/// The switch's work, and that of every `stamp`, on pages that have none of the page's code: in the same words.
#[cfg(feature = "ssr")]
pub(crate) const SCRIPT: &str = "{const b=document.querySelector('[data-testid=zone]'),k='lockscope.time',p=n=>String(n).padStart(2,'0'),\
    n=Intl.DateTimeFormat().resolvedOptions().timeZone??'local',\
    local=d=>`${d.getFullYear()}-${p(d.getMonth()+1)}-${p(d.getDate())} ${p(d.getHours())}:${p(d.getMinutes())}:${p(d.getSeconds())}`;\
    let utc=false;try{utc=localStorage.getItem(k)==='utc'}catch{}\
    const show=()=>{for(const t of document.querySelectorAll('time[data-stamp]'))t.textContent=utc?t.title:local(new Date(t.dateTime));\
    const l=`Times are in ${utc?'UTC':n}. Switch to ${utc?'local time':'UTC'}`;b.title=l;b.setAttribute('aria-label',l);b.querySelector('.tool-word').textContent=utc?'UTC':n};\
    show();b.addEventListener('click',()=>{utc=!utc;try{if(utc)localStorage.setItem(k,'utc');else localStorage.removeItem(k)}catch{}show()})}";

#[component]
pub(crate) fn ZoneSwitch() -> AnyView {
    let ShownZone(zone) = ShownZone::of_app();
    let switch = move |_| {
        let next = if *zone.read_untracked() == Zone::Utc { local() } else { Zone::Utc };
        store(KEY, (next == Zone::Utc).then_some("utc"));
        zone.set(next);
    };
    let name = move || match &*zone.read() {
        Zone::Utc => words::UTC.to_owned(),
        Zone::Local(name) => name.clone(),
    };
    let label = move || words::zone_switch(&name(), *zone.read() == Zone::Utc);
    view! {
        <button class="tool needs-script" type="button" data-testid="zone" aria-label=label title=label on:click=switch>
            <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
                <circle class="theme-ring" cx="8" cy="8" r="6" />
                <path class="theme-ring" d="M8 4.5V8l2.5 1.5" />
            </svg>
            <span class="tool-word">{name}</span>
        </button>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_day_is_said_when_it_is_not_today() {
        let noon_ms = 1_764_072_000_000;
        assert_eq!(shortened(noon_ms, noon_ms + 3_600_000), "12:00:00");
        assert_eq!(shortened(noon_ms, noon_ms + 86_400_000), "2025-11-25 12:00:00");
        assert_eq!(shortened(noon_ms, 0), "12:00:00");
    }
}
