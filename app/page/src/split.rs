//! Code splitting: what a page does not need at first is in files of its own, which are fetched when they are wanted, at
//! the latest once the page has nothing else to do. The server has all code, so it draws everything at once.

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use leptos::prelude::*;
pub(crate) use leptos::wasm_split::{SplitLoaderError, wasm_split};

use super::erase::{dynamic, erase, view};

/// Whether the code is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Code {
    Fetched,
    OnItsWay,
    Missing,
}

/// A view of split code: drawn at once where the code is there, else as soon as it is.
pub(crate) fn split_view<F>(
    // Fetches the code.
    fetch: impl Future<Output = Result<(), SplitLoaderError>> + 'static,
    // Draws it; waits for nothing once the code was fetched.
    draw: impl Fn() -> F + Send + 'static,
) -> AnyView
where
    F: Future<Output = Result<AnyView, SplitLoaderError>>,
{
    let mut fetch = Box::pin(fetch);
    let code = RwSignal::new(match now(fetch.as_mut()) {
        Some(fetched) => Code::of(fetched),
        None => Code::OnItsWay,
    });
    if code.get_untracked() == Code::OnItsWay {
        leptos::task::spawn_local(async move {
            let fetched = fetch.await;
            // The view may be gone by then.
            let _ = code.try_set(Code::of(fetched));
        });
    }
    dynamic(move || match code.get() {
        Code::OnItsWay => erase(()),
        Code::Fetched => now(pin!(draw())).and_then(Result::ok).unwrap_or_else(missing),
        Code::Missing => missing(),
    })
}

impl Code {
    fn of(fetched: Result<(), SplitLoaderError>) -> Self {
        if fetched.is_ok() { Self::Fetched } else { Self::Missing }
    }
}

/// What a future gives without waiting.
fn now<T>(future: Pin<&mut impl Future<Output = T>>) -> Option<T> {
    match future.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

/// The server may be gone, or have been replaced by a newer one, whose files have other names.
fn missing() -> AnyView {
    let again = move |_| drop(window().location().reload());
    view! {
        <div class="empty">
            <p role="alert">"This part of the page could not be loaded: the server may be gone, or newer than this page."</p>
            <p><button class="tool" type="button" on:click=again>"Load again"</button></p>
        </div>
    }
}
