//! Tasks of Lockscope that panic: no thread can be started, and whatever hands work to one ends in the middle of what it does.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use lockscope_judge::Fault;
use tokio::time::sleep;

use super::Form;
use crate::relay::Link;
use crate::scene::Scene;

/// What is asked for at once, each by work on a thread: moments of the past, files, and what is live.
const ASKED: [&str; 6] = [
    "/api/v1/history/export?format=sqlite&from=1m",
    "/api/v1/history/blame?from=1m",
    "/api/v1/history/lock?path=/campaign/fast",
    "/api/v1/locks?limit=500",
    "/api/v1/sessions",
    "/",
];
/// So many times over.
const TIMES: usize = 8;
/// How long it is asked at most until something panics. A thread that idles lives on for ten seconds.
const ASKED_MAX: Duration = Duration::from_secs(30);

/// Tasks panic while the link is good, and while it is lost and comes back.
pub(super) async fn no_threads(scene: &mut Scene, form: Form) {
    let threads = scene.threads.clone().expect("its threads may be refused");
    for _ in 0..form.of(3, 1) {
        let (before, begin) = (panics(scene).await, Instant::now());
        threads.refuse();
        let mut unanswered = 0;
        while panics(scene).await <= before && scene.lockscope.is_running() && begin.elapsed() < ASKED_MAX {
            unanswered += ask(scene).await;
        }
        scene.lost(Fault::LinkLost);
        scene.set_links(Link::CUT);
        unanswered += ask(scene).await;
        scene.set_links(Link::OPEN);
        sleep(Duration::from_millis(1_500)).await;
        let panicked = panics(scene).await.saturating_sub(before);
        threads.grant();
        let has_ended = !scene.lockscope.is_running();
        if has_ended {
            // What the program can't do without takes it along; a service manager starts it again.
            scene.lockscope.kill_minus_9().await;
            scene.lockscope.launch().await;
            scene.lockscope.until_ready().await;
        }
        scene.mended().await;
        let end = if has_ended { ", and it ended" } else { "" };
        scene.notes.push(format!("{panicked} panics, {unanswered} requests without an answer{end}"));
        if panicked == 0 && !has_ended {
            scene.wrong.push("no task panicked, so nothing was tried".to_owned());
        }
        if ask(scene).await > 0 {
            scene.wrong.push("requests have no answer though there are threads again".to_owned());
        }
    }
}

/// Asks for everything at once; how many requests had no answer, or one that says that the server failed.
async fn ask(scene: &Scene) -> usize {
    let one = |target: &'static str| async move {
        let answer = scene.lockscope.http.get(format!("{}{target}", scene.lockscope.url())).send().await;
        // Too much at once may be refused, and there may be no history yet.
        !answer.is_ok_and(|answer| answer.status().as_u16() != 500)
    };
    let all = join_all(ASKED.iter().cycle().take(ASKED.len() * TIMES).map(|target| one(target))).await;
    all.into_iter().filter(|is_missing| *is_missing).count()
}

/// Panics that it counted so far.
async fn panics(scene: &Scene) -> u64 {
    let answer = scene.lockscope.http.get(format!("{}/metrics", scene.lockscope.url())).send().await;
    let Ok(answer) = answer else { return 0 };
    let text = answer.text().await.unwrap_or_default();
    let count = text.lines().find_map(|line| {
        let (name, count) = line.split_once("_panics_total ")?;
        (!name.contains(' ')).then_some(count)
    });
    count.and_then(|count| count.trim().parse().ok()).unwrap_or(0)
}
