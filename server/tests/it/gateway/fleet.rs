//! The fleet through each of three replicas, of which each watches two thirds: everywhere the same tiles, live, with how old
//! they are; and what is said when those are killed that watch an ensemble.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use super::acts::{get, same_token};
use super::{Server, TOLD_WITHIN, secret, three_that_agree};
use crate::cli::lockscope;
use crate::harness::{Truth, open, queue, zookeeper};
use crate::served::until;

const FLEET: &str = "/api/v1/fleet?limit=200";
/// Tiles of one answer.
const TILES: usize = 200;

/// How many ensembles there are: more where somebody wants to know what they cost.
fn ensembles() -> usize {
    std::env::var("FLEET_ENSEMBLES").ok().and_then(|text| text.parse().ok()).unwrap_or(6)
}

fn tiles(fleet: &Value) -> &[Value] {
    fleet["ensembles"].as_array().map(Vec::as_slice).unwrap_or_default()
}

pub(super) fn tile<'a>(fleet: &'a Value, name: &str) -> &'a Value {
    tiles(fleet).iter().find(|tile| tile["name"] == name).unwrap_or(&Value::Null)
}

/// The same but for when it was looked at.
fn but_for_ages(fleet: &Value) -> Value {
    let mut fleet = fleet.clone();
    fleet["server_time_ms"] = Value::Null;
    for tile in fleet["ensembles"].as_array_mut().unwrap() {
        tile["known_at_ms"] = Value::Null;
        tile["since_ms"] = Value::Null;
    }
    fleet
}

/// Nothing is live for longer than it is known, by the clock of whoever says so.
fn is_proved(fleet: &Value) -> bool {
    let at = |value: &Value| value.as_i64();
    tiles(fleet).iter().filter(|tile| tile["is_live"] == true).all(|tile| {
        let known = at(&tile["known_at_ms"]);
        known.is_some_and(|known| at(&fleet["server_time_ms"]).unwrap() - known <= 2_000)
    })
}

pub(super) async fn fleet(server: &Server, token: &str) -> Value {
    let (status, fleet) = get(server, token, FLEET).await;
    assert!(status == 200 && is_proved(&fleet), "{status} {fleet:#}");
    fleet
}

/// One tile, wherever it stands.
async fn tile_of(server: &Server, token: &str, name: &str) -> Value {
    let (status, fleet) = get(server, token, &format!("{FLEET}&q={name}")).await;
    assert!(status == 200 && is_proved(&fleet), "{status} {fleet:#}");
    tile(&fleet, name).clone()
}

/// The owners of an ensemble, and who is none.
pub(super) async fn places<'a>(servers: &[&'a Server; 3], token: &str, name: &str) -> ([&'a Server; 2], &'a Server) {
    let view = get(servers[0], token, "/api/v1/cluster").await.1;
    let all = view["assignments"].as_array().unwrap();
    let owners = all.iter().find(|one| one["ensemble"] == name).unwrap()["owners"].as_array().unwrap().clone();
    let of = |id: &Value| *servers.iter().find(|server| *id == server.id).unwrap();
    let other = servers.iter().find(|server| owners.iter().all(|id| *id != server.id)).unwrap();
    ([of(&owners[0]), of(&owners[1])], other)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tiles_are_the_same_wherever_they_are_looked_at_and_say_when_they_are_not_known() {
    let zookeeper = zookeeper().await;
    let truth = Truth::new(&zookeeper.address()).await;
    truth.make("/f").await;
    let client = open(&zookeeper.address()).await;
    let mut first = String::new();
    for at in 0..ensembles() {
        for path in [format!("/f/e{at}"), format!("/f/e{at}/mine"), format!("/f/e{at}/theirs")] {
            truth.make(&path).await;
        }
        queue(&client, &format!("/f/e{at}/mine/lock-")).await;
        for _ in 0..=at % 6 {
            queue(&client, &format!("/f/e{at}/theirs/lock-")).await;
        }
        let zk = zookeeper.address();
        first += &format!(
            "[[ensemble]]\nname = \"e{at}\"\nzk = \"{zk}/f/e{at}\"\nevidence = \"off\"\nroot = [\"/mine\", \"/theirs\"]\nlabels = {{ place = \"p{}\" }}\n",
            at % 2
        );
    }
    let place = tempfile::tempdir().unwrap();
    let [a, b, c] = three_that_agree(&secret(&place), ("", &first)).await;
    let all = [&a, &b, &c];
    let token = same_token(&all, "operator", "ops").await;
    let mine = {
        let config = a.place.path().join("lockscope.toml").display().to_string();
        let args = ["token", "new", "--name", "mine", "--role", "viewer", "--path", "/mine", "--config", &config];
        String::from_utf8(lockscope(&args).output().await.unwrap().stdout).unwrap().trim().to_owned()
    };
    for other in [&b, &c] {
        std::fs::copy(a.place.path().join("data/tokens.json"), other.place.path().join("data/tokens.json")).unwrap();
    }

    // Everywhere the same: every ensemble, live, with its locks and the verdicts of these.
    for server in all {
        until(async || fleet(server, &token).await["not_live"] == 0).await;
        until(async || get(server, &mine, FLEET).await.1["not_live"] == 0).await;
    }
    let seen = fleet(&a, &token).await;
    assert_eq!((&seen["all"], tiles(&seen).len()), (&json!(ensembles()), ensembles().min(TILES)));
    for at in 0..6 {
        let one = tile_of(&a, &token, &format!("e{at}")).await;
        assert_eq!((&one["locks"], &one["held"], &one["waiters"]), (&json!(2), &json!(2), &json!(at)), "{one:#}");
        assert!(one["worst"].is_string() && one["labels"]["place"].is_string(), "{one:#}");
    }
    let targets = ["", "&verdict=healthy", "&q=E3", "&label=place:p1&offset=1"];
    for (token, whose) in [(&token, "all"), (&mine, "mine")] {
        for target in targets {
            let target = format!("{FLEET}{target}");
            let here = but_for_ages(&get(&a, token, &target).await.1);
            for other in [&b, &c] {
                assert_eq!(here, but_for_ages(&get(other, token, &target).await.1), "{target} for {whose}");
            }
        }
    }
    let bounded = get(&b, &mine, FLEET).await.1;
    assert!(tiles(&bounded).iter().all(|tile| tile["locks"] == 1 && tile["waiters"] == 0), "{bounded:#}");
    assert_eq!(get(&b, &token, "/api/v1/fleet?limit=20000").await.0, 400, "that is for replicas");

    // A change is there at once, and many who look are one who asks.
    let ([one, two], other) = places(&all, &token, "e0").await;
    queue(&client, "/f/e0/theirs/lock-").await;
    until(async || tile_of(other, &token, "e0").await["waiters"] == 1).await;
    let begin = Instant::now();
    let asked = (0..100).map(|_| fleet(other, &token));
    let all: u64 =
        futures_util::future::join_all(asked).await.iter().filter_map(|fleet| fleet["not_live"].as_u64()).sum();
    eprintln!("100 looks at once at {} ensembles: {:?}, {all} tiles not live", ensembles(), begin.elapsed());

    // One that watches it hangs: no tile is live without proof, and then it comes of the other one.
    one.signal(Signal::STOP);
    let begin = Instant::now();
    queue(&client, "/f/e0/theirs/lock-").await;
    let is_seen = async || {
        let tile = tile_of(other, &token, "e0").await;
        tile["is_live"] == true && tile["waiters"] == 2
    };
    until(is_seen).await;
    eprintln!("SIGSTOP of an owner: live of the other after {:?}", begin.elapsed());
    let is_live = async |server: &Server| tile_of(server, &token, "e0").await["is_live"] == true;

    // The other one is killed: nobody is left, and the tile says so, and since when.
    let before = fleet(other, &token).await["server_time_ms"].as_i64().unwrap();
    two.signal(Signal::KILL);
    let begin = Instant::now();
    until(async || !is_live(other).await).await;
    let told = begin.elapsed();
    eprintln!("kill -9 of the other owner: not live after {told:?}");
    assert!(told <= TOLD_WITHIN + Duration::from_millis(500), "{told:?}");
    let lost = tile_of(other, &token, "e0").await;
    let why = lost["why"].as_str().unwrap();
    assert!(why.contains("not known") && why.contains("can't be reached"), "{lost:#}");
    assert!((lost["since_ms"].as_i64().unwrap() - before).abs() <= 3_000, "{before} {lost:#}");
    assert_eq!((&lost["waiters"], &lost["link"]), (&json!(2), &json!("stale")), "as it was read last");
    let page = get(other, &token, "/fleet?q=e0").await.1;
    assert!(page.as_str().unwrap().contains("its state is not known"), "{page}");
    one.signal(Signal::CONT);
    until(async || is_live(other).await).await;
}
