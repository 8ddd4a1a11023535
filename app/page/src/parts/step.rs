//! A thing to do, with what helps: a command to copy, a page to open, a release.

use leptos::prelude::*;

use super::{lock_url, session_url, words};
use crate::copy::CopyCommand;
use crate::current_user::CurrentUser;
use crate::erase::{erase, view};
use crate::exact::Exact;
use crate::format::visible;
use crate::past;
use lockscope_view::{Headline, LockProblem, SignedBy, Step, StepAct};

use super::time::Age;

/// Before the path of the znode whose release a link asks for.
pub(crate) const RELEASE_HASH: &str = "#release=";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StepPlace {
    pub(crate) ensemble: String,
    /// The lock whose page this is; empty elsewhere.
    pub(crate) here: String,
}

pub(crate) fn step(step: &Step, place: &StepPlace) -> AnyView {
    view! {
        <span class="step-text">{visible(&step.text)}</span>
        " "
        {step.act.as_ref().map(|act| button(act, place))}
    }
}

pub(crate) fn headline(of: &Headline) -> AnyView {
    let least = of.is_lower_bound.then_some(words::LEAST_SINCE_LOOKED);
    let before = visible(&of.before);
    let after = visible(&of.after);
    match of.since_ms {
        None => erase(format!("{before}{after}")),
        Some(_) => {
            let after = if after.starts_with('(') { format!(" {after}") } else { after };
            view! { {format!("{before} ")}<Age since_ms=of.since_ms least=least />{after} }
        }
    }
}

/// Behind it: who looks at a problem, where somebody does.
pub(crate) fn looked_after(of: &LockProblem) -> Option<AnyView> {
    let by = of.looked_after.as_ref()?;
    Some(view! { " "<span class="looked-after" data-testid="looked-after">{headline(by)}</span> })
}

fn button(act: &StepAct, place: &StepPlace) -> AnyView {
    match act {
        StepAct::Copy { command } => {
            view! {
                <CopyCommand command=command.clone() name="Copy the command" />
                // Where nothing copies it can be read.
                <code class="step-command only-static">{visible(command)}</code>
            }
        }
        StepAct::Session { id } => {
            view! { <a class="tool" href=session_url(&place.ensemble, *id)>"Open its session"</a> }
        }
        StepAct::Waits => view! { <a class="tool" href="/waits">"See who waits for whom"</a> },
        StepAct::Release { lock, znode } => release(lock, znode, place),
    }
}

/// The dialog, the way to it, or why there is none.
fn release(lock: &str, znode: &str, place: &StepPlace) -> AnyView {
    if past::is_shown() {
        return view! { <span class="step-need">"Nothing can be released in the past."</span> };
    }
    let user = CurrentUser::of_app();
    let lock_url = lock_url(&place.ensemble, lock);
    if user.may_release() {
        if *lock == *place.here {
            return view! {
                <button class="tool release-open needs-script" type="button" data-release=Exact(znode.to_owned()) aria-haspopup="dialog">
                    "Release …"
                </button>
            };
        }
        let href = format!("{lock_url}{RELEASE_HASH}{}", encoded(znode));
        return view! { <a class="tool release-open" href=href rel="external">"Release …"</a> };
    }
    let is_signed_in = user.0.as_ref().is_some_and(|person| person.by != SignedBy::Nobody);
    let can_sign_in = user.0.as_ref().is_some_and(|person| person.can_sign_in);
    match (is_signed_in, can_sign_in) {
        (false, true) => {
            let href = format!("/sign-in?next={}", encoded(&lock_url));
            view! {
                <span class="step-need">"Release needs an operator: " <a href=href rel="external">"sign in"</a></span>
            }
        }
        _ => view! { <span class="step-need">"Release needs an operator."</span> },
    }
}

/// A value in an address.
fn encoded(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>().replace('+', "%20")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_stands_within_its_sentence() {
        let text = |after: &str, since_ms| {
            let of = Headline {
                before: "a has held it for".to_owned(),
                since_ms,
                is_lower_bound: false,
                after: after.to_owned(),
            };
            let html = Owner::new_root(None).with(|| headline(&of).to_html()).replace("<!>", "");
            let tag = html
                .split_once('<')
                .zip(html.split_once("\">"))
                .map(|((before, _), (_, after))| format!("{before}{after}"));
            tag.unwrap_or(html.clone()).replace("</span>", "")
        };
        assert_eq!(text("(usually 0.3 s). 4 wait.", Some(5)), "a has held it for … (usually 0.3 s). 4 wait.");
        assert_eq!(text(". 4 wait.", Some(5)), "a has held it for …. 4 wait.");
        assert_eq!(text(".", None), "a has held it for.");
    }

    #[test]
    fn addresses_keep_what_they_hold() {
        assert_eq!(encoded("/lock?path=/a b%+"), "%2Flock%3Fpath%3D%2Fa%20b%25%2B");
    }
}
