//! Pages that the server renders alone: whole documents, without script but for what their header does (theme, times, and
//! whether the server is there). The components are the same as those of the live pages. None changes while it is looked at, except for a run of the lab under way,
//! which the browser takes over.

mod alerts;
mod audit;
mod blame;
mod differs;
mod events;
mod find;
mod fleet;
mod help;
mod incident;
mod incidents;
mod lab;
mod release;
mod waits;
mod words;

pub use alerts::{AlertDone, AlertFilter, AlertsView, TriedView, alert_test_page, alerts_page};
pub use audit::{AuditView, audit_page};
pub use blame::{BlameFigures, BlameLinks, BlameView, blame_page};
pub use differs::{ChosenWaits, DiffersFigures, DiffersView, WaitsCell, WaitsRow, differs_page};
pub use events::{EventLine, EventsView, events_page};
pub use find::find_page;
pub use fleet::{FleetView, fleet_page};
pub use help::help_page;
pub use incident::{IncidentView, incident_page};
pub use incidents::{IncidentsView, incidents_page};
pub use lab::{LabDraft, LabView, lab_gone_page, lab_page, lab_run_page, run_url};
pub use release::approve_page;
pub use waits::{RangeWay, WaitsFilter};

use crate::erase::view;
use leptos::prelude::*;

use super::alert_banner::AlertBanner;
use super::current_user::CurrentUser;
use super::document_title::DocumentTitle;
use super::format::visible;
use super::parts::{Header, LinkBanner, Skip, THEME_SCRIPT, ZONE_SCRIPT, ZoneSwitch, link_script, text};
use super::past::no_moment;
use super::ports::{FormTokens, Neighbours, PastView};
use super::shell::{AssetNames, document};
use lockscope_view::Person;

#[derive(Clone, Debug)]
pub struct ServerPage<'a> {
    pub assets: &'a AssetNames,
    /// Of this answer's Content-Security-Policy.
    pub nonce: &'a str,
    pub person: &'a Person,
    /// What is the matter with any lock.
    pub tab: DocumentTitle,
    /// Which alerts fire; None where there are none to tell of, as without anything live.
    pub alerts: Option<AlertBanner>,
    pub forms: FormTokens,
}

fn page<V: IntoView + 'static>(
    plain: &ServerPage<'_>,
    title: &str,
    here: &'static str,
    now_ms: i64,
    content: impl FnOnce() -> V,
) -> String {
    drawn(plain, now_ms, || framed(plain, title, here, content(), (), ()))
}

/// What is answered for a moment of which nothing is known: `why` without its full stop, and where something is known.
pub fn no_moment_page(plain: &ServerPage<'_>, past: &PastView, why: &str, nearest: Neighbours) -> String {
    page(plain, words::NOTHING_KEPT, "", past.now_ms, || no_moment(past, why, nearest))
}

/// A page that the browser keeps current. Without script it is loaded anew every two seconds; so it is where the page's
/// code does not come.
fn moving<V: IntoView + 'static>(
    plain: &ServerPage<'_>,
    title: &str,
    here: &'static str,
    now_ms: i64,
    content: impl FnOnce() -> V,
) -> String {
    let (js, wasm) = (format!("/pkg/{}", plain.assets.js), format!("/pkg/{}", plain.assets.wasm));
    // Both names are of our own build.
    let boot = format!(
        "import init,{{draw_run}} from '{js}';init({{module_or_path:'{wasm}'}}).then(()=>draw_run()).catch(()=>setTimeout(()=>location.reload(),2e3))"
    );
    drawn(plain, now_ms, || {
        let head = view! {
            <noscript inner_html=RELOAD></noscript>
            <link rel="modulepreload" href=js nonce=plain.nonce.to_owned() />
        };
        let tail = view! { <script type="module" nonce=plain.nonce.to_owned() inner_html=boot></script> };
        framed(plain, title, here, content(), head, tail)
    })
}

/// What loads a page anew where there is no script.
const RELOAD: &str = "<meta http-equiv=\"refresh\" content=\"2\">";

/// Components of a page as text, with the tokens of its forms.
fn drawn<V: IntoView>(plain: &ServerPage<'_>, now_ms: i64, view: impl FnOnce() -> V) -> String {
    text(now_ms, || {
        provide_context(plain.forms.clone());
        view()
    })
}

/// The header of pages without any script: those for signing in.
pub fn plain_header() -> String {
    text(0, || {
        view! {
            <Skip />
            <Header here="" visitor=CurrentUser(None) place=() tools=() has_theme=false />
        }
    })
}

/// The document, with something more at the ends of head and body.
fn framed(
    plain: &ServerPage<'_>,
    title: &str,
    here: &'static str,
    content: impl IntoView + 'static,
    head: impl IntoView,
    tail: impl IntoView,
) -> AnyView {
    // The page of alerts has them all.
    let alerts = plain.alerts.clone().filter(|_| here != "alerts");
    let alerts = alerts.map(|alerts| alerts.element(Some(plain.nonce.to_owned())));
    let title = visible(&plain.tab.title(title));
    let css = format!("/pkg/{}", plain.assets.server_pages_css);
    let head = view! {
        <link rel="stylesheet" href=css />
        <title>{title}</title>
        {head}
    };
    let body = view! {
        <Skip />
        <Header here=here visitor=CurrentUser(Some(plain.person.clone())) place=() tools=view! { <ZoneSwitch /> } />
        <LinkBanner />
        <main class="main" id="main" tabindex="-1">{content}</main>
        <script nonce=plain.nonce.to_owned() inner_html=[THEME_SCRIPT, ZONE_SCRIPT, &*link_script()].concat()></script>
        {alerts}
        {tail}
    };
    document(plain.assets, Some(plain.nonce.to_owned()), plain.tab.icon(), head, body)
}
