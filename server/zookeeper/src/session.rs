//! One ZooKeeper session from connect to its end: drains watchers, sends requests, probes the link. The only effects
//! are on ZooKeeper and the outbox's channel.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt};
use lockscope_core::observation::{Link, Observation};
use lockscope_core::proof::Proof;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::SessionId;
use tokio::sync::mpsc;
use tokio::time::MissedTickBehavior;
use zookeeper_client::{Client, Error, SessionState, StateWatcher};

use super::alarm::Alarm;
use super::batch::{Answer, Answers, Batch};
use super::child_watch::ChildWatches;
use super::config::ObserverConfig;
use super::epoch_guard::EpochGuard;
use super::link::LinkTeller;
use super::outbox::Outbox;
use super::probe::{PULSE, Probe, Proved};
use super::read_pace::ReadPace;
use super::reconnect::Reconnect;
use super::request::{Reply, Request};
use super::request_counts::{Kind, RequestCounts};
use super::root::Distrust;
use super::server_kind::ServerKind;
use super::watch::{Input, Why};
use super::watched_roots::WatchedRoots;
use lockscope_runtime::clock::Clock;
use lockscope_runtime::shutdown::CancellationToken;

/// The pulse of everything that is slow.
pub(super) const TICK: Duration = Duration::from_millis(250);
/// Requests of all roots under way at once. More is no faster, and the server throttles at 1,000.
const REQUESTS_MAX: usize = 8;
/// The same while watches are set: each takes a request of its own.
const WATCHES_MAX: usize = 256;
/// Answers handled before events are looked at from the top again.
const ANSWERS_A_TURN: usize = 64;
/// A child watch and an event report the same change on two connections: so long the event may take to come.
const HINT_GRACE: Duration = Duration::from_millis(5);
/// Mostly an event comes before a read that waits for others is due, and it is sent then; without one it waits so long.
const READ_WAIT_MAX: Duration = Duration::from_millis(8);

pub(super) enum End {
    /// The consumer is gone or we were asked to stop.
    Stopped,
    /// The session is over; a new one is needed.
    Over(SessionState),
    /// Its link is gone, and a new session was made first.
    Moved(Client),
}

/// What outlives a session.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shared<'a> {
    pub(super) config: &'a ObserverConfig,
    pub(super) sink: &'a mpsc::Sender<Vec<Observation>>,
    pub(super) child_watches: &'a ChildWatches,
    pub(super) clock: &'a Clock,
    pub(super) counts: &'a Arc<RequestCounts>,
}

pub(super) struct Session<'a> {
    client: Client,
    states: StateWatcher,
    connected: bool,
    roots: &'a mut WatchedRoots,
    out: &'a mut Outbox,
    link: &'a mut LinkTeller,
    shared: Shared<'a>,
    flights: FuturesUnordered<BoxFuture<'static, Answers>>,
    probe: Probe,
    reconnect: Reconnect,
    /// When the news of child watches is looked at.
    hints_at: Option<Instant>,
    pace: ReadPace,
    alarm: Alarm,
    kind: ServerKind,
    /// Every root knows that watch events are wrong.
    is_disbelieved: bool,
    guard: EpochGuard,
    /// Why what our member shows may be old, although it answers.
    doubt: Option<&'static str>,
    /// The last proof was a write.
    is_committed: Option<bool>,
}

impl<'a> Session<'a> {
    pub(super) fn new(
        client: Client,
        roots: &'a mut WatchedRoots,
        out: &'a mut Outbox,
        link: &'a mut LinkTeller,
        shared: Shared<'a>,
    ) -> Self {
        let states = client.state_watcher();
        let (flights, probe, reconnect) = (FuturesUnordered::new(), Probe::new(), Reconnect::default());
        // A session before may have been notified that there is something, and have gone before it looked.
        let (hints_at, pace) = (Some(Instant::now()), ReadPace::new(Instant::now()));
        out.history.asks_servers();
        Self {
            client,
            states,
            connected: true,
            roots,
            out,
            link,
            shared,
            flights,
            probe,
            reconnect,
            hints_at,
            pace,
            alarm: Alarm::new(),
            kind: ServerKind::ask(shared.config),
            is_disbelieved: false,
            guard: shared.counts.with_epochs(|members| EpochGuard::new(Instant::now(), true, members)),
            doubt: None,
            is_committed: None,
        }
    }

    /// Runs until the session ends or `stop` is cancelled.
    pub(super) async fn run(mut self, why: Why, stop: &CancellationToken) -> End {
        self.roots.each(|root| root.input(Input::Connected(why), self.out));
        let mut tick = tokio::time::interval(TICK);
        let mut pulse = tokio::time::interval(PULSE);
        tick.set_missed_tick_behavior(MissedTickBehavior::Skip);
        pulse.set_missed_tick_behavior(MissedTickBehavior::Skip);
        loop {
            let busy = self.turn();
            tokio::select! {
                biased;
                () = stop.cancelled() => return End::Stopped,
                state = self.states.changed() => {
                    if let Some(end) = self.state_changed(state) {
                        return end;
                    }
                }
                _ = pulse.tick() => self.doubt_member(),
                _ = tick.tick() => self.roots.each(|root| root.tick(self.out)),
                permit = self.shared.sink.reserve(), if !self.out.is_empty() => match permit {
                    Ok(permit) => permit.send(self.out.take_batch()),
                    Err(_) => return End::Stopped,
                },
                Some(answers) = self.flights.next() => self.answered(answers),
                () = self.shared.child_watches.heard(), if self.hints_at.is_none() => self.hints_at = Some(Instant::now() + HINT_GRACE),
                () = self.alarm.rung() => {}
                result = self.probe.answer() => self.proved(&result),
                (distrust, said) = self.kind.found() => {
                    distrust.into_iter().for_each(|distrust| self.disbelieve(distrust));
                    self.out.history.heard(&said);
                }
                client = self.reconnect.found() => return End::Moved(client),
                () = self.roots.events(self.out) => {}
                () = tokio::task::yield_now(), if busy => {}
            }
        }
    }

    /// Everything that can be done without waiting. True when something was.
    fn turn(&mut self) -> bool {
        // Before anything that waited for us is passed on: it may have waited for long.
        self.tell_link();
        let mut busy = self.drain();
        if self.hints_at.is_some_and(|at| at <= Instant::now()) {
            self.hinted();
        }
        for _ in 0..ANSWERS_A_TURN {
            let Some(Some(answers)) = self.flights.next().now_or_never() else { break };
            self.answered(answers);
            busy = true;
        }
        self.forget_other_history();
        self.follow_directories();
        self.ask();
        // Before the engine has work, which it does on this thread: a lock may be held for less than that takes.
        self.issue();
        let clock = self.shared.clock;
        self.out.stamp(|| TimeMs(clock.now_ms()));
        // Behind what was passed on before an overflow, and before the roots are read again.
        self.tell_link();
        while !self.out.is_empty()
            && let Ok(permit) = self.shared.sink.try_reserve()
        {
            permit.send(self.out.take_batch());
        }
        if let Some(dropped) = self.out.recovered() {
            tracing::warn!(dropped, "the consumer was too slow: observations dropped, all roots are read again");
            self.roots.each(|root| root.input(Input::Untrusted(Why::EventsLost), self.out));
        }
        self.tell_link();
        self.issue();
        self.hints_at.into_iter().chain(self.probe.due()).for_each(|due| self.alarm.set(due));
        busy
    }

    /// Hands over all events that are there, of all roots.
    fn drain(&mut self) -> bool {
        let busy = self.roots.drain(self.out);
        if self.out.take_deletions() {
            self.probe.want_fence();
        }
        busy
    }

    fn answered(&mut self, answers: Answers) {
        if !is_connected(self.states.peek_state()) {
            // Failed with the link, which is about to be reported; what did arrive is read again after it.
            return;
        }
        // Every event that came before the reply is in its channel by now, and must be handled before it.
        self.drain();
        for Answer { root: index, epoch, reply } in answers.of_roots {
            let Some(root) = self.roots.root(index) else { continue };
            match reply {
                Reply::Watch(Ok(watcher)) if epoch == root.epoch() => {
                    root.armed(epoch, self.out);
                    self.roots.set_watcher(index, watcher);
                }
                reply => root.reply(epoch, reply, self.out),
            }
        }
        if self.out.take_sync_ended() {
            self.probe.hurry();
        }
        if let Some(is_good) = answers.question {
            self.take_proof(is_good, None);
        }
    }

    fn hinted(&mut self) {
        self.hints_at = None;
        // What is reported here was mostly reported by events as well, and before.
        self.drain();
        let news = self.shared.child_watches.take();
        for root in news.lost {
            if let Some(root) = self.roots.root(root) {
                root.hints_lost(self.out);
            }
        }
        for ((root, directory), news) in news.directories {
            if let Some(root) = self.roots.root(root) {
                root.hinted(&directory, news, self.out);
            }
        }
    }

    /// What one root, or the servers, show of another history is so for all roots.
    fn forget_other_history(&mut self) {
        let Some(why) = self.out.history.take_other() else { return };
        tracing::warn!(why = why.text(), "everything is read anew");
        self.roots.each(|root| root.begin_other_history(why, self.out));
    }

    /// One root of an ensemble whose events are wrong is enough.
    fn disbelieve(&mut self, why: Distrust) {
        self.is_disbelieved = true;
        self.roots.each(|root| root.disbelieve(why, self.out));
    }

    /// Passes on which directories are to have child watches.
    fn follow_directories(&mut self) {
        let child_watches = self.shared.child_watches;
        let mut distrust = None;
        self.roots.each_active(|index, root| {
            distrust = distrust.or(root.distrust());
            child_watches.change(index, root.take_watch_changes());
            if root.is_guarded() {
                child_watches.guard(index);
            }
        });
        if let Some(why) = distrust.filter(|_| !self.is_disbelieved) {
            self.disbelieve(why);
        }
    }

    /// Sends what the roots ask for, what several ask for at once in one request.
    fn issue(&mut self) {
        if !self.connected || self.out.is_busy() {
            return;
        }
        let now = Instant::now();
        let (mut idle, mut open) = (0, Vec::<Batch>::new());
        let (least_reads, mut is_held) = (self.pace.least(now), false);
        while idle < self.roots.active() {
            let Some((index, root)) = self.roots.first_active() else { break };
            let most = if root.wants_watch() { WATCHES_MAX } else { REQUESTS_MAX };
            if self.flights.len() + open.len() >= most {
                break;
            }
            match root.next_request(least_reads) {
                Some(request) => {
                    idle = 0;
                    if matches!(request, Request::Read(_)) {
                        self.pace.sent(now);
                    }
                    let full = Batch::gather(&mut open, index, root.epoch(), request);
                    self.roots.end_turn();
                    full.into_iter().for_each(|batch| self.send(batch));
                }
                None => {
                    is_held |= root.waits_to_read();
                    idle += usize::from(!self.roots.rest());
                }
            }
        }
        if is_held {
            self.alarm.set(now + READ_WAIT_MAX);
        }
        open.into_iter().for_each(|batch| self.send(batch));
    }

    /// Its reply says as much as that to a question does: deletions that wait for one need none of their own.
    fn send(&mut self, batch: Batch) {
        let (counts, is_question) = (Arc::clone(self.shared.counts), self.probe.rides());
        if is_question {
            self.out.push(Observation::Asked);
        }
        self.flights.push(batch.send(self.client.clone(), counts, is_question).boxed());
    }

    fn state_changed(&mut self, state: SessionState) -> Option<End> {
        tracing::info!(%state, "ZooKeeper session");
        self.drain();
        match state {
            SessionState::Disconnected => {
                self.connected = false;
                self.reconnect.begin(self.shared.config);
                self.flights.clear();
                self.probe = Probe::new();
                self.roots.each(|root| root.input(Input::Disconnected, self.out));
            }
            SessionState::SyncConnected | SessionState::ConnectedReadOnly => {
                self.connected = true;
                self.guard = self.shared.counts.with_epochs(|members| self.guard.resumed(Instant::now(), members));
                self.doubt = self.judge_member().0;
                // A new session needs a quorum.
                if !self.guard.wants_another() {
                    self.reconnect.end();
                }
                self.probe = Probe::new();
                self.re_add_watches();
            }
            SessionState::AuthFailed | SessionState::Expired | SessionState::Closed => return Some(End::Over(state)),
        }
        None
    }

    /// After a reconnect the client crate restores no persistent watch, and the server replays nothing of the gap:
    /// each root sets its watch again and is then read in full. Without this the view stays as it was for ever.
    fn re_add_watches(&mut self) {
        self.flights.clear();
        self.roots.each(|root| root.input(Input::Connected(Why::Reconnected), self.out));
    }

    fn tell_link(&mut self) {
        let session = Some(SessionId(self.client.session_id().0));
        if !self.connected {
            self.link.tell(Link::Stale, session, "disconnected", self.out);
        } else if self.probe.is_late() {
            self.link.tell(Link::Stale, session, "no answer for more than a second", self.out);
        } else if let Some(why) = self.doubt {
            self.link.tell(Link::Stale, session, why, self.out);
        } else if self.out.is_overflowed() {
            // What is in front of the gap may be a part of a transaction.
            self.link.tell(Link::Stale, session, "more happened at once than can be followed", self.out);
        } else if self.probe.has_answered() && self.roots.is_watched() {
            // Only now: each root has said that it is being read again, so nothing old is shown as live.
            self.link.tell(Link::Live, session, "", self.out);
        }
    }

    fn ask(&mut self) {
        if self.connected
            && let Some(question) = self.probe.next()
        {
            self.shared.counts.asked(Kind::Probe, question.cost());
            self.out.push(Observation::Asked);
            let at = (TimeMs(self.shared.clock.now_ms()), self.roots.is_watched());
            self.probe.ask(&self.client, question, at, self.shared.config.scratch.clone());
        }
    }

    /// Our member may answer and be left behind by the others.
    fn doubt_member(&mut self) {
        let (doubt, proof) = self.judge_member();
        let answer = if self.is_late() { Some(false) } else { self.probe.has_answered().then_some(true) };
        let quorum = if self.is_committed == Some(true) { answer } else { proof.quorum };
        *self.shared.counts.proof.lock() = Proof { answer, quorum, ..proof };
        let before = std::mem::replace(&mut self.doubt, doubt);
        if !self.connected || before == doubt {
            return;
        }
        tracing::warn!(why = doubt.unwrap_or("no more"), "our member is in doubt");
        if self.guard.wants_another() {
            self.reconnect.begin(self.shared.config);
        } else if doubt.is_none() {
            self.reconnect.end();
            self.probe = Probe::new();
            self.re_add_watches();
        }
    }

    fn is_late(&self) -> bool {
        !self.connected || self.probe.is_late()
    }

    fn judge_member(&mut self) -> (Option<&'static str>, Proof) {
        let answers = !self.is_late();
        self.shared.counts.with_epochs(|members| self.guard.judge(Instant::now(), answers, members))
    }

    fn proved(&mut self, result: &Result<Option<i64>, Error>) {
        // The session never went: what came before the answer is in order, and is passed on before what it proves.
        self.drain();
        if result.is_err() {
            self.shared.counts.failed(Kind::Probe);
        }
        self.take_proof(result.is_ok(), result.as_ref().ok().copied().flatten());
    }

    /// `written_ms`: the leader's time of a write of ours.
    fn take_proof(&mut self, is_good: bool, written_ms: Option<i64>) {
        match self.probe.answered(is_good) {
            Proved::Nothing => {}
            Proved::Whole => self.out.push(Observation::Answered),
            // Who was left behind does not know what is committed.
            Proved::Until(_) if self.doubt.is_some() || !self.roots.is_watched() => {
                self.out.push(Observation::Answered)
            }
            Proved::Until(sent_at) => {
                self.note_write(sent_at, written_ms);
                self.out.push(Observation::Synced { sent_at });
            }
        }
    }

    fn note_write(&mut self, sent_at: TimeMs, written_ms: Option<i64>) {
        let before = self.is_committed.replace(written_ms.is_some());
        if let Some(ctime_ms) = written_ms {
            let told_at = TimeMs(self.shared.clock.now_ms());
            self.out.push(Observation::ClockRead { sent_at, told_at, ctime_ms });
        } else if let Some(path) = self.shared.config.scratch.as_ref().filter(|_| before != self.is_committed) {
            tracing::warn!(path, "nothing can be written below the scratch path; it must exist and allow CREATE");
        }
    }
}

fn is_connected(state: SessionState) -> bool {
    matches!(state, SessionState::SyncConnected | SessionState::ConnectedReadOnly)
}
