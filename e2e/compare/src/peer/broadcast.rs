//! A bare WebSocket server of axum: one line of standard input goes to all who are connected. What sending costs by
//! itself.

use std::convert::Infallible;

use axum::Router;
use axum::extract::WebSocketUpgrade;
use axum::extract::ws::{Message, WebSocket};
use axum::response::Response;
use axum::routing::get;
use bytes::Bytes;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::TcpListener;
use tokio::sync::broadcast::{Sender, channel};

/// Messages that a slow one may be behind.
const BEHIND_MAX: usize = 64;

/// Listens on a free port, which it prints, until standard input closes.
#[tokio::main]
pub(crate) async fn serve() {
    let sender = channel::<Bytes>(BEHIND_MAX).0;
    let of_routes = sender.clone();
    let upgrade = async move |upgrade: WebSocketUpgrade| -> Result<Response, Infallible> {
        Ok(upgrade.on_upgrade(move |socket| pass_on(socket, of_routes)))
    };
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    println!("{}", listener.local_addr().unwrap());
    let router = Router::new().route("/api/v1/live", get(upgrade));
    tokio::spawn(async move { axum::serve(listener, router).await });
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        // Nobody may be connected.
        let _ = sender.send(line.into());
    }
}

async fn pass_on(mut socket: WebSocket, sender: Sender<Bytes>) {
    let mut messages = sender.subscribe();
    loop {
        tokio::select! {
            message = messages.recv() => {
                let Ok(bytes) = message else { return };
                if socket.send(Message::Binary(bytes)).await.is_err() {
                    return;
                }
            }
            came = socket.recv() => if came.is_none_or(|came| came.is_err()) { return },
        }
    }
}
