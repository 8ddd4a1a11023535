//! A leader that was deposed and does not know it yet: it answers `sync`, and nothing of it is live.

use std::time::{Duration, Instant};

use lockscope_core::observation::Link;
use lockscope_demo::{Detour, PrivateEnsemble};
use lockscope_zookeeper::ObserverConfig;

use crate::harness::proxy::{Mode, Proxy};
use crate::harness::{Believed, DEADLINE, Observed, STEP, Truth, ensemble, options, zookeeper};

/// What is promised, and how late this machine may be.
const STALE_WITHIN: Duration = Duration::from_millis(2_000 + 1_000);
const DEPOSED: &str = "another member is in a newer epoch: ours follows a leader that was deposed";

/// Votes are sent again after a second at the latest, and a peer that can not be reached holds up others for half a second.
/// ZooKeeper takes up to a minute and five seconds, so that an election that lost some votes takes longer than a test may.
const ELECTS_SOON: [&str; 2] = ["-Dzookeeper.fastleader.maxNotificationInterval=1000", "-Dzookeeper.cnxTimeout=500"];

/// A leader that hears of no follower leads on for so many ticks: longer than an election may take on a busy machine.
const LEADS_ON: (&str, &str) = ("syncLimit", "600");

/// How a member reaches another one, to follow it or to vote with it.
struct Way {
    from: usize,
    to: usize,
    quorum: Proxy,
    election: Proxy,
}

/// Three members who reach each other by proxies.
struct Parted {
    ensemble: PrivateEnsemble,
    ways: Vec<Way>,
    leader: usize,
}

impl Parted {
    async fn start() -> Self {
        let mut ensemble = PrivateEnsemble::prepare(&options(&[LEADS_ON], &ELECTS_SOON)).unwrap();
        let ports: Vec<(u16, u16)> = ensemble.voting_ports().collect();
        let (mut ways, mut detours) = (Vec::new(), Vec::new());
        for (from, to) in [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)] {
            let start = |port: u16| Proxy::voting(format!("127.0.0.1:{port}"));
            let (quorum, election) = (start(ports[to].0).await, start(ports[to].1).await);
            detours.push(Detour { from, to, quorum: quorum.port(), election: Some(election.port()) });
            ways.push(Way { from, to, quorum, election });
        }
        ensemble.launch(&detours).await.unwrap_or_else(|error| panic!("{error}"));
        let leader = leader(&ensemble).await.expect("one leads");
        Self { ensemble, ways, leader }
    }

    fn address(&self) -> String {
        self.ensemble.members()[self.leader].address()
    }

    /// Votes go nowhere while the links are not open: a follower that still hears its leader's vote, and the other one's,
    /// takes it again.
    fn set(&self, mode: Mode) {
        for way in self.ways.iter().filter(|way| way.from == self.leader || way.to == self.leader) {
            way.quorum.set(mode);
            way.election.set(if mode == Mode::Open { Mode::Open } else { Mode::Cut });
        }
    }

    /// The followers lose their leader, which hears no more of them, and have another one; gives a client of theirs.
    async fn depose(&self) -> Truth {
        self.set(Mode::HalfCut);
        let others: Vec<usize> = (0..3).filter(|at| *at != self.leader).collect();
        let begin = Instant::now();
        loop {
            let mut has_leader = false;
            for at in &others {
                has_leader |= leads(&self.ensemble, *at).await;
            }
            if has_leader {
                break;
            }
            assert!(begin.elapsed() < DEADLINE, "nobody else leads");
            tokio::time::sleep(STEP).await;
        }
        Truth::new(&others.iter().map(|at| self.ensemble.members()[*at].address()).collect::<Vec<_>>().join(",")).await
    }
}

async fn leads(ensemble: &PrivateEnsemble, at: usize) -> bool {
    ensemble.members()[at].four_letter("srvr").await.unwrap_or_default().contains("Mode: leader")
}

async fn leader(ensemble: &PrivateEnsemble) -> Option<usize> {
    for at in 0..ensemble.members().len() {
        if leads(ensemble, at).await {
            return Some(at);
        }
    }
    None
}

fn is_stale(believed: &Believed) -> bool {
    believed.link == Some(Link::Stale)
}

/// Waits until the link was stale, and gives why it was at first. By the time that another leader is found it may have
/// moved on: heartbeats wait behind a write that is never committed, and an election takes long on a busy machine.
async fn first_doubt(observed: &Observed, links_before: usize) -> String {
    let stale = |believed: &Believed| {
        let mut since = believed.links[links_before..].iter();
        since.find(|(link, _)| *link == Link::Stale).map(|(_, why)| why.clone())
    };
    observed.until("stale", |believed| stale(believed).is_some()).await;
    observed.look(|believed| stale(believed).unwrap())
}

fn why(observed: &Observed) -> String {
    observed.look(|believed| believed.links.last().unwrap().1.clone())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deposed_leader_is_not_live() {
    let parted = Parted::start().await;
    let truth = Truth::new(&parted.address()).await;
    truth.make("/locks/a").await;
    let observed = Observed::start_asking(&parted.address(), &["/locks"]);
    observed.until_live().await;
    observed.until_proved(|proof| proof.epoch == Some(true) && proof.quorum == Some(true)).await;

    let elsewhere = parted.depose().await;
    elsewhere.queue("/locks/a/lock-").await;
    let committed = Instant::now();
    observed.until("stale", is_stale).await;
    assert!(committed.elapsed() < STALE_WITHIN, "stale {:?} after another leader committed", committed.elapsed());
    assert_eq!(why(&observed), DEPOSED);
    observed.until_proved(|proof| proof.answer == Some(true) && proof.epoch == Some(false)).await;
    assert!(observed.look(is_stale), "it answers, and is left behind all the same");

    parted.set(Mode::Open);
    observed.until_live().await;
    observed.until_true(&elsewhere).await;
    observed.until_proved(|proof| proof.epoch == Some(true)).await;
    observed.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn paused_leader_wakes_stale() {
    let mut parted = Parted::start().await;
    let truth = Truth::new(&parted.address()).await;
    truth.make("/locks/a").await;
    let observed = Observed::start_asking(&parted.address(), &["/locks"]);
    observed.until_live().await;
    observed.until_proved(|proof| proof.epoch == Some(true)).await;
    let leader = parted.leader;
    parted.ensemble.members_mut()[leader].pause().unwrap();
    let elsewhere = parted.depose().await;
    elsewhere.queue("/locks/a/lock-").await;
    observed.until("stale", is_stale).await;
    let links = observed.look(|believed| believed.links.len());
    // The members are asked once a second: what none of them has reported yet is not known.
    observed.until_proved(|proof| proof.answer == Some(false) && proof.epoch != Some(true)).await;
    parted.ensemble.members_mut()[leader].resume().unwrap();
    observed.until_proved(|proof| proof.answer == Some(true)).await;
    let links = observed.look(|believed| believed.links[links..].to_vec());
    assert!(links.iter().all(|(link, _)| *link != Link::Live), "{links:?}");
    parted.set(Mode::Open);
    observed.until_live().await;
    observed.until_true(&elsewhere).await;
    observed.stop().await;
}

/// Whoever may reach another member moves there, and need not wait until the leader notices.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deposed_leader_is_left_for_another_member() {
    let parted = Parted::start().await;
    Truth::new(&parted.address()).await.make("/locks/a").await;
    // Only the leader can be reached at first.
    let members = parted.ensemble.members();
    let mut proxies = Vec::new();
    for (at, member) in members.iter().enumerate() {
        let proxy = Proxy::start(member.address()).await;
        proxy.set(if at == parted.leader { Mode::Open } else { Mode::Cut });
        proxies.push(proxy);
    }
    let connect = proxies.iter().map(Proxy::address).collect::<Vec<_>>().join(",");
    let observed = Observed::start_asking(&connect, &["/locks"]);
    observed.until_live().await;
    observed.until_proved(|proof| proof.epoch == Some(true)).await;
    proxies.iter().for_each(|proxy| proxy.set(Mode::Open));
    let links = observed.look(|believed| believed.links.len());
    let elsewhere = parted.depose().await;
    elsewhere.queue("/locks/a/lock-").await;
    first_doubt(&observed, links).await;
    observed.until_live().await;
    observed.until_true(&elsewhere).await;
    assert!(leads(&parted.ensemble, parted.leader).await, "it has not noticed yet");
    observed.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn leader_change_raises_no_doubt() {
    let mut ensemble = ensemble().await;
    let leader = leader(&ensemble).await.expect("one leads");
    let others: Vec<String> = (0..3).filter(|at| *at != leader).map(|at| ensemble.members()[at].address()).collect();
    let truth = Truth::new(&others.join(",")).await;
    truth.make("/locks/a").await;
    let observed = Observed::start_asking(&others[0], &["/locks"]);
    observed.until_live().await;
    observed.until_proved(|proof| proof.epoch == Some(true)).await;
    ensemble.members_mut()[leader].kill_minus_9().await.unwrap();
    observed.until("stale", |believed| believed.link != Some(Link::Live)).await;
    observed.until_live().await;
    // Nothing was committed meanwhile but sessions; then something is.
    observed.until_proved(|proof| proof.epoch == Some(true)).await;
    let truth = Truth::new(&others.join(",")).await;
    truth.queue("/locks/a/lock-").await;
    observed.until_true(&truth).await;
    ensemble.members_mut()[leader].restart().await.unwrap();
    let rounds = observed.look(|believed| believed.synced);
    observed.until("some seconds", |believed| believed.synced >= rounds + 6).await;
    let links = observed.look(|believed| believed.links.clone());
    assert!(links.iter().all(|(_, why)| why != DEPOSED), "{links:?}");
    observed.stop().await;
}

/// Nobody is asked but our member: a leader without followers commits nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scratch_writes_prove_the_quorum() {
    let parted = Parted::start().await;
    let truth = Truth::new(&parted.address()).await;
    truth.make("/locks/a").await;
    truth.make("/scratch").await;
    let config = |scratch: &str| {
        let config = ObserverConfig::new(&parted.address(), vec!["/locks".to_owned()], Duration::from_secs(30));
        config.unwrap().with_scratch(Some(scratch.to_owned()))
    };
    let observed = Observed::start_as(config("/scratch"));
    let other = Observed::start_as(config("/none"));
    observed.until_live().await;
    observed.until_proved(|proof| proof.quorum == Some(true) && proof.epoch.is_none()).await;
    observed.until("the leader's time", |believed| believed.clock_reads > 0).await;
    other.until_live().await;
    other.until_proved(|proof| proof.answer == Some(true) && proof.quorum.is_none()).await;
    let links = observed.look(|believed| believed.links.len());
    let elsewhere = parted.depose().await;
    elsewhere.queue("/locks/a/lock-").await;
    assert_eq!(first_doubt(&observed, links).await, "no answer for more than a second");
    parted.set(Mode::Open);
    observed.until_live().await;
    observed.until_true(&elsewhere).await;
    observed.stop().await;
    other.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lone_server_proves_itself() {
    let server = zookeeper().await;
    Truth::new(&server.address()).await.make("/locks").await;
    let observed = Observed::start_asking(&server.address(), &["/locks"]);
    observed.until_live().await;
    observed.until_proved(|proof| proof.epoch == Some(true) && proof.quorum == Some(true)).await;
    observed.stop().await;
}
