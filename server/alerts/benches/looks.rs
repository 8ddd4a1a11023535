//! What looking for alerts costs the thread of the model, beside the model alone: hand-offs of busy locks.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a benchmark takes what it made itself for granted"
)]

#[path = "../../../app/core/tests/core/language.rs"]
#[expect(dead_code, reason = "it is the language of tests")]
mod language;

use std::fmt::Write as _;
use std::time::Instant;

use language::Story;
use lockscope_alerts::evaluator::Evaluator;
use lockscope_alerts::rule::{Condition, Rule};
use lockscope_core::observation::Observation;
use lockscope_core::time::TimeMs;

const LOCKS: usize = 1_000;
const WAITERS: usize = 4;
const ROUNDS: usize = 50;

fn main() {
    // `cargo test` only wants to know that it builds.
    if !std::env::args().any(|arg| arg == "--bench") {
        return;
    }
    let queue = ["waiting > 30s", "held > 5m", "depth > 100"];
    let numbers = Rule {
        when: queue.iter().map(|text| Condition::parse(text).unwrap()).collect(),
        is_built_in: false,
        ..Rule::built_in().remove(0)
    };
    let rules = [
        ("the three rules that are built in", Rule::built_in()),
        ("a rule over waits, holds and depths", vec![numbers]),
    ];
    let alone = time(&[]);
    println!("{LOCKS} locks, {} observations; the model alone: {alone:.2} µs each", story().1.len());
    for (name, rules) in rules {
        println!("  with {name}: {:.2} µs more", time(&rules) - alone);
    }
}

/// Microseconds for each observation, the least of some runs.
fn time(rules: &[Rule]) -> f64 {
    let run = || {
        let (mut story, observations) = story();
        let mut evaluator = Evaluator::new("bench", rules, Vec::new(), TimeMs(0));
        let (count, begun) = (observations.len(), Instant::now());
        for (now, observation) in observations {
            let changes = story.observatory.begin(now, observation);
            evaluator.look(&story.observatory, now, &changes);
            while story.observatory.has_backlog() {
                let changes = story.observatory.go_on();
                evaluator.look(&story.observatory, now, &changes);
            }
        }
        begun.elapsed().as_secs_f64() * 1e6 / count as f64
    };
    (0..5).map(|_| run()).fold(f64::INFINITY, f64::min)
}

/// A model with queues, and hand-offs in all of them.
fn story() -> (Story, Vec<(TimeMs, Observation)>) {
    let mut story = Story::new(&["/locks"]);
    let mut text = String::from("10 sync /locks\n10 node /locks\n");
    let node = |lock: usize, number: usize| format!("/locks/l{lock}/lock-{number:010}");
    for lock in 0..LOCKS {
        writeln!(text, "10 node /locks/l{lock}").unwrap();
        for number in 0..=WAITERS {
            writeln!(text, "10 node {} owner={:x}", node(lock, number), lock * 10 + number + 1).unwrap();
        }
    }
    text.push_str("10 end /locks\n10 synced 10");
    story.tell(&text);
    let mut observations = Vec::new();
    for round in 0..ROUNDS {
        story.now = 1_000 + 100 * i64::try_from(round).unwrap();
        let now = TimeMs(story.now);
        let mut say = |line: String| observations.push((now, story.parse(&format!("{} {line}", now.0))));
        for lock in 0..LOCKS {
            let new = node(lock, round + WAITERS + 1);
            say(format!("- {}", node(lock, round)));
            say(format!("+ {new}"));
            say(format!("= {new} owner={:x}", lock * 10 + round % 10 + 1));
        }
        say(format!("synced {}", now.0));
        say("tick".to_owned());
    }
    (story, observations)
}
