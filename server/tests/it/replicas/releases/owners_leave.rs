//! Releases that are ordered at two servers which watch nothing, while an owner is ended or killed in the middle: what goes
//! was planned, whoever came behind stays, the other owner takes over, and each order has one outcome on record, or is told
//! as unknown and settled once its owner is back. `GATEWAY_OWNER_RACES=1000` is the long form.

use std::collections::BTreeMap;

use futures_util::future::{join_all, select_all};
use rustix::process::Signal;
use tokio::task::JoinHandle;

use super::*;

/// Races at once: an owner is ended in each round of them.
const AT_ONCE: u64 = 8;
/// People of a round: those who race, who have four each, and one for what comes after.
const PEOPLE: u64 = AT_ONCE / OF_ONE + 1;

/// When the owner is ended.
#[derive(Clone, Copy, Debug)]
enum Moment {
    /// When so many orders are on record where they were asked for: before any of them is sent.
    Asked(usize),
    /// When so many intents are on record at the owner.
    Intended(usize),
    /// When so many of the znodes are gone.
    Gone(usize),
}

/// A race that is planned.
struct Race {
    kind: Kind,
    lock: String,
    path: String,
    czxid: i64,
    /// Whoever queues behind; none where somebody takes the same name again.
    behind: Option<(String, i64)>,
    token: String,
    orders: [Value; 2],
}

/// What an order was answered.
#[derive(Clone, Debug)]
struct Answer {
    status: u16,
    outcome: String,
    body: Value,
}

impl Stage {
    async fn planned(&self, number: u64, token: &str) -> Race {
        let (lock, token) = (format!("/a/race{number}"), token.to_owned());
        let kind = if number % 3 == 1 { Kind::Fixed } else { Kind::Numbered };
        self.truth.make(&lock).await;
        let (path, behind) = if kind == Kind::Fixed {
            let path = format!("{lock}/lock");
            self.owner.create(&path, b"", &ephemeral()).await.unwrap();
            (path, None)
        } else {
            let path = queue(&self.owner, &format!("{lock}/lock-")).await;
            let behind = queue(&self.next, &format!("{lock}/lock-")).await;
            let its = self.next.check_stat(&behind).await.unwrap().unwrap().czxid;
            (path, Some((behind, its)))
        };
        let [(one, czxid), (other, _)] = self.orders(number, &lock, &path, &token).await;
        Race { kind, lock, path, czxid, behind, token, orders: [one, other] }
    }

    async fn ordered(&self, at: usize, token: &str, order: &Value) -> Answer {
        let (status, body) = self.both[at].post(token, "/api/v1/release/execute", order).await;
        let outcome = body["outcome"].as_str().unwrap_or("none").to_owned();
        Answer { status, outcome, body }
    }

    /// Returns at the moment when an owner is to be ended. `before`: records that were there.
    async fn until_moment(&self, moment: Moment, owner: usize, before: [usize; 2], races: &[Race]) {
        let [asked, intended] = before;
        match moment {
            Moment::Asked(count) => until(async || self.recorded(owner)[0] >= asked + count).await,
            Moment::Intended(count) => until(async || self.recorded(owner)[1] >= intended + count).await,
            Moment::Gone(count) => {
                let mut gone: Vec<_> = races.iter().map(|race| Box::pin(self.until_gone(race))).collect();
                for _ in 0..count {
                    gone = select_all(gone).await.2;
                }
            }
        }
    }

    /// Records of orders at the two that are asked, and of intents at an owner, as their files have them.
    fn recorded(&self, owner: usize) -> [usize; 2] {
        let count = |replica: &Replica, kind: &str| {
            // There is none before the first record.
            let text = std::fs::read_to_string(replica.place.path().join("data/audit.log")).unwrap_or_default();
            text.matches(&format!("\"kind\":\"{kind}\"")).count()
        };
        [self.both.iter().map(|one| count(one, "handed_on")).sum(), count(&self.owners[owner], "release_intent")]
    }

    async fn until_gone(&self, race: &Race) {
        while self.is_there(race).await {
            let (_, watcher) = self.truth.client.check_and_watch_stat(&race.path).await.unwrap();
            if self.is_there(race).await {
                watcher.changed().await;
            }
        }
    }

    async fn is_there(&self, race: &Race) -> bool {
        let there = self.truth.client.check_stat(&race.path).await.unwrap();
        there.is_some_and(|stat| stat.czxid == race.czxid)
    }

    /// The newest records of all servers that run.
    async fn records(&self, token: &str) -> Vec<Value> {
        let mut all = Vec::new();
        for replica in self.both.iter().chain(&self.owners) {
            let url = &replica.program.as_ref().unwrap().1;
            let asked = replica.http.get(format!("{url}/api/v1/audit?limit=500")).bearer_auth(token).send().await;
            let told: Value = asked.unwrap().json().await.unwrap();
            let of = told["records"].as_array().unwrap_or_else(|| panic!("{told:#}"));
            all.extend(of.iter().cloned().map(|mut record| {
                record["of"] = json!(url);
                record
            }));
        }
        all
    }

    /// Starts an owner again, and waits until all agree on who owns what as before.
    async fn back(&mut self, owner: usize, owners: &[String]) {
        self.owners[owner].run().await;
        for replica in self.both.iter().chain(&self.owners) {
            until(async || {
                let view = replica.json("/api/v1/cluster").await;
                let are = view["assignments"][0]["owners"] == json!(owners);
                are && view["replicas"].as_array().is_some_and(|all| all.len() == 4)
            })
            .await;
        }
    }

    async fn owner_ids(&self) -> Vec<String> {
        let view = self.both[0].json("/api/v1/cluster").await;
        let owners = view["assignments"][0]["owners"].as_array().unwrap();
        owners.iter().map(|id| id.as_str().unwrap().to_owned()).collect()
    }
}

/// Intents of a plan in the logs of all, each with its outcomes.
fn ends_of(records: &[Value], order: &Value) -> Vec<(Value, Vec<Value>)> {
    let of = |kind: &str| {
        let all = records.iter().filter(|record| record["kind"] == kind && record["plan_id"] == order["plan_id"]);
        all.cloned().collect::<Vec<Value>>()
    };
    let outcomes = of("release_outcome");
    let ends = of("release_intent").into_iter().map(|intent| {
        let its = outcomes.iter().filter(|one| one["of"] == intent["of"] && one["intent"] == intent["id"]);
        let its = its.cloned().collect();
        (intent, its)
    });
    ends.collect()
}

fn short(answer: &Answer) -> String {
    format!("{} {}", answer.outcome, answer.status)
}

/// Which owner leaves, how, and when.
#[derive(Clone, Copy, Debug)]
struct Leaving {
    owner: usize,
    signal: Signal,
    moment: Moment,
}

impl Leaving {
    /// Of a round: both owners, at all kinds of moments, killed more often than ended.
    fn of(round: u64) -> Self {
        let count = usize::try_from(1 + round % 4).unwrap();
        Self {
            owner: usize::try_from(round / 2 % 2).unwrap(),
            signal: if round % 4 == 3 { Signal::TERM } else { Signal::KILL },
            moment: [Moment::Intended(count), Moment::Gone(count), Moment::Asked(count)]
                [usize::try_from(round % 3).unwrap()],
        }
    }
}

/// Whether an answer is one that there may be.
fn is_known(answer: &Answer) -> bool {
    match (answer.status, answer.outcome.as_str()) {
        (200, "released") | (202, "unknown") | (409, "already_gone" | "changed_hands") => true,
        // A limit, or nothing was sent.
        (status, _) => matches!(status, 429 | 503),
    }
}

impl Stage {
    /// Sends all orders, and has an owner leave in the middle of them.
    async fn leaves(&self, leaving: Leaving, races: &[Race]) -> Vec<Answer> {
        let Leaving { owner, signal, moment } = leaving;
        let before = self.recorded(owner);
        let orders = races.iter().flat_map(|race| [0, 1].map(|at| (race, at)));
        let all = join_all(orders.map(async |(race, at)| self.ordered(at, &race.token, &race.orders[at]).await));
        let mut all = std::pin::pin!(all);
        let early = tokio::select! {
            answers = all.as_mut() => Some(answers),
            () = self.until_moment(moment, owner, before, races) => None,
        };
        self.owners[owner].signal(signal);
        match early {
            Some(answers) => {
                eprintln!("all orders had ended before {leaving:?}");
                answers
            }
            None => all.await,
        }
    }

    /// What is asked for while an owner is gone the other one does, at either of the two that are asked.
    async fn meanwhile(&self, round: u64, token: &str) -> (String, i64) {
        let lock = format!("/a/meanwhile{round}");
        self.truth.make(&lock).await;
        let path = queue(&self.owner, &format!("{lock}/lock-")).await;
        let behind = queue(&self.next, &format!("{lock}/lock-")).await;
        let czxid = self.truth.client.check_stat(&path).await.unwrap().unwrap().czxid;
        let at = usize::try_from(round % 2).unwrap();
        let mut plan = Value::Null;
        until(async || {
            let (status, told) = self.both[at].post(token, "/api/v1/release/plan", &json!({ "path": path })).await;
            plan = told;
            status == 200
        })
        .await;
        let order = json!({ "plan_id": plan["plan_id"], "confirm": lock, "reason": "its owner is gone" });
        let done = self.ordered(at, token, &order).await;
        assert_eq!(short(&done), "released 200", "round {round}: {:#}", done.body);
        assert!(self.truth.client.check_stat(&behind).await.unwrap().is_some());
        (path, czxid)
    }

    /// What whoever was told that it is not known gets by the same order, once the owner is back.
    async fn settled(&self, race: &Race, at: usize, told: &Answer) -> Answer {
        let mut settled = told.clone();
        if told.status == 202 {
            until(async || {
                settled = self.ordered(at, &race.token, &race.orders[at]).await;
                !matches!(settled.status, 429 | 503)
            })
            .await;
        }
        settled
    }

    /// An order has one intent at most, that has one outcome, and both are what was answered.
    async fn is_on_record(&self, records: &[Value], (race, at): (&Race, usize), told: &str, settled: &str) {
        let order = &race.orders[at];
        let found = ends_of(records, order);
        let same = format!("{}, order {at}: {told}, then {settled}, on record {found:#?}", race.lock);
        assert!(found.len() <= 1 && found.iter().all(|(_, outcomes)| outcomes.len() == 1), "{same}");
        let outcome = found.first().map(|(_, outcomes)| outcomes[0]["outcome"].as_str().unwrap());
        match settled.split_once(' ').unwrap() {
            ("none", "429" | "503") => assert!(outcome.is_none(), "nothing was done: {same}"),
            // It came to the owner that is gone, and no further: its plan went with it.
            (_, "404" | "409" | "410") if told == "unknown 202" && outcome.is_none() => {}
            (name, _) => assert_eq!(outcome, Some(name), "{same}"),
        }
        if outcome == Some("released") {
            assert!(!self.is_there(race).await, "{same}");
        }
        if told == "unknown 202" {
            let id = order["plan_id"].as_str().unwrap();
            let is_lost = records.iter().any(|record| {
                let is_ours = record["detail"].as_str().is_some_and(|detail| detail.contains(id));
                is_ours && record["kind"] == "handed_on" && record["outcome"] == "unknown"
            });
            assert!(is_lost, "the one that was asked has it on record: {same}");
        }
    }

    /// Whoever came behind, or took the name again, is there.
    async fn is_left(&self, race: &Race, again: Option<JoinHandle<i64>>) {
        let (behind, its) = match (&race.behind, again) {
            (Some((behind, its)), _) => (behind, *its),
            (None, Some(again)) if !self.is_there(race).await => (&race.path, again.await.unwrap()),
            (None, again) => {
                // Nobody released it.
                again.iter().for_each(JoinHandle::abort);
                return;
            }
        };
        let there = self.truth.client.check_stat(behind).await.unwrap().map(|stat| stat.czxid);
        assert_eq!(there, Some(its), "{}: the wrong one went", race.lock);
    }
}

/// One round: an owner is ended while all orders are under way. Gives how each order ended, and how it was settled.
async fn round(
    stage: &mut Stage,
    number: u64,
    owners: &[String],
    planned: &mut BTreeSet<(String, i64)>,
) -> Vec<[String; 2]> {
    let first = usize::try_from(number * PEOPLE).unwrap();
    let people: Vec<String> = stage.tokens.iter().skip(first).take(PEOPLE as usize).cloned().collect();
    let (last, racers) = people.split_last().unwrap();
    let mut races = Vec::new();
    for at in 0..AT_ONCE {
        let race = stage.planned(number * AT_ONCE + at, &racers[usize::try_from(at / OF_ONE).unwrap()]).await;
        planned.insert((race.path.clone(), race.czxid));
        races.push(race);
    }
    // Who takes a fixed name again waits for it from before.
    let again = |race: &Race| {
        let (client, path) = (stage.next.clone(), race.path.clone());
        (race.kind == Kind::Fixed).then(|| tokio::spawn(async move { take_again(&client, &path).await }))
    };
    let again: Vec<Option<JoinHandle<i64>>> = races.iter().map(again).collect();

    let leaving = Leaving::of(number);
    let answers = stage.leaves(leaving, &races).await;
    stage.owners[leaving.owner].end(leaving.signal).await;
    planned.insert(stage.meanwhile(number, last).await);
    stage.back(leaving.owner, owners).await;

    let mut ends = Vec::new();
    for (at, told) in answers.iter().enumerate() {
        assert!(is_known(told), "{leaving:?}: {:#}", told.body);
        let settled = stage.settled(&races[at / 2], at % 2, told).await;
        ends.push([short(told), short(&settled)]);
    }
    let mut records = Vec::new();
    until(async || {
        records = stage.records(last).await;
        let mut orders = races.iter().flat_map(|race| &race.orders);
        orders.all(|order| ends_of(&records, order).iter().all(|(_, outcomes)| !outcomes.is_empty()))
    })
    .await;
    for (at, [told, settled]) in ends.iter().enumerate() {
        stage.is_on_record(&records, (&races[at / 2], at % 2), told, settled).await;
    }
    for (race, again) in races.iter().zip(again) {
        stage.is_left(race, again).await;
    }
    ends
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn releases_while_an_owner_leaves_delete_nothing_else_and_have_one_outcome_each() {
    let rounds = long("GATEWAY_OWNER_RACES", 40).div_ceil(AT_ONCE);
    let mut stage = Stage::set(Asked::Gateways, rounds * PEOPLE).await;
    let owners = stage.owner_ids().await;
    let (mut ends, mut planned) = (BTreeMap::<[String; 2], u64>::new(), BTreeSet::new());
    for number in 0..rounds {
        for end in round(&mut stage, number, &owners, &mut planned).await {
            *ends.entry(end).or_default() += 1;
        }
    }
    let deletes = stage.judged(&planned);
    eprintln!("{} races in {rounds} rounds, {deletes} deletes, none wrong; told, and settled:", rounds * AT_ONCE);
    for (end, count) in &ends {
        eprintln!("  {end:?}: {count}");
    }
    stage.logs_verify().await;
}
