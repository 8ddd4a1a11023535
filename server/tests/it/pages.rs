//! Pages that the server renders, over a model of our own: whichever worker goes on with a render, whatever a lock is
//! called and whatever panics, a whole page is the answer.

use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Wake, Waker};

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use axum::routing::get;
use futures_util::future::join_all;
use lockscope_access::Access;
use lockscope_live::Hub;
use lockscope_runtime::clock::Clock;
use lockscope_view::{Epoch, Scope};
use lockscope_web::{Limits, pages};
use tower_service::Service as _;

use crate::harness::DEADLINE;
use crate::served::{Fake, NOW_MS, Served};

/// Page loads at once.
const LOADS_AT_ONCE: usize = 32;
/// Page loads in all; LOCKSCOPE_PAGE_LOADS has another number.
const LOADS: usize = 1_024;

struct Bell(mpsc::Sender<()>);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        // Nobody listens once the future is ready.
        let _ = self.0.send(());
    }
}

/// Runs a future to its end, each step on a thread of its own, as an unlucky scheduler would.
fn run_over_threads<F: Future + Send>(future: F) -> F::Output
where
    F::Output: Send,
{
    let runtime = tokio::runtime::Handle::current();
    let (bell, rung) = mpsc::channel();
    let waker = Waker::from(Arc::new(Bell(bell)));
    let mut future = pin!(future);
    loop {
        let step = std::thread::scope(|scope| {
            let (future, waker, runtime) = (future.as_mut(), &waker, &runtime);
            let step = move || {
                let _inside = runtime.enter();
                future.poll(&mut Context::from_waker(waker))
            };
            scope.spawn(step).join().expect("rendering panics where it goes on")
        });
        match step {
            Poll::Ready(output) => return output,
            Poll::Pending => rung.recv_timeout(DEADLINE).expect("nobody wakes the render"),
        }
    }
}

async fn text(response: Response) -> String {
    let bytes = axum::body::to_bytes(response.into_body(), 1 << 20).await.unwrap();
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_render_may_go_on_in_any_thread() {
    let fake = Arc::new(Fake::default());
    fake.set(&["/a".to_owned()]);
    let mut router = pages(Hub::new(fake, Clock::manual(NOW_MS), Epoch(0xe)));
    for path in ["/", "/lock?path=/a", "/waits", "/sessions", "/session?id=0x11", "/status", "/nope"] {
        let mut request = Request::get(path).body(Body::empty()).unwrap();
        request.extensions_mut().insert(Scope::ALL);
        let response = run_over_threads(router.call(request)).unwrap();
        let text = run_over_threads(text(response));
        assert!(text.contains("<title>") && text.contains("</html>"), "{path}: {text}");
    }
}

#[tokio::test]
async fn a_title_is_text_whatever_the_lock_is_called() {
    let served = Served::start_for(Limits::default(), Access::open_to_all(Clock::manual(NOW_MS)), pages).await;
    let name = "/</title><meta http-equiv=refresh content=0;url=//elsewhere.test>&amp;\u{202e}";
    served.fake.set(&[name.to_owned()]);
    let url = reqwest::Url::parse_with_params(&format!("http://{}/lock", served.address), [("path", name)]).unwrap();
    let text = reqwest::get(url).await.unwrap().text().await.unwrap();
    let title = text.split("<title>").nth(1).and_then(|rest| rest.split("</title>").next()).unwrap();
    // Long names are cut in the middle.
    assert!(
        title.starts_with("/&lt;/title&gt;&lt;meta http\u{2026}")
            && title.contains("elsewhere.test&gt;&amp;amp;\u{2425} · "),
        "{title}"
    );
    assert!(!text.contains("<meta http-equiv"), "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn each_of_many_loads_is_answered_by_a_page() {
    let served = Served::start_for(Limits::default(), Access::open_to_all(Clock::manual(NOW_MS)), pages).await;
    served.fake.set(&["/a".to_owned(), "/b".to_owned()]);
    let loads = std::env::var("LOCKSCOPE_PAGE_LOADS").ok().and_then(|text| text.parse().ok()).unwrap_or(LOADS);
    let client = reqwest::Client::new();
    let paths = ["/", "/lock?path=/a", "/waits", "/sessions", "/status", "/nope"];
    let load = async |first: usize| {
        for number in (first..loads).step_by(LOADS_AT_ONCE) {
            let path = paths[number % paths.len()];
            let answer = client
                .get(format!("http://{}{path}", served.address))
                .send()
                .await
                .unwrap_or_else(|error| panic!("{path}: {error}"));
            assert_eq!(answer.status(), if path == "/nope" { 404 } else { 200 }, "{path}");
            let text = answer.text().await.unwrap();
            assert!(text.contains("<title>") && text.contains("</html>"), "{path}: {text}");
        }
    };
    join_all((0..LOADS_AT_ONCE).map(load)).await;
}

#[tokio::test]
async fn what_panics_is_answered_and_counted() {
    static ASKED: AtomicU64 = AtomicU64::new(0);
    fn faulty(_: Arc<Hub>) -> Router {
        let once =
            || async { if ASKED.fetch_add(1, Ordering::Relaxed) == 0 { panic!("planted, once") } else { "drawn\n" } };
        let always = || async {
            if true {
                panic!("planted")
            }
        };
        Router::new().route("/waits", get(once)).route("/status", get(always))
    }
    // The other tests of this process tell of their panics as before.
    let before = std::panic::take_hook();
    lockscope_runtime::panics::watch();
    let counting = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        counting(info);
        before(info);
    }));
    let served = Served::start_for(Limits::default(), Access::open_to_all(Clock::manual(NOW_MS)), faulty).await;
    let before = lockscope_runtime::panics::count();
    assert_eq!(served.get("/waits").await, (200, "text/plain; charset=utf-8".to_owned(), "drawn\n".to_owned()));
    let (status, kind, text) = served.get("/status").await;
    assert_eq!((status, kind.as_str()), (500, "text/html; charset=utf-8"));
    assert!(text.contains("Try again"), "{text}");
    // Once more for what only reads.
    assert!(lockscope_runtime::panics::count() >= before + 3, "{}", lockscope_runtime::panics::count());
    let (_, _, metrics) = served.get("/metrics").await;
    assert!(metrics.contains("\nlockscope_panics_total "), "{metrics}");
}
