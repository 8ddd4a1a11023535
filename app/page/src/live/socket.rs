//! The WebSocket to `/api/v1/live`: opened, watched, opened again. Browser only.

use std::cell::RefCell;
use std::time::Duration;

use leptos::prelude::*;
use wasm_bindgen::JsCast as _;
use wasm_bindgen::closure::Closure;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{BinaryType, CloseEvent, MessageEvent, WebSocket};

use super::{Connection, Live};
use lockscope_view::live::{LiveModel, policy};
use lockscope_view::{SUBPROTOCOL_BIN, decode_frame, encode_frame};

/// A first connection may take this long before it is called lost.
const OPENING_MAX_MS: i64 = 5_000;
/// The status for those who are not known.
const UNKNOWN: u16 = 401;

struct Wire {
    socket: WebSocket,
    // Dropped with the socket; the browser holds only references to them.
    _on_open: Closure<dyn FnMut()>,
    _on_message: Closure<dyn FnMut(MessageEvent)>,
    _on_close: Closure<dyn FnMut(CloseEvent)>,
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.socket.set_onopen(None);
        self.socket.set_onmessage(None);
        self.socket.set_onclose(None);
        // Closing what is closed does nothing.
        let _ = self.socket.close();
    }
}

#[derive(Default)]
struct State {
    wire: Option<Wire>,
    attempt: u32,
    last_frame_at_ms: i64,
    opened_at_ms: i64,
    retry_is_due: bool,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

pub(super) fn start(live: Live) {
    connect(live);
    window_event_listener_untyped("online", move |_| {
        retry_now(live);
        live.look();
    });
    // Whoever comes back to a page looks at it at once: no timer may have run for long.
    for moment in ["pageshow", "focus", "resume", "visibilitychange"] {
        let look = Closure::<dyn FnMut()>::new(move || live.look());
        // Some of these are dispatched to the document alone; what bubbles is looked at twice. Adding a listener cannot
        // fail.
        let _ = document().add_event_listener_with_callback(moment, look.as_ref().unchecked_ref());
        let _ = window().add_event_listener_with_callback(moment, look.as_ref().unchecked_ref());
        // For as long as the page lives.
        look.forget();
    }
}

pub(super) fn flush(live: Live) {
    let frames = live.model.try_update_value(LiveModel::take_outbox).unwrap_or_default();
    STATE.with_borrow(|state| {
        let Some(wire) = &state.wire else { return };
        for bytes in frames.iter().filter_map(encode_frame) {
            // A socket that is closing says so by its close event; the frame is sent again after the reconnect.
            let _ = wire.socket.send_with_u8_array(&bytes);
        }
    });
}

/// Called on every tick: a silent connection counts as lost.
pub(super) fn watch(live: Live) {
    let now_ms = live.local_now_ms();
    let (is_open, silent, slow) = STATE.with_borrow(|state| {
        let is_open = is_connected(live);
        let slow = state.opened_at_ms > 0 && now_ms - state.opened_at_ms > OPENING_MAX_MS;
        (is_open, policy::is_silent(state.last_frame_at_ms, now_ms), slow)
    });
    if is_open && silent {
        lose(live);
    } else if !is_open && slow {
        mark_lost(live);
    }
}

fn is_connected(live: Live) -> bool {
    matches!(live.connection.get_untracked(), Connection::Open | Connection::Back { .. })
}

fn connect(live: Live) {
    let Ok(socket) = WebSocket::new_with_str(&address(), SUBPROTOCOL_BIN) else {
        retry_later(live);
        return;
    };
    socket.set_binary_type(BinaryType::Arraybuffer);
    let on_open = Closure::<dyn FnMut()>::new(move || opened(live));
    let on_message = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| received(live, &event));
    let on_close = Closure::<dyn FnMut(CloseEvent)>::new(move |event: CloseEvent| {
        let is_signed_out = policy::is_signed_out(event.code());
        let end = move || {
            if is_signed_out {
                live.end_sign_in();
            }
            lose(live);
        };
        // The closures may not be dropped while one of them runs.
        set_timeout(end, Duration::ZERO);
    });
    socket.set_onopen(Some(on_open.as_ref().unchecked_ref()));
    socket.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
    socket.set_onclose(Some(on_close.as_ref().unchecked_ref()));
    STATE.with_borrow_mut(|state| {
        state.opened_at_ms = if state.opened_at_ms == 0 { live.local_now_ms() } else { state.opened_at_ms };
        state.wire = Some(Wire { socket, _on_open: on_open, _on_message: on_message, _on_close: on_close });
    });
}

fn opened(live: Live) {
    let now_ms = live.local_now_ms();
    STATE.with_borrow_mut(|state| state.last_frame_at_ms = now_ms);
    live.clocks.update_value(|clocks| clocks.server.forget());
    live.model.update_value(LiveModel::connected);
    flush(live);
}

fn received(live: Live, event: &MessageEvent) {
    let Ok(buffer) = event.data().dyn_into::<js_sys::ArrayBuffer>() else { return };
    let Some(frame) = decode_frame(&js_sys::Uint8Array::new(&buffer).to_vec()) else {
        // Another version of the protocol: this page is of an older server, the next one matches.
        mark_lost(live);
        return;
    };
    let now_ms = live.local_now_ms();
    STATE.with_borrow_mut(|state| {
        state.last_frame_at_ms = now_ms;
        state.opened_at_ms = 0;
        state.attempt = 0;
    });
    live.take(frame);
}

/// Ends this connection; another one is made after a while.
pub(super) fn lose(live: Live) {
    let wire = STATE.with_borrow_mut(|state| state.wire.take());
    drop(wire);
    live.model.update_value(LiveModel::disconnected);
    if is_connected(live) {
        mark_lost(live);
    }
    spawn_local(ask_whether_known(live));
    retry_later(live);
}

/// Why a socket was refused is kept from scripts; a plain request shows whether we are still signed in.
async fn ask_whether_known(live: Live) {
    let Ok(answer) = JsFuture::from(window().fetch_with_str("/api/v1/me")).await else { return };
    let is_unknown = answer.dyn_into::<web_sys::Response>().is_ok_and(|answer| answer.status() == UNKNOWN);
    if is_unknown && !is_connected(live) {
        live.end_sign_in();
    }
}

fn mark_lost(live: Live) {
    if matches!(live.connection.get_untracked(), Connection::Opening | Connection::Open | Connection::Back { .. }) {
        live.connection.set(Connection::Lost);
    }
}

fn retry_later(live: Live) {
    let wait_ms = STATE.with_borrow_mut(|state| {
        if state.retry_is_due {
            return None;
        }
        state.retry_is_due = true;
        state.attempt += 1;
        Some(policy::backoff_ms(state.attempt - 1, js_sys::Math::random()))
    });
    if let Some(wait_ms) = wait_ms {
        set_timeout(move || retry_now(live), Duration::from_millis(wait_ms.unsigned_abs()));
    }
}

fn retry_now(live: Live) {
    let is_closed = STATE.with_borrow_mut(|state| {
        state.retry_is_due = false;
        state.wire.is_none()
    });
    if is_closed {
        connect(live);
    }
}

fn address() -> String {
    let location = location();
    let scheme = if location.protocol().is_ok_and(|scheme| scheme == "https:") { "wss" } else { "ws" };
    format!("{scheme}://{}/api/v1/live", location.host().unwrap_or_default())
}
