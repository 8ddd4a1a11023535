//! A lock that a whole server recorded, replayed in its lab: ordered over HTTP, by whom it may be, and what is answered.

use lockscope_wire::LabReplay;
use serde_json::{Value, json};

use crate::cli::lockscope;
use crate::harness::Truth;
use crate::lab_served::Plant;
use crate::served::until;

const REPLAYS: &str = "/api/v1/lab/replays";

/// A token for an operator of these paths.
async fn token(plant: &Plant, name: &str, paths: &[&str]) -> String {
    let config = plant.place.path().join("lockscope.toml").display().to_string();
    let mut args = vec!["token", "new", "--name", name, "--role", "operator", "--config", &config];
    for path in paths {
        args.extend(["--path", path]);
    }
    let made = lockscope(&args).output().await.unwrap();
    String::from_utf8(made.stdout).unwrap().trim().to_owned()
}

async fn json_of(plant: &Plant, method: &str, path: &str, body: &Value) -> (u16, Value) {
    let answer = plant.ask(method, path, body).await;
    (answer.status().as_u16(), answer.json().await.unwrap())
}

/// Three clients hold one after the other; the session of the second ends. Gives the range in which that was.
async fn an_incident(plant: &Plant) -> (i64, i64) {
    let connect = plant.zookeeper.address();
    let (first, second, third) = (Truth::new(&connect).await, Truth::new(&connect).await, Truth::new(&connect).await);
    for lock in ["/orders", "/other"] {
        first.make(lock).await;
    }
    // The end of a session is known by what goes with it.
    second.queue("/other/lock-").await;
    let holds = || async { json_of(plant, "GET", "/api/v1/history/holds?path=/orders", &Value::Null).await.1 };
    let is = |holds: &Value, node: &str, is_it: &dyn Fn(&Value) -> bool| {
        let rows = holds["holds"].as_array().into_iter().flatten();
        rows.clone().any(|row| node.ends_with(row["node"].as_str().unwrap()) && is_it(row))
    };
    let held = |row: &Value| row["held_at_ms"].is_i64();
    let nodes =
        [first.queue("/orders/lock-").await, second.queue("/orders/lock-").await, third.queue("/orders/lock-").await];
    until(async || is(&holds().await, &nodes[2], &|row| row["how"] == "still")).await;
    first.delete(&nodes[0]).await;
    until(async || is(&holds().await, &nodes[1], &held)).await;
    drop(second);
    until(async || is(&holds().await, &nodes[1], &|row| row["how"] == "session_ended")).await;
    until(async || is(&holds().await, &nodes[2], &held)).await;
    third.delete(&nodes[2]).await;
    until(async || is(&holds().await, &nodes[2], &|row| row["how"] == "released")).await;
    let lives = holds().await;
    let of = |name: &str| {
        lives["holds"].as_array().unwrap().iter().map(|row| row[name].as_i64().unwrap()).collect::<Vec<_>>()
    };
    (of("joined_at_ms").into_iter().min().unwrap() - 100, of("left_at_ms").into_iter().max().unwrap() + 100)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_recorded_lock_is_replayed_by_whoever_may_see_it() {
    let recording = |args: &[&str]| {
        let mut command = lockscope(args);
        command.env_remove("LOCKSCOPE_HISTORY");
        command
    };
    let mut plant = Plant::open_as(recording).await;
    until(async || json_of(&plant, "GET", "/api/v1/history", &Value::Null).await.1["why"] == "").await;
    let (from_ms, to_ms) = an_incident(&plant).await;
    let order = json!({
        "path": "/orders", "from_ms": from_ms, "to_ms": to_ms, "strategies": ["predecessor", "herd_children"],
    });
    let (status, started) = json_of(&plant, "POST", REPLAYS, &order).await;
    assert_eq!(status, 201, "{started}");
    let id = started["id"].as_str().unwrap().to_owned();
    until(async || plant.run(&id).await.state.name() == "finished").await;
    let run = plant.run(&id).await;
    let at = format!("/api/v1/lab/runs/{id}/replay");
    let (status, answer) = json_of(&plant, "GET", &at, &Value::Null).await;
    assert_eq!(status, 200, "{answer}");
    let replay: LabReplay = serde_json::from_value(answer).unwrap();
    assert_eq!(
        (replay.turns, replay.clients, replay.recorded.held, replay.source.cut.before),
        (3, 3, 3, 0),
        "{replay:?}"
    );
    assert_eq!((replay.source.path.as_str(), replay.source.recipe.as_str()), ("/orders", "sequential_mutex"));
    for (lane, told) in run.strategies.iter().zip(&replay.strategies) {
        assert_eq!((told.played, told.figures.held, lane.seats.matches('x').count()), (3, 3, 1), "{run:?}");
        let (wait_ms, recorded_ms) = (told.figures.wait_p95_ms, replay.recorded.wait_p95_ms);
        // Nobody is served sooner than the recorded holds let them; how much later is a matter of the machine.
        assert!(wait_ms + 50 >= recorded_ms, "{wait_ms} and {recorded_ms}");
    }
    assert!(run.conclusion.contains(&replay.sentence) && !format!("{run:?}").contains("/orders"), "{run:?}");

    // Together with a lock that one of them held all the while; named twice it is played once.
    let both = json!({
        "path": "/orders", "further_locks": ["/other", "/orders", "/other"], "from_ms": from_ms, "to_ms": to_ms,
        "strategies": ["predecessor"],
    });
    let (status, started) = json_of(&plant, "POST", REPLAYS, &both).await;
    assert_eq!(status, 201, "{started}");
    let id_of_both = started["id"].as_str().unwrap().to_owned();
    until(async || plant.run(&id_of_both).await.state.name() == "finished").await;
    let at_both = format!("/api/v1/lab/runs/{id_of_both}/replay");
    let (_, answer) = json_of(&plant, "GET", &at_both, &Value::Null).await;
    let replay: LabReplay = serde_json::from_value(answer).unwrap();
    assert_eq!((replay.turns, replay.clients), (4, 3), "{replay:?}");
    let there: Vec<_> = replay.locks.iter().map(|lock| (lock.path.as_str(), lock.turns, lock.recorded.held)).collect();
    assert_eq!(there, [("/orders", 3, 3), ("/other", 1, 1)]);
    let held: Vec<_> = replay.strategies[0].locks.iter().map(|lock| lock.held).collect();
    assert_eq!((replay.strategies[0].played, held), (4, vec![3, 1]), "{replay:?}");

    // Another range, and what is none.
    let refused = |change: Value| {
        let mut body = order.clone();
        body.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        body
    };
    for (change, part) in [
        (json!({"from_ms": to_ms + 1, "to_ms": to_ms + 2}), "fewer than two contenders"),
        (json!({"from_ms": to_ms}), "an instant before `to_ms`"),
        (json!({"from_ms": 0}), "longer than 1800000 ms"),
        (json!({"speed": 101}), "the speed is 1 to 100"),
        (json!({"strategies": []}), "strategies is empty"),
        (json!({"path": "/none"}), "fewer than two contenders"),
        (
            json!({"further_locks": (0..16).map(|lock| format!("/l{lock}")).collect::<Vec<_>>()}),
            "at most 15 are played",
        ),
    ] {
        let (status, answer) = json_of(&plant, "POST", REPLAYS, &refused(change.clone())).await;
        assert!(status == 422 && answer["detail"].as_str().unwrap().contains(part), "{change}: {status} {answer}");
    }
    // Whoever may run the lab and not see the lock learns nothing of it, of its recording either.
    plant.token = token(&plant, "elsewhere", &["/lockscope-lab", "/shop"]).await;
    let (status, answer) = json_of(&plant, "POST", REPLAYS, &order).await;
    assert!(status == 422 && answer["detail"].as_str().unwrap().contains("fewer than two"), "{status} {answer}");
    assert_eq!(plant.run(&id).await.id, id, "the run may be seen");
    assert_eq!(json_of(&plant, "GET", &at, &Value::Null).await.0, 404);
    // Who sees the run and one of its locks does not see the other one.
    plant.token = token(&plant, "half", &["/lockscope-lab", "/orders"]).await;
    assert_eq!(json_of(&plant, "GET", &at, &Value::Null).await.0, 200);
    assert_eq!(json_of(&plant, "GET", &at_both, &Value::Null).await.0, 404);
    // And whoever may see it and not run the lab begins nothing.
    plant.token = token(&plant, "orders", &["/orders"]).await;
    let (status, answer) = json_of(&plant, "POST", REPLAYS, &order).await;
    assert!(status == 403 && answer["detail"].as_str().unwrap().contains("may not run the lab"), "{status} {answer}");
}
