//! From files to a history: where it begins, what is missing on the way, and what is said in the end.

use lockscope_core::observatory::Observatory;
use lockscope_core::time::TimeMs;
use lockscope_history::historian::{Historian, HistoryHandle, Recorder};
use lockscope_history::store::sqlite::SqliteStore;
use lockscope_history::store::{Retention, Store};
use lockscope_runtime::clock::Clock;
use std::sync::Arc;

use crate::audit_log::AuditLog;
use crate::compare::Comparisons;
use crate::fill::{Finished, Player};
use crate::merge::{Damages, Merged, counter, epoch, is_hole};
use crate::read_ahead::Reading;
use crate::report::{self, Coverage, MissingRange, Report};
use crate::source::{LogStream, MemberFiles, SnapshotFile, SnapshotHead, read_snapshot};
use crate::tree::Tree;
use crate::{AutopsyError, Options};

/// Ranges of missing transactions that are listed. Overflow policy: further ones are not.
const MISSING_MAX: usize = 1_000;
const KEEP_ALL: Retention =
    Retention { chunks_ms: i64::MAX, chunk_bytes_max: u64::MAX, spans_ms: i64::MAX, minutes_ms: i64::MAX };

#[derive(Debug)]
pub struct Autopsy {
    pub report: Report,
    pub history: HistoryHandle,
    /// The model as it is in the end.
    pub model: Observatory,
    /// Who sessions are, by ZooKeeper's audit log.
    pub writers: AuditLog,
}

/// Reads, plays, writes and sums up. Blocking.
///
/// # Errors
/// There is nothing to read, or the history can't be written.
pub fn perform(options: &Options) -> Result<Autopsy, AutopsyError> {
    let members = members(options)?;
    let writers = options.audit_log.as_deref().map(AuditLog::read).transpose()?.unwrap_or_default();
    let store = SqliteStore::open(&options.store, &options.ensemble).map_err(failed)?;
    if store.coverage().map_err(failed)?.last_seq > 0 {
        return Err(AutopsyError::Store(format!(
            "{} has a history already; name a directory that is new or empty",
            options.store.display()
        )));
    }
    let store: Arc<dyn Store> = Arc::new(store);
    let opened = Arc::clone(&store);
    let open = Box::new(move || Ok(Arc::clone(&opened)));
    let (historian, recorder) = Historian::start_patient(open, || KEEP_ALL, Clock::system())
        .map_err(|error| AutopsyError::Store(format!("no thread for the history: {error}")))?;
    let history = recorder.handle();
    let played = Play::begin(options, &members, recorder, writers.clone()).and_then(Play::run);
    historian.join();
    let (coverage, finished) = played?;
    let status = history.status();
    if let Some((trouble, _)) = status.trouble {
        return Err(AutopsyError::Store(trouble.into()));
    }
    if status.dropped > 0 {
        return Err(AutopsyError::Store(format!("{} observations could not be stored", status.dropped)));
    }
    let (locks, locks_left_out, holds) = report::locks(&*store, &finished.model).map_err(failed)?;
    let report = Report { coverage, locks, locks_left_out, holds };
    Ok(Autopsy { report, history, model: finished.model, writers })
}

fn failed(error: lockscope_history::store::StoreError) -> AutopsyError {
    AutopsyError::Store(error.to_string())
}

/// The files of all members that have some.
fn members(options: &Options) -> Result<Vec<MemberFiles>, AutopsyError> {
    let mut members = Vec::new();
    for directory in &options.directories {
        let found = MemberFiles::find(directory)
            .map_err(|error| AutopsyError::NothingFound(format!("{} can't be read: {error}", directory.display())))?;
        if found.is_empty() {
            return Err(AutopsyError::NothingFound(format!(
                "{} has no transaction log and no snapshot; name ZooKeeper's data directory (dataDir, or dataLogDir), or its version-2",
                directory.display()
            )));
        }
        members.push(found);
    }
    Ok(members)
}

struct Origin {
    tree: Tree,
    head: SnapshotHead,
    zxid: i64,
    name: Option<String>,
}

struct Play<'a> {
    options: &'a Options,
    members: &'a [MemberFiles],
    player: Player,
    reading: Reading,
    /// What was damaged among the snapshots that were looked at on the way.
    damaged: Damages,
    comparisons: Comparisons,
    coverage: Coverage,
    /// The last transaction that was taken in.
    last: (i64, Option<i64>),
    /// What is not behind this may be in the snapshot or not.
    settled_zxid: i64,
    newest_ms: i64,
    has_begun: bool,
    taken: u64,
}

impl<'a> Play<'a> {
    fn begin(
        options: &'a Options,
        members: &'a [MemberFiles],
        recorder: Recorder,
        writers: AuditLog,
    ) -> Result<Self, AutopsyError> {
        let mut damaged = Damages::default();
        let origin = origin(options, members, &mut damaged);
        let Origin { tree, head, zxid, name } = origin;
        let is_known = name.is_some() || damaged.all.is_empty();
        let comparisons =
            if is_known { Comparisons::new(members, &options.roots, zxid) } else { Comparisons::default() };
        let mut merged = Merged::open(members, zxid);
        for damage in damaged.all {
            merged.damaged.note(damage);
        }
        let reading = Reading::begin(merged, options.to_ms.is_none())?;
        let coverage = Coverage { snapshot: name, ..Coverage::default() };
        let player =
            Player::new(&options.roots, (tree, &head.sessions), writers, recorder, options.from_ms.map(TimeMs));
        let (settled_zxid, newest_ms) = (head.settled_zxid, head.newest_ms);
        let last = (zxid, None);
        Ok(Self {
            options,
            members,
            player,
            reading,
            damaged: Damages::default(),
            comparisons,
            coverage,
            last,
            settled_zxid,
            newest_ms,
            has_begun: false,
            taken: 0,
        })
    }

    fn run(mut self) -> Result<(Coverage, Finished), AutopsyError> {
        let is_over = |ms: i64| self.options.to_ms.is_some_and(|to_ms| ms > to_ms);
        while let Some(transaction) = self.reading.next_transaction() {
            if is_over(transaction.time_ms) {
                break;
            }
            if is_hole(self.last.0, transaction.zxid) && !(self.taken == 0 && self.last.0 == 0) {
                self.miss(transaction.zxid)?;
            }
            self.comparisons.before(&transaction, self.player.tree());
            if transaction.zxid <= self.settled_zxid {
                self.player.take_unseen(&transaction);
            } else {
                if !self.has_begun {
                    self.look(TimeMs(self.last.1.unwrap_or(transaction.time_ms)))?;
                }
                self.player.take(&transaction)?;
            }
            self.coverage.first_zxid.get_or_insert_with(|| hex(transaction.zxid));
            self.last = (transaction.zxid, Some(transaction.time_ms));
            self.taken += 1;
        }
        if !self.has_begun {
            self.look(TimeMs(self.last.1.unwrap_or(self.newest_ms)))?;
        }
        self.finish()
    }

    fn look(&mut self, at: TimeMs) -> Result<(), AutopsyError> {
        self.has_begun = true;
        self.player.begin(at)
    }

    /// Transactions are missing before this one. A snapshot that was taken meanwhile says what they left.
    fn miss(&mut self, before: i64) -> Result<(), AutopsyError> {
        let after = self.last.0;
        if self.coverage.missing.len() < MISSING_MAX {
            self.coverage.missing.push(MissingRange { after_zxid: hex(after), before_zxid: hex(before) });
        }
        self.player.lose();
        self.comparisons.give_up();
        let mut between = snapshots(self.members);
        between.retain(|file| file.zxid > after && file.zxid < before);
        for file in between.iter().rev() {
            match read_tree(&self.options.roots, file) {
                Ok((tree, head)) => {
                    self.player.replace_tree(tree, &head.sessions);
                    self.settled_zxid = head.settled_zxid;
                    break;
                }
                Err(damage) => self.damaged.note(damage),
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<(Coverage, Finished), AutopsyError> {
        let Self { options, player, reading, damaged, mut comparisons, mut coverage, last, taken, .. } = self;
        let mut merged = reading.finish()?;
        damaged.all.into_iter().for_each(|damage| merged.damaged.note(damage));
        merged.damaged.left_out += damaged.left_out;
        comparisons.settle(last.0, player.tree());
        if taken == 0 && coverage.snapshot.is_none() {
            return Err(AutopsyError::NothingFound(nothing(options, &merged)));
        }
        // Up to where the records reach, and no further.
        let finished = player.finish(None)?;
        if !finished.has_recorded {
            return Err(AutopsyError::NothingFound(
                "nothing is recorded in that time: the last transaction before --to is older than --from".to_owned(),
            ));
        }
        let translator = &finished.translator;
        coverage.last_zxid = coverage.first_zxid.as_ref().map(|_| hex(last.0));
        coverage.to_at_ms = finished.to.0;
        coverage.from_at_ms = finished.from.0;
        coverage.transactions = taken;
        coverage.unknown_kinds = translator.unknown();
        coverage.files = merged.read().1;
        coverage.sessions_made = translator.sessions().made;
        coverage.sessions_ended = translator.sessions().ended;
        coverage.clock_set_back_ms = finished.set_back_ms;
        coverage.znodes_left_out = translator.tree().left_out();
        (coverage.differences, coverage.differences_left_out) = merged.differences();
        coverage.differences.extend(comparisons.found);
        (coverage.damaged, coverage.damaged_left_out) = (merged.damaged.all, merged.damaged.left_out);
        Ok((coverage, finished))
    }
}

fn nothing(options: &Options, merged: &Merged) -> String {
    let names: Vec<String> = options.directories.iter().map(|path| path.display().to_string()).collect();
    let why = merged.damaged.all.first().map_or_else(
        || "the files are empty".to_owned(),
        |damage| format!("{} at byte {}: {}", damage.file.display(), damage.offset, damage.why),
    );
    format!("no transaction can be read in {}: {why}", names.join(", "))
}

fn hex(zxid: i64) -> String {
    format!("{zxid:#x}")
}

/// The snapshots of all members, the oldest first.
fn snapshots(members: &[MemberFiles]) -> Vec<SnapshotFile> {
    let mut all: Vec<SnapshotFile> = members.iter().flat_map(|member| member.snapshots.clone()).collect();
    all.sort_unstable();
    all
}

fn read_tree(roots: &[String], file: &SnapshotFile) -> Result<(Tree, SnapshotHead), crate::source::Damage> {
    let mut tree = Tree::new(roots);
    let head = read_snapshot(file, |node| tree.read(&node))?;
    Ok((tree, head))
}

/// Where it begins: with the oldest snapshot that the logs reach, or the newest before the window; with an empty tree where
/// the logs reach back to the first transaction of all.
fn origin(options: &Options, members: &[MemberFiles], damaged: &mut Damages) -> Origin {
    let first = members.iter().filter_map(|member| member.logs.first()).map(|log| log.first_zxid).min();
    let window = options.from_ms.and_then(|from_ms| last_log_before(members, from_ms));
    let all = snapshots(members);
    let reached = |file: &&SnapshotFile| first.is_none_or(|first| !is_hole(file.zxid, first) || file.zxid >= first);
    let mut usable: Vec<&SnapshotFile> = all.iter().filter(reached).collect();
    if let Some(window) = window {
        // The newest before the window first, then the others from the oldest on.
        let before = usable.iter().rposition(|file| file.zxid < window);
        usable = before.map_or(usable.clone(), |at| {
            usable.iter().take(at + 1).rev().chain(usable.iter().skip(at + 1)).copied().collect()
        });
    }
    let begins = first.is_some_and(|first| counter(first) <= 1 && epoch(first) <= 1);
    if begins && window.is_none() {
        return empty(options);
    }
    for file in usable {
        match read_tree(&options.roots, file) {
            Ok((tree, head)) => {
                return Origin { tree, head, zxid: file.zxid, name: Some(file.path.display().to_string()) };
            }
            Err(damage) => damaged.note(damage),
        }
    }
    if !begins && first.is_some() {
        let directory = members.first().map(|member| member.directory.clone()).unwrap_or_default();
        let why = "no snapshot can be used: znodes that are older than the first log are not known";
        damaged.note(crate::source::Damage::new(&directory, 0, why));
    }
    empty(options)
}

fn empty(options: &Options) -> Origin {
    Origin { tree: Tree::new(&options.roots), head: SnapshotHead::default(), zxid: 0, name: None }
}

/// The first transaction of the newest log that begins before an instant.
fn last_log_before(members: &[MemberFiles], at_ms: i64) -> Option<i64> {
    let logs = members.iter().flat_map(|member| &member.logs);
    let begins = logs.filter_map(|log| {
        let first = LogStream::open(&log.path, false).ok()?.next_transaction().ok()??;
        (first.time_ms <= at_ms).then_some(log.first_zxid)
    });
    begins.max()
}
