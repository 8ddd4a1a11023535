//! A board on which nothing happens: bytes that a browser is sent all the same.

use super::socket::{Encoding, Socket};
use super::{Setup, lockscope, zookeeper};
use crate::load::{self, enter};
use crate::table::{Goal, Row};
use lockscope_view::{BoardQuery, View};

const ROOT: &str = "/idle";
const LOCKS: usize = 100;

pub(super) async fn run(setup: &Setup) -> Vec<Row> {
    let server = zookeeper().await;
    let client = load::open(&server.address()).await;
    load::make_locks(&client, ROOT, LOCKS).await;
    for lock in 0..LOCKS {
        for _ in 0..=lock % 3 {
            enter(&client, &format!("{ROOT}/{lock}")).await;
        }
    }
    let lockscope = lockscope(setup, &server.address(), &[ROOT.to_owned()]).await;
    let mut rows = Vec::new();
    for encoding in Encoding::ALL {
        let mut socket = Socket::open(&lockscope.url(), View::Board(BoardQuery::default()), encoding).await;
        // What its start brings is over.
        socket.take_for(setup.lasting).await;
        let mut ours = Vec::new();
        for _ in 0..setup.rounds {
            socket.bytes = 0;
            socket.take_for(setup.lasting).await;
            ours.push(socket.bytes as f64 / setup.lasting.as_secs_f64());
        }
        let what = format!("idle board of {LOCKS}, {}", encoding.name());
        rows.push(Row { what, unit: "B/s", ours, peers: Vec::new(), goal: Goal::Limit(0.0) });
    }
    rows
}
