//! A client that loses its connection while it queues up: the run goes on without it and says so.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use lockscope_lab::{Lab, LabEnsemble, Limits};
use lockscope_runtime::clock::Clock;
use lockscope_view::{LabState, Strategy};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::drain::{has_ended, order, until};
use super::place;
use crate::harness::zookeeper;

/// What all of the herd try to make.
const FIXED: &[u8] = b"/herd_children/lock";

/// Forwards to a server, but breaks the connection on which the herd's znode is asked for the third time; before the
/// server hears of it.
async fn breaking(target: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let asked = Arc::new(AtomicU32::new(0));
    tokio::spawn(async move {
        while let Ok((inbound, _)) = listener.accept().await {
            tokio::spawn(forward(inbound, target.clone(), Arc::clone(&asked)));
        }
    });
    address
}

async fn forward(inbound: TcpStream, target: String, asked: Arc<AtomicU32>) {
    let Ok(outbound) = TcpStream::connect(target).await else { return };
    let (mut from_client, mut to_client) = inbound.into_split();
    let (mut from_server, mut to_server) = outbound.into_split();
    let requests = async {
        let mut bytes = [0; 4_096];
        while let Ok(count @ 1..) = from_client.read(&mut bytes).await {
            let request = &bytes[..count];
            let is_asked = request.windows(FIXED.len()).any(|text| text == FIXED);
            if is_asked && asked.fetch_add(1, Ordering::Relaxed) == 2 {
                return;
            }
            if to_server.write_all(request).await.is_err() {
                return;
            }
        }
    };
    tokio::select! {
        () = requests => {}
        _ = tokio::io::copy(&mut from_server, &mut to_client) => {}
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_lost_client_ends_no_run() {
    let server = zookeeper().await;
    let connect = breaking(server.address()).await;
    let place = LabEnsemble { connect, ..place(&server) };
    let lab = Lab::new(vec![place], Limits::default(), None, Clock::system());
    let id = lab.start(order(&[Strategy::Predecessor, Strategy::HerdChildren], 8), "ada").unwrap();
    let run = until(&lab, &id, has_ended).await;
    assert_eq!((run.state, run.why.as_str()), (LabState::Finished, ""), "{run:?}");
    let [queue, herd] = &run.strategies[..] else { panic!("{run:?}") };
    assert_eq!((queue.seats.as_str(), queue.watch_events, queue.watch_events_expected), ("dddddddd", 7, Some(7)));
    assert_eq!((herd.seats.matches('l').count(), herd.seats.matches('d').count()), (1, 7), "{herd:?}");
    assert_eq!((herd.acquisitions, herd.acquisitions_wanted, herd.broken), (7, 7, 0), "{herd:?}");
    assert_eq!((herd.watch_events, herd.watch_events_expected), (21, Some(21)), "theory of those that took part");
    assert!(
        run.conclusion.ends_with("1 client of herd_children lost the connection and took no part."),
        "{}",
        run.conclusion
    );
}
