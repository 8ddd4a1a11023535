//! Whatever a rule is about, it fires within two seconds after that became so, and not before. A kind of condition without
//! a life of its own here is no rule that anybody should trust, and fails.

mod evidence;
mod findings;
mod numbers;
mod verdicts;

use lockscope_alerts::rule::Condition;
use lockscope_core::diagnosis::Code;
use lockscope_core::evidence::Round;
use lockscope_core::observation::{Link, Observation};
use lockscope_core::observatory::Observatory;
use lockscope_core::settings::Settings;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::SessionId;
use lockscope_view::Verdict;

use crate::language::Story;
use crate::members::Member;
use crate::rule;
use crate::watch::Watch;

/// What is promised.
const FIRES_WITHIN_MS: i64 = 2_000;
/// Instants of lives are told from here on.
const START_MS: i64 = 1_000_000;

/// Names as clients give them.
const A: &str = "_c_00000000-0000-4a4a-8b8b-000000000000-";
const B: &str = "_c_11111111-0000-4a4a-8b8b-000000000000-";
const X: &str = "0f1e2d3c00004a4a8b8b0123456789ab";
const Y: &str = "1f1e2d3c00004a4a8b8b0123456789ab";
const Z: &str = "2f1e2d3c00004a4a8b8b0123456789ab";

/// A model under the root `/` that is looked at by one rule.
struct Life(Watch);

impl Life {
    fn new(condition: Condition) -> Self {
        let mut story = Story::new(&["/"]);
        let settings = Settings { roots: vec!["/".to_owned()], ..Settings::default() };
        (story.observatory, story.now) = (Observatory::new(settings, TimeMs(START_MS)), START_MS);
        let live = Observation::Link { link: Link::Live, session: Some(SessionId(1)), why: "".into() };
        story.observatory.apply(TimeMs(START_MS), live);
        Self(Watch::over(story, &[rule("prompt", &[&condition.text()], 0)], Vec::new()))
    }

    /// These are there at the beginning, a path and its fields a line.
    fn tree(&mut self, lines: &str) -> &mut Self {
        let nodes: String = trimmed(lines).map(|line| format!("0 node {line}\n")).collect();
        self.tell(&format!("0 sync /\n0 node /\n{nodes}0 end /"))
    }

    /// What happens, with instants from the beginning; time passes in between.
    fn tell(&mut self, lines: &str) -> &mut Self {
        for line in trimmed(lines) {
            let (at_ms, rest) = line.split_once(' ').unwrap();
            self.0.tell(&format!("{} {rest}", START_MS + at_ms.parse::<i64>().unwrap()));
        }
        self
    }

    /// A znode comes, and is read at once.
    fn comes(&mut self, at_ms: i64, path: &str, fields: &str) -> &mut Self {
        self.tell(&format!("{at_ms} + {path}\n{at_ms} = {path} {fields}"))
    }

    fn goes(&mut self, at_ms: i64, path: &str) -> &mut Self {
        self.tell(&format!("{at_ms} - {path}"))
    }

    /// Members answer.
    fn asked(&mut self, at_ms: i64, members: Vec<Member>) -> &mut Self {
        let round = Round { reports: members.into_iter().map(|member| member.report).collect() };
        self.0.pass_to(START_MS + at_ms).observe(Observation::Evidence(Box::new(round)));
        self
    }
}

fn trimmed(lines: &str) -> impl Iterator<Item = &str> {
    lines.lines().map(str::trim).filter(|line| !line.is_empty())
}

/// Lives it up to where the condition becomes so; when that is, from the beginning.
fn live(condition: Condition, life: &mut Life) -> i64 {
    match condition {
        Condition::Verdict(verdict) => verdicts::live(verdict, life),
        Condition::Finding(code) => findings::live(code, life),
        Condition::Waiting(_)
        | Condition::Held(_)
        | Condition::Depth(_)
        | Condition::NotHeld(_)
        | Condition::Unseen(_) => numbers::live(condition, life),
    }
}

/// When it fired, from when it became so; None where it did not.
fn fired_after_ms(condition: Condition) -> Option<i64> {
    let mut life = Life::new(condition);
    let so_at_ms = START_MS + live(condition, &mut life);
    life.0.pass_to(so_at_ms + 2 * FIRES_WITHIN_MS);
    let fired = life.0.found_at.iter().find(|(_, one)| one.alert.fired_at.is_some());
    fired.map(|(at, _)| at.0 - so_at_ms)
}

#[test]
fn every_rule_fires_within_two_seconds_after_it_became_so() {
    let verdicts = Verdict::ALL.into_iter().map(|verdict| verdict.name().to_owned());
    let codes = Code::ALL.into_iter().filter(|code| !code.is_of_ensemble()).map(|code| code.name().to_owned());
    let numbers = numbers::ALL.into_iter().map(str::to_owned);
    let all: Vec<String> = verdicts.chain(codes).chain(numbers).collect();
    let mut wrong = Vec::new();
    for text in &all {
        match fired_after_ms(Condition::parse(text).unwrap()) {
            Some(0..=FIRES_WITHIN_MS) => {}
            other => wrong.push(format!("{text}: {other:?}")),
        }
    }
    assert!(wrong.is_empty(), "of {}: {wrong:#?}", all.len());
}
