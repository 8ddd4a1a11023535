//! Accepts connections and answers on them until cancelled. Every wait has an end: for the handshake, for a request's
//! head, for the next request, for a client that does not read.

use std::convert::Infallible;
use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::Request;
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tower_service::Service as _;

use super::stall::Stall;
use super::tls::Tls;
use lockscope_runtime::clock;
use lockscope_runtime::quota::{Full, Permit, Quota, Refusals, neighbourhood};
use lockscope_runtime::shutdown::CancellationToken;

/// Pause after the system could not give a connection: it ran out of something.
const RETRY: Duration = Duration::from_millis(100);
/// Pause between two lines that say that there is no room.
const SAID_AGAIN: Duration = Duration::from_secs(60);

/// Limits of connections; a test may want smaller ones.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// Connections at once; one more is closed as it comes.
    pub connections_max: usize,
    /// Connections of one address at once, a trusted proxy's excepted: it stands for many.
    pub address_connections_max: usize,
    pub proxies: Proxies,
    pub refusals: Arc<Refusals>,
    pub handshake_max: Duration,
    /// How long a request's head may take, from the moment the one before was answered: also how long an idle
    /// connection is kept.
    pub head_max: Duration,
    /// How long a client may take no byte of what it is sent.
    pub stall_max: Duration,
    /// Bytes of a request's head, and of what is buffered of a connection.
    pub head_bytes_max: usize,
    pub headers_max: usize,
    /// Bytes that the kernel may keep for a client.
    pub send_buffer_bytes: usize,
    /// Of these, the bytes that it takes before they can be sent.
    pub unsent_bytes_max: u32,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            connections_max: 8_192,
            address_connections_max: 1_024,
            proxies: Proxies::default(),
            refusals: Arc::default(),
            handshake_max: Duration::from_secs(10),
            head_max: Duration::from_secs(15),
            stall_max: Duration::from_secs(20),
            head_bytes_max: 32 * 1024,
            headers_max: 64,
            send_buffer_bytes: 64 * 1024,
            unsent_bytes_max: 16 * 1024,
        }
    }
}

impl Bounds {
    /// As many connections as that many live sockets need, with as many again for everything else.
    pub fn for_sockets(sockets: u32) -> Self {
        let usual = Self::default();
        let connections = usize::try_from(sockets).unwrap_or(usize::MAX).saturating_mul(2);
        Self { connections_max: usual.connections_max.max(connections), ..usual }
    }
}

#[derive(Clone)]
pub struct Proxies(Arc<dyn Fn(IpAddr) -> bool + Send + Sync>);

impl Proxies {
    pub fn new(is_proxy: impl Fn(IpAddr) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(is_proxy))
    }
}

impl Default for Proxies {
    fn default() -> Self {
        Self::new(|_| false)
    }
}

impl fmt::Debug for Proxies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Proxies")
    }
}

/// How a request came in; an extension of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Where from: the next one to us, perhaps a proxy.
    pub peer: SocketAddr,
    pub local: SocketAddr,
    /// Whether TLS ended here.
    pub is_tls: bool,
}

/// Answers on every connection until `closing`; then no more are taken, and those under way end with their answer.
///
/// # Errors
/// Never; the signature is that of a server.
pub async fn serve(
    listener: TcpListener,
    tls: Option<Tls>,
    router: Router,
    bounds: Bounds,
    closing: CancellationToken,
) -> io::Result<()> {
    let room = Quota::new(bounds.connections_max, bounds.address_connections_max, bounds.refusals.clone());
    let bounds = Arc::new(bounds);
    let mut connections = JoinSet::new();
    let mut said_full_at = None;
    loop {
        let accepted = tokio::select! {
            () = closing.cancelled() => break,
            accepted = listener.accept() => accepted,
            Some(_) = connections.join_next(), if !connections.is_empty() => continue,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // That one went before it was taken, or there is no room for files; others must not suffer.
                if !matches!(error.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset) {
                    tracing::warn!(%error, "a connection could not be taken");
                    tokio::time::sleep(RETRY).await;
                }
                continue;
            }
        };
        let caller = peer.ip().to_canonical();
        let permit = match room.take((!(bounds.proxies.0)(caller)).then(|| neighbourhood(Some(caller)))) {
            Ok(permit) => permit,
            Err(why) => {
                if said_full_at.is_none_or(|said_at: std::time::Instant| said_at.elapsed() > SAID_AGAIN) {
                    said_full_at = Some(clock::instant());
                    say_full(why, caller, &bounds);
                }
                continue;
            }
        };
        connections.spawn(connection(
            stream,
            peer,
            tls.clone(),
            router.clone(),
            bounds.clone(),
            closing.clone(),
            permit,
        ));
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
    Ok(())
}

fn say_full(why: Full, caller: IpAddr, bounds: &Bounds) {
    match why {
        Full::All => tracing::warn!("{} connections are open and no more are taken for now", bounds.connections_max),
        Full::Caller(_) => tracing::warn!(
            "{caller} has {} connections open and gets no more for now; a proxy that stands for many belongs into `proxy_addresses`",
            bounds.address_connections_max
        ),
    }
}

async fn connection(
    stream: TcpStream,
    peer: SocketAddr,
    tls: Option<Tls>,
    router: Router,
    bounds: Arc<Bounds>,
    closing: CancellationToken,
    permit: Permit<IpAddr>,
) {
    let Ok(local) = stream.local_addr() else { return };
    // Frames are small and must not wait for each other.
    let _ = stream.set_nodelay(true);
    // What lies in the kernel is out of our hands, grows old there, and is paid for by nobody: little may.
    let socket = SockRef::from(&stream);
    let _ = socket.set_send_buffer_size(bounds.send_buffer_bytes);
    #[cfg(target_os = "linux")]
    let _ = socket.set_tcp_notsent_lowat(bounds.unsent_bytes_max);
    let arrival = Arrival { peer: canonical(peer), local: canonical(local), is_tls: tls.is_some() };
    match tls {
        None => answer(stream, arrival, router, &bounds, closing).await,
        Some(tls) => {
            let handshake = tokio::time::timeout(bounds.handshake_max, tls.accept(stream));
            let stream = tokio::select! {
                () = closing.cancelled() => return,
                done = handshake => match done {
                    Ok(Ok(stream)) => stream,
                    Ok(Err(error)) => return tracing::debug!(%error, %peer, "TLS handshake failed"),
                    Err(_) => return tracing::debug!(%peer, "a TLS handshake took too long"),
                },
            };
            answer(stream, arrival, router, &bounds, closing).await;
        }
    }
    drop(permit);
}

/// An IPv4 client of a socket for both is known by its IPv4 address.
fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

async fn answer(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    arrival: Arrival,
    router: Router,
    bounds: &Bounds,
    closing: CancellationToken,
) {
    let service = service_fn(move |request: Request<Incoming>| ask(router.clone(), request, arrival));
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(bounds.head_max)
        .max_buf_size(bounds.head_bytes_max)
        .max_header_size(bounds.head_bytes_max)
        .max_headers(bounds.headers_max);
    let stream = TokioIo::new(Stall::new(stream, bounds.stall_max));
    let mut connection = pin!(builder.serve_connection(stream, service).with_upgrades());
    let done = tokio::select! {
        done = connection.as_mut() => done,
        () = closing.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = done {
        tracing::trace!(%error, "a connection ended early");
    }
}

fn ask(
    mut router: Router,
    request: Request<Incoming>,
    arrival: Arrival,
) -> impl Future<Output = Result<Response, Infallible>> {
    let mut request = request.map(Body::new);
    request.extensions_mut().insert(arrival);
    request.extensions_mut().insert(ConnectInfo(arrival.peer));
    // A router is always ready.
    router.call(request)
}
