//! The whole page over made-up locks, for looking at it: every verdict, a queue of 1,000, names that try to break the
//! layout or the page. Feed, socket and pages are the real ones; only the model behind them is invented.
//!
//! `cargo run -p lockscope --example fixture_site -- [live|crowd|many|passing|empty|syncing|stale|unreached|denied] [ADDRESS [TURN_MS]]`
#![recursion_limit = "512"]

mod advice;
mod contenders;
mod evidence;
mod locks;
mod mode;
mod queue_map;
mod rows;
mod sessions;
mod waits;
mod world;

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use lockscope::stdout;
use lockscope_live::{self, Hub, pump};
use lockscope_runtime::clock::Clock;
use lockscope_runtime::shutdown;
use lockscope_web::{Http, Limits, pages};
use tokio::net::TcpListener;

use mode::Mode;
use world::World;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let mode = arguments.next().map_or(Ok(Mode::Live), |name| name.parse())?;
    let address = arguments.next().unwrap_or_else(|| "127.0.0.1:0".to_owned());
    let turn_ms = match arguments.next() {
        Some(ms) => {
            mode.turn_ms().and(Some(ms.parse().context("the third argument is the milliseconds between two turns")?))
        }
        None => mode.turn_ms(),
    };
    let clock = Clock::system();
    let world = Arc::new(World::new(mode, clock.clone()));
    let hub = Hub::new(world.clone(), clock, lockscope_live::random_epoch());
    // Nobody drains this server: Ctrl-C ends it.
    let (_stopper, stop) = shutdown::token();
    pump::start(hub.clone(), stop.clone());
    if let Some(turn_ms) = turn_ms {
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(Duration::from_millis(turn_ms)).await;
                world.turn();
            }
        });
    }
    let listener = TcpListener::bind(&address).await.with_context(|| format!("can't listen on {address}"))?;
    stdout::print(&format!("fixture site listening on http://{}", listener.local_addr()?));
    let router = Http::new(hub.clone(), stop, Limits::default()).router(pages(hub));
    axum::serve(listener, router).await.context("the server ended")
}
