//! A follower that is cut off from its leader while its clients are not: it answers everybody, with what was. What is
//! told of it, of a Lockscope that reads from it, and of what only the others have.

use lockscope_demo::{Detour, PrivateEnsemble, PrivateZooKeeper};
use serde_json::Value;

use crate::harness::proxy::{Mode, Proxy};
use crate::harness::{Truth, options};
use crate::recipes::lockscope::Lockscope;
use crate::served::until;

/// The member that is held back. The lowest number never leads an ensemble that just began: equals vote for the
/// highest.
const LATE: usize = 0;

/// Three members. What one of them says to its leader, and hears from it, goes through a proxy.
struct Held {
    ensemble: PrivateEnsemble,
    names: Vec<String>,
    proxies: Vec<Proxy>,
}

impl Held {
    async fn start() -> Self {
        // The leader's pings are held back as well; neither the follower nor its clients may be given up for that.
        let mut ensemble = PrivateEnsemble::prepare(&options(&[("syncLimit", "240")], &[])).unwrap();
        let (mut proxies, mut detours) = (Vec::new(), Vec::new());
        for (to, (port, _)) in ensemble.voting_ports().enumerate().filter(|(to, _)| *to != LATE) {
            let proxy = Proxy::start(format!("127.0.0.1:{port}")).await;
            detours.push(Detour { from: LATE, to, quorum: proxy.port(), election: None });
            proxies.push(proxy);
        }
        ensemble.launch(&detours).await.unwrap_or_else(|error| panic!("{error}"));
        let names = ensemble.members().iter().map(PrivateZooKeeper::address).collect();
        let held = Self { ensemble, names, proxies };
        assert!(held.says("srvr").await.contains("Mode: follower"), "it follows its leader");
        held
    }

    /// Whether bytes between the late member and its leader wait.
    fn hold(&self, is_held: bool) {
        self.proxies.iter().for_each(|proxy| proxy.set(if is_held { Mode::Silent } else { Mode::Open }));
    }

    /// What the late member answers.
    async fn says(&self, word: &str) -> String {
        self.ensemble.members()[LATE].four_letter(word).await.expect("it answers")
    }

    /// A Lockscope that reads from one member and has found all.
    async fn lockscope(&self, at: usize) -> Lockscope {
        let lockscope =
            Lockscope::run(&["--zk", &self.names[at], "--root", "/locks", "--session-timeout-ms", "60000"]).await;
        until(async || lags(&lockscope, &self.names).await == Some(vec![0, 0, 0])).await;
        lockscope
    }
}

async fn ask(lockscope: &Lockscope, target: &str) -> Value {
    let (code, value) = lockscope.ask(target).await;
    assert_eq!(code, 200, "{target}: {value:#}");
    value
}

async fn lock(lockscope: &Lockscope) -> Value {
    ask(lockscope, "/api/v1/lock?path=/locks/x").await
}

/// How far each member is behind, in the order of `names`; None unless all answer every question.
async fn lags(lockscope: &Lockscope, names: &[String]) -> Option<Vec<i64>> {
    let status = ask(lockscope, "/api/v1/status").await;
    let members = status["ensembles"][0]["evidence"].as_array()?;
    let lag = |name: &String| {
        let member = members.iter().find(|member| member["member"] == name.as_str())?;
        ["connections", "sessions", "health"]
            .iter()
            .all(|source| member[source] == "ok")
            .then(|| member["behind"].as_i64())?
    };
    names.iter().map(lag).collect()
}

async fn link(lockscope: &Lockscope) -> Value {
    ask(lockscope, "/api/v1/status").await["ensembles"][0]["link"].clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_follower_that_lags_is_told_with_by_how_much() {
    const LATER: i64 = 5;
    let held = Held::start().await;
    let truth = Truth::new(&held.names[1]).await;
    truth.make("/locks/x").await;
    truth.queue("/locks/x/lock-").await;
    let (sound, late) = (held.lockscope(1).await, held.lockscope(LATE).await);
    let is_even = async |lockscope: &Lockscope| {
        let told = lock(lockscope).await;
        lags(lockscope, &held.names).await == Some(vec![0, 0, 0])
            && told["trust"]["zxid_behind"] == 0
            && told["as_of"]["state"] == "live"
    };
    until(async || is_even(&sound).await && is_even(&late).await).await;

    held.hold(true);
    for _ in 0..LATER {
        truth.queue("/locks/x/lock-").await;
    }
    for lockscope in [&sound, &late] {
        until(async || {
            lags(lockscope, &held.names).await.is_some_and(|lags| lags[LATE] >= LATER && lags[1..] == [0, 0])
        })
        .await;
    }
    // Read from a member that is up to date, all is there; what nobody can know is not said.
    until(async || {
        let told = lock(&sound).await;
        (&told["trust"]["zxid_behind"], &told["contender_count"], &told["as_of"]["state"])
            == (&0.into(), &6.into(), &"live".into())
            && link(&sound).await == "live"
    })
    .await;
    // Read from the late one, the old state is shown, and that it is old.
    let told = lock(&late).await;
    assert!(told["trust"]["zxid_behind"].as_i64().is_some_and(|behind| behind >= LATER), "{}", told["trust"]);
    assert_eq!((&told["contender_count"], &told["as_of"]["state"]), (&1.into(), &"stale".into()));
    assert_eq!(link(&late).await, "stale");
    assert!(held.says("srvr").await.contains("Mode: follower"), "it goes on answering");

    held.hold(false);
    until(async || {
        is_even(&sound).await
            && is_even(&late).await
            && lock(&late).await["contender_count"] == 6
            && link(&late).await == "live"
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_follower_has_not_heard_of_is_its_lag_and_no_disagreement() {
    let held = Held::start().await;
    let truth = Truth::new(&held.names[1]).await;
    truth.make("/locks/x").await;
    let first = truth.queue("/locks/x/lock-").await;
    let lockscope = held.lockscope(1).await;
    held.hold(true);
    let second = truth.queue("/locks/x/lock-").await;
    let finding = async || {
        let told = lock(&lockscope).await;
        told["findings"].as_array()?.iter().find(|finding| finding["code"] == "members_disagree").cloned()
    };
    let mut others = held.names[1..].to_vec();
    others.sort();
    let text = format!("{} lags behind the others: {second} is only on {}.", held.names[LATE], others.join(", "));
    // Each of the others is named once it was asked.
    until(async || {
        let Some(told) = finding().await else { return false };
        assert_eq!((&told["severity"], &told["paths"]), (&"warning".into(), &vec![second.clone()].into()), "{told:#}");
        told["text"].as_str().unwrap().starts_with(&text)
    })
    .await;
    let only_on = async |path: &str| {
        let told = lock(&lockscope).await;
        told["contenders"].as_array().unwrap().iter().find(|contender| contender["path"] == path).unwrap()["only_on"]
            .clone()
    };
    assert_eq!((only_on(&first).await, only_on(&second).await), (Value::Array(Vec::new()), others.into()));

    held.hold(false);
    until(async || finding().await.is_none()).await;
    assert_eq!(only_on(&second).await, Value::Array(Vec::new()));
}
