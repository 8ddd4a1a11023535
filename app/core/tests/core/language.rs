//! A small language for histories of one ensemble. One line is one observation; time is in ms:
//!
//! ```text
//! 100 sync /order            begins a sync of the root; `restored`: of another history
//! 100 node /order            within a sync: PATH [owner=HEX] [ctime=MS] [czxid=N] [pzxid=N] [data=TEXT] [hex=BYTES] [created=N] [children=N] [denied]
//! 100 end /order             ends it; a probe is answered at once
//! 100 compare /order         after a gap, the root is compared with the counters of its directories
//! 100 listed /order/a x y    within that: these are the children of a directory in which something moved
//! 100 compared /order        ends it; a probe is answered at once
//! 200 + /order/lock-0000000001          creation event
//! 201 = /order/lock-0000000001 owner=a  read (same fields as `node`)
//! 201 ! /order/lock-0000000001 [sync]   it is there, and not even its Stat may be read
//! 300 - /order/lock-0000000001          deletion event
//! 300 # /order created=5                Stat of a directory, from a sweep
//! 300 ? /order unswept                  what the observer can't promise of a directory: unswept, unreadable, or nothing
//! 400 link stale no answer              link: live | stale | lost, and why
//! 400 gone /order                       root trouble: gone | denied | reduced
//! 450 asked                  a question was sent; 451 answered | 451 synced MS (when it was sent)
//! 500 known                  a probe that was sent now is answered: all that was true is told
//! 500 known 450              the same of one that was sent at 450
//! 500 tick
//! ```
//!
//! A second column of defaults keeps lines short: ctime is the line's time, czxid counts up.

use lockscope_core::assessment::AssessedLock;
use lockscope_core::change::Change;
use lockscope_core::configured::Configured;
use lockscope_core::finding::Limits;
use lockscope_core::missing::{Missing, MissingSet};
use lockscope_core::observation::{Link, LockConfig, Observation, RESTORED, RootId, RootTrouble};
use lockscope_core::observatory::{Observatory, Settings};
use lockscope_core::sentence::sentence;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::{Facts, SessionId, Zxid, is_under};

/// An observatory driven by text.
pub(crate) struct Story {
    pub(crate) observatory: Observatory,
    pub(crate) changes: Vec<Change>,
    roots: Vec<String>,
    czxid: i64,
    pub(crate) now: i64,
}

impl Story {
    pub(crate) fn new(roots: &[&str]) -> Self {
        Self::configured(roots, Vec::new())
    }

    pub(crate) fn configured(roots: &[&str], configured: Vec<Configured>) -> Self {
        let roots: Vec<String> = roots.iter().map(|root| (*root).to_owned()).collect();
        let settings = Settings { roots: roots.clone(), configured, ..Settings::default() };
        let mut observatory = Observatory::new(settings, TimeMs(0));
        observatory
            .apply(TimeMs(0), Observation::Link { link: Link::Live, session: Some(SessionId(1)), why: "".into() });
        Self { observatory, changes: Vec::new(), roots, czxid: 100, now: 0 }
    }

    pub(crate) fn tell(&mut self, text: &str) -> &mut Self {
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let observation = self.parse(line);
            let is_end = matches!(observation, Observation::SyncEnded { .. } | Observation::ComparisonEnded { .. });
            let known = is_end.then_some(Observation::Synced { sent_at: TimeMs(self.now) });
            for observation in [Some(observation), known].into_iter().flatten() {
                self.changes.extend(self.observatory.apply(TimeMs(self.now), observation));
            }
        }
        self
    }

    /// The operator says something else from now on.
    pub(crate) fn said(&mut self, configured: Vec<Configured>, limits: Limits) {
        let said = Observation::ConfigChanged(Box::new(LockConfig { configured, limits }));
        self.changes = self.observatory.apply(TimeMs(self.now), said);
    }

    fn root(&self, path: &str) -> RootId {
        let at = self
            .roots
            .iter()
            .position(|root| is_under(path, root))
            .unwrap_or_else(|| panic!("{path} is under no root"));
        RootId(u32::try_from(at).unwrap())
    }

    pub(crate) fn parse(&mut self, line: &str) -> Observation {
        let mut words = line.split_whitespace();
        self.now = words.next().unwrap().parse().unwrap_or_else(|_| panic!("time in {line}"));
        let verb = words.next().unwrap();
        let path = words.next().unwrap_or("");
        let boxed = || path.into();
        match verb {
            "sync" => {
                let why = if words.next() == Some("restored") { RESTORED } else { "test" };
                Observation::SyncBegan { root: self.root(path), why: why.into() }
            }
            "end" => Observation::SyncEnded { root: self.root(path) },
            "compare" => Observation::ComparisonBegan { root: self.root(path), why: "test".into() },
            "listed" => {
                let names = words.map(Into::into).collect();
                Observation::Listed { root: self.root(path), path: boxed(), names }
            }
            "compared" => Observation::ComparisonEnded { root: self.root(path) },
            "node" | "=" => {
                let (facts, unreadable) = self.facts(words);
                let (root, facts) = (self.root(path), Box::new(facts));
                if verb == "=" {
                    Observation::NodeRead { root, path: boxed(), facts, unreadable }
                } else {
                    Observation::SyncNode { root, path: boxed(), facts, unreadable }
                }
            }
            "#" => {
                let (facts, _) = self.facts(words);
                Observation::Counted { root: self.root(path), path: boxed(), facts: Box::new(facts) }
            }
            "?" => {
                let missing = words.fold(MissingSet::NONE, |missing, word| match word {
                    "unswept" => missing.with(Missing::Unswept, true),
                    "unreadable" => missing.with(Missing::UnreadableChildren, true),
                    other => panic!("unknown word {other}"),
                });
                Observation::Incomplete { root: self.root(path), path: boxed(), missing }
            }
            "!" => {
                Observation::NodeDenied { root: self.root(path), path: boxed(), in_sync: words.next() == Some("sync") }
            }
            "+" => Observation::NodeCreated { root: self.root(path), path: boxed() },
            "-" => Observation::NodeDeleted { root: self.root(path), path: boxed() },
            "gone" => {
                Observation::RootTrouble { root: self.root(path), trouble: RootTrouble::Gone, why: "gone".into() }
            }
            "denied" => {
                Observation::RootTrouble { root: self.root(path), trouble: RootTrouble::Denied, why: "denied".into() }
            }
            "link" => {
                let link = match path {
                    "live" => Link::Live,
                    "stale" => Link::Stale,
                    _ => Link::Lost,
                };
                Observation::Link { link, session: Some(SessionId(1)), why: words.collect::<Vec<_>>().join(" ").into() }
            }
            "asked" => Observation::Asked,
            "answered" => Observation::Answered,
            "synced" => Observation::Synced { sent_at: TimeMs(path.parse().unwrap()) },
            "tick" => Observation::Tick,
            "known" => Observation::Synced { sent_at: TimeMs(path.parse().unwrap_or(self.now)) },
            other => panic!("unknown verb {other}"),
        }
    }

    fn facts<'a>(&mut self, words: impl Iterator<Item = &'a str>) -> (Facts, bool) {
        self.czxid += 1;
        let czxid = Zxid(self.czxid);
        let mut facts = Facts {
            czxid,
            mzxid: czxid,
            pzxid: czxid,
            ctime_ms: self.now,
            version: 0,
            cversion: 0,
            children: 0,
            owner: None,
            payload: Some([].into()),
            payload_bytes: 0,
        };
        let mut unreadable = false;
        for word in words {
            let (name, value) = word.split_once('=').unwrap_or((word, ""));
            match name {
                "owner" => facts.owner = Some(SessionId(i64::from_str_radix(value, 16).unwrap())),
                "ctime" => facts.ctime_ms = value.parse().unwrap(),
                "czxid" => facts.czxid = Zxid(value.parse().unwrap()),
                "version" => facts.version = value.parse().unwrap(),
                "pzxid" => facts.pzxid = Zxid(value.parse().unwrap()),
                "children" => facts.children = value.parse().unwrap(),
                "created" => facts.cversion = (2 * value.parse::<u32>().unwrap()).cast_signed(),
                "data" => {
                    (facts.payload, facts.payload_bytes) =
                        (Some(value.as_bytes().into()), u32::try_from(value.len()).unwrap())
                }
                "hex" => {
                    let byte = |at| u8::from_str_radix(&value[at..at + 2], 16).unwrap();
                    let bytes: Box<[u8]> = (0..value.len()).step_by(2).map(byte).collect();
                    (facts.payload_bytes, facts.payload) = (u32::try_from(bytes.len()).unwrap(), Some(bytes));
                }
                "denied" => unreadable = true,
                other => panic!("unknown field {other}"),
            }
        }
        (facts, unreadable)
    }

    pub(crate) fn lock(&self, path: &str) -> &AssessedLock {
        self.observatory.lock(path).unwrap_or_else(|| panic!("no lock at {path}; there are {:?}", self.paths()))
    }

    pub(crate) fn paths(&self) -> Vec<&str> {
        self.observatory.locks().map(|lock| &*lock.path).collect()
    }

    /// One line a lock: `path recipe verdict [holders] waiters: names`.
    pub(crate) fn show(&self) -> String {
        let lines = self.observatory.locks().map(|lock| {
            let mirror = self.observatory.mirror_of(lock).unwrap();
            let holders: Vec<&str> = lock.holders.iter().map(|hold| &*hold.name).collect();
            let waiters: Vec<&str> = lock
                .contenders(mirror)
                .map(|contender| contender.key.name())
                .filter(|name| !holders.contains(name))
                .collect();
            format!(
                "{} {:?} {:?} [{}] <- {}",
                lock.path,
                lock.recognition.recipe,
                lock.assessment.verdict,
                holders.join(" "),
                waiters.join(" ")
            )
        });
        lines.map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
    }

    /// One line a waiter: `name -> names it waits for`, a `*` behind what is shared.
    pub(crate) fn edges(&self, path: &str) -> String {
        let lock = self.lock(path);
        let mirror = self.observatory.mirror_of(lock).unwrap();
        let waiters = lock.contenders(mirror).filter(|contender| lock.hold_of(contender).is_none());
        let line = |contender: lockscope_core::lock::ContenderRef<'_>| {
            let name = |target: &lockscope_core::lock::WaitTarget<'_>| {
                format!("{}{}", target.name, if target.is_shared { "*" } else { "" })
            };
            let targets: Vec<String> = lock.waits_for(mirror, &contender).iter().map(name).collect();
            format!("{} -> {}", contender.key.name(), targets.join(" ")).trim_end().to_owned()
        };
        waiters.map(line).collect::<Vec<_>>().join("\n")
    }

    /// One line a finding: `code severity: text`.
    pub(crate) fn findings(&self, path: &str) -> String {
        let line = |finding: &lockscope_core::finding::Finding| {
            format!("{} {:?}: {}", finding.code.name(), finding.severity, finding.text)
        };
        self.lock(path).assessment.findings.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    /// Everything told of one lock: `path recipe confidence verdict: label`, the sentence, a line each holder and
    /// waiter.
    pub(crate) fn report(&self, path: &str) -> String {
        let lock = self.lock(path);
        let mirror = self.observatory.mirror_of(lock).unwrap();
        let known = &lock.recognition;
        let mut lines = vec![format!(
            "{} {:?} {:?} {:?}: {}",
            lock.path, known.recipe, known.confidence, lock.assessment.verdict, known.label
        )];
        lines.push(self.sentence(path));
        lines.extend(lock.holders.iter().map(|hold| format!("{:?} holds {}", hold.access, hold.name)));
        let waiters = lock.contenders(mirror).filter(|contender| lock.hold_of(contender).is_none());
        lines.extend(waiters.map(|contender| {
            let name = |target: &lockscope_core::lock::WaitTarget<'_>| {
                format!("{}{}", target.name, if target.is_shared { "*" } else { "" })
            };
            let targets: Vec<String> = lock.waits_for(mirror, &contender).iter().map(name).collect();
            let arrow = if targets.is_empty() { "" } else { " -> " };
            format!("{:?} waits {}{arrow}{}", lock.access(&contender), contender.key.name(), targets.join(" "))
        }));
        lines.join("\n")
    }

    pub(crate) fn sentence(&self, path: &str) -> String {
        let lock = self.lock(path);
        sentence(lock, self.observatory.mirror_of(lock).unwrap(), &self.observatory.settings().thresholds)
    }
}
