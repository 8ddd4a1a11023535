//! The HTML document around the page.

use leptos::nonce::use_nonce;
use leptos::prelude::*;
use leptos_meta::MetaTags;

use super::app::App;
use super::tab::first_tab;

/// Names of the built files, served below `/pkg/`; each holds the hash of its content.
#[derive(Clone, Debug, Default)]
pub struct AssetNames {
    /// The style sheet.
    pub css: String,
    /// The module that loads the page's wasm.
    pub js: String,
    /// The page's wasm.
    pub wasm: String,
}

/// Runs before the first paint, so that a remembered theme does not flash. And before every other script: from here on no text
/// becomes a script, and none is loaded from elsewhere, whatever finds its way into a page (Trusted Types; markup is escaped where
/// it is made).
pub(super) const EARLY: &str = "try{const t=localStorage.getItem('lockscope.theme');if(t==='dark'||t==='light')document.documentElement.dataset.theme=t}catch{}\
    try{trustedTypes.createPolicy('default',{createHTML:h=>h,createScriptURL:u=>new URL(u,location.href).origin===location.origin?u:null})}catch{}";

/// The whole document. Every script carries the request's nonce; there is no inline style.
pub fn shell(assets: AssetNames) -> impl IntoView {
    let css = format!("/pkg/{}", assets.css);
    let js = format!("/pkg/{}", assets.js);
    let wasm = format!("/pkg/{}", assets.wasm);
    let boot = format!("import init,{{hydrate}} from '{js}';init({{module_or_path:'{wasm}'}}).then(()=>hydrate())");
    view! {
        <!DOCTYPE html>
        <html lang="en">
            <head>
                <meta charset="utf-8" />
                <meta name="viewport" content="width=device-width, initial-scale=1" />
                <meta name="color-scheme" content="light dark" />
                <meta name="description" content="Live locks of Apache ZooKeeper: who holds, who waits, and for how long." />
                <script nonce=use_nonce() inner_html=EARLY></script>
                <link rel="stylesheet" href=css />
                <link rel="icon" type="image/svg+xml" href=first_tab().icon() />
                <link rel="modulepreload" href=js nonce=use_nonce() />
                <link rel="preload" r#as="fetch" r#type="application/wasm" href=wasm crossorigin="anonymous" />
                <MetaTags />
            </head>
            <body>
                <App />
                <script type="module" nonce=use_nonce() inner_html=boot></script>
            </body>
        </html>
    }
}
