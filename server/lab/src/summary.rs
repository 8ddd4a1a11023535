//! What a run says, in one sentence. Pure.

use lockscope_view::{LabRun, LabState, Lane};

use super::strategy::wakes_all;
use super::table;
use super::view::lost;

/// The sentence for a run that has ended.
pub(super) fn conclude(run: &LabRun) -> String {
    let has_failed = run.state == LabState::Failed;
    // Of a run that failed, what was measured to its end counts.
    let is_done = |lane: &&Lane| lane.releases > 0 && (!has_failed || lane.state == LabState::Finished);
    let done: Vec<&Lane> = run.strategies.iter().filter(is_done).collect();
    let broken: u64 = run.strategies.iter().map(|lane| lane.broken).sum();
    let mut sentence = match (run.state, done.as_slice()) {
        (LabState::Failed, []) => format!("The run failed and shows nothing: {}.", run.why.trim_end_matches('.')),
        (_, []) => "The run was stopped before anybody gave the lock back.".to_owned(),
        (_, [only]) => format!("{}.", one(run, only)),
        (_, lanes) => compared(run, lanes),
    };
    if has_failed && !done.is_empty() {
        sentence = format!("The run failed: {}. Before that: {sentence}", run.why.trim_end_matches('.'));
    }
    for lane in &run.strategies {
        if lost(&lane.seats) > 0 {
            let lost = clients(lost(&lane.seats));
            sentence += &format!(" {lost} of {} lost the connection and took no part.", lane.name.name());
        }
    }
    if run.state == LabState::Stopped && !done.is_empty() {
        sentence = format!("Stopped early: {sentence}");
    }
    if broken > 0 {
        let times = if broken == 1 { "once".to_owned() } else { format!("{} times", grouped(broken)) };
        let why = if run.faults.is_empty() { "" } else { ", as the faults that were thrown meant it to" };
        sentence = format!("Two clients held at a time, {times}{why}. {sentence}");
    }
    sentence
}

fn one(run: &LabRun, lane: &Lane) -> String {
    let median = if lane.handoff_ms.count > 0 && run.order.is_one_at_a_time() {
        format!(". Median hand-off: {}", ms(lane.handoff_ms.p50))
    } else {
        String::new()
    };
    format!(
        "With {} clients {} woke {} for {}{median}",
        run.order.clients,
        lane.name.name(),
        clients(lane.watch_events),
        handoffs(lane)
    )
}

/// The costliest lane against the cheapest.
fn compared(run: &LabRun, lanes: &[&Lane]) -> String {
    // Events for each release: lanes that were stopped have done unlike much.
    let per = |lane: &Lane| ratio(lane.watch_events, lane.releases);
    let costly = lanes.iter().copied().max_by(|a, b| per(a).total_cmp(&per(b)));
    let cheap = lanes.iter().copied().min_by(|a, b| per(a).total_cmp(&per(b)));
    let (Some(costly), Some(cheap)) = (costly, cheap) else { return String::new() };
    if wakes_all(costly.name) == wakes_all(cheap.name) {
        let all: Vec<String> =
            lanes.iter().map(|lane| format!("{} {}", lane.name.name(), grouped(lane.watch_events))).collect();
        return format!("With {} clients, all waited alike; clients woken: {}.", run.order.clients, all.join(", "));
    }
    let same = costly.releases == cheap.releases;
    let beside = if same { String::new() } else { format!(" for {}", handoffs(cheap)) };
    let times = if per(cheap) > 0.0 {
        format!(" ({} times fewer{})", rounded(per(costly) / per(cheap)), if same { "" } else { " a hand-off" })
    } else {
        String::new()
    };
    let mut sentence = format!(
        "With {} clients {} woke {} for {}; {} woke {}{beside}{times}",
        run.order.clients,
        costly.name.name(),
        clients(costly.watch_events),
        handoffs(costly),
        cheap.name.name(),
        grouped(cheap.watch_events),
    );
    if costly.handoff_ms.count > 0 && cheap.handoff_ms.count > 0 && run.order.is_one_at_a_time() {
        sentence += &format!(". Median hand-off: {} against {}", ms(costly.handoff_ms.p50), ms(cheap.handoff_ms.p50));
    }
    sentence + "."
}

/// Releases that somebody waited for, as far as they were counted.
fn handoffs(lane: &Lane) -> String {
    match lane.handoff_ms.count {
        1 => "1 hand-off".to_owned(),
        count => format!("{} hand-offs", grouped(count)),
    }
}

fn clients(events: u64) -> String {
    if events == 1 { "1 client".to_owned() } else { format!("{} clients", grouped(events)) }
}

#[expect(clippy::cast_precision_loss, reason = "a ratio that is rounded")]
fn ratio(a: u64, b: u64) -> f64 {
    if b == 0 { 0.0 } else { a as f64 / b as f64 }
}

fn rounded(value: f64) -> String {
    if value < 9.95 { format!("{value:.1}").trim_end_matches(".0").to_owned() } else { format!("{value:.0}") }
}

fn ms(value: f64) -> String {
    if value < 100.0 { format!("{value:.1} ms") } else { format!("{value:.0} ms") }
}

fn grouped(number: u64) -> String {
    table::grouped(&number.to_string())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use lockscope_view::{Fault, LabOrder, Spread, Strategy, ThrownFault};

    use super::super::strategy_run;
    use super::super::view;
    use super::*;

    fn run(strategies: &[Strategy]) -> LabRun {
        let order = LabOrder {
            ensemble: None,
            strategies: strategies.to_vec(),
            clients: 50,
            rounds: 1,
            hold_ms: 0,
            think_ms: 0,
            duration_ms: None,
            in_turn: true,
            seed: None,
        };
        let shared = Arc::new(order.clone());
        let lane = |strategy: &Strategy| {
            let mut lane = view::lane(&strategy_run::StrategyRun::new(*strategy, "/l", &shared));
            (lane.releases, lane.handoff_ms) = (50, Spread { count: 49, p50: 0.93, ..Spread::default() });
            lane.watch_events = 49;
            if wakes_all(*strategy) {
                lane.watch_events = 1_225;
                lane.handoff_ms.p50 = 3.12;
            }
            lane
        };
        LabRun {
            id: "a".to_owned(),
            revision: 1,
            ensemble: "a".to_owned(),
            root: "/l".to_owned(),
            state: LabState::Finished,
            why: String::new(),
            by: "ada".to_owned(),
            ordered_at_ms: 1,
            ended_at_ms: Some(2),
            strategies: strategies.iter().map(lane).collect(),
            order,
            faults: Vec::new(),
            loop_lag_ms: Spread::default(),
            server: Vec::new(),
            conclusion: String::new(),
            notes: Vec::new(),
        }
    }

    #[test]
    fn two_ways_are_compared() {
        let mut run = run(&[Strategy::Predecessor, Strategy::HerdChildren]);
        assert_eq!(
            conclude(&run),
            "With 50 clients herd_children woke 1,225 clients for 49 hand-offs; predecessor woke 49 (25 times fewer). Median hand-off: 3.1 ms against 0.9 ms."
        );
        run.state = LabState::Stopped;
        run.strategies[1].releases = 10;
        run.strategies[1].watch_events = 445;
        run.strategies[1].handoff_ms.count = 10;
        assert_eq!(
            conclude(&run),
            "Stopped early: With 50 clients herd_children woke 445 clients for 10 hand-offs; predecessor woke 49 for 49 hand-offs (45 times fewer a hand-off). Median hand-off: 3.1 ms against 0.9 ms."
        );
    }

    #[test]
    fn latencies_of_ways_that_disturbed_each_other_are_not_compared() {
        let mut run = run(&[Strategy::Predecessor, Strategy::HerdChildren]);
        run.order.in_turn = false;
        assert_eq!(
            conclude(&run),
            "With 50 clients herd_children woke 1,225 clients for 49 hand-offs; predecessor woke 49 (25 times fewer)."
        );
        run.strategies[1].releases = 0;
        assert_eq!(conclude(&run), "With 50 clients predecessor woke 49 clients for 49 hand-offs.");
    }

    #[test]
    fn one_way_or_alike() {
        assert_eq!(
            conclude(&run(&[Strategy::Predecessor])),
            "With 50 clients predecessor woke 49 clients for 49 hand-offs. Median hand-off: 0.9 ms."
        );
        let alike = run(&[Strategy::HerdExists, Strategy::HerdLowest]);
        assert_eq!(
            conclude(&alike),
            "With 50 clients, all waited alike; clients woken: herd_exists 1,225, herd_lowest 1,225."
        );
    }

    #[test]
    fn what_went_wrong_is_said() {
        let mut run = run(&[Strategy::Predecessor]);
        run.strategies[0].broken = 2;
        assert!(conclude(&run).starts_with("Two clients held at a time, 2 times. With"), "{}", conclude(&run));
        run.faults = vec![ThrownFault {
            fault: Fault::Pause,
            strategy: Strategy::Predecessor,
            client: None,
            path: String::new(),
            at_ms: 1,
            expect: String::new(),
        }];
        assert!(conclude(&run).contains("2 times, as the faults that were thrown meant it to."), "{}", conclude(&run));
        run.strategies[0].broken = 0;
        (run.state, run.why) = (LabState::Failed, "no session.".to_owned());
        assert_eq!(conclude(&run), "The run failed and shows nothing: no session.");
        run.state = LabState::Stopped;
        run.strategies[0].releases = 0;
        assert_eq!(conclude(&run), "The run was stopped before anybody gave the lock back.");
    }

    #[test]
    fn a_finished_strategy_outlives_a_failure() {
        let mut run = run(&[Strategy::Predecessor, Strategy::HerdChildren]);
        (run.state, run.why) = (LabState::Failed, "too slow.".to_owned());
        run.strategies[0].state = LabState::Finished;
        run.strategies[1].state = LabState::Failed;
        assert_eq!(
            conclude(&run),
            "The run failed: too slow. Before that: With 50 clients predecessor woke 49 clients for 49 hand-offs. Median hand-off: 0.9 ms."
        );
    }

    #[test]
    fn lost_clients_are_counted() {
        let mut run = run(&[Strategy::Predecessor]);
        run.strategies[0].seats = "dldl".to_owned();
        let said = conclude(&run);
        assert!(said.ends_with(" 2 clients of predecessor lost the connection and took no part."), "{said}");
    }

    #[test]
    fn numbers_are_grouped() {
        assert_eq!([0, 999, 1_225, 124_750, 1_000_000].map(grouped), ["0", "999", "1,225", "124,750", "1,000,000"]);
    }
}
