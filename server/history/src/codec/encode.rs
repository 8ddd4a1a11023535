//! Writes observations into chunks.

use lockscope_core::observation::{Observation, Recollection, RootId};
use lockscope_core::time::TimeMs;
use lockscope_core::znode::{Facts, Zxid};

use super::coded::Coded;
use super::rounds::Rounds;
use super::tables::Writer;
use super::{
    CHUNK_BYTES_MAX, CHUNK_MS_MAX, Chunk, ChunkKind, CodecError, OBSERVATION_BYTES_MAX, VERSION, bytes_of, tag,
};

const DAY_MS: i64 = 86_400_000;

/// The chunk under way.
#[derive(Debug)]
struct Open {
    writer: Writer,
    kind: ChunkKind,
    first_at: TimeMs,
    last_at: TimeMs,
}

#[derive(Debug)]
pub struct Encoder {
    next_seq: u64,
    zxid: Zxid,
    rounds: Rounds,
    open: Option<Open>,
    /// Room of the last chunk, for the next.
    spare: Writer,
}

impl Encoder {
    pub fn new(first_seq: u64) -> Self {
        Self { next_seq: first_seq, zxid: Zxid(0), rounds: Rounds::default(), open: None, spare: Writer::default() }
    }

    /// Adds an observation; a chunk that ends before or with it goes into `done`.
    ///
    /// # Errors
    /// It is too large to be kept. Whoever leaves it out has a gap.
    pub fn push(&mut self, now: TimeMs, observation: &Observation, done: &mut Vec<Chunk>) -> Result<(), CodecError> {
        if bytes_of(observation) > OBSERVATION_BYTES_MAX {
            return Err(CodecError::TooLarge);
        }
        if self.open.as_ref().is_some_and(|open| !open.takes(now)) {
            done.extend(self.close());
        }
        self.add(now, observation, ChunkKind::Events);
        if self.open.as_ref().is_some_and(|open| open.writer.out.len() >= CHUNK_BYTES_MAX) {
            done.extend(self.close());
        }
        Ok(())
    }

    /// The chunk under way as it is by now; more may follow under the same number.
    pub fn so_far(&self) -> Option<Chunk> {
        self.open.as_ref().map(|open| self.chunk(open))
    }

    /// Number of the chunk under way, or of the last one.
    pub fn last_seq(&self) -> u64 {
        self.next_seq.saturating_sub(self.open.is_none().into())
    }

    pub fn close(&mut self) -> Option<Chunk> {
        let open = self.open.take()?;
        let chunk = self.chunk(&open);
        self.next_seq += 1;
        self.spare = open.writer.emptied();
        Some(chunk)
    }

    /// Makes the chunks of a checkpoint. What follows is encoded without regard to what came before.
    ///
    /// # Errors
    /// An observation is too large to be kept. Then there is no checkpoint, and what follows needs another.
    pub fn checkpoint(
        &mut self,
        now: TimeMs,
        observations: impl IntoIterator<Item = Observation>,
    ) -> Result<Vec<Chunk>, CodecError> {
        let mut done: Vec<Chunk> = self.forget().into_iter().collect();
        let (before, mut part) = (self.next_seq, 0);
        for observation in observations {
            if bytes_of(&observation) > OBSERVATION_BYTES_MAX {
                (self.open, self.next_seq) = (None, before);
                return Err(CodecError::TooLarge);
            }
            if self.open.as_ref().is_some_and(|open| open.writer.out.len() >= CHUNK_BYTES_MAX) {
                done.extend(self.close());
                part += 1;
            }
            self.add(now, &observation, ChunkKind::Checkpoint { part });
        }
        let told = self.rounds.told;
        let spare = &mut self.spare;
        let begin = || Open::new(std::mem::take(spare), now, ChunkKind::Checkpoint { part }, told);
        let open = self.open.get_or_insert_with(begin);
        open.writer.byte(tag::CHECKPOINT_END);
        // Whoever comes by here later than at its beginning leaves it out.
        done.extend(self.forget());
        Ok(done)
    }

    /// Something is left out here: the chunk under way is ended, and what follows is encoded without regard to it.
    pub fn forget(&mut self) -> Option<Chunk> {
        self.rounds = Rounds::default();
        self.close()
    }

    /// The number of the chunk that is under way, or would be.
    pub fn next_seq(&self) -> u64 {
        self.next_seq
    }

    fn chunk(&self, open: &Open) -> Chunk {
        let Open { writer, kind, first_at, last_at } = open;
        let body = writer.out.as_slice().into();
        let (seq, zxid) = (self.next_seq, self.zxid);
        let mut chunk = Chunk { seq, first_at: *first_at, last_at: *last_at, zxid, kind: *kind, crc: 0, body };
        chunk.crc = chunk.checksum();
        chunk
    }

    fn add(&mut self, now: TimeMs, observation: &Observation, kind: ChunkKind) {
        if let Observation::SyncNode { facts, unreadable: false, .. }
        | Observation::NodeRead { facts, unreadable: false, .. } = observation
        {
            self.zxid = self.zxid.max(facts.czxid).max(facts.mzxid);
        }
        if let Observation::Recalled(part) = observation
            && let Recollection::Model(model) = &**part
        {
            self.zxid = model.state.zxid;
        }
        let told = self.rounds.told;
        let spare = &mut self.spare;
        let open = self.open.get_or_insert_with(|| Open::new(std::mem::take(spare), now, kind, told));
        open.reach(now);
        put_observation(&mut open.writer, &mut self.rounds, observation);
    }
}

impl Open {
    fn new(mut writer: Writer, now: TimeMs, kind: ChunkKind, told: u64) -> Self {
        writer.byte(VERSION);
        let (number, part) = match kind {
            ChunkKind::Events => (0, 0),
            ChunkKind::Checkpoint { part } => (1, part),
        };
        writer.byte(number);
        writer.u64(u64::from(part));
        writer.i64(now.0);
        writer.u64(told);
        writer.last.now = now.0;
        Self { writer, kind, first_at: now, last_at: now }
    }

    /// Whether an instant may stand in this chunk: not before what is in it, not much later, and on the same day.
    fn takes(&self, now: TimeMs) -> bool {
        let day = |at: TimeMs| at.0.div_euclid(DAY_MS);
        now >= self.last_at && now.since(self.first_at) <= CHUNK_MS_MAX && day(now) == day(self.first_at)
    }

    fn reach(&mut self, now: TimeMs) {
        if now != self.last_at {
            self.writer.byte(tag::NOW);
            self.writer.i64(now.0.wrapping_sub(self.writer.last.now));
            self.writer.last.now = now.0;
            self.last_at = now;
        }
    }
}

fn head(out: &mut Writer, tag: u8, root: RootId) {
    let is_other = out.last.root != root.0;
    out.byte(if is_other { tag | tag::OTHER_ROOT } else { tag });
    if is_other {
        out.u64(u64::from(root.0));
        out.last.root = root.0;
    }
}

fn node(out: &mut Writer, tag: u8, root: RootId, path: &str, flag: bool) {
    let tag = if flag { tag | tag::FLAG } else { tag };
    match out.known_path(path) {
        Some(ago) => {
            head(out, tag | tag::KNOWN_PATH, root);
            out.len(ago);
        }
        None => {
            head(out, tag, root);
            out.new_path(path);
        }
    }
}

fn read(out: &mut Writer, tag: u8, root: RootId, path: &str, facts: &Facts, flag: bool) {
    node(out, tag, root, path, flag);
    facts.put(out);
}

fn put_observation(out: &mut Writer, rounds: &mut Rounds, observation: &Observation) {
    match observation {
        Observation::Link { link, session, why } => {
            out.byte(tag::LINK);
            link.put(out);
            session.put(out);
            why.put(out);
        }
        Observation::SyncBegan { root, why } => {
            head(out, tag::SYNC_BEGAN, *root);
            why.put(out);
        }
        Observation::SyncNode { root, path, facts, unreadable } => {
            read(out, tag::SYNC_NODE, *root, path, facts, *unreadable);
        }
        Observation::SyncEnded { root } => head(out, tag::SYNC_ENDED, *root),
        Observation::ComparisonBegan { root, why } => {
            head(out, tag::COMPARISON_BEGAN, *root);
            why.put(out);
        }
        Observation::Listed { root, path, names } => {
            node(out, tag::LISTED, *root, path, false);
            out.len(names.len());
            names.iter().for_each(|name| name.put(out));
        }
        Observation::ComparisonEnded { root } => head(out, tag::COMPARISON_ENDED, *root),
        Observation::RootTrouble { root, trouble, why } => {
            head(out, tag::ROOT_TROUBLE, *root);
            trouble.put(out);
            why.put(out);
        }
        Observation::NodeCreated { root, path } => node(out, tag::NODE_CREATED, *root, path, false),
        Observation::NodeRead { root, path, facts, unreadable } => {
            read(out, tag::NODE_READ, *root, path, facts, *unreadable);
        }
        Observation::NodeDenied { root, path, in_sync } => node(out, tag::NODE_DENIED, *root, path, *in_sync),
        Observation::NodeDeleted { root, path } => node(out, tag::NODE_DELETED, *root, path, false),
        Observation::Counted { root, path, facts } => read(out, tag::COUNTED, *root, path, facts, false),
        Observation::Incomplete { root, path, missing } => {
            node(out, tag::INCOMPLETE, *root, path, false);
            missing.put(out);
        }
        Observation::Missed { root, path, creates } => {
            node(out, tag::MISSED, *root, path, false);
            creates.put(out);
        }
        Observation::Evidence(round) => {
            out.byte(tag::EVIDENCE);
            rounds.put(out, round);
        }
        Observation::Asked => out.byte(tag::ASKED),
        Observation::Answered => out.byte(tag::ANSWERED),
        Observation::Synced { sent_at } => {
            out.byte(tag::SYNCED);
            sent_at.put(out);
        }
        Observation::EventsArrived { at } => {
            out.byte(tag::EVENTS_ARRIVED);
            at.put(out);
        }
        Observation::ClockRead { sent_at, told_at, ctime_ms } => {
            out.byte(tag::CLOCK_READ);
            sent_at.put(out);
            told_at.put(out);
            TimeMs(*ctime_ms).put(out);
        }
        Observation::SessionTold { session, has_ended } => {
            out.byte(if *has_ended { tag::SESSION_TOLD | tag::FLAG } else { tag::SESSION_TOLD });
            session.put(out);
        }
        Observation::SessionTimeout { session, timeout_ms } => {
            out.byte(tag::SESSION_TIMEOUT);
            session.put(out);
            timeout_ms.put(out);
        }
        Observation::ConfigChanged(config) => {
            out.byte(tag::CONFIG_CHANGED);
            config.put(out);
        }
        Observation::OrdersSnoozed(snoozes) => {
            out.byte(tag::ORDERS_SNOOZED);
            snoozes.put(out);
        }
        Observation::Tick => out.byte(tag::TICK),
        Observation::Recalled(part) => {
            out.byte(tag::RECALLED);
            part.put(out);
        }
        Observation::Restarted(settings) => {
            out.byte(tag::RESTARTED);
            settings.put(out);
        }
    }
}
