//! The HTML document around the page.

use crate::erase::view;
use leptos::nonce::use_nonce;
use leptos::prelude::*;
use leptos_meta::MetaTags;
use leptos_router::location::RequestUrl;

use super::alert_banner::AlertBanner;
use super::app::{App, is_in_chunk};
use super::document_title::initial_title;
use super::form_token::form_tokens;
use super::parts::{THEME_SCRIPT, ZONE_SCRIPT};
use super::past;
use super::sections::scripts;

/// Names of the built files, served below `/pkg/`; each holds the hash of its content.
#[derive(Clone, Debug, Default)]
pub struct AssetNames {
    pub css: String,
    /// What pages that the server draws alone have besides.
    pub server_pages_css: String,
    /// The module that loads the page's wasm.
    pub js: String,
    /// The module that fetches the chunks of the code that is not in `wasm`.
    pub loader: String,
    pub wasm: String,
    /// The chunks that all pages but the board and a lock's need.
    pub pages: Vec<String>,
}

/// Runs before the first paint, so that a remembered theme does not flash. And before every other script: from here on
/// no text becomes a script, and none is loaded from elsewhere, whatever finds its way into a page (Trusted Types;
/// markup is escaped where it is made).
const EARLY: &str = "try{const d=document.documentElement.dataset,t=localStorage.getItem('lockscope.theme');if(t==='dark'||t==='light')d.theme=t;if(localStorage.getItem('lockscope.density')==='compact')d.density='compact'}catch{}\
    try{trustedTypes.createPolicy('default',{createHTML:h=>h,createScriptURL:u=>new URL(u,location.href).origin===location.origin?u:null})}catch{}";

/// The document around any page. Every script carries the answer's nonce; there is no inline style.
pub(super) fn document<H: IntoView, B: IntoView>(
    assets: &AssetNames,
    nonce: Option<String>,
    icon: String,
    head: H,
    body: B,
) -> AnyView {
    let css = format!("/pkg/{}", assets.css);
    view! {
        <!DOCTYPE html>
        <html lang="en">
            <head>
                <meta charset="utf-8" />
                <meta name="viewport" content="width=device-width, initial-scale=1" />
                <meta name="color-scheme" content="light dark" />
                <meta name="description" content="Live locks of Apache ZooKeeper: who holds, who waits, and for how long." />
                <script nonce=nonce inner_html=EARLY></script>
                <link rel="stylesheet" href=css />
                <link rel="icon" type="image/svg+xml" href=icon />
                {form_tokens()}
                {head}
            </head>
            <body>{body}</body>
        </html>
    }
}

fn preload(href: String) -> AnyView {
    view! { <link rel="preload" r#as="fetch" r#type="application/wasm" href=href crossorigin="anonymous" /> }
}

/// The document of a live page.
pub fn shell(assets: AssetNames) -> AnyView {
    let nonce = use_nonce().map(|nonce| nonce.to_string());
    let alerts = use_context::<AlertBanner>().map(|alerts| alerts.element(nonce.clone()));
    if past::is_shown() {
        let body = view! {
            <App />
            <script nonce=nonce.clone() inner_html=[THEME_SCRIPT, ZONE_SCRIPT, past::SCRIPT, &scripts()].concat()></script>
            {alerts}
        };
        return document(&assets, nonce, initial_title().icon(), view! { <MetaTags /> }, body);
    }
    let js = format!("/pkg/{}", assets.js);
    let wasm = format!("/pkg/{}", assets.wasm);
    let loader = format!("/pkg/{}", assets.loader);
    let boot = format!("import init,{{hydrate}} from '{js}';init({{module_or_path:'{wasm}'}}).then(()=>hydrate())");
    let url = use_context::<RequestUrl>().and_then(|url| url.parse().ok());
    let chunks = url
        .is_some_and(|url| is_in_chunk(url.path()))
        .then(|| assets.pages.iter().map(|name| preload(format!("/pkg/{name}"))).collect_view());
    let head = view! {
        <link rel="modulepreload" href=js nonce=nonce.clone() />
        <link rel="modulepreload" href=loader nonce=nonce.clone() />
        {preload(wasm)}
        {chunks}
        <MetaTags />
    };
    let body = view! {
        <App />
        <script nonce=nonce.clone() inner_html=scripts()></script>
        {alerts}
        <script type="module" nonce=nonce.clone() inner_html=boot></script>
    };
    document(&assets, nonce, initial_title().icon(), head, body)
}
