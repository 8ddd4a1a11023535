//! Time-outs that don't suit their clients, by how long those were silent.

use lockscope_core::evidence::{
    Connection, MemberAnswer, Round, Silence, TimeoutAssessment, TimeoutFit, TimeoutOutcome, TimeoutUnknown,
};
use lockscope_core::finding::{Code, Finding, Severity};
use lockscope_core::observation::Observation;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::SessionId;

use crate::language::Story;
use crate::members::{member, queue};

const START: i64 = 1_000_000;
const ROUND_MS: i64 = 5_000;

/// A client of session 10 that sends at these instants; each packet is answered at once.
struct Client {
    timeout_ms: i64,
    sends_at: Vec<i64>,
    port: u16,
}

impl Client {
    fn every(timeout_ms: i64, pause_ms: i64, until: i64) -> Self {
        let sends_at = (0..).map(|nr| START + nr * pause_ms).take_while(|at| *at <= until).collect();
        Self { timeout_ms, sends_at, port: 4_000 }
    }

    fn connection(&self, at: i64) -> Connection {
        let sent = self.sends_at.iter().filter(|sent| **sent <= at);
        Connection {
            session: SessionId(10),
            address: format!("10.0.0.10:{}", self.port).into(),
            timeout_ms: self.timeout_ms,
            established_ms: None,
            answered_ms: sent.clone().max().map(|sent| sent - START),
            received: Some(sent.count() as u64),
            last_operation: None,
        }
    }

    /// Asks from an instant to another; a second connection is answered at each round, so that the clock is known.
    fn watch(&self, story: &mut Story, from: i64, to: i64) {
        for at in (from..=to).step_by(ROUND_MS as usize) {
            let mut asked = member("m1", at).connected(&[(99, 0)]);
            if let MemberAnswer::Ok { value, .. } = &mut asked.report.connections {
                value.push(self.connection(at));
            }
            story.now = at;
            story.observatory.apply(TimeMs(at), Observation::Evidence(Box::new(asked.round())));
            story.observatory.apply(TimeMs(at), Observation::Synced { sent_at: TimeMs(at) });
        }
    }
}

fn longest(story: &Story) -> Silence {
    story.observatory.member_evidence().session(SessionId(10)).unwrap().silences.longest()
}

fn found(story: &Story) -> Vec<Finding> {
    story.observatory.oddities(TimeMs(story.now))
}

fn assessment(story: &Story) -> TimeoutAssessment {
    story.observatory.assess_timeout(SessionId(10), TimeMs(story.now)).unwrap()
}

const HOUR: i64 = 3_600_000;

#[test]
fn a_time_out_far_above_all_silences_is_long() {
    let (mut story, client) = (queue(), Client::every(40_000, 13_300, START + HOUR));
    client.watch(&mut story, START, START + 590_000);
    assert_eq!(found(&story), [], "not known for ten minutes");
    client.watch(&mut story, START + 595_000, START + HOUR);
    assert_eq!(longest(&story), Silence { at_least_ms: 13_300, at_most_ms: 13_300 }, "each is one packet");
    let findings = found(&story);
    let [finding] = findings.as_slice() else { panic!("{findings:?}") };
    assert_eq!((finding.code, finding.severity), (Code::LongTimeout, Severity::Info));
    assert_eq!(
        &*finding.text,
        "one (session 0xa) has a session time-out of 40 s, and its longest silence seen in the last hour was at most 13.3 s. 10 s would be enough; if it dies, others wait 30 s longer for its locks than they must."
    );
    let TimeoutOutcome::Unsuited(advice) = assessment(&story).outcome else { panic!("{:?}", assessment(&story)) };
    assert_eq!((advice.fit, advice.enough_ms), (TimeoutFit::Long, 10_000));
    assert_eq!(story.observatory.assess_timeout(SessionId(99), TimeMs(story.now)), None, "it owns nothing here");
}

#[test]
fn a_client_that_is_late_needs_its_time_out() {
    let mut client = Client::every(40_000, 13_300, START + HOUR);
    // Silent for 20 s once: 6.7 s late, so 41 s are enough and 40 s not long.
    client.sends_at.retain(|at| !(START + 1_200_000..START + 1_219_000).contains(at));
    let mut story = queue();
    client.watch(&mut story, START, START + HOUR);
    assert!(longest(&story).at_most_ms >= 19_000, "{:?}", longest(&story));
    assert_eq!(found(&story), []);
}

#[test]
fn a_client_that_was_silent_for_nearly_all_of_it_is_told_of_once_it_went_on() {
    let mut client = Client::every(10_000, 3_300, START + HOUR);
    let pause = START + 1_200_000..START + 1_209_000;
    client.sends_at.retain(|at| !pause.contains(at));
    let mut story = queue();
    client.watch(&mut story, START, START + 1_205_000);
    assert_eq!(found(&story), [], "it may be dead");
    client.watch(&mut story, START + 1_210_000, START + 2_000_000);
    let findings = found(&story);
    let [finding] = findings.as_slice() else { panic!("{findings:?}") };
    assert_eq!(finding.code, Code::ShortTimeout);
    assert!(finding.text.contains("of its session time-out of 10 s once in the last half an hour"), "{}", finding.text);
    client.watch(&mut story, START + 2_005_000, START + 24 * HOUR + 3 * HOUR);
    assert_eq!(found(&story), [], "a day later it is over");
}

#[test]
fn a_busy_client_with_a_usual_time_out_is_fine() {
    let (mut story, client) = (queue(), Client::every(15_000, 20, START + HOUR));
    client.watch(&mut story, START, START + HOUR);
    assert_eq!(longest(&story), Silence { at_least_ms: 0, at_most_ms: ROUND_MS as u32 });
    assert_eq!(found(&story), []);
}

#[test]
fn what_nobody_asked_for_is_no_silence() {
    let (mut story, client) = (queue(), Client::every(40_000, 13_300, START + 2 * HOUR));
    client.watch(&mut story, START, START + HOUR / 2);
    client.watch(&mut story, START + HOUR, START + HOUR + ROUND_MS);
    assert_eq!(longest(&story).at_most_ms, 13_300, "half an hour without answers");
}

#[test]
fn a_reconnect_counts_for_as_long_as_it_can_have_been() {
    let (mut story, mut client) = (queue(), Client::every(40_000, 13_300, START + HOUR));
    client.watch(&mut story, START, START + HOUR / 2);
    client.port += 1;
    client.watch(&mut story, START + HOUR / 2 + 25_000, START + HOUR);
    let longest = longest(&story);
    assert!((25_000..40_000).contains(&longest.at_most_ms), "{longest:?}");
    assert_eq!(found(&story), [], "it may have needed all of it");
}

#[test]
fn a_member_that_stamps_nothing_says_nothing_of_silences() {
    let mut story = queue();
    for at in (START..START + HOUR).step_by(ROUND_MS as usize) {
        let mut asked = member("m1", at).connected(&[(10, 0)]);
        if let MemberAnswer::Ok { value, .. } = &mut asked.report.connections {
            value.iter_mut().for_each(|connection| {
                (connection.answered_ms, connection.timeout_ms) = (None, 40_000);
                connection.received = Some(at as u64);
            });
        }
        let round: Round = asked.round();
        story.now = at;
        story.observatory.apply(TimeMs(at), Observation::Evidence(Box::new(round)));
    }
    assert_eq!((longest(&story), found(&story)), (Silence::default(), Vec::new()));
}

#[test]
fn where_nothing_can_be_said_of_a_time_out_it_is_known_why() {
    let (mut story, client) = (queue(), Client::every(15_000, 5_000, START + HOUR));
    let unknown = |story: &Story| match assessment(story).outcome {
        TimeoutOutcome::Unknown(why) => Some(why),
        TimeoutOutcome::Suits { .. } | TimeoutOutcome::Unsuited(_) => None,
    };
    client.watch(&mut story, START, START + 590_000);
    assert_eq!(unknown(&story), Some(TimeoutUnknown::TooSoon));
    assert_eq!((assessment(&story).timeout_ms, assessment(&story).over_ms), (Some(15_000), 590_000));
    client.watch(&mut story, START + 595_000, START + HOUR);
    assert_eq!(assessment(&story).outcome, TimeoutOutcome::Suits { enough_ms: 10_000 });
    story.now += 61_000;
    assert_eq!(unknown(&story), Some(TimeoutUnknown::NotListed), "nobody said so for a minute");

    let claims = |stamps: fn(&mut Connection)| {
        let (mut story, client) = (queue(), Client::every(15_000, 5_000, START + HOUR));
        for at in (START..=START + HOUR).step_by(ROUND_MS as usize) {
            let mut asked = member("m1", at).connected(&[(99, 0)]);
            if let MemberAnswer::Ok { value, .. } = &mut asked.report.connections {
                let mut connection = client.connection(at);
                stamps(&mut connection);
                value.push(connection);
            }
            story.now = at;
            story.observatory.apply(TimeMs(at), Observation::Evidence(Box::new(asked.round())));
        }
        unknown(&story)
    };
    assert_eq!(claims(|connection| connection.answered_ms = None), Some(TimeoutUnknown::NoStamps));
    assert_eq!(claims(|connection| connection.timeout_ms = 0), Some(TimeoutUnknown::NoTimeout));
}
