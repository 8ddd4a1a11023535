//! Views whose type is forgotten: Leptos compiles what it does with a view (create, take over, change) once for each
//! type of view, and an `Option` or a `Vec` of views is one more type for each kind of element. One type for all makes
//! the page's wasm an eighth smaller.

use leptos::prelude::*;

use crate::follow::leave_with_owner;

/// [`leptos::view!`] that gives an [`AnyView`] whatever is in it. Import it by its name: that goes before Leptos's
/// prelude.
macro_rules! view {
    ($($markup:tt)*) => {
        $crate::erase::Erase::erased(leptos::prelude::view! { $($markup)* })
    };
}
pub(crate) use view;

/// What markup becomes: elements lose their type, a component of ours has lost it before.
pub(crate) trait Erase {
    fn erased(self) -> AnyView;
}

impl<T: RenderHtml + Send + 'static> Erase for View<T> {
    fn erased(self) -> AnyView {
        self.into_inner().into_any()
    }
}

impl Erase for AnyView {
    fn erased(self) -> AnyView {
        self
    }
}

/// Erases the type of a view that is no markup.
pub(crate) fn erase(view: impl IntoView + 'static) -> AnyView {
    view.into_any()
}

/// [`Effect::new`] of what needs nothing of its run before. Compiled once for all of them.
pub(crate) fn effect(run: impl FnMut() + 'static) {
    erased_effect(Box::new(run));
}

fn erased_effect(mut run: Box<dyn FnMut()>) {
    Effect::new(move |_| run());
}

/// A view that follows what it reads. Compiled once for all of them, too.
pub(crate) fn dynamic<V: IntoView + 'static>(view: impl Fn() -> V + Send + 'static) -> AnyView {
    let view: Box<dyn Fn() -> AnyView + Send> = Box::new(move || {
        leave_with_owner();
        erase(view())
    });
    view.into_any()
}
