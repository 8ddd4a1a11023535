//! Rounds of requests to the members: when, to whom, and what is passed on. One task; a slow member never delays the
//! others.

use std::collections::{BTreeMap, BTreeSet};
use std::future::pending;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt};
use lockscope_core::evidence::{MemberAnswer, Report, Trouble};
use reqwest::Client;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until};
use zookeeper_client::{Client as Session, SessionState};

use super::config::Config;
use super::http;
use super::lookup::{Lookup, look};
use super::member::Member;
use super::roster::{self, MemberAddress, Resolved};
use super::stamp::Stamp;
use lockscope_runtime::clock::Clock;
use lockscope_runtime::shutdown::CancellationToken;

/// From the start of one round to the start of the next, without jitter.
pub const ROUND_EVERY: Duration = Duration::from_secs(5);
/// The jitter, so that several observers do not ask in step.
const JITTER_MAX: Duration = Duration::from_millis(400);
/// What has been answered by then is handed on; the rest follows as it comes.
const HAND_ON_AFTER: Duration = Duration::from_millis(450);
/// So late a client may be known.
const KNOWN_WITHIN: Duration = Duration::from_secs(6);
const _: () =
    assert!(ROUND_EVERY.as_millis() + JITTER_MAX.as_millis() + HAND_ON_AFTER.as_millis() <= KNOWN_WITHIN.as_millis());
pub const WATCHES_EVERY: Duration = Duration::from_secs(15);
/// The same while nobody looks, and some lock's waiters are in those tables alone: a table must not grow too old
/// between.
pub const WAITERS_EVERY: Duration = Duration::from_secs(30);
/// How often it is looked up who the members are, although nothing says that they changed: names may lead elsewhere.
pub const MEMBERS_EVERY: Duration = Duration::from_secs(300);
/// The same, while the ensemble does not say, or a member is lost: it may have left.
const MEMBERS_RETRY: Duration = Duration::from_secs(10);
/// How soon it is looked up again after a member stopped answering.
const LOST_AFTER: Duration = Duration::from_secs(1);

/// What somebody wants to know beyond what every round asks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Demand {
    /// Somebody looks at a lock, or many are woken: who watches what is worth a question.
    pub watches: bool,
    /// Who waits for some lock has no znode and may be in the tables of watches.
    pub waiters: bool,
}

impl Demand {
    /// How often watches are worth a question; None for not at all.
    fn watches_every(self) -> Option<Duration> {
        match (self.watches, self.waiters) {
            (true, _) => Some(WATCHES_EVERY),
            (false, true) => Some(WAITERS_EVERY),
            (false, false) => None,
        }
    }
}

/// Asks all members about every five seconds until `stop`; what is handed on together is one round. `roster`: who they are.
pub(super) async fn collect(
    config: Config,
    clock: Clock,
    demand: watch::Receiver<Demand>,
    (sink, roster): (mpsc::Sender<Vec<Report>>, watch::Sender<Vec<MemberAddress>>),
    stop: CancellationToken,
) {
    let client =
        http::client().inspect_err(|error| tracing::warn!(%error, "no HTTP client; AdminServers are not asked")).ok();
    let mut collector = Collector {
        config,
        clock,
        demand,
        sink,
        roster,
        client,
        places: Vec::new(),
        doubt: Some("it was not read yet".to_owned()),
        session: None,
        by: BTreeMap::new(),
        lost: BTreeSet::new(),
        idle: BTreeMap::new(),
        flights: FuturesUnordered::new(),
        landed: Vec::new(),
    };
    tokio::select! {
        () = stop.cancelled() => {}
        () = collector.run() => {}
    }
}

type Flight = BoxFuture<'static, (Member, Report)>;

struct Collector {
    config: Config,
    clock: Clock,
    demand: watch::Receiver<Demand>,
    sink: mpsc::Sender<Vec<Report>>,
    roster: watch::Sender<Vec<MemberAddress>>,
    client: Option<Client>,
    places: Vec<MemberAddress>,
    /// Why there may be other members; None when there are none.
    doubt: Option<String>,
    /// Watches who the members are; None for a server that is alone.
    session: Option<Session>,
    /// By which way each member last answered; one for each place.
    by: BTreeMap<Box<str>, Box<str>>,
    /// Members that answered once and do not now.
    lost: BTreeSet<Box<str>>,
    /// Members that are not being asked just now. With `flights`: never more than `MEMBERS_MAX`, and each only once.
    idle: BTreeMap<Box<str>, Member>,
    flights: FuturesUnordered<Flight>,
    landed: Vec<Report>,
}

impl Collector {
    async fn run(&mut self) {
        self.found(roster::places(&self.config.connect, &[], &self.config.admin_urls, &Resolved::new()));
        let mut lookup: Option<BoxFuture<'static, Result<Lookup, String>>> = None;
        let mut changed: BoxFuture<'static, ()> = pending().boxed();
        let (mut round_at, mut lookup_at) = (Instant::now(), Instant::now());
        let mut hand_on_at = Instant::now();
        loop {
            tokio::select! {
                () = sleep_until(round_at) => {
                    let now = Instant::now();
                    round_at = now + ROUND_EVERY + JITTER_MAX.mul_f64(rand::random());
                    hand_on_at = now + HAND_ON_AFTER;
                    self.ask_all();
                }
                () = sleep_until(lookup_at), if lookup.is_none() => lookup = Some(look(self.config.clone(), self.session.clone()).boxed()),
                found = poll(&mut lookup) => {
                    lookup = None;
                    lookup_at = Instant::now() + if found.is_ok() && self.lost.is_empty() { MEMBERS_EVERY } else { MEMBERS_RETRY };
                    changed = self.looked_up(found);
                    // Those that were not known before need not wait for the next round.
                    hand_on_at = Instant::now() + HAND_ON_AFTER;
                    self.ask_new();
                }
                () = &mut changed => {
                    (changed, lookup_at) = (pending().boxed(), Instant::now());
                    self.doubt = Some("it changed".to_owned());
                }
                Some((member, report)) = self.flights.next() => {
                    if self.came(member, report) {
                        lookup_at = lookup_at.min(Instant::now() + LOST_AFTER);
                    }
                }
                () = sleep_until(hand_on_at), if !self.landed.is_empty() => {}
            }
            let is_time = self.flights.is_empty() || Instant::now() >= hand_on_at;
            if is_time && !self.landed.is_empty() && !self.hand_on().await {
                return;
            }
        }
    }

    /// Takes in what was looked up. What it gives back ends when that is so no more.
    fn looked_up(&mut self, found: Result<Lookup, String>) -> BoxFuture<'static, ()> {
        let (doubt, watch) = match found {
            Ok(Lookup { places, doubt, watch }) => {
                self.found(places);
                (doubt, watch)
            }
            Err(why) => (Some(why), None),
        };
        let (session, watcher) = watch.unzip();
        (self.doubt, self.session) = (doubt, session);
        watcher.map_or_else(|| pending().boxed(), |watcher| watcher.changed().map(drop).boxed())
    }

    /// Takes in who the members are. Members under way learn of it when they come back.
    fn found(&mut self, places: Vec<MemberAddress>) {
        if places == self.places {
            return;
        }
        let names: Vec<&str> = places.iter().map(|place| &*place.name).collect();
        tracing::info!(members = names.join(", "), "members that are asked for evidence");
        self.idle.retain(|name, _| places.iter().any(|place| place.name == *name));
        self.landed.retain(|report| places.iter().any(|place| place.name == report.member));
        self.lost.retain(|name| places.iter().any(|place| place.name == *name));
        let known = std::mem::take(&mut self.by);
        for place in &places {
            self.by.insert(place.name.clone(), known.get(&place.name).cloned().unwrap_or_default());
            if let Some(member) = self.idle.get_mut(&place.name) {
                member.moved(place.clone());
            } else if !known.contains_key(&place.name) {
                self.idle.insert(place.name.clone(), Member::new(place.clone(), self.client.clone(), self.stamp()));
            }
        }
        self.roster.send_replace(places.clone());
        self.places = places;
    }

    fn ask_all(&mut self) {
        std::mem::take(&mut self.idle).into_values().for_each(|member| self.ask(member));
    }

    fn ask_new(&mut self) {
        let idle = std::mem::take(&mut self.idle);
        let (asked, new): (_, BTreeMap<_, _>) = idle.into_iter().partition(|(_, member)| member.was_asked());
        self.idle = asked;
        new.into_values().for_each(|member| self.ask(member));
    }

    fn ask(&mut self, mut member: Member) {
        let (clock, watches_every) = (self.clock.clone(), self.demand.borrow().watches_every());
        let flight = async move {
            let report = member.report(&clock, watches_every).await;
            (member, report)
        };
        self.flights.push(flight.boxed());
    }

    fn stamp(&self) -> Stamp {
        Stamp::new(self.config.credentials.clone(), self.config.session_timeout)
    }

    /// A member has said what it has to say. True when it stopped answering.
    fn came(&mut self, mut member: Member, mut report: Report) -> bool {
        let Some(place) = self.places.iter().find(|place| place.name == member.place().name) else { return false };
        if member.place() != place {
            member.moved(place.clone());
        }
        let before = self.by.insert(report.member.clone(), report.by.clone());
        let is_lost = report.by.is_empty() && before.is_some_and(|before| !before.is_empty());
        if is_lost {
            self.lost.insert(report.member.clone());
        } else if !report.by.is_empty() {
            self.lost.remove(&report.member);
        }
        // One that never answered may be elsewhere, or refuse us alone.
        report.is_down &= self.lost.contains(&report.member);
        self.idle.insert(report.member.clone(), member);
        self.landed.push(report);
        is_lost
    }

    /// Hands on what came, as a round in which the others were not asked. False when nobody takes it.
    async fn hand_on(&mut self) -> bool {
        let mut landed: BTreeMap<Box<str>, Report> =
            self.landed.drain(..).map(|report| (report.member.clone(), report)).collect();
        let report = |place: &MemberAddress| {
            let report = landed.remove(&place.name).unwrap_or_else(|| self.no_answer(place.name.clone(), place.number));
            // Its number may have become known while it was asked.
            Report { number: place.number, ..report }
        };
        let mut reports: Vec<Report> = self.places.iter().map(report).collect();
        reports.extend(self.others());
        reports.sort_by(|a, b| a.member.cmp(&b.member));
        self.sink.send(reports).await.is_ok()
    }

    /// The members that are not known, where there may be some: like any that does not answer, they may have clients.
    fn others(&self) -> Option<Report> {
        let is_watched = self.session.as_ref().is_none_or(|session| session.state() == SessionState::SyncConnected);
        let why = self.doubt.as_deref().or((!is_watched).then_some("it is not watched just now"))?;
        let remedy = format!("/zookeeper/config does not say who all the members are: {why}").into();
        let connections = MemberAnswer::None { trouble: Trouble::Broken, remedy };
        Some(Report { connections, ..self.no_answer("other members".into(), None) })
    }

    fn no_answer(&self, member: Box<str>, number: Option<i64>) -> Report {
        Report {
            by: self.by.get(&member).cloned().unwrap_or_default(),
            member,
            number,
            is_down: false,
            connections: MemberAnswer::NotAsked,
            sessions: MemberAnswer::NotAsked,
            watches: MemberAnswer::NotAsked,
            health: MemberAnswer::NotAsked,
        }
    }
}

async fn poll(lookup: &mut Option<BoxFuture<'static, Result<Lookup, String>>>) -> Result<Lookup, String> {
    match lookup {
        Some(lookup) => lookup.await,
        None => pending().await,
    }
}
