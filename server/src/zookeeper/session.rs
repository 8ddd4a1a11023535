//! One ZooKeeper session from connect to its end: drains watchers, sends requests, probes the link. The only effects
//! are on ZooKeeper and the outbox's channel.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use app::domain::observation::{Link, Observation};
use app::domain::time::TimeMs;
use app::domain::znode::SessionId;
use futures_util::FutureExt;
use futures_util::future::{self, BoxFuture};
use futures_util::stream::{FuturesUnordered, StreamExt};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, MissedTickBehavior};
use zookeeper_client::{Client, Error, PersistentWatcher, SessionState, StateWatcher};

use super::children::ChildrenHints;
use super::counts::{Counts, Kind};
use super::credentials::Credentials;
use super::outbox::Outbox;
use super::request::{Epoch, Reply, Request, send};
use super::root::RootWatch;
use super::translate::{Heard, heard};
use super::watch::{Input, Why};
use crate::clock::Clock;

/// The pulse of everything that is slow.
pub(super) const TICK: Duration = Duration::from_millis(250);
/// Requests of all roots under way at once. More is no faster, and the server throttles at 1,000.
const REQUESTS_MAX: usize = 8;
/// Answers handled before events are looked at from the top again.
const ANSWERS_A_TURN: usize = 64;
/// Pause between probes of a link that answers.
const PROBE_EVERY: Duration = Duration::from_millis(500);
/// A probe without answer for so long makes the view stale.
const PROBE_MAX: Duration = Duration::from_millis(1_200);
const PROBE_PULSE: Duration = Duration::from_millis(100);
/// So late a silent server may be told of.
const STALE_WITHIN: Duration = Duration::from_secs(2);
const _: () = assert!(PROBE_EVERY.as_millis() + PROBE_MAX.as_millis() + PROBE_PULSE.as_millis() <= STALE_WITHIN.as_millis());
/// Requests of a probe.
const PROBE_REQUESTS: usize = 2;

/// One root and its watchers on this session.
#[derive(Debug)]
pub(super) struct Root {
    pub(super) watch: RootWatch,
    watcher: Option<PersistentWatcher>,
}

impl Root {
    pub(super) fn new(watch: RootWatch) -> Self {
        Self { watch, watcher: None }
    }

    pub(super) fn drop_watcher(&mut self) {
        self.watcher = None;
    }

    /// Hands over every event that is there. True when there was one.
    fn drain(&mut self, context: &mut Context<'_>, out: &mut Outbox) -> bool {
        let mut any = false;
        while let Some(what) = poll_watcher(&mut self.watcher, context) {
            any = true;
            match what {
                Heard::Node(event) => {
                    self.watch.event(event, out);
                    out.heard();
                }
                Heard::Children | Heard::Link | Heard::Terminal => {}
            }
        }
        any
    }
}

/// One event, when there is one. After the session's end the watcher is dropped: asking it again would panic.
fn poll_watcher(slot: &mut Option<PersistentWatcher>, context: &mut Context<'_>) -> Option<Heard> {
    let watcher = slot.as_mut()?;
    let event = match pin!(watcher.changed()).poll(context) {
        Poll::Ready(event) => event,
        Poll::Pending => return None,
    };
    let what = heard(event);
    if matches!(what, Heard::Terminal) {
        *slot = None;
    }
    Some(what)
}

/// How a session ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The consumer is gone or we were asked to stop.
    Stopped,
    /// The session is over; a new one is needed.
    Over(SessionState),
}

/// The last link state that was told.
#[derive(Debug, Default)]
pub(super) struct LinkTeller {
    told: Option<(Link, Option<SessionId>, &'static str)>,
}

impl LinkTeller {
    /// Says a link state unless it was the last one said.
    pub(super) fn tell(&mut self, link: Link, session: Option<SessionId>, why: &'static str, out: &mut Outbox) {
        if self.told != Some((link, session, why)) {
            self.told = Some((link, session, why));
            out.push(Observation::Link { link, session, why: why.into() });
        }
    }
}

struct Probe {
    answer: Option<BoxFuture<'static, Result<(), Error>>>,
    sent: Instant,
    /// The same on the clock of what we tell.
    sent_at: TimeMs,
    late: bool,
}

/// What outlives a session.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shared<'a> {
    pub(super) sink: &'a mpsc::Sender<Vec<Observation>>,
    pub(super) hints: &'a ChildrenHints,
    pub(super) clock: &'a Clock,
    pub(super) counts: &'a Arc<Counts>,
}

/// A session under way.
pub(super) struct Session<'a> {
    client: Client,
    states: StateWatcher,
    connected: bool,
    roots: &'a mut [Root],
    out: &'a mut Outbox,
    link: &'a mut LinkTeller,
    shared: Shared<'a>,
    flights: FuturesUnordered<BoxFuture<'static, (usize, Epoch, Reply)>>,
    probe: Probe,
    /// The root that is asked first for requests, so that a big one does not starve the others.
    turn: usize,
}

impl<'a> Session<'a> {
    pub(super) fn new(client: Client, roots: &'a mut [Root], out: &'a mut Outbox, link: &'a mut LinkTeller, shared: Shared<'a>) -> Self {
        let states = client.state_watcher();
        let probe = Probe { answer: None, sent: Instant::now(), sent_at: TimeMs(shared.clock.now_ms()), late: false };
        Self { client, states, connected: true, roots, out, link, shared, flights: FuturesUnordered::new(), probe, turn: 0 }
    }

    /// Runs until the session ends or `stop` turns true.
    pub(super) async fn run(mut self, why: Why, stop: &mut watch::Receiver<bool>) -> End {
        for root in self.roots.iter_mut() {
            root.watch.input(Input::Connected(why), self.out);
        }
        let mut tick = tokio::time::interval(TICK);
        let mut pulse = tokio::time::interval(PROBE_PULSE);
        tick.set_missed_tick_behavior(MissedTickBehavior::Skip);
        pulse.set_missed_tick_behavior(MissedTickBehavior::Skip);
        loop {
            let busy = self.turn();
            tokio::select! {
                biased;
                () = super::observer::stopped(stop) => return End::Stopped,
                state = self.states.changed() => {
                    if let Some(end) = self.state_changed(state) {
                        return end;
                    }
                }
                _ = pulse.tick() => self.pulse(),
                _ = tick.tick() => self.roots.iter_mut().for_each(|root| root.watch.tick(self.out)),
                permit = self.shared.sink.reserve(), if !self.out.is_empty() => match permit {
                    Ok(permit) => permit.send(self.out.take_batch()),
                    Err(_) => return End::Stopped,
                },
                Some((index, epoch, reply)) = self.flights.next() => self.answered(index, epoch, reply),
                () = self.shared.hints.news() => self.hinted(),
                result = poll_probe(&mut self.probe.answer) => self.probed(result),
                () = wait_for_events(self.roots, self.out) => {}
                () = tokio::task::yield_now(), if busy => {}
            }
        }
    }

    /// Everything that can be done without waiting. True when something was.
    fn turn(&mut self) -> bool {
        let mut busy = self.drain();
        for _ in 0..ANSWERS_A_TURN {
            let Some(Some((index, epoch, reply))) = self.flights.next().now_or_never() else { break };
            self.answered(index, epoch, reply);
            busy = true;
        }
        let clock = self.shared.clock;
        self.out.stamp(|| TimeMs(clock.now_ms()));
        while !self.out.is_empty()
            && let Ok(permit) = self.shared.sink.try_reserve()
        {
            permit.send(self.out.take_batch());
        }
        if let Some(dropped) = self.out.recovered() {
            tracing::warn!(dropped, "the consumer was too slow: observations dropped, all roots are read again");
            for root in self.roots.iter_mut() {
                root.watch.input(Input::Untrusted(Why::EventsLost), self.out);
            }
        }
        self.tell_link();
        self.issue();
        busy
    }

    /// Hands over all events that are there, of all roots.
    fn drain(&mut self) -> bool {
        let mut context = Context::from_waker(std::task::Waker::noop());
        self.roots.iter_mut().fold(false, |any, root| root.drain(&mut context, self.out) | any)
    }

    fn answered(&mut self, index: usize, epoch: Epoch, reply: Reply) {
        if !is_connected(self.states.peek_state()) {
            // Failed with the link, which is about to be told; what did arrive is read again after it.
            return;
        }
        let Some(root) = self.roots.get_mut(index) else { return };
        // Every event that came before the reply is in its channel by now, and must be handled before it.
        root.drain(&mut Context::from_waker(std::task::Waker::noop()), self.out);
        match reply {
            Reply::Watch(Ok(watcher)) if epoch == root.watch.epoch() => {
                // The new one is in place before the old one goes, so no watch is removed at the server.
                root.watcher = Some(watcher);
                root.watch.armed(epoch, self.out);
            }
            reply => root.watch.reply(epoch, reply, self.out),
        }
    }

    fn hinted(&mut self) {
        for (index, root) in self.roots.iter_mut().enumerate() {
            if self.shared.hints.take(index) {
                root.watch.children_event();
            }
        }
    }

    fn issue(&mut self) {
        if !self.connected || self.out.is_busy() {
            return;
        }
        let count = self.roots.len();
        let mut idle = 0;
        while self.flights.len() < REQUESTS_MAX && idle < count {
            let index = self.turn % count;
            self.turn = (self.turn + 1) % count;
            let Some(root) = self.roots.get_mut(index) else { return };
            match root.watch.next_request() {
                Some(request) => {
                    idle = 0;
                    self.send(index, request);
                }
                None => idle += 1,
            }
        }
    }

    fn send(&mut self, index: usize, request: Request) {
        let Some(root) = self.roots.get(index) else { return };
        let epoch = root.watch.epoch();
        let ((kind, requests), counts) = (request.cost(), Arc::clone(self.shared.counts));
        counts.asked(kind, requests);
        let reply = send(&self.client, root.watch.path(), request);
        let counted = reply.inspect(move |reply| {
            if reply.has_failed() {
                counts.failed(kind);
            }
        });
        self.flights.push(async move { (index, epoch, counted.await) }.boxed());
    }

    fn state_changed(&mut self, state: SessionState) -> Option<End> {
        tracing::info!(%state, "ZooKeeper session");
        self.drain();
        match state {
            SessionState::Disconnected => {
                self.connected = false;
                self.flights.clear();
                for root in self.roots.iter_mut() {
                    root.watch.input(Input::Disconnected, self.out);
                }
            }
            SessionState::SyncConnected | SessionState::ConnectedReadOnly => {
                self.connected = true;
                self.probe.late = false;
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
        for root in self.roots.iter_mut() {
            root.watch.input(Input::Connected(Why::Reconnected), self.out);
        }
    }

    fn tell_link(&mut self) {
        let session = Some(SessionId(self.client.session_id().0));
        if !self.connected {
            self.link.tell(Link::Stale, session, "disconnected", self.out);
        } else if self.probe.late {
            self.link.tell(Link::Stale, session, "no answer for more than a second", self.out);
        } else if !self.roots.iter().any(|root| root.watch.is_unwatched_yet()) {
            // Only now: each root has said that it is being read again, so nothing old is shown as live.
            self.link.tell(Link::Live, session, "", self.out);
        }
    }

    fn pulse(&mut self) {
        let waited = self.probe.sent.elapsed();
        if self.probe.answer.is_some() {
            self.probe.late |= waited >= PROBE_MAX;
        } else if self.connected && waited >= PROBE_EVERY {
            self.probe.sent = Instant::now();
            self.probe.sent_at = TimeMs(self.shared.clock.now_ms());
            self.shared.counts.asked(Kind::Probe, PROBE_REQUESTS);
            self.probe.answer = Some(probe(self.client.clone()).boxed());
        }
    }

    fn probed(&mut self, result: Result<(), Error>) {
        self.probe.answer = None;
        if result.is_err() {
            self.shared.counts.failed(Kind::Probe);
        } else {
            // The session never went: what came before the answer is in order, and is told before "live".
            self.drain();
            self.probe.late = false;
            self.out.push(Observation::Synced { sent_at: self.probe.sent_at });
        }
    }
}

fn is_connected(state: SessionState) -> bool {
    matches!(state, SessionState::SyncConnected | SessionState::ConnectedReadOnly)
}

/// A round trip to the leader and one to our member; neither needs any right.
async fn probe(client: Client) -> Result<(), Error> {
    let (synced, stat) = future::join(client.sync("/"), client.check_stat("/")).await;
    synced.and(stat.map(|_| ()))
}

async fn poll_probe(answer: &mut Option<BoxFuture<'static, Result<(), Error>>>) -> Result<(), Error> {
    match answer {
        Some(answer) => answer.await,
        None => future::pending().await,
    }
}

async fn wait_for_events(roots: &mut [Root], out: &mut Outbox) {
    poll_fn(|context| {
        let any = roots.iter_mut().fold(false, |any, root| root.drain(context, out) | any);
        if any { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

/// Connects; gives up when no server answers for about one session time-out.
pub(super) async fn connect(cluster: &str, credentials: &Credentials, session_timeout: Duration) -> Result<Client, Error> {
    let client = credentials.open(credentials.connector(session_timeout)?, cluster).await?;
    super::own::note(client.session_id().0);
    Ok(client)
}
