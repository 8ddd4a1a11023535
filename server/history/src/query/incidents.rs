//! When something was wrong with which locks, because of whom, and how it ended: as it is answered. Blocking, and bounded
//! in time.

use std::collections::BTreeMap;
use std::ops::Range;

use lockscope_core::diagnosis::Code;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::Zxid;
use lockscope_view::past::{self, EarlierIncident, IncidentEnd, IncidentLife, IncidentRelease, Mark, OneIncident};

use super::incident_words::{again, alike_sentence, is_mutual, sentence};
use super::marks::mark;
use super::{Question, alike, incident_words, view_verdict};
use crate::derive::{FACTS_A_MS, HARMFUL, is_trouble, verdict_name};
use crate::incident::{
    self, Incident, IncidentQuery, IncidentRoot, IncidentsFound, Life, Present, QUIET_MS, earlier, incident_of,
    lives_in, search,
};
use crate::store::StoreError;
use crate::store::rows::{FactKind, FactQuery, SpanEnd};

/// Lives of one incident that are listed. Overflow policy: those of whoever held or waited longest are.
const LIVES_MAX: usize = 500;
/// Earlier ones that are listed.
const EARLIER_MAX: usize = 10;
/// An incident so near is one around a moment.
const AROUND_MS: i64 = 60_000;
/// Releases of one incident that are listed. Overflow policy: the oldest are.
const RELEASES_MAX: usize = 100;
/// Findings and releases that are listed, of so many locks.
const FACTS_MAX: usize = 60;
const FACT_LOCKS_MAX: usize = 40;

/// When a lock was in the same trouble before.
type EarlierBegins = BTreeMap<(String, &'static str), Vec<TimeMs>>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WhichIncident {
    Number(u64),
    /// That of a lock at a moment, or nearest to it within a minute.
    Around {
        path: String,
        /// The moment, ms since the epoch.
        at_ms: i64,
    },
}

impl WhichIncident {
    pub fn of_id(text: &str) -> Option<Self> {
        u64::from_str_radix(text, 16).ok().filter(|_| text.len() <= 16).map(Self::Number)
    }

    /// Where it has to be looked for: numbers are made of instants.
    pub fn range(&self, now: TimeMs) -> Range<TimeMs> {
        let (at_ms, around_ms) = match self {
            Self::Number(number) => (i64::try_from(number / FACTS_A_MS).unwrap_or(i64::MAX), 1_000),
            Self::Around { at_ms, .. } => (*at_ms, AROUND_MS),
        };
        let at = TimeMs(at_ms).min(now);
        at - around_ms..at + around_ms
    }
}

/// Questions about the incidents of a range, with what only a running server knows.
pub struct IncidentSearch<'a> {
    /// Where, when and for whom.
    pub question: Question<'a>,
    /// The instant at which it is asked.
    pub now: TimeMs,
    /// What a lock is now.
    pub present: &'a dyn Fn(&str) -> Present,
    /// Who released a contender through Lockscope, and where that is on record, as far as it is known and may be shown.
    pub forced_by: &'a dyn Fn(Zxid) -> (Option<String>, Option<u64>),
    /// The application that a client's name stands for.
    pub application: &'a dyn Fn(&str) -> String,
}

impl IncidentSearch<'_> {
    fn ask<T>(
        &self,
        range: Range<TimeMs>,
        ask: impl FnOnce(&IncidentQuery<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let Question { scope, ensemble, give_up_at, .. } = self.question;
        let sees = |lock: &str| scope.covers(ensemble, lock);
        ask(&IncidentQuery { range, now: self.now, sees: &sees, present: self.present, give_up_at })
    }

    /// Those of the range that lasted so long, the newest first, and how many further ones there are.
    ///
    /// # Errors
    /// The store can't be read, or it takes too long.
    pub fn list(&self, min_ms: i64) -> Result<(Vec<past::Incident>, usize), StoreError> {
        let found = self.ask(self.question.range.clone(), |query| search(self.question.store, query))?;
        self.describe_all(found, |one| one.until(self.now).since(one.from) >= min_ms)
    }

    /// All of the range however many there are, and of these the newest `most`.
    ///
    /// # Errors
    /// The store can't be read, or it takes too long.
    pub fn all(&self, most: usize) -> Result<(Vec<past::Incident>, usize), StoreError> {
        let mut found = self.ask(self.question.range.clone(), |query| incident::all(self.question.store, query))?;
        found.left_out += found.incidents.len().saturating_sub(most);
        found.incidents.truncate(most);
        self.describe_all(found, |_| true)
    }

    fn describe_all(
        &self,
        found: IncidentsFound,
        is_meant: impl Fn(&Incident) -> bool,
    ) -> Result<(Vec<past::Incident>, usize), StoreError> {
        let mut known = EarlierBegins::new();
        let meant = found.incidents.iter().filter(|one| is_meant(one));
        let described: Result<_, _> = meant.map(|one| self.describe(one, &mut known)).collect();
        Ok((described?, found.left_out))
    }

    /// One with who was there, what it was like before, and what was released; `wants_alike` looks for those like it on
    /// other locks as well, which takes longer. None where there is none that may be seen.
    ///
    /// # Errors
    /// The store can't be read, or it takes too long.
    pub fn one(&self, which: &WhichIncident, wants_alike: bool) -> Result<Option<OneIncident>, StoreError> {
        let (store, range) = (self.question.store, || self.question.range.clone());
        let number = match which {
            WhichIncident::Number(number) => Some(*number),
            WhichIncident::Around { path, at_ms } => self.number_around(path, TimeMs(*at_ms).min(self.now))?,
        };
        let Some(number) = number else { return Ok(None) };
        let Some(found) = self.ask(range(), |query| incident_of(store, query, number))? else { return Ok(None) };
        let lives = self.ask(range(), |query| lives_in(store, query, &found))?;
        let earlier = self.earlier(&found)?;
        let incident = self.describe(&found, &mut EarlierBegins::new())?;
        // Last: where it takes all the time that is left, the rest is answered all the same.
        let alike = if wants_alike { self.alike(&found)? } else { None };
        let again = again(&incident, self.root_name(&found).as_deref(), &earlier);
        let releases = self.releases(&lives);
        let lives_left_out = lives.len().saturating_sub(LIVES_MAX);
        let root = found.root.as_ref().filter(|_| !is_mutual(incident.worst));
        Ok(Some(OneIncident {
            ensemble: self.question.ensemble.to_owned(),
            incident,
            lives: longest(lives, self.now).into_iter().map(|life| self.life(life, root)).collect(),
            lives_left_out,
            earlier,
            again: Some(again).filter(|text| !text.is_empty()),
            alike,
            releases,
            alerts: Vec::new(),
        }))
    }

    /// The number of a lock's incident at a moment, or of the nearest within [`AROUND_MS`].
    fn number_around(&self, path: &str, at: TimeMs) -> Result<Option<u64>, StoreError> {
        let found = self.ask(self.question.range.clone(), |query| search(self.question.store, query))?;
        let of_path = |incident: &Incident| {
            let runs = incident.runs.iter().filter(|run| &*run.lock == path);
            let away = runs.map(|run| run.from.since(at).max(at.since(run.until(self.now)))).min()?;
            (away <= AROUND_MS).then_some((away, incident.number))
        };
        Ok(found.incidents.iter().filter_map(of_path).min().map(|(_, number)| number))
    }

    /// Findings and releases at the locks of an incident meanwhile, the oldest first.
    ///
    /// # Errors
    /// The store can't be read, or it takes too long.
    pub fn facts(&self, of: &past::Incident) -> Result<Vec<Mark>, StoreError> {
        let mut found = Vec::new();
        // A finding may come a little earlier than a verdict.
        let range = TimeMs(of.from_at_ms) - QUIET_MS..TimeMs(of.from_at_ms) + of.lasted_ms(self.now.0) + 1;
        for path in of.locks.iter().take(FACT_LOCKS_MAX) {
            for kind in [FactKind::Finding, FactKind::Release] {
                let query = FactQuery {
                    range: range.clone(),
                    lock: Some(path.as_str().into()),
                    kind: Some(kind),
                    limit: FACTS_MAX,
                    give_up_at: Some(self.question.give_up_at),
                    ..FactQuery::default()
                };
                found.extend(self.question.store.facts(&query)?);
            }
        }
        found.sort_by_key(|fact| fact.number);
        found.truncate(FACTS_MAX);
        Ok(found.into_iter().map(|fact| mark(fact, &self.question)).collect())
    }

    /// As it is answered. `known` has the earlier ones of locks that were asked for before.
    fn describe(&self, of: &Incident, known: &mut EarlierBegins) -> Result<past::Incident, StoreError> {
        let root = of.root.as_ref();
        let is_open = |path: &&str| of.runs.iter().any(|run| run.is_open() && *run.lock == **path);
        let harmful = HARMFUL.into_iter().map(Code::name).find(|name| of.findings.contains(*name));
        let forced = of.ended_with.filter(|_| of.ended_by == IncidentEnd::Forced);
        let mut incident = past::Incident {
            id: of.id(),
            from_at_ms: of.from.0,
            to_at_ms: of.to.map(|to| to.0),
            worst: view_verdict(of.worst),
            findings: of.findings.iter().map(|code| code.to_string()).collect(),
            locks: of.locks().into_iter().map(str::to_owned).collect(),
            root_lock: of.root_lock().to_owned(),
            root_client: root.and_then(|root| self.label(root)).map(str::to_owned),
            root_host: root.and_then(|root| root.host.as_deref()).map(str::to_owned),
            root_session_id: root.and_then(|root| root.session).map(|session| session.to_string()),
            victims: of.victims,
            victims_peak: of.victims_peak,
            waiting_ms: of.waiting_ms,
            is_lower_bound: of.is_lower_bound,
            ended_by: of.ended_by,
            is_seen_now: of.locks().into_iter().find(is_open).map(|lock| (self.present)(lock).is_live),
            forced_by: forced.and_then(|czxid| (self.forced_by)(czxid).0),
            seen_before: self.count_earlier(of, known)?,
            sentence: String::new(),
            root: root.map(|root| incident_words::root_name(root, self.label(root))),
            finding: harmful.filter(|_| !is_trouble(of.worst)).map(str::to_owned),
        };
        incident.sentence = sentence(&incident, self.now.0);
        Ok(incident)
    }

    fn count_earlier(&self, of: &Incident, known: &mut EarlierBegins) -> Result<usize, StoreError> {
        let key = (of.root_lock().to_owned(), verdict_name(of.worst));
        // The newest comes first, and what is before it has what is before the others.
        let begins = match known.get(&key) {
            Some(begins) => begins,
            None => {
                let Question { store, give_up_at, .. } = self.question;
                let found = earlier(store, &key.0, of.worst, of.from, give_up_at)?;
                known.entry(key).or_insert_with(|| found.into_iter().map(|run| run.from).collect())
            }
        };
        Ok(begins.iter().filter(|begin| **begin < of.from).count())
    }

    /// The newest earlier ones, and how they ended.
    fn earlier(&self, of: &Incident) -> Result<Vec<EarlierIncident>, StoreError> {
        let Question { store, give_up_at, .. } = self.question;
        let runs = earlier(store, of.root_lock(), of.worst, of.from, give_up_at)?;
        let mut found = Vec::new();
        for run in runs.iter().rev().take(EARLIER_MAX) {
            let one = self.ask(run.from..run.from + 1, |query| incident_of(store, query, run.number))?;
            found.extend(one.map(|one| EarlierIncident {
                id: one.id(),
                from_at_ms: one.from.0,
                lasted_ms: one.until(self.now).since(one.from),
                ended_by: one.ended_by,
                root: self.root_name(&one),
            }));
        }
        Ok(found)
    }

    /// Those like one; None where there was no time to look.
    fn alike(&self, of: &Incident) -> Result<Option<past::AlikeIncidents>, StoreError> {
        let application = |one: &Incident| Some((self.application)(self.label(one.root.as_ref()?)?));
        match self.ask(of.from..of.from + 1, |query| alike(self.question.store, query, of, &application)) {
            Ok(alike) => Ok(Some(past::AlikeIncidents { sentence: alike_sentence(&alike), ..alike })),
            Err(StoreError::TooLong) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// What the root said it is, where that may be shown.
    fn label<'a>(&self, root: &'a IncidentRoot) -> Option<&'a str> {
        root.label.as_deref().filter(|_| self.question.scope.payloads())
    }

    /// Who is at an incident's root, as well as that may be said.
    fn root_name(&self, of: &Incident) -> Option<String> {
        let root = of.root.as_ref()?;
        let session = || root.session.map(|session| session.to_string());
        self.label(root).or(root.host.as_deref()).map(str::to_owned).or_else(session)
    }

    fn life(&self, of: Life, root: Option<&IncidentRoot>) -> IncidentLife {
        let is_of =
            |root: &IncidentRoot| (of.session, of.held_at, &of.lock) == (root.session, Some(root.held_at), &root.lock);
        IncidentLife {
            is_root: root.is_some_and(is_of),
            lock: of.lock.into(),
            session_id: of.session.map(|session| session.to_string()),
            label: of.label.filter(|_| self.question.scope.payloads()).map(Into::into),
            host: of.host.map(Into::into),
            joined_at_ms: of.joined_at.0,
            held_at_ms: of.held_at.map(|at| at.0),
            left_at_ms: of.left_at.map(|at| at.0),
            how: of.how.map_or("still", SpanEnd::name),
            is_waiting: of.is_waited_for,
        }
    }

    /// The releases through Lockscope by which somebody was gone.
    fn releases(&self, lives: &[Life]) -> Vec<IncidentRelease> {
        let forced = lives.iter().filter(|life| life.how == Some(SpanEnd::Forced));
        let release = |life: &Life| {
            let (by, record) = (self.forced_by)(life.czxid);
            Some(IncidentRelease { at_ms: life.left_at?.0, lock: life.lock.to_string(), by, record })
        };
        let mut found: Vec<IncidentRelease> = forced.filter_map(release).collect();
        found.sort_by(|one, other| (one.at_ms, &one.lock).cmp(&(other.at_ms, &other.lock)));
        found.truncate(RELEASES_MAX);
        found
    }
}

/// Those of whoever held or waited longest, in the order in which they came.
fn longest(mut lives: Vec<Life>, now: TimeMs) -> Vec<Life> {
    if lives.len() > LIVES_MAX {
        lives.sort_by_key(|life| std::cmp::Reverse(life.left_at.unwrap_or(now).since(life.joined_at)));
        lives.truncate(LIVES_MAX);
    }
    lives.sort_by_key(|life| (life.joined_at, life.czxid));
    lives
}
