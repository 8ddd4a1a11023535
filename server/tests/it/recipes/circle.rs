//! Two clients take the same two mutexes in opposite order, each with Curator's `InterProcessMultiLock`: a deadlock.

use serde_json::json;

use super::agree::{Lock, Seat};
use super::host::{Client, Library};
use super::lockscope::Scene;

/// Whom and what the circle is made of.
struct Circle {
    scene: Scene,
    paths: [String; 2],
    /// The first holds the first mutex.
    clients: [Client; 2],
    held: [String; 2],
    wanted: [String; 2],
}

impl Circle {
    /// A third client holds both mutexes until the two stand in line at one each: so they are sure to meet.
    async fn close(name: &str) -> Self {
        let scene = Scene::new(name).await;
        let paths = ["a", "b"].map(|name| scene.path(name));
        let [a, b] = &paths;
        let [gate_a] = scene.clients(Library::Curator, &format!("mutex {a}")).await;
        let [gate_b] = scene.clients(Library::Curator, &format!("mutex {b}")).await;
        gate_a.does("acquire", "held").await;
        gate_b.does("acquire", "held").await;
        let [first] = scene.clients(Library::Curator, &format!("multi-lock {a},{b}")).await;
        let [second] = scene.clients(Library::Curator, &format!("multi-lock {b},{a}")).await;
        first.order("acquire");
        second.order("acquire");
        let held = [first.made().await, second.made().await];
        gate_a.does("release", "released").await;
        let wanted_by_first = first.made().await;
        gate_b.does("release", "released").await;
        let wanted = [wanted_by_first, second.made().await];
        Self { scene, paths, clients: [first, second], held, wanted }
    }

    async fn is_seen(&self) {
        for (mine, other) in [(0, 1), (1, 0)] {
            let holders = vec![Seat::of(&self.clients[mine], &self.held[mine], "exclusive")];
            let waiters =
                vec![Seat::of(&self.clients[other], &self.wanted[other], "exclusive").behind(&[&self.held[mine]])];
            Lock { path: &self.paths[mine], recipe: "sequential_mutex", holders, waiters }.agrees(&self.scene).await;
        }
    }

    /// One goes away; the other gets what it wants.
    async fn is_broken(&self) {
        let [goes, stays] = &self.clients;
        goes.order("close");
        stays.says("held").await;
        for (at, own) in [(0, &self.wanted[1]), (1, &self.held[1])] {
            let holders = vec![Seat::of(stays, own, "exclusive")];
            Lock { path: &self.paths[at], recipe: "sequential_mutex", holders, waiters: vec![] }
                .agrees(&self.scene)
                .await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_locks_say_so() {
    let circle = Circle::close("curator-circle").await;
    circle.is_seen().await;
    let verdicts = async |is_deadlocked: bool| {
        for path in &circle.paths {
            let wrong = async || {
                let verdict =
                    circle.scene.lockscope.ask(&format!("/api/v1/lock?path={path}")).await.1["verdict"].clone();
                ((verdict == "deadlocked") != is_deadlocked).then(|| format!("{path} is {verdict}"))
            };
            circle.scene.until("the verdict on a deadlock", wrong).await;
        }
    };
    verdicts(true).await;
    circle.is_broken().await;
    verdicts(false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_waits_name_the_cycle() {
    let circle = Circle::close("curator-waits").await;
    let mut sessions = circle.clients.each_ref().map(|client| client.session.clone());
    sessions.sort();
    let sorted = |list: &serde_json::Value| {
        let mut texts: Vec<String> = serde_json::from_value(list.clone()).unwrap_or_default();
        texts.sort();
        texts
    };
    let cycle = async |is_there: bool| {
        let wrong = async || {
            let (status, waits) = circle.scene.lockscope.ask("/api/v1/waits").await;
            let cycles = waits["cycles"].as_array().map(Vec::as_slice).unwrap_or_default();
            let is_ours = cycles.len() == 1
                && sorted(&cycles[0]["sessions"]) == sessions
                && sorted(&cycles[0]["locks"]) == circle.paths;
            let is_right =
                status == 200 && if is_there { is_ours } else { cycles.is_empty() && waits["cycles"] == json!([]) };
            (!is_right).then(|| format!("{status} {waits}, not {sessions:?} over {:?}", circle.paths))
        };
        circle.scene.until("the cycle among the waits", wrong).await;
    };
    cycle(true).await;
    circle.is_broken().await;
    cycle(false).await;
}
