//! Relays before a real server: their counts against the member's own, and every fault they make.

use std::sync::Arc;
use std::time::Duration;

use lockscope_lab::relay::{Counts, Meter, Relay};
use lockscope_view::LabRequests;
use zookeeper_client::{Acls, Client, CreateMode, Error};

use crate::harness::{DEADLINE, STEP, Truth, zookeeper};

const TIMEOUT: Duration = Duration::from_secs(6);

fn relay(address: &str, meter: &Arc<Meter>) -> Relay {
    Relay::open(Arc::from([address.to_owned()]), 0, Arc::clone(meter)).unwrap()
}

async fn through(relay: &Relay) -> Client {
    Client::connector().with_session_timeout(TIMEOUT).connect(&relay.address()).await.unwrap()
}

/// Packets that the member received from and sent to a session, by `cons`.
async fn member_counts(server: &lockscope_demo::PrivateZooKeeper, session: i64) -> Option<(u64, u64)> {
    let text = server.four_letter("cons").await.unwrap();
    let line = text.lines().find(|line| line.contains(&format!("sid=0x{session:x},")))?.to_owned();
    let number = |name: &str| {
        let rest = line.split_once(&format!("{name}=")).unwrap().1;
        rest.split(|end: char| !end.is_ascii_digit()).next().unwrap().parse::<u64>().unwrap()
    };
    Some((number("recved"), number("sent")))
}

async fn until<T>(what: &str, mut ask: impl AsyncFnMut() -> Option<T>) -> T {
    let asking = async {
        loop {
            if let Some(found) = ask().await {
                return found;
            }
            tokio::time::sleep(STEP).await;
        }
    };
    tokio::time::timeout(DEADLINE, asking).await.unwrap_or_else(|_| panic!("never: {what}"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn counts_agree_with_the_members() {
    let server = zookeeper().await;
    let truth = Truth::new(&server.address()).await;
    truth.make("/big").await;
    for _ in 0..2_000 {
        truth.queue(&format!("/big/{}-", "x".repeat(60))).await;
    }
    let meter = Arc::new(Meter::default());
    let relay = relay(&server.address(), &meter);
    let client = through(&relay).await;
    let options = CreateMode::Ephemeral.with_acls(Acls::anyone_all());
    for round in 0..50 {
        let path = format!("/n{round}");
        let (_, watcher) = client.check_and_watch_stat(&path).await.unwrap();
        client.create(&path, b"", &options).await.unwrap();
        assert_eq!(client.create(&path, b"", &options).await.unwrap_err(), Error::NodeExists);
        watcher.changed().await;
        client.get_data(&path).await.unwrap();
        client.delete(&path, None).await.unwrap();
    }
    for _ in 0..20 {
        assert_eq!(client.list_children("/big").await.unwrap().len(), 2_000);
    }
    let session = client.session_id().0;
    // A ping may be on its way between the two looks. Each request has its reply.
    let counts = until("the counts agree", async || {
        let (recved, sent) = member_counts(&server, session).await?;
        let counts = meter.snapshot();
        (counts.packets_out == recved && counts.packets_in == sent && sent == recved + counts.events).then_some(counts)
    });
    let counts = counts.await;
    let Counts { requests: LabRequests { create, delete, children, exists, data, other, .. }, events, .. } = counts;
    assert_eq!((create, delete, children, exists, data, other, events), (100, 50, 20, 50, 50, 1, 50), "{counts:?}");
    assert!(counts.bytes_in > 20 * 2_000 * 75, "{counts:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cut_client_never_comes_back() {
    let server = zookeeper().await;
    let truth = Truth::new(&server.address()).await;
    let relay = relay(&server.address(), &Arc::default());
    let client = through(&relay).await;
    let path = "/holder";
    client.create(path, b"", &CreateMode::Ephemeral.with_acls(Acls::anyone_all())).await.unwrap();
    let session = client.session_id().0;
    relay.cut();
    until("the connection is gone", async || member_counts(&server, session).await.is_none().then_some(())).await;
    assert!(truth.client.check_stat(path).await.unwrap().is_some(), "the session is not");
    // Looked at once: later somebody else may have the port.
    until("nobody is let in", async || tokio::net::TcpStream::connect(relay.address()).await.is_err().then_some(()))
        .await;
    relay.unmute();
    until("the session runs out", async || truth.client.check_stat(path).await.unwrap().is_none().then_some(())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_muted_client_is_silent_and_then_told() {
    let server = zookeeper().await;
    let truth = Truth::new(&server.address()).await;
    let relay = relay(&server.address(), &Arc::default());
    let client = through(&relay).await;
    client.create("/holder", b"", &CreateMode::Ephemeral.with_acls(Acls::anyone_all())).await.unwrap();
    relay.mute();
    assert!(member_counts(&server, client.session_id().0).await.is_some(), "its connection stays");
    // A short silence that nothing comes of.
    relay.unmute();
    assert!(client.check_stat("/holder").await.unwrap().is_some());
    let mut states = client.state_watcher();
    relay.mute();
    until("the session runs out", async || truth.client.check_stat("/holder").await.unwrap().is_none().then_some(()))
        .await;
    relay.unmute();
    let told = until("the client is told", async || {
        let state = states.changed().await;
        state.is_terminated().then_some(state)
    });
    told.await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_reply_of_one_create_is_lost() {
    let server = zookeeper().await;
    let truth = Truth::new(&server.address()).await;
    truth.make("/lock").await;
    let meter = Arc::<Meter>::default();
    let relay = relay(&server.address(), &meter);
    let client = through(&relay).await;
    let session = client.session_id();
    relay.drop_next_create_reply();
    // Neither of these is the reply that is lost.
    client.check_stat("/lock").await.unwrap();
    let options = CreateMode::Ephemeral.with_acls(Acls::anyone_all());
    assert_eq!(client.create("/lock", b"", &options).await.unwrap_err(), Error::NodeExists);
    assert!(relay.drops_create_reply());
    let sequential = CreateMode::EphemeralSequential.with_acls(Acls::anyone_all());
    assert_eq!(client.create("/lock/lock-", b"", &sequential).await.unwrap_err(), Error::ConnectionLoss);
    assert!(!relay.drops_create_reply());
    client.create("/lock/lock-", b"", &sequential).await.unwrap();
    let names = truth.client.list_children("/lock").await.unwrap();
    assert_eq!((names.len(), client.session_id()), (2, session), "two znodes of one session");
    assert_eq!(meter.snapshot().requests.create, 3);
}
