//! What is found while it happens is what a back-test finds in its recording, firing by firing.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use lockscope_alerts::backtest::{Backtest, Firing, backtest};
use lockscope_alerts::evaluator::{AlertEnd, AlertNews};
use lockscope_alerts::rule::Rule;
use lockscope_core::observation::Observation;
use lockscope_core::observatory::Observatory;
use lockscope_core::settings::Settings;
use lockscope_core::time::TimeMs;
use lockscope_history::backfill::Backfill;
use lockscope_history::codec::{ChunkKind, Encoder};
use lockscope_history::store::sqlite::SqliteStore;
use lockscope_history::store::{Gap, GapReason, Retention, Store};
use lockscope_runtime::clock;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;

use crate::language::Story;
use crate::lives::{Act, World, life};
use crate::watch::Watch;
use crate::{at, rule};

/// Longer than any of it takes.
const DEADLINE: Duration = Duration::from_secs(120);

fn rules() -> Vec<Rule> {
    vec![
        rule("blocked", &["stuck", "deadlocked", "orphan", "nobody_home"], 3_000),
        rule("at-once", &["orphan", "double_owner", "maybe_deadlocked"], 0),
        rule("findings", &["duplicate_session", "deadlock", "orphan_contender", "never_expires", "lock_order"], 1_000),
        rule("waiting", &["waiting > 5s"], 0),
        rule("held", &["held > 8s"], 2_000),
        rule("deep", &["depth > 1"], 500),
        at("/locks/c", rule("idle", &["not_held > 4s"], 0)),
        rule("idle-all", &["not_held > 6s"], 2_500),
        rule("blind", &["unseen > 6s"], 0),
        at("/locks**", rule("any", &["unseen > 3s", "held > 20s", "free"], 4_000)),
        Rule { ensemble: Some("stage".to_owned()), ..rule("other", &["healthy"], 0) },
    ]
}

/// A process of the server: what it began with, and what it observed.
struct Run {
    model: Observatory,
    began_at: TimeMs,
    told: Vec<(TimeMs, Observation)>,
}

/// What was observed in a life, and the news of alerts as they came.
#[derive(Default)]
struct Lived {
    runs: Vec<Run>,
    news: Vec<(TimeMs, AlertNews)>,
}

impl Lived {
    fn ended_at(&self) -> TimeMs {
        self.runs.iter().flat_map(|run| &run.told).map(|(now, _)| *now).next_back().unwrap()
    }
}

fn settings() -> Settings {
    Settings { roots: vec!["/locks".to_owned()], ..Settings::default() }
}

fn live(acts: &[Act], rules: &[Rule]) -> Lived {
    let (mut world, mut lived, mut is_linked) = (World::default(), Lived::default(), true);
    let mut story = Story::new(&["/locks"]);
    story.observatory = Observatory::new(settings(), TimeMs(0));
    let mut watch = Watch::over(story, rules, Vec::new());
    let mut run = Run { model: watch.story.observatory.clone(), began_at: TimeMs(0), told: Vec::new() };
    watch.tell(&world.read(10));
    note(&mut watch, &mut lived);
    for act in acts {
        let now_ms = watch.story.now;
        let seen = world.act(act, now_ms);
        match act {
            Act::Pass(ms) => drop(watch.pass_to(now_ms + ms)),
            Act::Silence(ms) => {
                watch.is_answering = false;
                watch.pass_to(now_ms + ms);
                watch.is_answering = is_linked;
            }
            Act::Link => {
                is_linked = !is_linked;
                watch.is_answering = is_linked;
                let lost = format!("{now_ms} link lost no answer");
                watch.tell(if is_linked { world.read(now_ms) } else { lost }.as_str());
            }
            Act::Restart(ms) => {
                run.told = std::mem::take(&mut watch.told);
                let at = TimeMs(now_ms + ms);
                let mut story = watch.story;
                story.now = at.0;
                story.observatory.apply(at, Observation::Restarted(Box::new(settings())));
                let model = story.observatory.clone();
                lived.runs.push(std::mem::replace(&mut run, Run { model, began_at: at, told: Vec::new() }));
                watch = Watch::over(story, rules, watch.evaluator.active());
                watch.pass_to(at.0 + 100).tell(&world.read(at.0 + 1_000));
                is_linked = true;
            }
            _ if is_linked => drop(watch.tell(&seen)),
            _ => {}
        }
        note(&mut watch, &mut lived);
    }
    watch.pass_to(watch.story.now + 100);
    note(&mut watch, &mut lived);
    run.told = watch.told;
    lived.runs.push(run);
    lived
}

fn note(watch: &mut Watch, lived: &mut Lived) {
    lived.news.append(&mut watch.found_at);
}

/// The firings that a list of news is about; those that began before an instant, and what was known of them by then.
fn firings(news: &[(TimeMs, AlertNews)], before: TimeMs) -> Vec<Firing> {
    let mut firings: Vec<Firing> = Vec::new();
    for (_, AlertNews { alert, end }) in news.iter().filter(|(now, _)| *now < before) {
        let Some(from) = alert.fired_at else { continue };
        let known = firings.iter_mut().find(|one| (&one.rule, &one.lock, one.from) == (&alert.rule, &alert.lock, from));
        match (known, end) {
            (Some(firing), Some(AlertEnd::Resolved(to))) => firing.to = Some(*to),
            (None, None) => {
                let (rule, lock, sentence) = (alert.rule.clone(), alert.lock.clone(), alert.sentence.clone());
                firings.push(Firing { rule, lock, from, to: None, sentence });
            }
            (Some(_), None) => {}
            (known, end) => panic!("{known:?} ends as {end:?}"),
        }
    }
    firings
}

/// A recording of a life, with a checkpoint before every so many observations.
fn recorded(lived: &Lived, checkpoint_every: usize) -> (tempfile::TempDir, SqliteStore) {
    let directory = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(directory.path(), "prod").unwrap();
    let (mut seq, mut stored, mut last) = (1, 0, None);
    for run in &lived.runs {
        let (mut encoder, mut chunks, mut model) = (Encoder::new(seq), Vec::new(), run.model.clone());
        chunks.extend(encoder.checkpoint(run.began_at, model.checkpoint().unwrap().observations()).unwrap());
        for (at, (now, observation)) in run.told.iter().enumerate() {
            if at % checkpoint_every == checkpoint_every - 1 {
                chunks.extend(encoder.checkpoint(*now, model.checkpoint().unwrap().observations()).unwrap());
            }
            encoder.push(*now, observation, &mut chunks).unwrap();
            model.apply(*now, observation.clone());
        }
        chunks.extend(encoder.close());
        let gap = last.map(|from| Gap { after_seq: stored, from, to: run.began_at, why: GapReason::NotRunning });
        store.append(&chunks, gap.as_slice()).unwrap();
        stored = chunks.last().unwrap().seq;
        // Numbers of chunks that were dropped meanwhile are not given again.
        seq = stored + 1 + stored % 3;
        last = run.told.last().map(|(now, _)| *now).or(Some(run.began_at));
    }
    (directory, store)
}

fn replayed(store: &dyn Store, range: Range<TimeMs>) -> Backtest {
    backtest(store, "prod", &rules(), &range, clock::instant() + DEADLINE).unwrap()
}

/// Lives that are compared; more by the environment.
fn lives() -> u32 {
    std::env::var("ALERT_LIVES").ok().and_then(|text| text.parse().ok()).unwrap_or(100)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: lives(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_replay_finds_what_was_found_live(acts in life(), every in 1_usize..500, part in 0_i64..=100) {
        let lived = live(&acts, &rules());
        let (_directory, store) = recorded(&lived, 40 + every);
        let end = lived.ended_at() + 1;
        prop_assert_eq!(replayed(&store, TimeMs(0)..end).firings, firings(&lived.news, end));
        // Up to any instant it is what was known by then.
        let earlier = TimeMs(1 + end.0 * part / 100);
        prop_assert_eq!(replayed(&store, TimeMs(0)..earlier).firings, firings(&lived.news, earlier));
    }

    #[test]
    fn what_was_over_before_a_range_is_not_in_it(acts in life(), part in 0_i64..=100) {
        let lived = live(&acts, &rules());
        let (_directory, store) = recorded(&lived, usize::MAX);
        let end = lived.ended_at() + 1;
        let start = TimeMs(end.0 * part / 100);
        let found = replayed(&store, start..end).firings;
        prop_assert!(found.iter().all(|firing| firing.to.is_none_or(|to| to >= start)), "{:?}", found);
        // Where no run begins in between, all that was under way is.
        if lived.runs.len() == 1 {
            let expected = firings(&lived.news, end).into_iter().filter(|one| one.to.is_none_or(|to| to >= start));
            prop_assert_eq!(found, expected.collect::<Vec<_>>());
        }
    }
}

#[test]
fn lives_are_worth_the_comparison() {
    let mut runner = TestRunner::deterministic();
    let mut names = std::collections::BTreeMap::<Arc<str>, (u32, u32)>::new();
    for _ in 0..60 {
        let lived = live(&life().new_tree(&mut runner).unwrap().current(), &rules());
        for firing in firings(&lived.news, TimeMs(i64::MAX)) {
            let (fired, over) = names.entry(firing.rule).or_default();
            *fired += 1;
            *over += u32::from(firing.to.is_some());
        }
    }
    let silent =
        rules().into_iter().filter(|rule| names.get(&rule.name).is_none_or(|(fired, over)| *fired < 5 || *over < 3));
    assert_eq!(silent.map(|rule| rule.name).collect::<Vec<_>>(), ["other".into()] as [Arc<str>; 1], "{names:?}");
}

#[test]
fn a_recording_of_the_historian_says_the_same() {
    let mut runner = TestRunner::deterministic();
    for _ in 0..10 {
        let acts: Vec<Act> = life().new_tree(&mut runner).unwrap().current();
        let acts: Vec<Act> = acts.into_iter().filter(|act| !matches!(act, Act::Restart(_))).collect();
        let lived = live(&acts, &rules());
        let directory = tempfile::tempdir().unwrap();
        let store: Arc<dyn Store> = Arc::new(SqliteStore::open(directory.path(), "prod").unwrap());
        let retention =
            Retention { chunks_ms: i64::MAX, chunk_bytes_max: u64::MAX, spans_ms: i64::MAX, minutes_ms: i64::MAX };
        let mut backfill = Backfill::new(Arc::clone(&store), retention, settings());
        for (now, observation) in lived.runs.iter().flat_map(|run| &run.told) {
            backfill.observe(*now, observation.clone()).unwrap();
        }
        backfill.finish_generated().unwrap();
        let end = lived.ended_at() + 1;
        assert_eq!(replayed(&*store, TimeMs(0)..end).firings, firings(&lived.news, end));
    }
}

#[test]
fn what_is_left_out_of_a_back_test_is_counted_once() {
    let count = lockscope_alerts::backtest::FIRINGS_MAX + 7;
    let mut watch = Watch::new(&[]);
    let run = |watch: &Watch| watch.story.observatory.clone();
    let (model, began_at) = (run(&watch), TimeMs(watch.story.now));
    watch.told.clear();
    for number in 0..count {
        let path = format!("/locks/l{number}/6f1e2d3c00004a4a8b8b0123456789ab__lock__0000000000");
        watch.tell(&format!("1000 + /locks/l{number}\n1000 + {path}\n1000 = {path}"));
    }
    // What fires is unknown for a while, and seen again.
    watch.pass_to(2_000).is_answering = false;
    watch.pass_to(6_000).is_answering = true;
    watch.pass_to(7_000);
    let lived = Lived { runs: vec![Run { model, began_at, told: watch.told }], news: Vec::new() };
    let (_directory, store) = recorded(&lived, usize::MAX);
    let rules = [rule("orphans", &["orphan"], 0)];
    let found = backtest(&store, "prod", &rules, &(TimeMs(0)..TimeMs(9_000)), clock::instant() + DEADLINE).unwrap();
    assert_eq!((found.firings.len(), found.left_out), (count - 7, 7));
    let late = backtest(&store, "prod", &rules, &(TimeMs(0)..TimeMs(9_000)), clock::instant());
    assert!(matches!(late, Err(lockscope_alerts::backtest::BacktestError::TooLong(_))), "{late:?}");
}

/// A store with what a watch was told from a model on, of which the chunk that has an instant is damaged.
fn damaged(model: &Observatory, told: &[(TimeMs, Observation)], at: TimeMs) -> (tempfile::TempDir, SqliteStore) {
    let directory = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(directory.path(), "prod").unwrap();
    let (mut encoder, mut chunks, mut model) = (Encoder::new(1), Vec::new(), model.clone());
    for (number, (now, observation)) in told.iter().enumerate() {
        if number % 20 == 0 {
            chunks.extend(encoder.checkpoint(*now, model.checkpoint().unwrap().observations()).unwrap());
        }
        encoder.push(*now, observation, &mut chunks).unwrap();
        model.apply(*now, observation.clone());
    }
    chunks.extend(encoder.close());
    let hit = chunks.iter_mut().find(|chunk| chunk.kind == ChunkKind::Events && chunk.last_at >= at).unwrap();
    let mut body = hit.body.to_vec();
    body.iter_mut().skip(9).take(1).for_each(|byte| *byte ^= 1);
    hit.body = body.into();
    store.append(&chunks, &[]).unwrap();
    (directory, store)
}

#[test]
fn a_damaged_chunk_costs_a_back_test_its_own_time_and_no_more() {
    let path = |lock: &str| format!("/locks/{lock}/6f1e2d3c00004a4a8b8b0123456789ab__lock__0000000000");
    let rules = [rule("orphans", &["orphan"], 0)];
    let mut watch = Watch::new(&rules);
    let model = watch.story.observatory.clone();
    watch.told.clear();
    let orphan = |at: i64, lock: &str| {
        let znode = path(lock);
        format!("{at} + /locks/{lock}\n{at} + {znode}\n{at} = {znode}")
    };
    watch.tell(&orphan(1_000, "a")).tell(&format!("12000 - {}", path("a"))).tell(&orphan(30_000, "b")).pass_to(40_000);
    let range = || TimeMs(0)..TimeMs(50_000);
    let (_directory, store) = damaged(&model, &watch.told, TimeMs(11_000));
    let found = backtest(&store, "prod", &rules, &range(), clock::instant() + DEADLINE).unwrap();
    let seen =
        found.firings.iter().map(|firing| (&*firing.lock, firing.from.0, firing.to.is_some())).collect::<Vec<_>>();
    assert_eq!(seen, [("/locks/a", 1_000, true), ("/locks/b", 30_000, false)]);
    let [gap] = found.gaps.as_slice() else { panic!("{:?}", found.gaps) };
    assert_eq!(gap.why, GapReason::Damaged);
    assert!(gap.from.0 <= 12_000 && 12_000 <= gap.to.0 && gap.to.0 - gap.from.0 < 6_000, "{gap:?}");
    // It is not known either before everything that is kept.
    assert_eq!(found.unknown_ms, gap.to.0 - gap.from.0 + watch.told[0].0.0);
    let nothing = backtest(&store, "prod", &rules, &(TimeMs(0)..TimeMs(5)), clock::instant() + DEADLINE).unwrap();
    assert_eq!((nothing.unknown_ms, nothing.firings), (5, Vec::new()));
}
