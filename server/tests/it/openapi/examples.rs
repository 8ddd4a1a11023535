//! The live socket's examples in `docs/examples`, run as they are told to be run.

use std::collections::BTreeMap;
use std::process::Stdio;

use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use super::plant::{Plant, python_place, repository};
use crate::harness::DEADLINE;

pub(super) async fn run(plant: &Plant, locks: &[String]) {
    in_python(plant, locks).await;
    in_shell(plant).await;
}

fn start(mut command: Command, plant: &Plant) -> (Child, Lines<BufReader<ChildStdout>>) {
    let command =
        command.env("LOCKSCOPE_TOKEN", &plant.token).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().expect("`.ci/need schemathesis wscat` installs what the examples need");
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    (child, lines)
}

/// Path, verdict, holders and waiters of each lock.
type Board = BTreeMap<String, [String; 3]>;

async fn board(plant: &Plant) -> Board {
    let locks = plant.json("/api/v1/locks?limit=500").await;
    let row = |lock: &serde_json::Value| {
        let waiters = lock["waiter_count"].as_u64().map_or_else(|| "?".to_owned(), |count| count.to_string());
        let facts = [
            lock["verdict"].as_str().unwrap().to_owned(),
            format!("{} hold", lock["holder_count"]),
            format!("{waiters} wait"),
        ];
        (lock["path"].as_str().unwrap().to_owned(), facts)
    };
    locks["locks"].as_array().unwrap().iter().map(row).collect()
}

/// What the lines tell becomes what the server answers, while locks change, come and go.
async fn in_python(plant: &Plant, locks: &[String]) {
    let mut command = Command::new(python_place().join("python"));
    command.arg(repository().join("docs/examples/live.py")).arg(&plant.address);
    let (_child, mut lines) = start(command, plant);
    let mut told = Board::new();
    let agree = async |told: &mut Board,
                       lines: &mut Lines<BufReader<ChildStdout>>,
                       what: &str,
                       is_there: &dyn Fn(&Board) -> bool| {
        let reading = async {
            while !is_there(told) || *told != board(plant).await {
                let line = lines.next_line().await.unwrap().expect("the example goes on");
                let fields: Vec<&str> = line.split('\t').collect();
                match fields[..] {
                    [path, "gone"] => drop(told.remove(path)),
                    [path, verdict, holds, waits, _] => {
                        drop(told.insert(path.to_owned(), [verdict, holds, waits].map(str::to_owned)))
                    }
                    _ => panic!("{line}"),
                }
            }
        };
        tokio::time::timeout(DEADLINE, reading).await.unwrap_or_else(|_| panic!("never {what}: {told:?}"));
    };
    agree(&mut told, &mut lines, "the first board", &|told| told.contains_key(&locks[0])).await;
    let waiting = told[&locks[0]][2].clone();
    let fresh = "/locks/fresh".to_owned();
    plant.truth.make(&fresh).await;
    let only = plant.queue(&fresh).await;
    plant.queue(&locks[0]).await;
    agree(&mut told, &mut lines, "one more lock and one more waiter", &|told| {
        told.get(&fresh).is_some_and(|facts| facts[1] == "1 hold") && told[&locks[0]][2] != waiting
    })
    .await;
    plant.truth.delete(&only).await;
    plant.truth.delete(&fresh).await;
    agree(&mut told, &mut lines, "the lock gone", &|told| told.get(&fresh).is_none_or(|facts| facts[1] == "0 hold"))
        .await;
}

/// The frames come as they are.
async fn in_shell(plant: &Plant) {
    let mut command = Command::new("sh");
    command.arg(repository().join("docs/examples/live.sh")).arg(plant.address.replace("http", "ws"));
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{}:{path}", repository().join(".tools/node/node_modules/.bin").display()));
    let (_child, mut lines) = start(command, plant);
    let reading = async {
        for kind in ["hello", "snapshot"] {
            loop {
                let line = lines.next_line().await.unwrap().expect("the example goes on");
                let Some(frame) =
                    line.find('{').and_then(|at| serde_json::from_str::<serde_json::Value>(&line[at..]).ok())
                else {
                    continue;
                };
                if frame["type"] == kind {
                    break;
                }
            }
        }
    };
    tokio::time::timeout(DEADLINE, reading).await.expect("no snapshot was printed");
}
