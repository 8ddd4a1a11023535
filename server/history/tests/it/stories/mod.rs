//! The stories of the field, told in the core's language, recorded as they would be, and the incidents that they leave.

mod field;
mod quiet;

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lockscope_core::evidence::Round;
use lockscope_core::observation::{Link, Observation};
use lockscope_core::settings::Settings;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::SessionId;
use lockscope_history::backfill::Backfill;
use lockscope_history::derive::{harm_of, is_trouble, verdict_name};
use lockscope_history::incident::{Incident, IncidentQuery, Life, Present, all, search};
use lockscope_history::store::sqlite::SqliteStore;
use lockscope_history::store::{Retention, Store};

use crate::language::Story;
use crate::members::Member;

const RETENTION: Retention =
    Retention { chunks_ms: i64::MAX, chunk_bytes_max: u64::MAX, spans_ms: i64::MAX, minutes_ms: i64::MAX };

/// A story that is recorded while it is told.
struct Play {
    story: Story,
    backfill: Backfill,
    store: Arc<dyn Store>,
    _place: tempfile::TempDir,
}

impl Play {
    /// Begins with a tree, given as `PATH fields` lines, at 10 ms.
    fn of(tree: &str) -> Self {
        Self::at(10, tree)
    }

    /// The same at another time: members' clocks in stories begin at 1,000,000 ms.
    fn at(at: i64, tree: &str) -> Self {
        let place = tempfile::tempdir().unwrap();
        let store: Arc<dyn Store> = Arc::new(SqliteStore::open(place.path(), "default").unwrap());
        let settings = Settings { roots: vec!["/".into()], ..Settings::default() };
        let backfill = Backfill::new(Arc::clone(&store), RETENTION, settings);
        let mut play = Self { story: Story::new(&["/"]), backfill, store, _place: place };
        play.observe(Observation::Link { link: Link::Live, session: Some(SessionId(1)), why: "".into() });
        let nodes = tree.lines().map(str::trim).filter(|line| !line.is_empty());
        let nodes: String = nodes.fold(String::new(), |mut all, line| {
            let _ = writeln!(all, "{at} node {line}");
            all
        });
        play.tell(&format!("{at} sync /\n{nodes}{at} end /"));
        play
    }

    fn observe(&mut self, observation: Observation) {
        let now = TimeMs(self.story.now);
        self.backfill.observe(now, observation.clone()).unwrap();
        self.story.observatory.apply(now, observation);
    }

    fn tell(&mut self, lines: &str) -> &mut Self {
        for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let observation = self.story.parse(line);
            let is_end = matches!(observation, Observation::SyncEnded { .. });
            self.observe(observation);
            if is_end {
                self.observe(Observation::Synced { sent_at: TimeMs(self.story.now) });
            }
        }
        self
    }

    /// What members say at this instant.
    fn ask(&mut self, at: i64, members: Vec<Member>) -> &mut Self {
        self.story.now = at;
        let reports = members.into_iter().map(|member| member.report).collect();
        self.observe(Observation::Evidence(Box::new(Round { reports })));
        self.observe(Observation::Synced { sent_at: TimeMs(at) });
        self
    }

    /// The process ends and another begins.
    fn restart(&mut self, at: i64) -> &mut Self {
        self.backfill.stop(TimeMs(at)).unwrap();
        let settings = self.story.observatory.settings().clone();
        self.story.now = at;
        self.story.observatory.apply(TimeMs(at), Observation::Restarted(Box::new(settings)));
        self
    }

    fn present(&self, path: &str) -> Present {
        let model = &self.story.observatory;
        let Some(lock) = model.lock(path).filter(|lock| &*lock.path == path) else { return Present::default() };
        let hurts = lock.assessment.findings.iter().any(|one| harm_of(one.code, one.severity).is_some());
        let mirror = model.mirror_of(lock).unwrap();
        let life = |one: lockscope_core::lock::ContenderRef<'_>| {
            let read = one.child.read.as_ref()?;
            Some(Life {
                czxid: read.czxid,
                lock: path.into(),
                recipe: "sequential_mutex".into(),
                is_waited_for: lock.recognition.counts_as_waiting(),
                session: read.owner(),
                label: None,
                host: None,
                joined_at: one.child.arrived_at,
                held_at: lock.hold_of(&one).map(|hold| hold.since),
                left_at: None,
                how: None,
                roots: Vec::new(),
            })
        };
        let lives = lock.contenders(mirror).filter_map(life).collect();
        Present { is_in_trouble: is_trouble(lock.assessment.verdict) || hurts, is_live: true, lives }
    }

    /// The incidents, the oldest first, one line each: worst verdict, findings, locks, root, victims, when, and the end.
    fn incidents(self) -> Vec<String> {
        let Self { story, backfill, store, _place } = self;
        backfill.finish_generated().unwrap();
        let told =
            Self { backfill: Backfill::new(Arc::clone(&store), RETENTION, Settings::default()), story, store, _place };
        let (sees, present) = (|_: &str| true, |lock: &str| told.present(lock));
        let (now, give_up_at) = (TimeMs(told.story.now), Instant::now() + Duration::from_secs(20));
        let query = IncidentQuery { range: TimeMs(0)..now + 1, now, sees: &sees, present: &present, give_up_at };
        let found = search(&*told.store, &query).unwrap();
        assert_eq!(found.left_out, 0);
        // Piece by piece, as an autopsy looks for them, they are the same.
        assert_eq!(all(&*told.store, &query).unwrap().incidents, found.incidents);
        found.incidents.iter().rev().map(line).collect()
    }
}

fn line(of: &Incident) -> String {
    let findings: Vec<&str> = of.findings.iter().map(AsRef::as_ref).collect();
    let root = of.root.as_ref().map_or("nobody".to_owned(), |root| {
        format!("{} at {}", root.session.map_or("no session".to_owned(), |id| id.to_string()), root.lock)
    });
    let to = of.to.map_or(String::new(), |to| to.0.to_string());
    format!(
        "{} [{}] {}: {root}, {} waited {} ms, {}..{to} {}",
        verdict_name(of.worst),
        findings.join(" "),
        of.locks().join(" "),
        of.victims,
        of.waiting_ms,
        of.from.0,
        of.ended_by.name()
    )
}
