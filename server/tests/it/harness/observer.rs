//! Runs the observer under test and waits for what it should come to believe.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use lockscope_core::observation::{Observation, RootId};
use lockscope_core::observatory::{Observatory, Settings};
use lockscope_core::proof::Proof;
use lockscope_core::time::TimeMs;
use lockscope_runtime::shutdown::DropGuard;
use lockscope_zookeeper::members::{self, Demand, SharedRounds};
use lockscope_zookeeper::{BATCH_MAX, BATCHES_MAX, Credentials, ObserverConfig, RequestCounts, observe};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use super::{Believed, DEADLINE, Truth};

/// An observer and what it told.
pub(crate) struct Observed {
    believed: Arc<Mutex<Believed>>,
    /// The real core, fed the same: it must hold the same znodes.
    core: Arc<Mutex<Observatory>>,
    news: watch::Receiver<u64>,
    /// Batches after which the core said that the first root is live.
    lives: Arc<AtomicU64>,
    proof: Arc<parking_lot::Mutex<Proof>>,
    stop: DropGuard,
    roots: Vec<String>,
    task: JoinHandle<()>,
}

impl Observed {
    /// Starts an observer whose session outlives what a busy machine does to it.
    pub(crate) fn start(connect: &str, roots: &[&str]) -> Self {
        Self::start_with(connect, roots, Duration::from_secs(30))
    }

    pub(crate) fn start_with(connect: &str, roots: &[&str], session_timeout: Duration) -> Self {
        let roots: Vec<String> = roots.iter().map(|root| (*root).to_owned()).collect();
        Self::start_as(ObserverConfig::new(connect, roots, session_timeout).expect("a good configuration"))
    }

    /// Starts one whose members are asked as well.
    pub(crate) fn start_asking(connect: &str, roots: &[&str]) -> Self {
        let roots = roots.iter().map(|root| (*root).to_owned()).collect();
        let session_timeout = Duration::from_secs(30);
        let asked = members::Config {
            connect: connect.to_owned(),
            admin_urls: Vec::new(),
            credentials: Credentials::default(),
            session_timeout,
        };
        let config = ObserverConfig::new(connect, roots, session_timeout).expect("a good configuration");
        Self::start_with_members(config, Some(asked))
    }

    /// Starts one as its configuration says.
    pub(crate) fn start_as(config: ObserverConfig) -> Self {
        Self::start_with_members(config, None)
    }

    fn start_with_members(config: ObserverConfig, asked: Option<members::Config>) -> Self {
        let roots = config.roots().to_vec();
        let (sink, mut batches) = mpsc::channel::<Vec<Observation>>(BATCHES_MAX);
        let (stop, stopped) = lockscope_runtime::shutdown::token();
        let (tell, news) = watch::channel(0);
        let believed = Arc::new(Mutex::new(Believed::new(&roots)));
        let settings = Settings { roots: roots.clone(), ..Settings::default() };
        let core = Arc::new(Mutex::new(Observatory::new(settings, TimeMs(0))));
        let (clock, counts) = (lockscope_runtime::clock::Clock::system(), Arc::<RequestCounts>::default());
        let proof = Arc::clone(&counts.proof);
        if let Some(asked) = asked {
            let (demand, told) = (watch::channel(Demand::default()).1, (sink.clone(), Arc::clone(&counts)));
            tokio::spawn(SharedRounds::default().collect(asked, clock.clone(), demand, told, stopped.clone()));
        }
        let task = tokio::spawn(observe(config, clock, counts, sink, stopped));
        let (belief, observatory) = (Arc::clone(&believed), Arc::clone(&core));
        let (begin, lives) = (Instant::now(), Arc::new(AtomicU64::new(0)));
        let count = Arc::clone(&lives);
        tokio::spawn(async move {
            while let Some(batch) = batches.recv().await {
                assert!(batch.len() <= BATCH_MAX, "a batch of {}", batch.len());
                let now = TimeMs(i64::try_from(begin.elapsed().as_millis()).unwrap());
                let (mut core, mut belief) = (observatory.lock().unwrap(), belief.lock().unwrap());
                for observation in batch {
                    core.apply(now, observation.clone());
                    belief.apply(observation);
                }
                let is_live = core.root_state(RootId(0), now).0 == lockscope_core::root::RootState::Live;
                count.fetch_add(u64::from(is_live), Ordering::Relaxed);
                drop((core, belief));
                tell.send_modify(|count| *count += 1);
            }
        });
        Self { believed, core, news, lives, proof, stop, roots, task }
    }

    /// Looks at what is believed now.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&Believed) -> T) -> T {
        look(&self.believed.lock().unwrap())
    }

    /// Waits until what is believed satisfies `condition`.
    pub(crate) async fn until(&self, what: &str, condition: impl Fn(&Believed) -> bool) {
        let begin = Instant::now();
        let mut news = self.news.clone();
        loop {
            news.borrow_and_update();
            if self.look(&condition) {
                return;
            }
            let left = DEADLINE.saturating_sub(begin.elapsed());
            if !matches!(tokio::time::timeout(left, news.changed()).await, Ok(Ok(()))) {
                let text = self.look(|b| {
                    format!(
                        "link {:?}, roots {:?}, links {:?}, syncs {:?}, {} nodes",
                        b.link,
                        b.roots,
                        b.links,
                        b.syncs,
                        b.tree.len()
                    )
                });
                panic!("not seen in {DEADLINE:?}: {what}; believed: {text}");
            }
        }
    }

    /// Waits until the proof that it is live is such.
    pub(crate) async fn until_proved(&self, is_so: impl Fn(Proof) -> bool) {
        let begin = Instant::now();
        while !is_so(*self.proof.lock()) {
            assert!(begin.elapsed() < DEADLINE, "not proved in {DEADLINE:?}: {:?}", self.proof.lock());
            tokio::time::sleep(super::STEP).await;
        }
    }

    /// How often the core said that the first root is live.
    pub(crate) fn lives(&self) -> u64 {
        self.lives.load(Ordering::Relaxed)
    }

    /// Waits until all roots are live.
    pub(crate) async fn until_live(&self) {
        let count = u32::try_from(self.roots.len()).unwrap();
        self.until("all roots live", |believed| (0..count).all(|root| believed.is_live(root))).await;
    }

    /// Waits until the believed tree is the real one, with the same facts.
    pub(crate) async fn until_true(&self, truth: &Truth) {
        let begin = Instant::now();
        loop {
            let real = truth.trees(&self.roots).await;
            let difference = self.look(|believed| super::truth::difference(&real, &believed.tree));
            let Some(difference) = difference else {
                self.assert_core_agrees();
                return;
            };
            assert!(begin.elapsed() < DEADLINE, "the believed tree is not the real one: {difference}");
            let mut news = self.news.clone();
            news.mark_unchanged();
            let _ = tokio::time::timeout(Duration::from_millis(50), news.changed()).await;
        }
    }

    /// The core holds as many znodes as are believed, in each root.
    fn assert_core_agrees(&self) {
        let (core, believed) = (self.core.lock().unwrap(), self.believed.lock().unwrap());
        for (id, root) in (0..).zip(&self.roots) {
            let nodes =
                believed.tree.keys().filter(|path| *path != "/" && lockscope_core::znode::is_under(path, root)).count();
            assert_eq!(core.roots()[id].mirror.nodes(), nodes as u64, "znodes the core holds under {root}");
            let root = RootId(u32::try_from(id).unwrap());
            let now = core.roots()[id].known_at();
            let live = (
                matches!(core.root_state(root, now).0, lockscope_core::root::RootState::Live),
                believed.is_live(root.0),
            );
            assert!(live.1 || !live.0, "the core says live, the observations did not");
        }
    }

    /// Stops the observer and waits for its end.
    pub(crate) async fn stop(self) {
        drop(self.stop);
        tokio::time::timeout(DEADLINE, self.task)
            .await
            .expect("the observer stops")
            .expect("the observer does not panic");
    }
}
