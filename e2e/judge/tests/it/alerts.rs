//! Alerts: honest ones are clean, and each lie about them is seen and named.

use lockscope_judge::{
    ALERT_MAX_MS, Alert, AlertRule, AlertWhen, Alerts, BEGINS_AGAIN_MS, Capture, Fault, FaultSpan, Kind, Limits,
    Report, Shown, Told, judge_alerts,
};

use crate::world::{LOCK, START_MS, World};

const HELD_MS: i64 = 1_000;
const FOR_MS: i64 = 500;

/// Somebody holds from `0` to `4_000` ms with two behind, then the next one does and leaves at `4_500`; all is told LIVE.
fn life() -> (World, Vec<Capture>) {
    let mut world = World::new();
    world.queue(11, 0);
    world.queue(12, 1);
    world.queue(13, 2);
    let first = world.shown(0);
    world.wait(4_000);
    world.leave(11, 0);
    world.wait(500);
    world.leave(12, 1);
    world.wait(100);
    world.leave(13, 2);
    world.wait(40_000);
    let end = Capture::Heartbeat { socket: 0, arrived_at_ms: world.now_ms };
    // What is judged here is that it was LIVE, not what it showed.
    (world, vec![Capture::Shown(first), end])
}

fn rules() -> Vec<AlertRule> {
    let rule = |name: &str, when, for_ms| AlertRule { name: name.to_owned(), when, for_ms };
    vec![
        rule("held", AlertWhen::Held(HELD_MS), FOR_MS),
        rule("waiting", AlertWhen::Waiting(HELD_MS), FOR_MS),
        rule("depth", AlertWhen::Depth(1), FOR_MS),
    ]
}

fn alert(rule: &str, fired: i64, over: i64) -> Alert {
    Alert {
        key: format!("{rule}-{fired}"),
        rule: rule.to_owned(),
        lock: LOCK.to_owned(),
        fired_at_ms: START_MS + fired,
        seen_at_ms: START_MS + fired + 300,
        over_at_ms: Some(START_MS + over),
    }
}

/// What an honest server lists, and tells two receivers.
fn honest(world: &World) -> Alerts {
    let fired = vec![
        alert("held", HELD_MS + FOR_MS + 1, 4_000),
        alert("waiting", HELD_MS + FOR_MS + 1, 4_500),
        alert("depth", FOR_MS, 4_000),
    ];
    let mut told = Vec::new();
    for receiver in ["one", "other"] {
        for alert in &fired {
            let told_of =
                |is_over| Told { receiver: receiver.to_owned(), key: alert.key.clone(), is_over, is_answered: true };
            told.extend([false, true].map(told_of));
        }
    }
    Alerts {
        rules: rules(),
        fired,
        listed_at_ms: world.now_ms,
        owing: [LOCK.to_owned()].into(),
        receivers: ["one", "other"].map(str::to_owned).to_vec(),
        by_labels: ["other".to_owned()].into(),
        told,
        kills: 0,
    }
}

fn judged(world: &World, captures: &[Capture], faults: &[FaultSpan], alerts: &Alerts) -> Report {
    judge_alerts(&Limits::default(), &world.truth(), captures, faults, alerts)
}

fn lie(kind: Kind, change: impl Fn(&mut Alerts)) {
    let (world, captures) = life();
    let mut alerts = honest(&world);
    change(&mut alerts);
    let report = judged(&world, &captures, &[], &alerts);
    assert!(report.count(kind) > 0 && report.wrong_by_kind.len() == 1, "{:#?}", report.wrong);
}

#[test]
fn honest_alerts_are_clean() {
    let (world, captures) = life();
    let report = judged(&world, &captures, &[], &honest(&world));
    assert!(report.is_clean(), "{:#?}", report.wrong);
    // The first holder and the depth, and of the waiters both: one had waited 4 s, the other 4.5 s.
    assert_eq!((report.counts.alerts, report.counts.causes), (3, 4));
    // From when it was shown: a frame takes its time.
    assert_eq!(report.worst.fires_ms, 291);
}

#[test]
fn one_that_fires_without_a_cause() {
    // Nobody held for so long then; it fired before its time; before the rule's `for` was over; long after the end.
    for fired in [6_500, HELD_MS - 10, HELD_MS + FOR_MS - 10, 30_000] {
        lie(Kind::AlertWithoutCause, |alerts| {
            let later = alerts.fired[0].over_at_ms.map(|over| over.max(START_MS + fired));
            (alerts.fired[0].fired_at_ms, alerts.fired[0].over_at_ms) = (START_MS + fired, later);
            // That no other fired in time, or that it ended then, would be a second wrong.
            alerts.owing.clear();
            alerts.fired[0].over_at_ms = alerts.fired[0].over_at_ms.map(|_| START_MS + 4_000);
        });
    }
}

#[test]
fn a_cause_for_which_nothing_fires() {
    for at in 0..3 {
        lie(Kind::CauseWithoutAlert, |alerts| {
            let gone = alerts.fired.remove(at);
            alerts.told.retain(|told| told.key != gone.key);
        });
    }
    // It fired at another lock, or too late for the promise.
    lie(Kind::CauseWithoutAlert, |alerts| {
        alerts.fired[2].fired_at_ms = START_MS + FOR_MS + ALERT_MAX_MS + 200;
        alerts.fired[2].seen_at_ms = alerts.fired[2].fired_at_ms;
    });
    // It says that it fired in time, and nobody saw it.
    lie(Kind::CauseWithoutAlert, |alerts| alerts.fired[2].seen_at_ms = START_MS + FOR_MS + ALERT_MAX_MS + 200);
}

#[test]
fn one_that_is_over_before_its_cause() {
    let (world, captures) = life();
    let mut alerts = honest(&world);
    alerts.fired[0].over_at_ms = Some(START_MS + 3_000);
    let report = judged(&world, &captures, &[], &alerts);
    assert_eq!((report.count(Kind::AlertEndWrong), report.count(Kind::CauseWithoutAlert)), (1, 1));
}

#[test]
fn one_that_is_never_over() {
    let told_until_then = |alerts: &mut Alerts| {
        let key = alerts.fired[0].key.clone();
        alerts.fired[0].over_at_ms = None;
        alerts.told.retain(|told| told.key != key || !told.is_over);
    };
    lie(Kind::AlertEndWrong, told_until_then);
    // Not yet: what begins again within its time never ended.
    let (world, captures) = life();
    let mut alerts = honest(&world);
    told_until_then(&mut alerts);
    alerts.listed_at_ms = START_MS + 4_000 + BEGINS_AGAIN_MS;
    assert!(judged(&world, &captures, &[], &alerts).is_clean());
    // Over at an instant when nothing ended.
    lie(Kind::AlertEndWrong, |alerts| alerts.fired[0].over_at_ms = Some(START_MS + 12_000));
}

#[test]
fn two_of_one() {
    lie(Kind::AlertTwice, |alerts| {
        let again = Alert { key: "again".to_owned(), ..alerts.fired[0].clone() };
        for told in alerts.told.clone().into_iter().filter(|told| told.key == alerts.fired[0].key) {
            alerts.told.push(Told { key: again.key.clone(), ..told });
        }
        alerts.fired.push(again);
    });
}

#[test]
fn lies_to_receivers() {
    lie(Kind::Untold, |alerts| alerts.told.retain(|told| !(told.receiver == "other" && told.is_over)));
    lie(Kind::Untold, |alerts| alerts.told.retain(|told| told.receiver == "one"));
    lie(Kind::ToldFalse, |alerts| {
        let told = alerts.told[0].clone();
        alerts.told.push(Told { key: "nothing".to_owned(), ..told });
    });
    lie(Kind::ToldTwice, |alerts| {
        let at = alerts.told.iter().position(|told| told.is_over).unwrap();
        alerts.told.insert(at, alerts.told[at].clone());
    });
    // What it never said that it took may come again.
    let (world, captures) = life();
    let mut alerts = honest(&world);
    let lost = Told { is_answered: false, ..alerts.told[0].clone() };
    alerts.told.insert(0, lost);
    assert!(judged(&world, &captures, &[], &alerts).is_clean());
    // It fires after it is over.
    lie(Kind::ToldTwice, |alerts| alerts.told.swap(0, 1));
    // A kill explains one repetition, and not that it fires again.
    let (world, captures) = life();
    let mut alerts = Alerts { kills: 1, ..honest(&world) };
    alerts.told.insert(0, alerts.told[0].clone());
    assert!(judged(&world, &captures, &[], &alerts).is_clean());
    alerts.told.insert(0, alerts.told[0].clone());
    assert_eq!(judged(&world, &captures, &[], &alerts).count(Kind::ToldTwice), 1);
}

#[test]
fn what_could_not_be_seen_owes_nothing() {
    let (world, _) = life();
    let none = Alerts { fired: Vec::new(), told: Vec::new(), ..honest(&world) };
    // Never shown as LIVE.
    assert!(judged(&world, &[], &[], &none).is_clean());
    // Shown, with a link that was known to be lost.
    let (_, captures) = life();
    let lost = FaultSpan { fault: Fault::LinkLost, lost_at_ms: START_MS + 100, good_at_ms: Some(START_MS + 3_000) };
    assert!(judged(&world, &captures, &[lost], &none).is_clean());
    let short = FaultSpan { good_at_ms: Some(START_MS + 110), lost_at_ms: START_MS + 100, ..lost };
    assert!(!judged(&world, &captures, &[short], &Alerts { rules: rules()[2..].to_vec(), ..none }).is_clean());
}

#[test]
fn what_ended_right_before_a_kill_is_over_when_it_is_seen_again() {
    // A server that was there for long enough to take note has no such excuse.
    for (killed, has_excuse) in [(5_000, true), (6_500, false)] {
        let (world, mut captures) = life();
        let Some(Capture::Shown(first)) = captures.first().cloned() else { unreachable!("something is shown") };
        captures.insert(1, Capture::Closed { socket: 0, arrived_at_ms: START_MS + killed });
        captures.insert(2, Capture::Shown(Shown { arrived_at_ms: START_MS + 8_000, ..first }));
        let mut alerts = honest(&world);
        alerts.fired[0].over_at_ms = Some(START_MS + 8_010);
        let report = judged(&world, &captures, &[], &alerts);
        assert_eq!(report.count(Kind::AlertEndWrong), u64::from(!has_excuse), "{:#?}", report.wrong);
    }
}

#[test]
fn to_a_receiver_that_goes_by_labels_the_next_alert_goes_on_with_the_one_before() {
    let (world, captures) = life();
    for (receiver, untold) in [("other", 0), ("one", 1)] {
        let mut alerts = honest(&world);
        let first = alerts.fired[0].clone();
        alerts.told.retain(|told| (&*told.receiver, &told.key, told.is_over) != (receiver, &first.key, true));
        let later = |at_ms: i64| at_ms + 20_000;
        let (fired_at_ms, over_at_ms) = (later(first.fired_at_ms), first.over_at_ms.map(later));
        let next = Alert { key: "next".to_owned(), fired_at_ms, over_at_ms, ..first };
        for told in ["one", "other"].into_iter().flat_map(|receiver| [(receiver, false), (receiver, true)]) {
            let (receiver, is_over) = (told.0.to_owned(), told.1);
            alerts.told.push(Told { receiver, key: next.key.clone(), is_over, is_answered: true });
        }
        alerts.fired.push(next);
        assert_eq!(judged(&world, &captures, &[], &alerts).count(Kind::Untold), untold, "{receiver}");
    }
}
