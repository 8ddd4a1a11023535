//! Whatever happens, honest captures are clean: each frame a state that was true not long ago, in order.

use lockscope_judge::{Capture, Gone, Rule, Shown, judge};
use lockscope_txn_log::Lifetime;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::world::{World, frame, line};

/// Locks of each rule; the last is a znode itself.
const LOCKS: [(&str, Rule); 4] = [
    ("/l/mutex", Rule::Queue),
    ("/l/shared", Rule::ReadWrite),
    ("/l/fixed", Rule::FixedChild),
    ("/l/leader", Rule::FixedNode),
];

#[derive(Clone, Copy, Debug)]
enum Step {
    Queue {
        lock: usize,
        session: i64,
        reads: bool,
    },
    Leave {
        at: usize,
    },
    Close {
        session: i64,
        is_on_record: bool,
    },
    Wait {
        ms: i64,
    },
    /// A frame of a lock, of a state at most so old.
    Show {
        socket: u32,
        lock: usize,
        age_ms: i64,
        cut: usize,
        is_complete: bool,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let show = (0u32..3, 0..LOCKS.len(), 0i64..1_900, 0usize..5, prop::bool::weighted(0.8));
    prop_oneof![
        4 => (0..LOCKS.len(), 11i64..16, any::<bool>()).prop_map(|(lock, session, reads)| Step::Queue { lock, session, reads }),
        3 => any::<usize>().prop_map(|at| Step::Leave { at }),
        1 => (11i64..16, any::<bool>()).prop_map(|(session, is_on_record)| Step::Close { session, is_on_record }),
        3 => (0i64..3_000).prop_map(|ms| Step::Wait { ms }),
        8 => show.prop_map(|(socket, lock, age_ms, cut, is_complete)| Step::Show { socket, lock, age_ms, cut, is_complete }),
    ]
}

struct Scene {
    world: World,
    number: u32,
    captures: Vec<Capture>,
    /// The last zxid shown, by socket and lock.
    last: std::collections::HashMap<(u32, usize), i64>,
}

impl Scene {
    fn new() -> Self {
        let mut world = World::new();
        world.create(1, "/l", Lifetime::Persistent);
        for (lock, rule) in LOCKS {
            if rule != Rule::FixedNode {
                world.create(1, lock, Lifetime::Persistent);
            }
        }
        Self { world, number: 0, captures: Vec::new(), last: Default::default() }
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Queue { lock, session, reads } => self.queue(LOCKS[lock], session, reads),
            Step::Leave { at } => {
                let owned: Vec<(String, i64)> =
                    self.world.tree.iter().filter_map(|(path, (_, owner))| Some((path.clone(), (*owner)?))).collect();
                if let Some((path, session)) = owned.get(at % owned.len().max(1)) {
                    self.world.delete(*session, path);
                }
            }
            Step::Close { session, is_on_record } => _ = self.world.close(session, is_on_record),
            Step::Wait { ms } => self.world.wait(ms),
            Step::Show { socket, lock, age_ms, cut, is_complete } => self.show(socket, lock, age_ms, cut, is_complete),
        }
    }

    fn queue(&mut self, (lock, rule): (&str, Rule), session: i64, reads: bool) {
        self.number += 1;
        let (number, kind) = (self.number, if reads { "__READ__" } else { "__WRIT__" });
        let path = match rule {
            Rule::Queue => format!("{lock}/_c_{number}-lock-{number:010}"),
            Rule::ReadWrite => format!("{lock}/_c_{number}-{kind}{number:010}"),
            Rule::FixedChild => format!("{lock}/lock"),
            Rule::FixedNode => lock.to_owned(),
        };
        if !self.world.tree.contains_key(&path) {
            self.world.create(session, &path, Lifetime::Ephemeral);
        }
    }

    fn show(&mut self, socket: u32, lock: usize, age_ms: i64, cut: usize, is_complete: bool) {
        let last = self.last.get(&(socket, lock)).copied().unwrap_or_default();
        let now_ms = self.world.now_ms;
        // What ended not longer ago than this, and is not before what the socket has; else what is true now.
        let past = &self.world.past;
        let ended_ms = |at: usize| past.get(at + 1).map_or(i64::MAX, |next| next.1);
        let at = (0..past.len()).find(|at| ended_ms(*at) >= now_ms - age_ms && past[*at].0 >= last).unwrap();
        let (zxid, from_ms, tree) = &past[at];
        self.last.insert((socket, lock), *zxid);
        let (path, rule) = LOCKS[lock];
        let (holders, waiters) = match rule {
            Rule::FixedNode => (
                tree.get(path)
                    .map(|(czxid, owner)| lockscope_judge::Contender { czxid: Some(*czxid), session: *owner })
                    .into_iter()
                    .collect(),
                Vec::new(),
            ),
            rule => line(tree, path, rule),
        };
        if holders.is_empty() && cut == 0 {
            let gone = Gone { socket, arrived_at_ms: now_ms, lock: path.into(), is_live: true, zxid: *zxid };
            self.captures.push(Capture::Gone(gone));
        } else {
            let mut shown = frame(socket, path, (*zxid, *from_ms), now_ms, holders, waiters);
            limit(&mut shown, cut, is_complete);
            self.captures.push(Capture::Shown(shown));
        }
        // Nothing grows old: what is shown next is another socket's business.
        self.captures.push(Capture::NotLive { socket, arrived_at_ms: now_ms, lock: Some(path.into()) });
    }
}

/// As a window or a row shows it; or with somebody missing, which it says.
fn limit(shown: &mut Shown, cut: usize, is_complete: bool) {
    if is_complete {
        shown.waiters.truncate(cut);
        shown.holders.truncate(4);
    } else {
        (shown.is_complete, shown.is_free) = (false, false);
        if cut < shown.waiters.len() {
            shown.waiters.remove(cut);
            shown.waiter_count -= 1;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn honest_captures_are_clean(steps in vec(step(), 0..120)) {
        let mut scene = Scene::new();
        for step in steps {
            scene.step(step);
        }
        let truth = scene.world.truth();
        prop_assert_eq!(truth.missing(), 0);
        let report = judge(&truth, &scene.captures, &[]);
        prop_assert!(report.is_clean(), "{:#?}", report);
        // And what it takes for the present is the present.
        for (lock, rule) in LOCKS.into_iter().filter(|(_, rule)| *rule != Rule::FixedNode) {
            let now = truth.now(lock);
            prop_assert_eq!((now.holders, now.waiters), line(&scene.world.tree, lock, rule));
        }
    }

    /// What was never true is never clean: contenders of another lock, or one too many.
    #[test]
    fn what_was_never_true_is_seen(steps in vec(step(), 20..120), place in any::<prop::sample::Index>(), session in 20i64..30) {
        let mut scene = Scene::new();
        for step in steps {
            scene.step(step);
        }
        let shown = |capture: &Capture| matches!(capture, Capture::Shown(shown) if shown.lock == LOCKS[0].0 && shown.is_live);
        let candidates: Vec<usize> = (0..scene.captures.len()).filter(|at| shown(&scene.captures[*at])).collect();
        prop_assume!(!candidates.is_empty());
        let at = candidates[place.index(candidates.len())];
        let Capture::Shown(lie) = &mut scene.captures[at] else { panic!() };
        lie.holders.insert(0, lockscope_judge::Contender { czxid: Some(1), session: Some(session) });
        lie.holder_count += 1;
        let report = judge(&scene.world.truth(), &scene.captures, &[]);
        prop_assert!(report.wrong_by_kind.values().sum::<u64>() == 1, "{:#?}", report);
    }
}
