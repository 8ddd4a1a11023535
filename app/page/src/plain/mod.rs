//! What the server draws alone. Pages: whole documents made of text, without script but for the remembered theme. And the
//! content of the dialog that releases, which the page asks for. Neither changes while it is looked at, except for a run of
//! the lab, which a follower in the browser keeps in line with what the server draws (see `ui::follow`).

mod audit;
mod find;
mod lab;
mod release;

pub use audit::{AuditView, audit_page};
pub use find::{FindView, find_drawn, find_page};
pub use lab::{LabDraft, LabSight, LabView, lab_drawn, lab_gone_page, lab_page, lab_run_page, run_url};
pub use release::{approve_page, release_plan, release_result};

use super::html::Html;
use super::parts::{audit_link, brand, find_link, visitor_line};
use super::shell::{AssetNames, EARLY};
use super::tab::Tab;
use super::visitor::Visitor;
use lockscope_wire::Person;

/// What every such page needs.
#[derive(Clone, Debug)]
pub struct Plain<'a> {
    /// The style sheet's name and more.
    pub assets: &'a AssetNames,
    /// Of this answer's Content-Security-Policy.
    pub nonce: &'a str,
    /// Who looks.
    pub person: &'a Person,
    /// What is the matter with any lock.
    pub tab: Tab,
}

/// A document around a page's content.
fn document(plain: &Plain<'_>, title: &str, here: &str, inner: Html) -> String {
    framed(plain, title, here, inner, (Html::default(), Html::default()))
}

/// A document whose element `follow` is kept in line with the server. Without script it is loaded anew every two seconds;
/// so it is where the page's code does not come.
fn following(plain: &Plain<'_>, title: &str, here: &str, inner: Html) -> String {
    let (js, wasm) = (format!("/pkg/{}", plain.assets.js), format!("/pkg/{}", plain.assets.wasm));
    let head = vec![
        Html::trusted("<noscript><meta http-equiv=\"refresh\" content=\"2\"></noscript>"),
        Html::tag("link", &[("rel", "modulepreload"), ("href", &js), ("nonce", plain.nonce)], Html::default()),
    ];
    // Both names are of our own build.
    let boot = format!(
        "import init,{{follow_page}} from '{js}';init({{module_or_path:'{wasm}'}}).then(()=>follow_page()).catch(()=>setTimeout(()=>location.reload(),2e3))"
    );
    let tail = Html::tag("script", &[("type", "module"), ("nonce", plain.nonce)], Html::drawn(boot));
    framed(plain, title, here, inner, (Html::all(head), tail))
}

/// Head, navigation and content, with something more at the ends of head and body.
fn framed(plain: &Plain<'_>, title: &str, here: &str, inner: Html, (more, tail): (Html, Html)) -> String {
    let mut head = String::from("<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\">");
    head.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><meta name=\"color-scheme\" content=\"light dark\">");
    let css = format!("/pkg/{}", plain.assets.css);
    let parts = vec![
        Html::tag("script", &[("nonce", plain.nonce)], Html::trusted(EARLY)),
        Html::tag("link", &[("rel", "stylesheet"), ("href", &css)], Html::default()),
        Html::tag("link", &[("rel", "icon"), ("type", "image/svg+xml"), ("href", &plain.tab.icon())], Html::default()),
        Html::of("title", &[], &plain.tab.title(title)),
        more,
    ];
    head.push_str(&Html::all(parts).into_string());
    head.push_str("</head>");
    let visitor = Visitor(Some(plain.person.clone()));
    let link = |name: &str, href: &str, text: &str| {
        Html::of("a", &[("class", "nav-link"), ("href", href), ("aria-current", if name == here { "page" } else { "" })], text)
    };
    let audit = if here == "audit" { link("audit", "/audit", "Audit") } else { audit_link(&visitor) };
    let nav = vec![
        link("board", "/", "Board"),
        link("waits", "/waits", "Waits"),
        link("sessions", "/sessions", "Sessions"),
        link("lab", "/lab", "Lab"),
        link("status", "/status", "Status"),
        audit,
    ];
    let top = vec![
        brand(),
        Html::tag("nav", &[("class", "nav"), ("aria-label", "Pages")], Html::all(nav)),
        Html::tag("div", &[("class", "top-tools")], Html::all(vec![find_link(), Html::tag("div", &[("class", "visitor")], visitor_line(&visitor))])),
    ];
    let body = vec![
        Html::of("a", &[("class", "skip"), ("href", "#main")], "To the content"),
        Html::tag("header", &[("class", "top")], Html::all(top)),
        Html::tag("main", &[("class", "main"), ("id", "main"), ("tabindex", "-1")], inner),
        tail,
    ];
    format!("{head}{}</html>", Html::tag("body", &[], Html::all(body)).into_string())
}
