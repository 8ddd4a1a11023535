//! What the pages for signing in look like: the site's own style sheet, plain HTML, no script. Every text that comes
//! from outside is escaped here.

use std::fmt::Write as _;

use crate::assets;
use lockscope_access::{PASSWORD_BYTES_MAX, Principal, Secret};
use lockscope_page::ports::FORM_TOKEN;
use lockscope_view::Role;

pub(super) struct Form<'a> {
    pub(super) next: &'a str,
    pub(super) name: &'a str,
    /// Why it did not work; empty when nothing was tried.
    pub(super) error: &'a str,
    pub(super) who: Option<Principal>,
    /// There is a token or a user to sign in with.
    pub(super) has_accounts: bool,
    pub(super) has_openid: bool,
    /// Nobody there is may release.
    pub(super) is_read_only: bool,
    pub(super) is_demo: bool,
    /// Whoever asks may be its operator.
    pub(super) offers_operator: bool,
}

/// What makes a server more than read-only.
const REMEDY: &str = r#"<p>Make a token on the server, then sign in with it here:</p><pre class="sign-command" tabindex="0">lockscope token new --name NAME --role operator</pre><p>Or name a user, who signs in with a password:</p><pre class="sign-command" tabindex="0">lockscope user set --name NAME --role operator</pre><p class="quiet">Both take effect at once, without a restart, when run by the same user as the server, or with the same <code>--data-dir</code>.</p>"#;

pub(super) fn form(form: &Form<'_>) -> String {
    let mut body = String::new();
    if let Some(Principal { actor, forms, .. }) = &form.who {
        let _ = write!(
            body,
            r#"<section class="sign-part"><p>You are <strong>{}</strong>, {}.</p><form method="post" action="/sign-out"><input type="hidden" name="{FORM_TOKEN}" value="{}"><button class="sign-button sign-second" type="submit">Sign out</button></form><p><a href="{}">Back to the dashboard</a></p></section>"#,
            escape(&actor.name),
            escape(&actor.described()),
            forms.token("/sign-out"),
            escape(form.next),
        );
    }
    if !form.error.is_empty() {
        let _ = write!(body, r#"<p class="sign-error" role="alert">{}</p>"#, escape(form.error));
    }
    if form.is_read_only {
        let who =
            if form.has_accounts || form.has_openid { "nobody it knows may release a lock" } else { "it knows nobody" };
        let _ = write!(
            body,
            r#"<section class="sign-part notice" data-testid="read-only"><p><strong>This server is read-only:</strong> {who}.</p>{REMEDY}</section>"#
        );
    }
    if form.has_openid {
        // A link: browsers would hold a form that leads to another site to this page's policy.
        let to = format!("/sign-in/openid?next={}", encode(form.next));
        let _ = write!(
            body,
            r#"<p class="sign-part"><a class="sign-button" href="{}">Sign in with OpenID Connect</a></p>"#,
            escape(&to)
        );
    }
    if form.offers_operator {
        let _ = write!(
            body,
            r#"<form class="sign-part" method="post" action="/sign-in/once"><input type="hidden" name="next" value="{}"><button class="sign-button" type="submit">Try as operator</button></form>"#,
            escape(form.next)
        );
    } else if form.is_demo {
        body.push_str(r#"<p class="sign-part">Use the link that <code>lockscope demo</code> printed. It works once, for 15 minutes; start the demo again for a new one.</p>"#);
    } else if form.who.is_none() && !form.has_accounts && !form.has_openid && !form.is_read_only {
        let _ = write!(
            body,
            r#"<section class="sign-part notice" data-testid="nobody"><p><strong>Nobody can sign in here yet.</strong> If a proxy signs you in, open the dashboard through it.</p>{REMEDY}</section>"#
        );
    }
    if form.has_accounts {
        let next = escape(form.next);
        let name = escape(form.name);
        let _ = write!(
            body,
            r#"<form class="sign-part" method="post" action="/sign-in"><input type="hidden" name="next" value="{next}"><label class="sign-label" for="name">Name</label><input class="sign-input" id="name" name="name" value="{name}" autocomplete="username" autocapitalize="none" spellcheck="false" maxlength="64" required autofocus><label class="sign-label" for="password">Password</label><input class="sign-input" id="password" name="password" type="password" autocomplete="current-password" maxlength="{PASSWORD_BYTES_MAX}" required><button class="sign-button" type="submit">Sign in</button></form><form class="sign-part sign-other" method="post" action="/sign-in"><input type="hidden" name="next" value="{next}"><label class="sign-label" for="token">Or a token</label><input class="sign-input" id="token" name="token" type="password" autocomplete="off" placeholder="lks_…" maxlength="128" required><button class="sign-button sign-second" type="submit">Sign in with the token</button></form>"#
        );
    }
    document("Sign in", &body, "")
}

pub(super) struct LinkHolder {
    pub(super) name: String,
    pub(super) role: Role,
    /// What the dashboard shows: ensembles by their names, or where they are.
    pub(super) ensembles: Vec<String>,
}

/// The one-time link: a button, so that no preview of the link uses it up.
pub(super) fn once(key: &Secret, holder: &LinkHolder) -> String {
    let of = match holder.ensembles.as_slice() {
        [] => String::new(),
        [one] => format!(", of ZooKeeper <strong>{}</strong>", escape(one)),
        several => format!(", of {} ZooKeeper ensembles", several.len()),
    };
    let body = format!(
        r#"<p>You will be signed in as <strong>{}</strong>, {}{of}.</p><p class="quiet">The link works once, for 15 minutes.</p><form class="sign-part" method="post" action="/sign-in/once"><input type="hidden" name="key" value="{}"><button class="sign-button" type="submit" autofocus>Open the dashboard</button></form>"#,
        escape(&holder.name),
        holder.role,
        escape(key.expose())
    );
    document("Sign in by link", &body, "")
}

/// Takes a token out of the address bar, or the one this tab had before, and sends it. Refused ones are forgotten; a browser
/// that keeps no cookie tries every ten seconds.
const WALL_SCRIPT: &str = "(()=>{const h=location.hash;history.replaceState(null,'',location.pathname);try{const s=sessionStorage,k='lockscope.wall',f=document.forms[0];\
    if(document.querySelector('[role=alert]')){s.removeItem(k);return}\
    const t=h.startsWith('#token=')?decodeURIComponent(h.slice(7)):s.getItem(k);if(!t)return;\
    const go=()=>{s.setItem(k,t);s.setItem(k+'.at',Date.now());f.token.value=t;f.submit()};\
    Date.now()-Number(s.getItem(k+'.at'))<1e4?setTimeout(go,1e4):go()}catch{}})()";

pub(super) fn wall(nonce: &str, error: &str) -> String {
    let fault = if error.is_empty() {
        String::new()
    } else {
        format!(r#"<p class="sign-error" role="alert">{}</p>"#, escape(error))
    };
    let body = format!(
        r#"{fault}<p>Make a token for the screen on the server:</p><pre class="sign-command" tabindex="0">lockscope token new --name wall --role viewer</pre><p>Then open <code>/wall#token=lks_…</code> there, or write it here. It stays in this browser tab.</p><form class="sign-part" method="post" action="/sign-in/wall"><label class="sign-label" for="token">Token</label><input class="sign-input" id="token" name="token" type="password" autocomplete="off" placeholder="lks_…" maxlength="128" required><button class="sign-button" type="submit">Show the wallboard</button></form><p><a href="/sign-in?next=%2Fwall">Sign in otherwise</a></p><script nonce="{}">{WALL_SCRIPT}</script>"#,
        escape(nonce)
    );
    document("Wallboard", &body, "")
}

/// A one-time link that signs nobody in.
pub(super) fn not_once(why: &str) -> String {
    let body = format!(
        r#"<p class="sign-error" role="alert">{}</p><p><a href="/">To the dashboard</a> · <a href="/sign-in">Sign in otherwise</a></p>"#,
        escape(why)
    );
    document("Sign in by link", &body, "")
}

/// For who is known and may not.
pub(super) fn refused(detail: &str) -> String {
    let body = format!(
        r#"<p class="sign-error" role="alert">{}</p><p><a href="/">To the dashboard</a> · <a href="/sign-in">Sign in as somebody else</a></p>"#,
        escape(detail)
    );
    document("Not for this role", &body, "")
}

pub(super) fn unavailable(detail: &str) -> String {
    let body =
        format!(r#"<p class="sign-error" role="alert">{}</p><p><a href="/">To the dashboard</a></p>"#, escape(detail));
    document("Not here", &body, "")
}

/// Asks for the page once more from here.
pub(super) fn again(next: &str) -> String {
    let to = format!("/sign-in?again=1&next={}", encode(next));
    let head = format!(r#"<meta http-equiv="refresh" content="0;url={}">"#, escape(&to));
    document("Sign in", &format!(r#"<p><a href="{}">Go on</a></p>"#, escape(&to)), &head)
}

/// Goes on from here, as somebody who is signed in.
#[cfg(feature = "oidc")]
pub(super) fn arrived(next: &str) -> String {
    let head = format!(r#"<meta http-equiv="refresh" content="0;url={}">"#, escape(next));
    document("Signed in", &format!(r#"<p><a href="{}">Go on to the dashboard</a></p>"#, escape(next)), &head)
}

fn document(title: &'static str, body: &str, head: &str) -> String {
    let css = assets::names()
        .map_or_else(String::new, |names| format!(r#"<link rel="stylesheet" href="/pkg/{}">"#, escape(&names.css)));
    let header = lockscope_page::plain_header();
    format!(
        r#"<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><title>{title} · Lockscope</title>{head}{css}<link rel="icon" type="image/svg+xml" href="/favicon.svg"></head><body>{header}<main class="sign" id="main" tabindex="-1"><h1 class="sign-title">{title}</h1>{body}</main></body></html>"#
    )
}

/// Text inside an element or an attribute. Control and direction characters, which could hide something, are dropped.
fn escape(text: &str) -> String {
    let hides = |char: &char| {
        char.is_control()
            || matches!(char, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
    };
    text.chars().filter(|char| !hides(char)).fold(String::with_capacity(text.len()), |mut out, char| {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
        out
    })
}

/// Text inside a query.
pub(super) fn encode(text: &str) -> String {
    text.bytes().fold(String::with_capacity(text.len()), |mut out, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_from_outside_becomes_markup() {
        let hostile = "\"><script>alert(1)</script>'\u{202e}\n";
        let shown = form(&Form {
            next: hostile,
            name: hostile,
            error: hostile,
            who: None,
            has_accounts: true,
            has_openid: true,
            is_read_only: true,
            is_demo: true,
            offers_operator: true,
        });
        let holder = LinkHolder { name: hostile.to_owned(), role: Role::Viewer, ensembles: vec![hostile.to_owned()] };
        let all = [shown, refused(hostile), again(hostile), once(&Secret::new(hostile.to_owned()), &holder)].concat();
        assert!(!all.contains("<script") && !all.contains('\u{202e}'), "{all}");
    }
}
