//! Views whose type is forgotten: what is drawn in many places is compiled once.

use leptos::prelude::*;

/// Erases a view's type.
pub(crate) fn erase(view: impl IntoView + 'static) -> AnyView {
    view.into_any()
}

/// A view that follows what it reads. Compiled once for all of them, too.
pub(crate) fn dynamic<V: IntoView + 'static>(view: impl Fn() -> V + Send + 'static) -> AnyView {
    let view: Box<dyn Fn() -> AnyView + Send> = Box::new(move || erase(view()));
    view.into_any()
}
