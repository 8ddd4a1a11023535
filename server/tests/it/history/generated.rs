//! The demo comes with an hour of past that is made up: it tells its stories, says what it is, and the live model knows
//! nothing of it.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::process::Stdio;
use std::sync::{Arc, LazyLock};

use lockscope::commands::demo_past;
use lockscope::config::History;
use lockscope_core::diagnosis::{Code, Verdict};
use lockscope_core::observatory::Observatory;
use lockscope_core::settings::Settings;
use lockscope_core::time::TimeMs;
use lockscope_history::codec::ChunkKind;
use lockscope_history::replay::{Moment, Rewound, walk};
use lockscope_history::store::rows::{MinuteQuery, SpanEnd, SpanQuery};
use lockscope_history::store::sqlite::SqliteStore;
use lockscope_history::store::{GapReason, Store, generated_before, is_all_generated};
use lockscope_runtime::shutdown::CancellationToken;
use rustix::process::Signal;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Child;

use super::{Recorded, now_ms};
use crate::cli::lockscope;
use crate::harness::{DEADLINE, signal};
use crate::served::until;

const MINUTE_MS: i64 = 60_000;
/// When the hours of this file were asked for: what is much older than now is not kept.
static NOW: LazyLock<TimeMs> = LazyLock::new(|| TimeMs(now_ms()));
const STUCK: &str = "/shipping/labels";
const MIXED: &str = "/shared/mixed";

/// A history with the hour, and where it is.
fn filled() -> (tempfile::TempDir, Arc<dyn Store>) {
    let place = tempfile::tempdir().unwrap();
    let history = History::in_dir(place.path());
    let settings = Settings { roots: vec!["/".to_owned()], ..Settings::default() };
    demo_past::fill(&history, "default", settings, *NOW, &CancellationToken::new()).unwrap();
    let store = SqliteStore::open(&place.path().join("history"), "default").unwrap();
    (place, Arc::new(store))
}

/// The end of the hour: that of the minute before.
fn end_of_hour() -> TimeMs {
    TimeMs(NOW.0 / MINUTE_MS * MINUTE_MS)
}

/// A minute and a second of the hour.
fn at(minute: i64, second: i64) -> TimeMs {
    end_of_hour() + (minute - 60) * MINUTE_MS + second * 1_000
}

fn verdict(model: &Observatory, path: &str) -> Verdict {
    model.lock(path).map_or(Verdict::Unknown, |lock| lock.assessment.verdict)
}

fn has(model: &Observatory, path: &str, code: Code) -> bool {
    model.lock(path).is_some_and(|lock| lock.assessment.findings.iter().any(|finding| finding.code == code))
}

fn waiters(model: &Observatory, path: &str) -> u32 {
    model.lock(path).map_or(0, |lock| lock.waiters_seen())
}

#[test]
fn the_hour_tells_its_stories() {
    let (_place, store) = filled();
    let mut rewound = Rewound::new(&*store, Moment::At(at(3, 0))).unwrap();
    let mut model = |minute, second| {
        rewound.step_to(&*store, Moment::At(at(minute, second))).unwrap();
        rewound.observatory().clone()
    };
    let quiet = model(6, 0);
    assert!(quiet.locks().count() >= 16, "{} locks", quiet.locks().count());
    assert!(quiet.is_ready());
    let troubled: Vec<_> = quiet.locks().filter(|lock| lock.assessment.verdict > Verdict::Slow).collect();
    assert!(troubled.is_empty(), "{troubled:?}");
    assert!(has(&model(9, 30), "/billing/invoices", Code::DuplicateSession));
    let crossed = model(15, 30);
    for lock in ["/transfer/a", "/transfer/b"] {
        assert_eq!(verdict(&crossed, lock), Verdict::Deadlocked, "{lock}");
    }
    assert!(verdict(&model(17, 30), "/transfer/a") <= Verdict::Healthy);
    let leads = |model: &Observatory| model.lock("/election/scheduler").unwrap().holders[0].label.clone();
    let (before, dead, after) = (model(24, 29), model(24, 36), model(24, 45));
    assert_eq!(verdict(&dead, "/election/scheduler"), Verdict::Expiring);
    assert!(leads(&before).is_some() && leads(&before) == leads(&dead) && leads(&before) != leads(&after));
    // Two services that take two locks in opposite orders, and never at once.
    let apart = model(29, 0);
    for lock in ["/warehouse/stock", "/warehouse/dispatch"] {
        assert!(has(&apart, lock, Code::LockOrder), "{lock}");
    }
    let warning = apart.lock_orders().warning_of("/warehouse/stock").unwrap();
    assert!(warning.closest().is_some_and(|closest| closest.ms > 0), "{warning:?}");
    let queue = [(36, 40), (38, 0), (40, 0), (42, 0)].map(|(minute, second)| {
        let model = model(minute, second);
        assert_eq!(verdict(&model, STUCK), Verdict::Stuck, "{minute}:{second}");
        let holder = &model.lock(STUCK).unwrap().holders[0];
        assert!(holder.label.as_deref().is_some_and(|label| label.starts_with("labels-hung")), "{holder:?}");
        waiters(&model, STUCK)
    });
    assert!(queue.is_sorted() && queue[3] > queue[0] + 5, "{queue:?}");
    assert_eq!(verdict(&model(42, 16), STUCK), Verdict::Expiring);
    assert!(verdict(&model(44, 0), STUCK) <= Verdict::Healthy);
    // Members are asked each 15 s who watches, and a hold that outlasts that is a herd.
    let mut any = |seconds: std::ops::Range<i64>, holds: &dyn Fn(&Observatory) -> bool| {
        seconds.into_iter().any(|second| holds(&model(second / 60, second % 60)))
    };
    let is_herd = |model: &Observatory| has(model, "/exclusive_lock", Code::Herd);
    let has_two = |model: &Observatory| verdict(model, MIXED) == Verdict::DoubleOwner;
    assert!(any(48 * 60..51 * 60, &is_herd));
    assert!(!any(51 * 60..53 * 60, &has_two) && any(53 * 60..56 * 60, &has_two));
}

#[test]
fn its_rows_are_those_of_an_hour() {
    let (_place, store) = filled();
    let spans = store.spans(&SpanQuery::default()).unwrap();
    let ends = spans.iter().fold(BTreeMap::new(), |mut ends: BTreeMap<SpanEnd, usize>, span| {
        *ends.entry(span.how).or_default() += 1;
        ends
    });
    assert_eq!(ends.get(&SpanEnd::Forced), Some(&1), "{ends:?}");
    assert!(ends[&SpanEnd::Released] > 1_500 && ends[&SpanEnd::SessionEnded] > 4, "{ends:?}");
    let hung = spans.iter().find(|span| span.label.as_deref().is_some_and(|label| label.starts_with("labels-hung")));
    let hung = hung.unwrap();
    assert_eq!((hung.how, hung.host.as_deref()), (SpanEnd::SessionEnded, Some("10.0.0.11")), "{hung:?}");
    assert!(hung.left_at.since(hung.held_at.unwrap()) > 6 * MINUTE_MS, "{hung:?}");
    let minutes = store.minutes(&MinuteQuery { lock: Some("/order".into()), ..MinuteQuery::default() }).unwrap();
    assert!(minutes.len() >= 59 && minutes.iter().all(|minute| minute.acquired > 0), "{} minutes", minutes.len());
    // Nothing is of the minute in which the recording begins.
    assert!(minutes.iter().all(|minute| minute.at < end_of_hour()));
    let bytes = store.coverage().unwrap().bytes;
    assert!(bytes < 8 << 20, "{bytes} bytes");
}

#[test]
fn nobody_holds_a_healthy_mutex_twice() {
    let (_place, store) = filled();
    let mut rewound = Rewound::new(&*store, Moment::At(at(0, 10))).unwrap();
    for second in (10..3_600).step_by(5).filter(|second| !(1_800..1_842).contains(second)) {
        rewound.step_to(&*store, Moment::At(at(0, second))).unwrap();
        let twice = rewound.observatory().locks().filter(|lock| lock.assessment.verdict == Verdict::DoubleOwner);
        let twice: Vec<&str> = twice.map(|lock| &*lock.path).filter(|path| *path != MIXED).collect();
        assert!(twice.is_empty(), "{twice:?} at second {second}");
    }
}

/// A model of all that was observed from a checkpoint on up to a moment; further checkpoints on the way are left out.
fn replayed(store: &dyn Store, from: TimeMs, to: TimeMs) -> Observatory {
    let begin = store.checkpoint_before(store.head_at(from).unwrap().unwrap().seq).unwrap().unwrap();
    let mut model = Observatory::new(Settings::default(), begin.first_at);
    let mut is_first = true;
    walk(store, begin.seq, |head, now, observation| {
        is_first &= head.kind != ChunkKind::Events;
        if is_first || head.kind == ChunkKind::Events {
            if now > to {
                return ControlFlow::Break(());
            }
            model.apply(now, observation);
        }
        ControlFlow::Continue(())
    })
    .unwrap();
    model
}

#[test]
fn a_moment_is_the_same_from_each_checkpoint_before_it() {
    let (_place, store) = filled();
    for (from, to) in [(at(1, 0), at(25, 0)), (at(1, 0), at(29, 30)), (at(31, 0), at(55, 0))] {
        let jumped = Rewound::new(&*store, Moment::At(to)).unwrap();
        assert!(replayed(&*store, from, to) == *jumped.observatory(), "at {to}");
    }
    assert!(store.coverage().unwrap().checkpoints >= 6);
}

#[test]
fn the_store_says_that_it_was_generated() {
    let (_place, store) = filled();
    let gaps = store.gaps(TimeMs(0)..TimeMs(i64::MAX)).unwrap();
    let kinds: Vec<_> = gaps.iter().map(|gap| (gap.why, gap.to.since(gap.from) / 1_000)).collect();
    assert_eq!(kinds, [(GapReason::NotRunning, 40), (GapReason::Generated, 0)]);
    assert!(is_all_generated(&*store).unwrap());
    assert_eq!(generated_before(&*store).unwrap().map(|gap| gap.from), store.coverage().unwrap().to);
    // A transaction of the hour is found, as nothing was observed that could be meant.
    assert!(Rewound::new(&*store, Moment::Zxid(lockscope_core::znode::Zxid((1 << 32) + 500))).is_ok());
}

/// Where the demo serves: after what it says of its audit log. Its folders are gone once it ended.
async fn served_at(child: &mut Child) -> String {
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    loop {
        let line = tokio::time::timeout(DEADLINE, lines.next_line()).await.unwrap().unwrap().unwrap();
        if let Some(url) = line.strip_prefix("lockscope listening on ") {
            return url.to_owned();
        }
    }
}

/// What the demo answers, asked again where it says that no answer was ready in time.
async fn json(url: &str, target: &str) -> (u16, Value) {
    let kept = std::sync::Mutex::new((0, Value::Null));
    until(async || {
        let answer = reqwest::get(format!("{url}{target}")).await.unwrap();
        let told = (answer.status().as_u16(), answer.json().await.unwrap_or_default());
        let is_ready = told.0 != 503;
        *kept.lock().unwrap() = told;
        is_ready
    })
    .await;
    kept.into_inner().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_demo_can_be_rewound_and_lives_without_its_past() {
    let mut child = lockscope(&["demo", "--listen", "127.0.0.1:0"]).stderr(Stdio::null()).spawn().unwrap();
    let url = served_at(&mut child).await;
    until(async || reqwest::get(format!("{url}/readyz")).await.unwrap().status() == 200).await;
    let history = async || json(&url, "/api/v1/history").await.1;
    let gap =
        async || history().await["gaps"].as_array().unwrap().iter().find(|gap| gap["why"] == "generated").cloned();
    // The gap behind the hour grows until something real is recorded.
    until(async || gap().await.is_some_and(|gap| gap["from_at_ms"] != gap["to_at_ms"])).await;
    let kept = history().await;
    let (from, generated) = (kept["from_at_ms"].as_i64().unwrap(), kept["generated_until_at_ms"].as_i64().unwrap());
    assert!((59 * MINUTE_MS..=60 * MINUTE_MS).contains(&(generated - from)), "{kept:#}");
    assert!(now_ms() - generated < 3 * MINUTE_MS, "{kept:#}");
    let real = gap().await.unwrap();
    assert_eq!(real["from_at_ms"], generated);

    // 20 minutes ago somebody hung.
    let ago = from + 40 * MINUTE_MS;
    let (status, stuck) = json(&url, &format!("/api/v1/lock?path={STUCK}&at={ago}")).await;
    assert_eq!(
        (status, &stuck["verdict"], &stuck["as_of"]["state"]),
        (200, &"stuck".into(), &"past".into()),
        "{stuck:#}"
    );
    let holds = json(&url, &format!("/api/v1/history/holds?path={STUCK}&limit=1000")).await.1;
    assert!(holds["holds"].as_array().unwrap().len() > 100, "{holds:#}");
    let over_time = json(&url, "/api/v1/history/lock?path=/order&grain=60000").await.1;
    assert!(over_time["points"].as_array().unwrap().len() > 50, "{over_time:#}");
    let marks = json(&url, &format!("/api/v1/history/marks?from={from}")).await.1;
    let codes: Vec<_> = marks["marks"].as_array().unwrap().iter().map(|mark| mark["code"].as_str().unwrap()).collect();
    for code in ["stuck", "deadlocked", "double_owner", "not_running", "generated"] {
        assert!(codes.contains(&code), "{code} is not in {codes:?}");
    }
    let page = reqwest::get(format!("{url}/?at={ago}")).await.unwrap().text().await.unwrap();
    assert!(page.contains("generated for the demo") && page.contains("labels-hung"));
    let is_told = async || reqwest::get(format!("{url}/status")).await.unwrap().text().await.unwrap();
    until(async || is_told().await.contains("generated for the demo, not observed, up to")).await;

    // What lives is what was observed, before the first checkpoint or behind it: no hold ended within the hour, and nobody
    // held in it.
    // Its clients are there in a while.
    until(async || json(&url, "/api/v1/lock?path=/order").await.0 == 200).await;
    // A transaction that was observed is found; one from before that, or that is still to come, is not of the hour.
    let zxid = json(&url, "/api/v1/status").await.1["ensembles"][0]["zxid"].as_str().unwrap().to_owned();
    let of_zxid = async |zxid: &str| json(&url, &format!("/api/v1/lock?path=/order&at=zxid:{zxid}")).await;
    until(async || of_zxid(&zxid).await.1["as_of"]["at_ms"].as_i64().is_some_and(|at_ms| at_ms > generated)).await;
    for zxid in ["0x1", "0xfffffff"] {
        let (status, problem) = of_zxid(zxid).await;
        assert_eq!(status, 404, "{zxid}: {problem:#}");
    }
    let lock = json(&url, "/api/v1/lock?path=/order").await.1;
    let past = lock["past"].as_array().unwrap();
    assert!(past.iter().all(|hold| hold["until_ms"].as_i64().is_none_or(|until| until > generated)), "{lock:#}");
    let sessions = json(&url, "/api/v1/sessions").await.1.to_string();
    assert!(!sessions.contains("10.0.0."), "{sessions}");
    let live = reqwest::get(format!("{url}/?at=now")).await.unwrap().text().await.unwrap();
    assert!(live.contains("AS IT WAS") && !live.contains("generated for the demo"));
    signal(child.id().unwrap(), Signal::TERM);
    assert!(tokio::time::timeout(DEADLINE, child.wait()).await.unwrap().unwrap().success());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn serve_generates_nothing() {
    let recorded = Recorded::start("").await;
    recorded.until_kept(now_ms()).await;
    let history = recorded.json("/api/v1/history").await.1;
    assert!(history["generated_until_at_ms"].is_null() && history["from_at_ms"].is_i64(), "{history:#}");
    assert!(history["gaps"].as_array().unwrap().is_empty(), "{history:#}");
    let (status, page) = recorded.get("/?at=now").await;
    assert!(status == 200 && !page.contains("generated for the demo"));
}
