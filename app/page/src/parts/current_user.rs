//! Who is signed in, and the way in or out.

use super::words;
use crate::erase::{erase, view};
use leptos::prelude::*;

use crate::current_user::CurrentUser;
use crate::form_token::form_token;
use crate::format::{middle, visible};
use lockscope_view::{Person, SignedBy};

/// Name and role with a way out, or a way in; `has_left`: the sign-in ended meanwhile.
pub(super) fn current_user_line(visitor: &CurrentUser, has_left: bool) -> AnyView {
    match &visitor.0 {
        None => erase(()),
        Some(person) if has_left || person.by == SignedBy::Nobody => {
            erase(person.can_sign_in.then(|| view! { <a class="tool" href="/sign-in" rel="external">"Sign in"</a> }))
        }
        Some(person) => named(person),
    }
}

fn named(person: &Person) -> AnyView {
    let name = visible(&person.name);
    let title = words::named(&name, person.role);
    // A proxy signs people out, not this page.
    let out = (person.by != SignedBy::Proxy).then(|| {
        view! { <form method="post" action="/sign-out">{form_token("/sign-out")}<button class="tool" type="submit">"Sign out"</button></form> }
    });
    view! {
        <span class="visitor-name" title=title data-testid="visitor">
            <bdi>{middle(&name, 20)}</bdi>
            <span class="quiet">{format!(" {}", person.role)}</span>
        </span>
        {out}
    }
}
