//! One route: how something is asked for, where, what that needs, and who answers.

use axum::http::Method;
use axum::routing::MethodRouter;

use super::Http;
use lockscope_audit::Right;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// GET, and HEAD with it.
    Get,
    Post,
    Put,
    Delete,
    Any,
}

impl Verb {
    pub(super) fn takes(self, method: &Method) -> bool {
        match self {
            Self::Get => matches!(*method, Method::GET | Method::HEAD),
            Self::Post => *method == Method::POST,
            Self::Put => *method == Method::PUT,
            Self::Delete => *method == Method::DELETE,
            Self::Any => true,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Delete => "DELETE",
            Self::Any => "any",
        }
    }
}

/// What a route asks of whoever comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Nothing; it says nothing of any lock.
    Open,
    /// A right, somewhere. Where exactly, the handler asks once it knows what it is about.
    Of(Right),
}

#[derive(Clone, Copy)]
pub(super) enum Answer {
    /// A handler, for scripts.
    Api(fn() -> MethodRouter<Http>),
    /// The same, for a release, which takes as long as it takes and ends by itself.
    Act(fn() -> MethodRouter<Http>),
    /// A handler, for people.
    Form(fn() -> MethodRouter<Http>),
    /// The page of this address, as `lockscope_page` renders it.
    Page,
    File,
}

#[derive(Clone, Copy)]
pub struct Route {
    pub verb: Verb,
    /// Where, with `{…}` for what varies.
    pub path: &'static str,
    pub need: Need,
    pub(super) answer: Answer,
    /// Browsers ask for it by themselves again and again, so that it is no sign of anybody at the keyboard.
    pub(super) is_polled: bool,
    /// Its answer may hold a secret (a one-time link's token, the id of a plan) beside text that the asker chose:
    /// compressed, its length would tell the secret, a guess at a time (BREACH).
    pub(super) has_secret: bool,
    /// Its answer has a limit of its own for how long it may take.
    pub(super) bounds_itself: bool,
    /// A probe: it is asked by any name and as a proxy is.
    pub(super) is_probe: bool,
    /// The parameters that it takes, where no operation of the API describes them.
    pub(super) params: &'static [&'static str],
}

impl Route {
    pub(super) const fn new(verb: Verb, path: &'static str, need: Need, answer: Answer) -> Self {
        let is_act = matches!(answer, Answer::Act(_));
        let (is_polled, has_secret, is_probe) = (false, false, false);
        Self { verb, path, need, answer, is_polled, has_secret, bounds_itself: is_act, is_probe, params: &[] }
    }

    pub(super) const fn taking(self, params: &'static [&'static str]) -> Self {
        Self { params, ..self }
    }

    pub(super) const fn polled(self) -> Self {
        Self { is_polled: true, ..self }
    }

    pub(super) const fn secret(self) -> Self {
        Self { has_secret: true, ..self }
    }

    pub(super) const fn bounding_itself(self) -> Self {
        Self { bounds_itself: true, ..self }
    }

    pub(super) const fn probe(self) -> Self {
        Self { is_probe: true, ..self }
    }

    /// Whoever may not see it is redirected to sign in, and gets an error page.
    pub fn is_for_people(&self) -> bool {
        matches!(self.answer, Answer::Page | Answer::Form(_))
    }

    /// A form that acts for whoever is signed in. Those that sign in bring credentials of their own.
    pub(super) fn acts_by_form(&self) -> bool {
        self.verb == Verb::Post && matches!(self.answer, Answer::Form(_)) && !self.path.starts_with("/sign-in")
    }
}

pub(super) const fn api(verb: Verb, path: &'static str, need: Need, answer: fn() -> MethodRouter<Http>) -> Route {
    Route::new(verb, path, need, Answer::Api(answer))
}

pub(super) const fn act(path: &'static str, need: Need, answer: fn() -> MethodRouter<Http>) -> Route {
    Route::new(Verb::Post, path, need, Answer::Act(answer)).secret()
}

pub(super) const fn form(verb: Verb, path: &'static str, need: Need, answer: fn() -> MethodRouter<Http>) -> Route {
    Route::new(verb, path, need, Answer::Form(answer))
}

pub(super) const fn page(path: &'static str, need: Need) -> Route {
    Route::new(Verb::Get, path, need, Answer::Page)
}

/// A file of the page: the same for everybody, and the page for signing in needs some.
pub(super) const fn file(path: &'static str) -> Route {
    Route::new(Verb::Get, path, Need::Open, Answer::File)
}
