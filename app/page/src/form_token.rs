//! What a form that acts carries: a token of the sign-in that its page was drawn for. Markup that found its way into a page
//! has none, so that it can't act by somebody's click.

use leptos::prelude::*;

use crate::erase::view;
use crate::ports::FORM_TOKEN;
#[cfg(feature = "ssr")]
use crate::ports::FormTokens;

/// Forms that the browser draws as well; their tokens are in the document's head.
#[cfg(feature = "ssr")]
const DRAWN_IN_BROWSER: [&str; 3] = ["/sign-out", "/lab/stop", "/lab/fault"];

/// The field; `action`: the form's address.
pub(crate) fn form_token(action: &'static str) -> AnyView {
    view! { <input type="hidden" name=FORM_TOKEN value=token(action) /> }
}

#[cfg(feature = "ssr")]
fn token(action: &str) -> String {
    use_context::<FormTokens>().map(|tokens| tokens.token(action)).unwrap_or_default()
}

#[cfg(not(feature = "ssr"))]
fn token(action: &str) -> String {
    let meta = crate::browser::first::<web_sys::Element>(&format!("head meta[data-form='{action}']"));
    meta.and_then(|meta| meta.get_attribute("content")).unwrap_or_default()
}

#[cfg(feature = "ssr")]
pub(crate) fn form_tokens() -> AnyView {
    let meta = |action: &'static str| {
        let token = Some(token(action)).filter(|token| !token.is_empty())?;
        Some(view! { <meta name=FORM_TOKEN data-form=action content=token /> })
    };
    crate::erase::erase(DRAWN_IN_BROWSER.into_iter().filter_map(meta).collect_view())
}
