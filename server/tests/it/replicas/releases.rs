//! Releases of the same znode by two servers at the same moment, over HTTP, judged by ZooKeeper's own log: what went was
//! planned, and went once; limits are of both together. `CLUSTER_HTTP_RACES=1000` is the long form.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use lockscope_demo::PrivateZooKeeper;
use lockscope_txn_log::Change;
use serde_json::{Value, json};
use tokio::sync::SemaphorePermit;
use zookeeper_client::{Acls, Client, CreateMode, Error};

use super::{Replica, log, long, replicas, turn};
use crate::cli::lockscope;
use crate::harness::{Truth, open, queue, zookeeper};
use crate::served::until;

/// Races of one person: five releases a minute are one's limit.
const OF_ONE: u64 = 4;

/// An owner leaves so long after both were told to release at most: some before it was sent, some after.
const LEAVES_WITHIN_MS: u64 = 40;

/// What a race is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// A numbered name with another behind it.
    Numbered,
    /// A fixed name that somebody takes again the moment it is free: the same path, the same version.
    Fixed,
    /// A numbered name whose owner leaves at the same moment.
    Leaving,
}

/// Two servers with the same people, and what happens in ZooKeeper.
struct Stage {
    zookeeper: PrivateZooKeeper,
    truth: Truth,
    owner: Client,
    next: Client,
    both: Vec<Replica>,
    /// A token on both for each person.
    tokens: Vec<String>,
    /// The last to go.
    _turn: SemaphorePermit<'static>,
}

impl Stage {
    async fn set(people: u64) -> Self {
        let turn = turn().await;
        let zookeeper = zookeeper().await;
        let address = zookeeper.address();
        let truth = Truth::new(&address).await;
        truth.make("/a").await;
        let both = replicas(&address, 2, "history = \"off\"\n").await;
        let mut tokens = Vec::new();
        for person in 0..people {
            let name = format!("ops{person}");
            let args = ["token", "new", "--name", &name, "--role", "operator", "--config", &both[0].config()];
            let made = lockscope(&args).output().await.unwrap();
            tokens.push(String::from_utf8(made.stdout).unwrap().trim().to_owned());
        }
        // The same people on the other, who are the same by name.
        let file = |replica: &Replica| replica.place.path().join("data/tokens.json");
        std::fs::copy(file(&both[0]), file(&both[1])).unwrap();
        for replica in &both {
            let (_, url) = replica.program.as_ref().unwrap();
            let last = tokens.last().unwrap();
            let me = async || replica.http.get(format!("{url}/api/v1/me")).bearer_auth(last).send().await.unwrap();
            until(async || me().await.status() == 200).await;
        }
        let (owner, next) = (open(&address).await, open(&address).await);
        Self { zookeeper, truth, owner, next, both, tokens, _turn: turn }
    }

    /// A plan of each for a znode, when both see that it holds.
    async fn orders(&self, lock: &str, path: &str, token: &str) -> [(Value, i64); 2] {
        let mut orders = Vec::new();
        for replica in &self.both {
            let url = &replica.program.as_ref().unwrap().1;
            until(async || {
                let told = replica.http.get(format!("{url}/api/v1/lock?path={lock}")).bearer_auth(token);
                let told: Value = told.send().await.unwrap().json().await.unwrap_or_default();
                told["holders"][0]["path"] == path
            })
            .await;
            let (status, plan) = replica.post(token, "/api/v1/release/plan", &json!({ "path": path })).await;
            assert_eq!(status, 200, "{plan:#}");
            let czxid =
                plan["czxid"].as_str().and_then(|text| i64::from_str_radix(text.trim_start_matches("0x"), 16).ok());
            let order = json!({ "plan_id": plan["plan_id"], "confirm": lock, "reason": "a race" });
            orders.push((order, czxid.unwrap_or_else(|| panic!("{plan:#}"))));
        }
        orders.try_into().unwrap()
    }

    async fn execute(&self, at: usize, token: &str, order: &Value) -> String {
        let (status, told) = self.both[at].post(token, "/api/v1/release/execute", order).await;
        if status == 429 {
            "limit".to_owned()
        } else {
            told["outcome"].as_str().unwrap_or("?").to_owned() + &format!(" {status}")
        }
    }

    /// Runs one; gives how both ended, the path, and the incarnation that was planned.
    async fn race(&self, number: u64) -> (Kind, [String; 2], String, i64) {
        let kind = [Kind::Numbered, Kind::Fixed, Kind::Leaving][usize::try_from(number % 3).unwrap()];
        let (lock, token) = (format!("/a/race{number}"), &self.tokens[usize::try_from(number / OF_ONE).unwrap()]);
        self.truth.make(&lock).await;
        let path = match kind {
            Kind::Fixed => {
                let path = format!("{lock}/lock");
                self.owner.create(&path, b"", &ephemeral()).await.unwrap();
                path
            }
            Kind::Numbered | Kind::Leaving => queue(&self.owner, &format!("{lock}/lock-")).await,
        };
        let [(one, czxid), (other, _)] = self.orders(&lock, &path, token).await;
        let both = async { tokio::join!(self.execute(0, token, &one), self.execute(1, token, &other)) };
        let (ends, behind, its) = match kind {
            Kind::Fixed => {
                let (ends, its) = tokio::join!(both, take_again(&self.next, &path));
                (ends, path.clone(), its)
            }
            Kind::Numbered | Kind::Leaving => {
                let behind = queue(&self.next, &format!("{lock}/lock-")).await;
                let its = self.next.check_stat(&behind).await.unwrap().unwrap().czxid;
                let leave = async {
                    if kind == Kind::Leaving {
                        tokio::time::sleep(Duration::from_millis(number % LEAVES_WITHIN_MS)).await;
                        let _ = self.owner.delete(&path, None).await;
                    }
                };
                let (ends, ()) = tokio::join!(both, leave);
                (ends, behind, its)
            }
        };
        let there = self.truth.client.check_stat(&behind).await.unwrap().map(|stat| stat.czxid);
        assert_eq!(there, Some(its), "{kind:?} {number}: the wrong one went: {ends:?}");
        let mut ends = [ends.0, ends.1];
        ends.sort_unstable();
        (kind, ends, path, czxid)
    }

    /// What ZooKeeper's log says: whoever is not a client of the test deleted what was planned, each once. How many those are.
    fn judged(&self, planned: &BTreeSet<(String, i64)>) -> usize {
        let own = [&self.truth.client, &self.owner, &self.next].map(|client| client.session_id().0);
        let transactions = log::all(&self.zookeeper);
        let mut incarnations = BTreeMap::new();
        let (mut wrong, mut deletes) = (Vec::new(), 0);
        for transaction in &transactions {
            match &transaction.change {
                Change::Create(create) => drop(incarnations.insert(create.path.as_str(), transaction.zxid)),
                Change::Delete { path, .. } if path.starts_with("/a/") && !own.contains(&transaction.session) => {
                    let czxid = incarnations.remove(path.as_str()).unwrap();
                    deletes += 1;
                    if !planned.contains(&(path.clone(), czxid)) {
                        wrong.push((path.clone(), czxid));
                    }
                }
                _ => {}
            }
        }
        assert!(wrong.is_empty(), "{} of {deletes} deletes are wrong: {wrong:?}", wrong.len());
        deletes
    }

    /// Each server's log is whole, and has what the others saw of it.
    async fn logs_verify(&self) {
        let data: Vec<String> =
            self.both.iter().map(|one| one.place.path().join("data").display().to_string()).collect();
        let args = ["audit", "verify"].into_iter().chain(data.iter().map(String::as_str)).collect::<Vec<_>>();
        let logs = lockscope(&args).output().await.unwrap();
        assert!(logs.status.success(), "{logs:?}");
    }
}

fn ephemeral() -> zookeeper_client::CreateOptions<'static> {
    CreateMode::Ephemeral.with_acls(Acls::anyone_all())
}

/// Takes a name as soon as it is free; gives the incarnation that is its own.
async fn take_again(client: &Client, path: &str) -> i64 {
    loop {
        match client.create(path, b"", &ephemeral()).await {
            Ok((stat, _)) => return stat.czxid,
            Err(Error::NodeExists) => {
                if let (Some(_), watcher) = client.check_and_watch_stat(path).await.unwrap() {
                    watcher.changed().await;
                }
            }
            Err(error) => unreachable!("{error}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_servers_one_releases_what_was_planned_and_limits_are_of_both() {
    let races = long("CLUSTER_HTTP_RACES", 24);
    // The last one is for what one person may do.
    let stage = Stage::set(races.div_ceil(OF_ONE) + 1).await;
    let (mut ends, mut planned) = (BTreeMap::<(Kind, [String; 2]), u64>::new(), BTreeSet::new());
    for number in 0..races {
        let (kind, pair, path, czxid) = stage.race(number).await;
        let is_second = |text: &str| ["limit", "already_gone 409", "changed_hands 409"].contains(&text);
        let is_right = match kind {
            Kind::Leaving => pair.iter().all(|end| end == "released 200" || is_second(end)),
            Kind::Numbered | Kind::Fixed => pair[1] == "released 200" && is_second(&pair[0]),
        };
        assert!(is_right, "{kind:?} {number}: {pair:?}");
        planned.insert((path, czxid));
        *ends.entry((kind, pair)).or_default() += 1;
    }
    let person = stage.tokens.last().unwrap();
    let mut limited = Vec::new();
    for number in 0..8_usize {
        let lock = format!("/a/one{number}");
        stage.truth.make(&lock).await;
        let path = queue(&stage.owner, &format!("{lock}/lock-")).await;
        let [one, other] = stage.orders(&lock, &path, person).await;
        let (order, czxid) = if number % 2 == 0 { one } else { other };
        limited.push(stage.execute(number % 2, person, &order).await);
        planned.insert((path, czxid));
    }
    let expected = [["released 200"; 5].as_slice(), &["limit"; 3]].concat();
    assert_eq!(limited, expected, "five of one person a minute, of both servers together");

    let deletes = stage.judged(&planned);
    eprintln!("{races} races over HTTP, {deletes} deletes, none wrong:");
    for ((kind, pair), count) in ends {
        eprintln!("  {kind:?} {pair:?}: {count}");
    }
    stage.logs_verify().await;
}
