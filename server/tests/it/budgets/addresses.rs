//! What one address may take: connections and places of sign-ins; and that nobody keeps another out by knowing a name.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use futures_util::future::join_all;
use lockscope_access::{ACCOUNT_FREE, ADDRESS_FREE, DEVICE_MS_MAX, ListenScope, Net, Proxy, Settings};
use lockscope_view::Role;
use lockscope_web::Limits;
use lockscope_web::listener::{Bounds, Proxies};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};

use crate::access::{Answer, House, PASSWORD};
use crate::served::{Served, until};

/// Connects from an address of this machine's own network.
async fn connect(served: &Served, last: u8) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(SocketAddr::from((Ipv4Addr::new(127, 0, 0, last), 0))).unwrap();
    socket.connect(served.address).await.unwrap()
}

/// Whether an answer comes on a new connection; it stays open.
async fn is_answered(served: &Served, last: u8) -> Option<TcpStream> {
    let mut stream = connect(served, last).await;
    // Whoever is refused is cut off while it still sends.
    let _ = stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    let mut answer = Vec::new();
    while !answer.ends_with(b"alive\n") {
        if stream.read_buf(&mut answer).await.unwrap_or(0) == 0 {
            return None;
        }
    }
    Some(stream)
}

#[tokio::test]
async fn an_address_has_its_share_of_connections() {
    let bounds = Bounds {
        address_connections_max: 4,
        proxies: Proxies::new(|ip| ip == IpAddr::from([127, 0, 0, 9])),
        ..Bounds::default()
    };
    let refusals = bounds.refusals.clone();
    let served = Served::start_with(Limits::default(), bounds, None, |http| http).await;
    let mut open = Vec::new();
    for _ in 0..4 {
        open.push(is_answered(&served, 2).await.unwrap());
    }
    for _ in 0..20 {
        assert!(is_answered(&served, 2).await.is_none());
    }
    assert_eq!(refusals.counted(), (0, 20));
    for _ in 0..4 {
        open.push(is_answered(&served, 3).await.unwrap());
    }
    for _ in 0..20 {
        open.push(is_answered(&served, 9).await.expect("a trusted proxy stands for many"));
    }
    open.clear();
    until(async || is_answered(&served, 2).await.is_some()).await;
}

/// A house behind a proxy that tells where people come from.
async fn behind_proxy() -> House {
    let proxy = Proxy { addresses: vec![Net::parse("127.0.0.1").unwrap()], ..Proxy::default() };
    House::new(Settings { proxy: Some(proxy), ..Settings::default() }, ListenScope { is_public: true, is_https: true })
        .await
}

async fn sign_in(house: &House, from: &str, cookie: &str, name: &str, password: &str) -> Answer {
    let body = format!("name={name}&password={}", password.replace(' ', "+"));
    house.ask("POST", "/sign-in", &[("x-forwarded-for", from), ("cookie", cookie)], &body).await
}

/// The cookie of a device that signed in.
fn device(answer: &Answer) -> String {
    let set: Vec<&str> = answer.headers.get_all("set-cookie").iter().map(|value| value.to_str().unwrap()).collect();
    let own = set.iter().find(|set| set.starts_with("__Host-lockscope-device=")).unwrap_or_else(|| panic!("{set:?}"));
    assert!(own.contains("; Path=/; HttpOnly; SameSite=Strict; Secure; Max-Age=15552000"), "{own}");
    own.split(';').next().unwrap().to_owned()
}

#[tokio::test]
async fn who_knows_a_name_keeps_nobody_out_who_signed_in_before() {
    let house = behind_proxy().await;
    house.user("ann", Role::Operator);
    house.user("bob", Role::Operator);
    let signed_in = sign_in(&house, "10.0.0.1", "", "ann", PASSWORD).await;
    let known = device(&signed_in);
    let of_bob = device(&sign_in(&house, "10.0.0.1", "", "bob", PASSWORD).await);
    for _ in 0..ACCOUNT_FREE {
        assert_eq!(sign_in(&house, "9.9.9.9", "", "ann", "wrong guess").await.status, 401);
    }
    for strange in ["", &of_bob, &known.replace("-device=", "-device=0"), &signed_in.cookie()] {
        assert_eq!(sign_in(&house, "10.0.0.1", strange, "ann", PASSWORD).await.status, 429, "{strange}");
    }
    let again = sign_in(&house, "10.0.0.1", &known, "ann", PASSWORD).await;
    assert_eq!(again.status, 303, "a known device is let in while others guess");
    assert_ne!(device(&again), known);
    // Neither does the address count for it: the attacker may be in the same house.
    for at in 0..ADDRESS_FREE {
        let _ = sign_in(&house, "10.0.0.1", "", &format!("u{at}"), "wrong guess").await;
    }
    assert_eq!(sign_in(&house, "10.0.0.1", "", "bob", PASSWORD).await.status, 429);
    assert_eq!(sign_in(&house, "10.0.0.1", &known, "ann", PASSWORD).await.status, 303);
    // A stolen cookie is a limit of its own, and opens nothing.
    for _ in 0..ACCOUNT_FREE {
        assert_eq!(sign_in(&house, "9.9.9.9", &known, "ann", "wrong guess").await.status, 401);
    }
    assert_eq!(sign_in(&house, "9.9.9.9", &known, "ann", PASSWORD).await.status, 429);
    assert_eq!(house.me(&[("cookie", &known)]).await, "401");
    house.clock.set_ms(house.clock.now_ms() + DEVICE_MS_MAX);
    assert_eq!(sign_in(&house, "10.0.0.1", &known, "ann", PASSWORD).await.status, 303, "all is forgotten");
}

#[tokio::test]
async fn sign_ins_of_one_address_leave_places_for_others() {
    let house = behind_proxy().await;
    house.user("ann", Role::Operator);
    let good = async {
        for _ in 0..3 {
            assert_eq!(sign_in(&house, "10.0.0.1", "", "ann", PASSWORD).await.status, 303);
        }
    };
    let abuse = async {
        let names: Vec<String> = (0..ADDRESS_FREE).map(|at| format!("u{at}")).collect();
        let tries = names.iter().map(|name| sign_in(&house, "9.9.9.9", "", name, "wrong guess"));
        join_all(tries).await.iter().map(|answer| answer.status).collect::<Vec<_>>()
    };
    let (statuses, ()) = tokio::join!(abuse, good);
    assert!(statuses.contains(&401) && statuses.iter().all(|status| matches!(status, 401 | 503)), "{statuses:?}");
    assert!(statuses.contains(&503), "one address took more places than its share: {statuses:?}");
}
