//! The way in to the live socket: who may open one, and in which encoding.

use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{WebSocketUpgrade, close_code};
use axum::http::header::{COOKIE, SEC_WEBSOCKET_PROTOCOL};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use hyper::upgrade::OnUpgrade;

use super::caller::Caller;
use super::problem::{ErrorResponse, echo};
use super::socket::{CLOSE_MS_MAX, FRAME_BYTES_MAX, Socket};
use super::socket_stream::{SocketStream, switching};
use super::{Counts, Http, origins};
use crate::listener::Arrival;
use lockscope_live::Encoding;
use lockscope_runtime::quota::Full;
use lockscope_runtime::tasks;

/// A message this long is read to its end, so that its sender gets an error; a longer one cuts the connection.
pub(super) const READ_BYTES_MAX: usize = 4 * FRAME_BYTES_MAX;

pub(super) async fn live(
    State(http): State<Http>,
    arrival: Option<Extension<Arrival>>,
    on_upgrade: Option<Extension<OnUpgrade>>,
    Caller { principal, scope, payloads, .. }: Caller,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, ErrorResponse> {
    // What the request must be is axum's to say; the socket itself is not.
    if let Err(error) = upgrade {
        return Err(ErrorResponse::new(error.status(), format!("{}; open a WebSocket here", error.body_text())));
    }
    let Some(Extension(on_upgrade)) = on_upgrade else {
        return Err(ErrorResponse::bad_request(
            "this connection can't become a WebSocket; open one of HTTP/1.1".to_owned(),
        ));
    };
    if http.draining.is_cancelled() {
        return Err(ErrorResponse::unavailable("the server is shutting down; connect to another"));
    }
    origins::check(
        &headers,
        &http.origins,
        arrival.map(|Extension(arrival)| arrival.local),
        headers.contains_key(COOKIE),
    )?;
    let encoding = choose(&headers)?;
    let Ok(permit) = http.sockets.clone().try_acquire_owned() else {
        return Err(ErrorResponse::unavailable(format!(
            "{} live sockets are open and no more are taken; try again later",
            http.limits.sockets_max
        )));
    };
    let most = http.limits.caller_sockets_max * principal.owner.shares();
    let place = http.caller_sockets.take_of(principal.owner.payers(most, http.limits.sockets_max as usize / 2));
    Counts::add(&http.counts.sockets_opened);
    let answer = switching(&headers, encoding.subprotocol());
    tasks::spawn("live socket", async move {
        let Some(socket) = SocketStream::open(on_upgrade, &http.limits, READ_BYTES_MAX).await else { return };
        match place {
            Ok(place) => {
                Socket::new(http, socket, encoding, principal, (scope, payloads)).run().await;
                drop(place);
            }
            // Sent on the socket: a page learns nothing of an upgrade that was refused.
            Err(why) => {
                let whose = match why {
                    Full::Caller(most) => format!("{most} live sockets of yours"),
                    Full::All => "too many live sockets".to_owned(),
                };
                turn_away(socket, &format!("{whose} are open; close one, then connect again")).await
            }
        }
        drop(permit);
    });
    Ok(answer)
}

async fn turn_away(mut socket: SocketStream, why: &str) {
    // The client may be gone, or never read.
    let _ = tokio::time::timeout(Duration::from_millis(CLOSE_MS_MAX), socket.close(close_code::AGAIN, why)).await;
}

/// The preferred one of those offered; JSON when none is named.
fn choose(headers: &HeaderMap) -> Result<Encoding, ErrorResponse> {
    let offered: Vec<&str> = headers
        .get_all(SEC_WEBSOCKET_PROTOCOL)
        .iter()
        .filter_map(text)
        .flat_map(|list| list.split(','))
        .map(str::trim)
        .collect();
    if offered.is_empty() {
        return Ok(Encoding::Json);
    }
    Encoding::ALL.into_iter().find(|encoding| offered.contains(&encoding.subprotocol())).ok_or_else(|| {
        let [first, second] = Encoding::ALL.map(Encoding::subprotocol);
        ErrorResponse::bad_request(format!(
            "the subprotocol {} is not spoken here; offer {second} or {first}",
            echo(&offered.join(", "))
        ))
    })
}

fn text(value: &HeaderValue) -> Option<&str> {
    value.to_str().ok()
}
