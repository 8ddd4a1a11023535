//! A process that ends and another that goes on: with the model that was kept, or with an empty one.

use lockscope_alerts::book::Book;
use lockscope_alerts::evaluator::{ActiveAlert, AlertEnd};
use lockscope_alerts::rule::Rule;
use lockscope_core::observation::Observation;
use lockscope_core::settings::Settings;
use lockscope_core::time::TimeMs;

use crate::firing::{HEAD, ORPHAN, mended};
use crate::language::Story;
use crate::watch::Watch;
use crate::{at, rule};

/// The next process, with an empty model: what is there is read when it is back.
pub(crate) fn anew(before: &Watch, rules: &[Rule], at_ms: i64) -> Watch {
    let mut story = Story::new(&["/locks"]);
    story.now = at_ms;
    let settings = Settings { roots: vec!["/locks".to_owned()], ..Settings::default() };
    story.observatory = lockscope_core::observatory::Observatory::new(settings, TimeMs(at_ms));
    Watch::over(story, rules, kept(before))
}

/// The next process, with the model that the history kept.
fn resumed(before: Watch, rules: &[Rule], at_ms: i64) -> Watch {
    let known = kept(&before);
    let mut story = before.story;
    story.now = at_ms;
    let settings = Settings { roots: vec!["/locks".to_owned()], ..Settings::default() };
    story.observatory.apply(TimeMs(at_ms), Observation::Restarted(Box::new(settings)));
    Watch::over(story, rules, known)
}

/// What is active, as the book gives it to the next process.
fn kept(before: &Watch) -> Vec<ActiveAlert> {
    let mut book = Book::new(Vec::new(), Vec::new(), Vec::new());
    let news =
        before.evaluator.active().into_iter().map(|alert| lockscope_alerts::evaluator::AlertNews { alert, end: None });
    book.take("prod", news.collect(), 0, |_, _| String::new());
    book.active_in("prod")
}

/// Everything is read again; what nobody owns is there or not.
fn read(watch: &mut Watch, at_ms: i64, is_there: bool) {
    let node = if is_there { format!("{at_ms} node {HEAD} czxid=102 ctime=1000\n") } else { String::new() };
    watch.tell(&format!(
        "{at_ms} sync /locks\n{at_ms} node /locks\n{at_ms} node /locks/a created=1\n{node}{at_ms} link live\n{at_ms} end /locks"
    ));
}

fn both(rules: &[Rule], before_ms: i64, is_there: bool, check: impl Fn(Watch)) {
    let life = || {
        let mut watch = Watch::new(rules);
        watch.tell(ORPHAN).pass_to(before_ms);
        watch
    };
    for mut watch in [anew(&life(), rules, before_ms + 60_000), resumed(life(), rules, before_ms + 60_000)] {
        watch.is_answering = false;
        watch.tell(&format!("{} link lost restarted", before_ms + 60_000)).pass_to(before_ms + 61_000);
        watch.is_answering = true;
        read(&mut watch, before_ms + 61_000, is_there);
        check(watch);
    }
}

#[test]
fn what_goes_on_stays_the_same_alert() {
    both(&[rule("orphans", &["orphan"], 5_000)], 10_000, true, |mut watch| {
        watch.pass_to(200_000);
        assert_eq!(watch.said(), ["orphans /locks/a: unknown 70000", "orphans /locks/a: fired 6000"]);
        let alert = watch.only();
        assert_eq!((alert.found_at, alert.since, alert.fired_at), (TimeMs(1_000), TimeMs(1_000), Some(TimeMs(6_000))));
    });
}

#[test]
fn what_was_over_meanwhile_is_over_when_that_is_seen() {
    both(&[rule("orphans", &["orphan"], 5_000)], 10_000, false, |mut watch| {
        watch.pass_to(85_999);
        assert_eq!(watch.said()[1..], ["orphans /locks/a: fired 6000"], "it is seen, and not yet over for long enough");
        watch.pass_to(86_000);
        assert_eq!(watch.news[0].alert.found_at, TimeMs(1_000));
        assert_eq!(watch.news[0].end, Some(AlertEnd::Resolved(TimeMs(71_000))));
        assert_eq!(watch.evaluator.active(), []);
    });
}

#[test]
fn what_was_over_before_is_over_since_then() {
    let rules = [rule("orphans", &["orphan"], 5_000)];
    // It had been over for a while when the process ended, and for shorter than anybody notes.
    for (ended_ms, over_ms) in [(12_000, 10_000), (10_250, 71_000)] {
        let life = || {
            let mut watch = Watch::new(&rules);
            watch.tell(ORPHAN).tell(&mended(10_000)).pass_to(ended_ms);
            watch
        };
        for mut watch in [anew(&life(), &rules, 70_000), resumed(life(), &rules, 70_000)] {
            watch.is_answering = false;
            watch.tell("70000 link lost restarted").pass_to(71_000);
            watch.is_answering = true;
            read(&mut watch, 71_000, false);
            watch.pass_to(100_000);
            assert_eq!(watch.said().last().unwrap(), &format!("orphans /locks/a: over {over_ms}"));
        }
        // It began again meanwhile: then it goes on.
        let mut watch = anew(&life(), &rules, 70_000);
        read(&mut watch, 71_000, true);
        watch.pass_to(100_000);
        assert_eq!((watch.only().fired_at, watch.only().over_since), (Some(TimeMs(6_000)), None));
    }
}

#[test]
fn a_server_that_is_ended_again_and_again_says_that_it_is_over() {
    let rules = [rule("orphans", &["orphan"], 5_000)];
    let mut watch = Watch::new(&rules);
    watch.tell(ORPHAN).tell(&mended(10_000)).pass_to(13_000);
    for at_ms in [14_000, 20_000] {
        watch = anew(&watch, &rules, at_ms);
        read(&mut watch, at_ms + 250, false);
        watch.pass_to(at_ms + 5_000);
    }
    assert_eq!(watch.said().last().unwrap(), "orphans /locks/a: over 10000");
}

#[test]
fn what_was_pending_fires_at_once_or_never_did() {
    both(&[rule("orphans", &["orphan"], 30_000)], 10_000, true, |mut watch| {
        watch.pass_to(100_000);
        assert_eq!(watch.said(), ["orphans /locks/a: unknown 70000", "orphans /locks/a: fired 71000"]);
        assert_eq!(watch.only().found_at, TimeMs(1_000));
    });
    both(&[rule("orphans", &["orphan"], 30_000)], 10_000, false, |mut watch| {
        watch.pass_to(100_000);
        assert_eq!(watch.said(), ["orphans /locks/a: unknown 70000", "orphans /locks/a: never"]);
    });
}

#[test]
fn what_nobody_held_before_is_not_counted_anew() {
    let rules = [at("/locks/none", rule("idle", &["not_held > 1m"], 0))];
    both(&rules, 70_000, true, |mut watch| {
        watch.pass_to(300_000);
        assert_eq!(watch.said(), ["idle /locks/none: unknown 130000", "idle /locks/none: fired 60250"]);
    });
    let rules = [rule("idle", &["not_held > 1m"], 0)];
    let mut before = Watch::new(&rules);
    before.tell("1000 + /locks/a\n1000 + /locks/a/lock-0000000000\n1000 = /locks/a/lock-0000000000 owner=a");
    before.tell("2000 - /locks/a/lock-0000000000").pass_to(70_000);
    assert_eq!(before.said(), ["idle /locks/a: fired 62250"]);
    let mut watch = resumed(before, &rules, 100_000);
    read(&mut watch, 100_000, false);
    watch.pass_to(300_000);
    assert_eq!(watch.said(), ["idle /locks/a: unknown 100000", "idle /locks/a: fired 62250"]);
}

#[test]
fn what_could_not_be_seen_before_is_one_alert_until_it_is_seen() {
    let rules = [rule("blind", &["unseen > 1m"], 0)];
    let life = || {
        let mut watch = Watch::new(&rules);
        watch.pass_to(1_000).is_answering = false;
        watch.tell("1000 link lost no answer").pass_to(100_000);
        assert_eq!(watch.said(), ["blind /locks: fired 61250"]);
        watch
    };
    for mut watch in [anew(&life(), &rules, 110_000), resumed(life(), &rules, 110_000)] {
        watch.is_answering = false;
        watch.tell("110000 link lost restarted").pass_to(150_000);
        assert_eq!(watch.said(), ["blind /locks: unknown 110000", "blind /locks: fired 61250"]);
        watch.is_answering = true;
        read(&mut watch, 150_000, false);
        watch.pass_to(300_000);
        assert_eq!(watch.said(), ["blind /locks: over 150000"]);
        // A later loss is a later alert.
        watch.is_answering = false;
        watch.tell("300000 link lost no answer").pass_to(359_000);
        assert_eq!(watch.said(), [""; 0]);
        watch.pass_to(361_000);
        assert_eq!(watch.said(), ["blind /locks: fired 360250"]);
    }
}

#[test]
fn rules_that_are_gone_or_of_other_locks_end_their_alerts() {
    let mut before = Watch::new(&[rule("orphans", &["orphan"], 0), rule("later", &["orphan"], 90_000)]);
    before.tell(ORPHAN).pass_to(5_000);
    let elsewhere = ["orphans", "later"].map(|name| at("/locks/b/**", rule(name, &["orphan"], 0)));
    let of_another =
        ["orphans", "later"].map(|name| Rule { ensemble: Some("stage".to_owned()), ..rule(name, &["orphan"], 0) });
    for rules in [&[][..], &elsewhere, &of_another] {
        let mut watch = anew(&before, rules, 10_000);
        let mut said = watch.said();
        said.sort();
        assert_eq!(said, ["later /locks/a: never", "orphans /locks/a: over 10000"]);
        assert_eq!(watch.evaluator.active(), []);
    }
}

#[test]
fn locks_below_what_is_watched_no_longer_end_their_alerts() {
    let rules = [rule("orphans", &["orphan"], 0)];
    let mut before = Watch::new(&rules);
    before.tell(ORPHAN).pass_to(5_000);
    let mut watch = Watch::over(Story::new(&["/other"]), &rules, kept(&before));
    watch.pass_to(RESTARTED + 15_250);
    assert_eq!(watch.said().last().unwrap(), &format!("orphans /locks/a: over {RESTARTED}"));
    assert_eq!(watch.evaluator.active(), []);
}

/// The first tick of a story.
const RESTARTED: i64 = 250;

#[test]
fn of_two_that_say_the_same_the_older_goes_on() {
    let rules = [rule("orphans", &["orphan"], 0)];
    let mut before = Watch::new(&rules);
    before.tell(ORPHAN);
    let older = before.only();
    let younger = ActiveAlert { found_at: TimeMs(3_000), ..older.clone() };
    let mut watch = Watch::over(before.story, &rules, vec![younger, older]);
    watch.pass_to(60_000);
    assert_eq!(watch.only().found_at, TimeMs(1_000));
    let ended: Vec<_> = watch.news.iter().filter(|news| news.end.is_some()).collect();
    assert_eq!(ended.len(), 1);
    assert_eq!(ended[0].alert.found_at, TimeMs(3_000));
}

#[test]
fn a_second_restart_is_as_the_first() {
    let rules = [rule("orphans", &["orphan"], 5_000)];
    let mut watch = Watch::new(&rules);
    watch.tell(ORPHAN).pass_to(10_000);
    for round in 1..5 {
        let at_ms = round * 100_000;
        watch = if round % 2 == 0 { anew(&watch, &rules, at_ms) } else { resumed(watch, &rules, at_ms) };
        // One of them ends before it has seen anything.
        if round != 2 {
            read(&mut watch, at_ms, true);
        }
        watch.pass_to(at_ms + 50_000);
        let said = watch.said();
        assert!(said.iter().all(|line| line.contains("unknown") || line.contains("fired 6000")), "{said:?}");
    }
    assert_eq!((watch.only().found_at, watch.only().fired_at), (TimeMs(1_000), Some(TimeMs(6_000))));
}

#[test]
fn whoever_holds_when_it_comes_back_is_not_the_one_that_held_for_too_long() {
    let rules = [rule("long", &["held > 1m"], 0)];
    let holds = |at_ms: i64, number: i64| {
        let path = format!("/locks/a/lock-{number:010}");
        format!("{at_ms} node {path} owner=a czxid={}\n", 200 + number)
    };
    let mut watch = Watch::new(&rules);
    watch.tell("1000 + /locks/a\n1000 + /locks/a/lock-0000000001\n1000 = /locks/a/lock-0000000001 owner=a czxid=201");
    watch.pass_to(70_000);
    assert_eq!(watch.said(), ["long /locks/a: fired 61250"]);
    let begins = |at_ms: i64| format!("{at_ms} link lost restarted\n{at_ms} sync /locks\n{at_ms} node /locks\n");
    // Another holds by then, and the process ends before it knows that for sure.
    watch = anew(&watch, &rules, 80_000);
    watch.tell(&format!("{}{}80000 end /locks", begins(80_000), holds(80_000, 2)));
    watch = anew(&watch, &rules, 90_000);
    watch.tell(&format!("{}{}90000 link live\n90000 end /locks", begins(90_000), holds(90_000, 2))).pass_to(120_000);
    assert_eq!(watch.said().last().unwrap(), "long /locks/a: over 90000");
}
