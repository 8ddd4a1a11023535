//! Probes: requests whose answers prove that the link works and up to which transaction all events have arrived. One is
//! in flight at a time. An answer that took too long proves nothing about now, so it never makes a view live.

use std::future;
use std::time::{Duration, Instant};

use futures_util::future::{BoxFuture, FutureExt, join};
use lockscope_core::time::TimeMs;
use zookeeper_client::{Acls, Client, CreateMode, Error};

/// Pause between proofs on a link that answers.
const PROOF_EVERY: Duration = Duration::from_millis(500);
/// No answer for so long makes the view stale; nor does one that took so long make it live again.
const ANSWER_MAX: Duration = Duration::from_millis(1_200);
/// How often it is looked whether an answer is late.
pub(super) const PULSE: Duration = Duration::from_millis(100);
/// Pause between questions, however many deletions ask for one.
const QUESTION_EVERY: Duration = Duration::from_millis(20);
/// A silent server is reported after this at the latest.
pub(super) const STALE_WITHIN: Duration = Duration::from_secs(2);
const _: () = assert!(PROOF_EVERY.as_millis() + ANSWER_MAX.as_millis() + PULSE.as_millis() <= STALE_WITHIN.as_millis());

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Question {
    /// A round trip to the leader and one to our member.
    Proof,
    /// A round trip to our member: what comes after it is of another transaction.
    Fence,
    /// The same, by a request that is sent anyway.
    Request,
}

impl Question {
    /// Requests of ZooKeeper's.
    pub(super) fn cost(self) -> usize {
        match self {
            Self::Proof => 2,
            Self::Fence => 1,
            Self::Request => 0,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Proved {
    /// Nothing: it failed.
    Nothing,
    /// Every transaction of which a part arrived before the request is complete.
    Whole,
    /// The same, and everything committed until then has arrived.
    Until(TimeMs),
}

#[derive(Clone, Copy, Debug)]
struct PendingProbe {
    question: Question,
    sent: Instant,
    /// On the clock of observations.
    sent_at: TimeMs,
    /// Every root was watched, or was being read anew with its watch set, when it was sent.
    covers: bool,
}

#[derive(Debug)]
struct Known {
    began: Instant,
    asked: Option<PendingProbe>,
    /// When the last question was sent, and the last proof.
    question_sent: Option<Instant>,
    proof_sent: Option<Instant>,
    /// When the last proof was sent whose answer came in time.
    good_sent: Option<Instant>,
    hurried: bool,
    wants_fence: bool,
}

impl Known {
    fn new(began: Instant) -> Self {
        Self {
            began,
            asked: None,
            question_sent: None,
            proof_sent: None,
            good_sent: None,
            hurried: false,
            wants_fence: false,
        }
    }

    /// No proof for so long; also when we did not run, since what we know is as old then.
    fn is_late(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.good_sent.unwrap_or(self.began)) >= PROOF_EVERY + ANSWER_MAX
    }

    fn next(&mut self, now: Instant) -> Option<Question> {
        let since =
            |instant: Option<Instant>| instant.map_or(Duration::MAX, |instant| now.saturating_duration_since(instant));
        if self.asked.is_some() {
            return None;
        }
        // Not held back by requests that are sent anyway: where they never pause, no proof would be asked for.
        let is_due = since(self.proof_sent) >= PROOF_EVERY;
        if is_due || (self.hurried && since(self.proof_sent) >= QUESTION_EVERY) {
            return Some(Question::Proof);
        }
        (self.wants_fence && since(self.question_sent) >= QUESTION_EVERY).then_some(Question::Fence)
    }

    fn sent(&mut self, asked: PendingProbe) {
        self.question_sent = Some(asked.sent);
        self.wants_fence = false;
        if asked.question == Question::Proof {
            self.proof_sent = Some(asked.sent);
            self.hurried = false;
        }
        self.asked = Some(asked);
    }

    fn answered(&mut self, now: Instant, is_good: bool) -> Proved {
        let Some(asked) = self.asked.take().filter(|_| is_good) else { return Proved::Nothing };
        if asked.question == Question::Proof && now.saturating_duration_since(asked.sent) < ANSWER_MAX {
            self.good_sent = Some(asked.sent);
        }
        match asked.question {
            Question::Proof if asked.covers => Proved::Until(asked.sent_at),
            Question::Proof | Question::Fence | Question::Request => Proved::Whole,
        }
    }
}

pub(super) struct Probe {
    known: Known,
    answer: Option<BoxFuture<'static, Result<Option<i64>, Error>>>,
}

impl Probe {
    /// Of a link that came just now.
    pub(super) fn new() -> Self {
        Self { known: Known::new(Instant::now()), answer: None }
    }

    pub(super) fn is_late(&self) -> bool {
        self.known.is_late(Instant::now())
    }

    /// A proof came in time since the link came.
    pub(super) fn has_answered(&self) -> bool {
        self.known.good_sent.is_some()
    }

    /// Asks for a proof as soon as may be.
    pub(super) fn hurry(&mut self) {
        self.known.hurried = true;
    }

    /// Something arrived that may be a part of a transaction.
    pub(super) fn want_fence(&mut self) {
        self.known.wants_fence = true;
    }

    pub(super) fn next(&mut self) -> Option<Question> {
        self.known.next(Instant::now())
    }

    /// Sends it; a proof is a write below `scratch`, where there is such a path.
    pub(super) fn ask(&mut self, client: &Client, question: Question, at: (TimeMs, bool), scratch: Option<String>) {
        let (sent_at, covers) = at;
        self.known.sent(PendingProbe { question, sent: Instant::now(), sent_at, covers });
        self.answer = Some(send(client.clone(), question, scratch).boxed());
    }

    /// Whether a request that is sent now is to be a question as well: something waits for an answer, and nothing is
    /// asked.
    pub(super) fn rides(&mut self) -> bool {
        let rides = self.known.wants_fence && self.known.asked.is_none();
        if rides {
            let (sent, sent_at) = (Instant::now(), TimeMs(0));
            self.known.sent(PendingProbe { question: Question::Request, sent, sent_at, covers: false });
        }
        rides
    }

    /// Waits for the answer, and the leader's time where a write was committed; for ever without a question.
    pub(super) async fn answer(&mut self) -> Result<Option<i64>, Error> {
        let Some(answer) = &mut self.answer else { return future::pending().await };
        let result = answer.await;
        self.answer = None;
        result
    }

    /// When something may be asked that has to wait.
    pub(super) fn due(&self) -> Option<Instant> {
        let waits = self.known.asked.is_none() && (self.known.wants_fence || self.known.hurried);
        self.known.question_sent.filter(|_| waits).map(|sent| sent + QUESTION_EVERY)
    }

    /// Takes an answer in; all that came before it has been passed on.
    pub(super) fn answered(&mut self, is_good: bool) -> Proved {
        self.known.answered(Instant::now(), is_good)
    }
}

impl std::fmt::Debug for Probe {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.known.fmt(f)
    }
}

/// Neither request needs any right, but that ZooKeeper from 3.8.4 and 3.9.2 on may refuse a Stat (ZOOKEEPER-2590): an
/// answer as well.
async fn send(client: Client, question: Question, scratch: Option<String>) -> Result<Option<i64>, Error> {
    let stat = async {
        match client.check_stat("/").await {
            Ok(_) | Err(Error::NoAuth) => Ok(()),
            Err(error) => Err(error),
        }
    };
    if question == Question::Fence {
        return stat.await.map(|()| None);
    }
    let synced = async {
        let written = match &scratch {
            Some(scratch) => write(&client, scratch).await?,
            None => None,
        };
        if written.is_none() {
            client.sync("/").await?;
        }
        Ok::<_, Error>(written)
    };
    let (synced, stat) = join(synced, stat).await;
    stat.and(synced)
}

/// Writes a znode that goes with our session: a leader without its followers answers `sync` (ZOOKEEPER-1675), and no
/// write. Gives the leader's time of it; None where there is no such path, or no right to.
async fn write(client: &Client, scratch: &str) -> Result<Option<i64>, Error> {
    // No number at its end: nobody takes it for a contender.
    let name = format!("{}/lockscope-clock-{:016x}x", scratch.trim_end_matches('/'), client.session_id().0);
    let written = match client.set_data(&name, b"", None).await {
        Err(Error::NoNode) => {
            let mode = CreateMode::Ephemeral.with_acls(Acls::anyone_all());
            client.create(&name, b"", &mode).await.map(|(stat, _)| stat.ctime)
        }
        written => written.map(|stat| stat.mtime),
    };
    match written {
        Err(Error::NoNode | Error::NoAuth) => Ok(None),
        written => written.map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn asked(known: &mut Known, sent: Instant) {
        let question = known.next(sent).unwrap();
        known.sent(PendingProbe { question, sent, sent_at: TimeMs(7), covers: true });
    }

    #[test]
    fn an_answer_in_time_proves_and_the_next_is_asked_later() {
        let begin = Instant::now();
        let mut known = Known::new(begin);
        asked(&mut known, begin);
        assert_eq!(known.next(begin + 600 * MS), None, "one at a time");
        assert_eq!(known.good_sent, None);
        assert_eq!(known.answered(begin + 3 * MS, true), Proved::Until(TimeMs(7)));
        assert_eq!(known.good_sent, Some(begin));
        assert_eq!(known.next(begin + 499 * MS), None);
        assert_eq!(known.next(begin + 500 * MS), Some(Question::Proof));
    }

    #[test]
    fn an_answer_that_took_too_long_leaves_it_late() {
        let begin = Instant::now();
        let mut known = Known::new(begin);
        asked(&mut known, begin);
        let told = begin + 6_000 * MS;
        assert_eq!(known.answered(told, true), Proved::Until(TimeMs(7)), "true, of an instant long ago");
        assert!(known.is_late(told) && known.good_sent.is_none());
        asked(&mut known, told);
        known.answered(told + 10 * MS, true);
        assert!(!known.is_late(told + 10 * MS));
    }

    #[test]
    fn no_good_answer_is_being_late_and_so_is_not_having_run() {
        let begin = Instant::now();
        let mut known = Known::new(begin);
        let end = begin + PROOF_EVERY + ANSWER_MAX;
        asked(&mut known, begin);
        assert!(!known.is_late(end - MS) && known.is_late(end));
        assert_eq!(known.answered(begin + MS, false), Proved::Nothing);
        assert!(known.is_late(end));
        asked(&mut known, begin + PROOF_EVERY);
        known.answered(begin + PROOF_EVERY + MS, true);
        assert!(!known.is_late(end) && known.is_late(end + PROOF_EVERY));
    }

    #[test]
    fn a_request_that_is_sent_anyway_is_the_question_when_nothing_else_is_asked() {
        let mut probe = Probe::new();
        assert!(!probe.rides(), "nothing waits for an answer");
        probe.want_fence();
        assert!(probe.rides() && !probe.rides(), "one question at a time");
        probe.want_fence();
        assert_eq!((probe.next(), probe.due()), (None, None), "no other before its answer");
        assert_eq!(probe.answered(true), Proved::Whole);
        assert!(probe.rides(), "what was deleted since waits for the next");
        assert_eq!(probe.answered(false), Proved::Nothing);
        assert!(!probe.has_answered(), "it says nothing of the leader");
    }

    #[test]
    fn requests_without_pause_hold_no_proof_back() {
        let begin = Instant::now();
        let (mut known, mut proofs) = (Known::new(begin), 0);
        for at in (0..5_000).step_by(5) {
            let now = begin + at * MS;
            known.wants_fence = true;
            let question = known.next(now).unwrap_or(Question::Request);
            proofs += u32::from(question == Question::Proof);
            known.sent(PendingProbe { question, sent: now, sent_at: TimeMs(0), covers: true });
            known.answered(now + 2 * MS, true);
            assert!(!known.is_late(now + 2 * MS), "after {at} ms");
        }
        assert_eq!(proofs, 10, "two a second");
    }

    #[test]
    fn deletions_are_fenced_off_soon_and_not_more_often_than_that() {
        let begin = Instant::now();
        let mut known = Known::new(begin);
        asked(&mut known, begin);
        known.answered(begin + MS, true);
        known.wants_fence = true;
        assert_eq!(known.next(begin + 2 * MS), None);
        let fenced = begin + QUESTION_EVERY;
        assert_eq!(known.next(fenced), Some(Question::Fence));
        asked(&mut known, fenced);
        assert_eq!(known.answered(fenced + MS, true), Proved::Whole);
        assert_eq!(known.next(fenced + QUESTION_EVERY), None, "nothing was deleted since");
    }
}
