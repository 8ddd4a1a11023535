//! One member: which transport answers which request, when a transport is not used for a while, and the result of a
//! round. Sends one request at a time, so a member never has two of ours.

use std::time::Duration;

use lockscope_core::evidence::{
    Connection, Expiry, Health, MemberAnswer, MemberRole, Question, Report, SessionTable, Trouble, WatchTable,
};
use lockscope_core::time::TimeMs;
use reqwest::Client;
use tokio::time::Instant;

use super::admin::Identity;
use super::cooldown::Rest;
use super::failure::{ANSWER_MAX, Failure};
use super::fault::EPHEMERALS_MAX;
use super::hint::{Attempt, hint, spared_sessions, spared_watches};
use super::roster::{MemberAddress, split_port};
use super::source::{Source, SourceAnswer, identity};
use super::stamp::Stamp;
use super::{tcp, url};
use lockscope_runtime::clock::Clock;

/// A member that keeps more watches is not asked for the list of them: it walks all while its clients wait.
pub const WATCHES_ASK_MAX: u64 = 100_000;
/// How often an AdminServer that nobody named is looked for.
const GUESS_EVERY: Duration = Duration::from_secs(300);
/// How long that may take: it must not hold up the questions that are answered.
const GUESS_MAX: Duration = Duration::from_millis(500);
/// One place for each [`Question`].
const QUESTIONS: usize = 4;

#[derive(Debug)]
struct Way {
    source: Source,
    rest: Rest,
    failure: Option<Failure>,
    each: [(Rest, Option<Failure>); QUESTIONS],
    answered: bool,
}

impl Way {
    fn new(source: Source) -> Self {
        Self { source, rest: Rest::default(), failure: None, each: Default::default(), answered: false }
    }

    /// The answer, unless it fails or is left alone; why is then in [`Way::failure`].
    async fn ask<T: SourceAnswer>(&mut self) -> Option<T> {
        let at = place_of(T::QUESTION);
        let begin = Instant::now();
        if self.rest.is_on(begin) || self.each.get(at).is_some_and(|(rest, _)| rest.is_on(begin)) {
            return None;
        }
        let told = T::ask(&self.source).await;
        let now = Instant::now();
        match told {
            Ok(value) => {
                self.works();
                if let Some(each) = self.each.get_mut(at) {
                    *each = (Rest::default(), None);
                }
                Some(value)
            }
            Err(failure) if failure.whole_way => {
                self.fails(failure, now);
                None
            }
            Err(failure) => {
                // It did answer: the way itself is open.
                (self.failure, self.rest) = (None, Rest::default());
                if let Some((rest, why)) = self.each.get_mut(at) {
                    if failure.is_too_long {
                        rest.was_too_long(now)
                    } else {
                        rest.failed(now)
                    }
                    *why = Some(failure);
                }
                None
            }
        }
    }

    fn works(&mut self) {
        self.rest.worked();
        (self.failure, self.answered) = (None, true);
    }

    fn fails(&mut self, failure: Failure, now: Instant) {
        tracing::debug!(source = ?self.source, said = failure.said, "a member could not be asked");
        self.rest.failed(now);
        self.failure = Some(failure);
    }

    fn failure(&self, question: Question) -> Option<&Failure> {
        self.failure.as_ref().or_else(|| self.each.get(place_of(question)).and_then(|(_, failure)| failure.as_ref()))
    }
}

fn place_of(question: Question) -> usize {
    match question {
        Question::Connections => 0,
        Question::Sessions => 1,
        Question::Watches => 2,
        Question::Health => 3,
    }
}

#[derive(Debug)]
pub(super) struct Member {
    place: MemberAddress,
    /// None when no HTTP client could be made: four-letter words are all there is then.
    client: Option<Client>,
    words: Way,
    admin: Option<Way>,
    admin_url: String,
    /// Whether the AdminServer is known to be this member's.
    is_identified: bool,
    guessed_at: Option<Instant>,
    tick_ms: Option<i64>,
    watches: Option<u64>,
    watches_asked: Option<Instant>,
    ephemerals: Option<u64>,
    was_asked: bool,
    stamp: Stamp,
    /// It leads others, and its last answer had expiry times on its monotonic clock.
    needs_stamp: bool,
}

impl Member {
    pub(super) fn new(place: MemberAddress, client: Option<Client>, stamp: Stamp) -> Self {
        let words = Way::new(Source::Words { address: place.address.clone() });
        let mut member = Self {
            place,
            client,
            words,
            admin: None,
            admin_url: String::new(),
            is_identified: false,
            guessed_at: None,
            tick_ms: None,
            watches: None,
            watches_asked: None,
            ephemerals: None,
            was_asked: false,
            stamp,
            needs_stamp: false,
        };
        member.use_admin_url();
        member
    }

    pub(super) fn place(&self) -> &MemberAddress {
        &self.place
    }

    pub(super) fn was_asked(&self) -> bool {
        self.was_asked
    }

    pub(super) fn moved(&mut self, place: MemberAddress) {
        if place.address == self.place.address && place.admin_url == self.place.admin_url {
            self.is_identified &= place.number == self.place.number;
            self.place = place;
        } else {
            *self = Self::new(place, self.client.take(), self.stamp.anew());
        }
    }

    fn use_admin_url(&mut self) {
        self.admin_url = self
            .place
            .admin_url
            .clone()
            .unwrap_or_else(|| format!("http://{}:{}", split_port(&self.place.address).0, url::PORT_DEFAULT));
        let client = self.client.as_ref().filter(|_| self.place.admin_url.is_some());
        self.admin =
            client.map(|client| Way::new(Source::Admin { client: client.clone(), url: self.admin_url.clone() }));
    }

    pub(super) async fn report(&mut self, clock: &Clock, watches_every: Option<Duration>) -> Report {
        self.was_asked = true;
        self.words.answered = false;
        if let Some(admin) = &mut self.admin {
            admin.answered = false;
        }
        self.identify().await;
        if self.needs_stamp {
            self.stamp.renew(&self.place.address).await;
        } else {
            self.stamp.end();
        }
        let connections = self.answer::<Vec<Connection>>(clock).await;
        let mut health = self.answer::<Health>(clock).await;
        if let MemberAnswer::Ok { value, .. } = &mut health {
            value.tick_ms = self.tick_ms;
            self.watches = value.watches.or(self.watches);
            self.ephemerals = value.ephemerals.or(self.ephemerals);
        }
        let sessions = self.sessions(clock).await;
        self.needs_stamp = needs_stamp(&sessions, &health);
        let watches = match watches_every {
            Some(every) => self.watches(clock, every).await,
            None => MemberAnswer::NotAsked,
        };
        let is_down = self.is_down().await;
        Report {
            member: self.place.name.clone(),
            number: self.place.number,
            by: self.by(),
            is_down,
            connections,
            sessions,
            watches,
            health,
        }
    }

    /// Whether nobody listens at its client port, looked at anew each time: no session can be connected to it then.
    async fn is_down(&mut self) -> bool {
        if self.words.failure.as_ref().is_none_or(|failure| !(failure.whole_way && failure.trouble == Trouble::Off)) {
            return false;
        }
        let is_refused = tcp::is_refused(&self.place.address).await;
        if !is_refused {
            // It is back: the next round asks.
            self.words.rest = Rest::default();
        }
        is_refused
    }

    /// Makes sure that an AdminServer is this member's, and looks for one that nobody named.
    async fn identify(&mut self) {
        let now = Instant::now();
        let Some(client) = &self.client else { return };
        let is_resting = self.admin.as_ref().is_some_and(|admin| admin.rest.is_on(now));
        let is_guess = self.place.admin_url.is_none();
        let looked = self.admin.is_none() && self.guessed_at.is_some_and(|at| now.duration_since(at) < GUESS_EVERY);
        if self.is_identified || is_resting || looked {
            return;
        }
        self.guessed_at = Some(now);
        let told = identity(client, &self.admin_url, if is_guess { GUESS_MAX } else { ANSWER_MAX }).await;
        match (told, &mut self.admin) {
            (Ok(who), admin) if self.place.may_be(who, is_guess) => {
                self.is_identified = true;
                self.tick_ms = who.tick_time;
                if admin.is_none() {
                    *admin = Some(Way::new(Source::Admin { client: client.clone(), url: self.admin_url.clone() }));
                }
            }
            (Ok(who), Some(admin)) => admin.fails(Failure::stranger(who), Instant::now()),
            (Err(failure), Some(admin)) if failure.trouble == Trouble::Broken || failure.whole_way => {
                admin.fails(failure, Instant::now())
            }
            // It answers and does not report who it is: an operator named it, so it is believed.
            (Err(_), Some(_)) => self.is_identified = true,
            // Nobody, or somebody else, where nobody said that one would be.
            (_, None) => {}
        }
    }

    async fn answer<T: SourceAnswer>(&mut self, clock: &Clock) -> MemberAnswer<T> {
        for way in self.admin.as_mut().into_iter().chain([&mut self.words]) {
            let asked_at = TimeMs(clock.now_ms());
            if let Some(value) = way.ask().await {
                return MemberAnswer::Ok { asked_at, value };
            }
        }
        if self.admin.as_ref().is_some_and(|admin| admin.failure.is_some()) {
            // What comes back there may be another server.
            self.is_identified = false;
        }
        let admin = self.admin.as_ref().and_then(|admin| admin.failure(T::QUESTION));
        let (trouble, hint) = hint(&Attempt {
            member: &self.place.name,
            question: T::QUESTION,
            admin: admin.map(|failure| (self.admin_url.as_str(), failure)),
            guessed: &self.admin_url,
            words: self.words.failure(T::QUESTION),
        });
        MemberAnswer::None { trouble, remedy: hint }
    }

    async fn sessions(&mut self, clock: &Clock) -> MemberAnswer<SessionTable> {
        match self.ephemerals.filter(|ephemerals| usize::try_from(*ephemerals).is_ok_and(|all| all > EPHEMERALS_MAX)) {
            Some(ephemerals) => MemberAnswer::None {
                trouble: Trouble::Spared,
                remedy: spared_sessions(&self.place.name, ephemerals, EPHEMERALS_MAX),
            },
            None => self.answer(clock).await,
        }
    }

    async fn watches(&mut self, clock: &Clock, every: Duration) -> MemberAnswer<WatchTable> {
        let now = Instant::now();
        if self.watches_asked.is_some_and(|at| now.duration_since(at) < every) {
            return MemberAnswer::NotAsked;
        }
        if let Some(watches) = self.watches.filter(|watches| *watches > WATCHES_ASK_MAX) {
            return MemberAnswer::None {
                trouble: Trouble::Spared,
                remedy: spared_watches(&self.place.name, watches, WATCHES_ASK_MAX),
            };
        }
        self.watches_asked = Some(now);
        self.answer(clock).await
    }

    fn by(&self) -> Box<str> {
        const WORDS: &str = "four-letter words";
        let admin = self.admin.as_ref().is_some_and(|admin| admin.answered);
        match (admin, self.words.answered) {
            (true, true) => format!("AdminServer {} and {WORDS}", self.admin_url).into(),
            (true, false) => format!("AdminServer {}", self.admin_url).into(),
            (false, true) => WORDS.into(),
            (false, false) => "".into(),
        }
    }
}

/// Whether expiry is on a monotonic clock that none of our sessions gives a sign of life on. One that is alone has our
/// other sessions.
fn needs_stamp(sessions: &MemberAnswer<SessionTable>, health: &MemberAnswer<Health>) -> bool {
    let is_alone = health.value().is_some_and(|(_, health)| health.role == Some(MemberRole::Standalone));
    let is_running = |expiry: &Expiry| matches!(expiry, Expiry::Running(_));
    !is_alone && sessions.value().is_some_and(|(_, table)| table.expiries.values().any(is_running))
}

impl MemberAddress {
    /// Whether this is the AdminServer of this member. One that was only guessed has to prove it by its port.
    fn may_be(&self, who: Identity, is_guess: bool) -> bool {
        let number_fits = self.number.is_none_or(|number| number == who.server_id);
        let port_fits = split_port(&self.address).1.is_some_and(|port| i64::from(port) == who.client_port);
        number_fits && (port_fits || !is_guess)
    }
}
