//! Why somebody was not signed in by OpenID Connect. What a provider said is cut and made visible; what is secret is
//! taken out, whoever wrote it there.

use lockscope_view::visible;

const SAID_CHARS_MAX: usize = 200;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenIdFault {
    /// The provider can't be asked, or makes no sense.
    #[error("{0}")]
    Provider(String),
    /// It was asked, and this is nobody for us.
    #[error("{0}")]
    Refused(String),
}

impl OpenIdFault {
    pub(super) fn provider(why: &str) -> Self {
        Self::Provider(format!("the OpenID provider can't be used: {}; try again, or ask who runs it", said(why)))
    }

    pub(super) fn refused(why: &str, remedy: &str) -> Self {
        Self::Refused(format!("not signed in: {}; {remedy}", said(why)))
    }

    pub(super) fn without(self, secrets: &[&str]) -> Self {
        let clean = |text: String| {
            secrets
                .iter()
                .filter(|secret| !secret.is_empty())
                .fold(text, |text, secret| text.replace(&said(secret), "\u{2026}").replace(secret, "\u{2026}"))
        };
        match self {
            Self::Provider(text) => Self::Provider(clean(text)),
            Self::Refused(text) => Self::Refused(clean(text)),
        }
    }
}

/// What came from outside, in one piece and with nothing hidden in it.
pub(super) fn said(text: &str) -> String {
    let text = visible(text.trim());
    match text.char_indices().nth(SAID_CHARS_MAX) {
        None => text,
        Some((at, _)) => format!("{}\u{2026}", text.get(..at).unwrap_or_default()),
    }
}

/// An error with what caused it.
pub(super) fn whole(error: &dyn std::error::Error) -> String {
    const CAUSES_MAX: usize = 8;
    let causes = std::iter::successors(error.source(), |error| error.source()).take(CAUSES_MAX);
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}
