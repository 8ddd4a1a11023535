//! What the recording costs: bytes and time an event, a round, a checkpoint, and a look back. Made-up load like kazoo's:
//! locks with a uuid and a number in their contenders' names.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark takes what it made itself for granted")]

use std::time::{Duration, Instant};

use lockscope_core::evidence::{Connection, Expiry, Health, MemberAnswer, Report, Round, SessionTable, WatchTable};
use lockscope_core::observation::{Link, Observation, RootId};
use lockscope_core::observatory::{Observatory, Settings};
use lockscope_core::time::TimeMs;
use lockscope_core::znode::{Facts, SessionId, Zxid};
use lockscope_history::codec::{Chunk, Decoder, Encoder};
use lockscope_history::derive::{Deriver, Tap};
use lockscope_history::replay::{Moment, Rewound};
use lockscope_history::store::Store;
use lockscope_history::store::sqlite::SqliteStore;

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

const START: i64 = 1_790_000_000_000;
const ROOT: RootId = RootId(0);

fn main() {
    // `cargo test` only wants to know that it builds.
    let mut args = std::env::args().skip(1);
    if !args.any(|arg| arg == "--bench") {
        return;
    }
    // Further words choose what is measured: `cargo bench -p lockscope-history -- back`.
    let chosen: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let is_chosen = |name: &str| chosen.is_empty() || chosen.iter().any(|one| one == name);
    if is_chosen("load") {
        load(100, 60, 10_000);
        load(100, 60, 250);
        load(1_000, 30, 10_000);
        load(1_000, 30, 250);
        load(15_000, 5, 10_000);
        idle();
    }
    if is_chosen("rounds") {
        rounds(1_000);
        rounds(10_000);
    }
    if is_chosen("back") {
        look_back();
    }
    if is_chosen("derive") {
        derive(1_000, 30, Contention::APART);
        derive(15_000, 5, Contention::APART);
        derive(5_000, 20, Contention::SHARED);
    }
}

/// Who wants what.
#[derive(Clone, Copy)]
struct Contention {
    name: &'static str,
    locks: usize,
    clients: u64,
    contenders: usize,
}

impl Contention {
    /// Many clients at many locks.
    const APART: Self = Self { name: "apart", locks: 200, clients: 500, contenders: 400 };
    /// Few clients, each of which waits in many locks while it holds others.
    const SHARED: Self = Self { name: "shared", locks: 16, clients: 4, contenders: 64 };
}

/// What the rows cost: the model's thread pays for the tap, the historian's for the rest.
fn derive(events_per_s: i64, seconds: i64, contention: Contention) {
    let Contention { name, locks, clients, contenders } = contention;
    let mut life = Life::new(locks, clients);
    life.tell(Observation::SyncBegan { root: ROOT, why: "first sync".into() });
    life.tell(Observation::SyncEnded { root: ROOT });
    life.tell(Observation::Link { link: Link::Live, session: None, why: "".into() });
    life.live(events_per_s, seconds, contenders);
    let (mut model, mut tap, mut deriver) = (new_model(), Tap::default(), Deriver::default());
    deriver.begin(TimeMs(START), Vec::new());
    let (mut applied, mut tapped, mut derived, mut spans) = (Duration::ZERO, Duration::ZERO, Duration::ZERO, 0);
    let events = life.told.len() as u32;
    for (now, observation) in life.told {
        let (began, mut out) = (Instant::now(), Vec::new());
        let changes = model.begin(now, observation.clone());
        let done = Instant::now();
        tap.look(&model, now, Some(&observation), &changes, &mut out);
        tapped += done.elapsed();
        applied += done.duration_since(began);
        while model.has_backlog() {
            let began = Instant::now();
            let changes = model.go_on();
            let done = Instant::now();
            tap.look(&model, now, None, &changes, &mut out);
            tapped += done.elapsed();
            applied += done.duration_since(began);
        }
        let began = Instant::now();
        out.into_iter().for_each(|(at, event)| deriver.take(at, event));
        deriver.advance(now);
        derived += began.elapsed();
        spans += deriver.complete().spans.len();
    }
    println!(
        "derive {events_per_s}/s, {name}: model {:?}, tap {:?}, rows {:?} an observation; {spans} spans",
        applied / events,
        tapped / events,
        derived / events
    );
}

fn new_model() -> Observatory {
    Observatory::new(Settings { roots: vec!["/locks".into()], ..Settings::default() }, TimeMs(START))
}

/// Numbers without pattern, the same in each run.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// Contenders that come, are read, and go.
struct Life {
    noise: Noise,
    clients: u64,
    now: i64,
    zxid: i64,
    numbers: Vec<u32>,
    waiting: std::collections::VecDeque<Box<str>>,
    told: Vec<(TimeMs, Observation)>,
}

fn facts(zxid: i64, at: i64, session: i64, label: String) -> Box<Facts> {
    let (zxid, payload_bytes) = (Zxid(zxid), label.len() as u32);
    let (version, cversion, children) = (0, 0, 0);
    let (czxid, mzxid, pzxid) = (zxid, zxid, zxid);
    let (owner, payload) = (Some(SessionId(session)), Some(label.into_bytes().into()));
    Box::new(Facts { czxid, mzxid, pzxid, ctime_ms: at, version, cversion, children, owner, payload, payload_bytes })
}

impl Life {
    fn new(locks: usize, clients: u64) -> Self {
        let (noise, numbers) = (Noise(0x2545_f491_4f6c_dd1d), vec![0; locks]);
        Self { noise, clients, now: START, zxid: 0x7_0000_0000, numbers, waiting: Default::default(), told: Vec::new() }
    }

    fn tell(&mut self, observation: Observation) {
        self.told.push((TimeMs(self.now), observation));
    }

    /// A contender comes and is read, and one that came before goes: three events.
    fn three(&mut self, contenders: usize) {
        let lock = (self.noise.next() % self.numbers.len() as u64) as usize;
        let client = self.noise.next() % self.clients;
        let uuid = format!("{:016x}{:016x}", self.noise.next(), self.noise.next());
        let path = format!("/locks/service-{lock:04}/{uuid}__lock__{:010}", self.numbers[lock]);
        self.numbers[lock] += 1;
        self.zxid += 1;
        let path: Box<str> = path.into();
        self.tell(Observation::NodeCreated { root: ROOT, path: path.clone() });
        let session = 0x1000_0000_0000_0000 + ((client as i64 % 3) << 56) + client as i64;
        let label = format!("10.2.{}.{}-{}", client / 64 % 256, client % 64, 4_000 + client % 30_000);
        let facts = facts(self.zxid, self.now - 3, session, label);
        self.tell(Observation::NodeRead { root: ROOT, path: path.clone(), facts, unreadable: false });
        self.waiting.push_back(path);
        if self.waiting.len() > contenders {
            self.zxid += 1;
            let path = self.waiting.pop_front().unwrap();
            self.tell(Observation::NodeDeleted { root: ROOT, path });
        }
    }

    /// Some seconds at a rate, with ticks and answers as they come.
    fn live(&mut self, events_per_s: i64, seconds: i64, contenders: usize) {
        let mut events = 0;
        let end = self.now + 1_000 * seconds;
        let from = self.now;
        while self.now < end {
            while events * 1_000 < (self.now - from) * events_per_s {
                self.three(contenders);
                events += 3;
                if self.noise.next().is_multiple_of(4) {
                    self.tell(Observation::EventsArrived { at: TimeMs(self.now - 1) });
                }
            }
            if self.now % 250 == 0 {
                self.tell(Observation::Tick);
            }
            if self.now % 500 == 0 {
                self.tell(Observation::Synced { sent_at: TimeMs(self.now - 2) });
            }
            self.now += 1;
        }
    }
}

fn encode(told: &[(TimeMs, Observation)], chunk_ms: i64) -> (Vec<Chunk>, Duration) {
    let (mut encoder, mut chunks) = (Encoder::new(1), Vec::new());
    let begin = Instant::now();
    let mut closed_at = told[0].0.0;
    for (now, observation) in told {
        if now.0 - closed_at >= chunk_ms {
            closed_at = now.0;
            chunks.extend(encoder.close());
        }
        encoder.push(*now, observation, &mut chunks).unwrap();
    }
    chunks.extend(encoder.close());
    (chunks, begin.elapsed())
}

fn decode(chunks: &[Chunk]) -> (usize, Duration) {
    let (mut decoder, mut count) = (Decoder::new(), 0);
    let begin = Instant::now();
    for chunk in chunks {
        count += decoder.read(chunk).unwrap().map(Result::unwrap).count();
    }
    (count, begin.elapsed())
}

fn is_event(observation: &Observation) -> bool {
    let (created, read, deleted) = (
        matches!(observation, Observation::NodeCreated { .. }),
        matches!(observation, Observation::NodeRead { .. }),
        matches!(observation, Observation::NodeDeleted { .. }),
    );
    created || read || deleted
}

fn load(events_per_s: i64, seconds: i64, chunk_ms: i64) {
    let mut life = Life::new(200, 1_000);
    life.live(events_per_s, seconds, 400);
    let events = life.told.iter().filter(|(_, one)| is_event(one)).count();
    let (chunks, encoding) = encode(&life.told, chunk_ms);
    let (read, decoding) = decode(&chunks);
    assert_eq!(read, life.told.len());
    let bytes: usize = chunks.iter().map(|chunk| chunk.body.len()).sum();
    let directory = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(directory.path(), "bench").unwrap();
    let begin = Instant::now();
    for some in chunks.chunks(4) {
        store.append(some, &[]).unwrap();
    }
    let storing = begin.elapsed();
    drop(store);
    let store = SqliteStore::open(directory.path(), "bench").unwrap();
    let on_disk = store.coverage().unwrap().bytes;
    let (an_event, ns) = (|value: f64| value / events as f64, |time: Duration| time.as_nanos() as f64);
    println!(
        "{events_per_s:6} events/s, chunks of {chunk_ms:5} ms: {:.1} bytes an event ({:.1} on disk), {:.0} ns to encode, {:.0} to decode, {:.0} to store",
        an_event(bytes as f64),
        an_event(on_disk as f64),
        an_event(ns(encoding)),
        an_event(ns(decoding)),
        an_event(ns(storing)),
    );
}

fn idle() {
    let mut life = Life::new(1, 1);
    life.live(0, 600, 0);
    let (chunks, _) = encode(&life.told, 10_000);
    let bytes: usize = chunks.iter().map(|chunk| chunk.body.len()).sum();
    println!("idle: {:.1} MB a day", bytes as f64 * 144.0 / 1e6);
}

fn round(number: i64, sessions: i64) -> Observation {
    let at = TimeMs(START + 5_000 * number);
    let sessions = || (0..sessions).map(|at| SessionId(0x1000_0000_0000_0000 + at));
    let connections = sessions().map(|session| Connection {
        session,
        address: format!("10.1.{}.{}:{}", session.0 / 200 % 200, session.0 % 200, 40_000 + session.0 % 20_000).into(),
        timeout_ms: 10_000,
        established_ms: Some(START - session.0 % 100_000),
        answered_ms: Some(500_000 + 5_000 * number - session.0 * 7 % 3_000),
        received: Some((100 + number * (1 + session.0 % 3)).cast_unsigned()),
        last_operation: Some("PING".into()),
    });
    let path = |session: SessionId| Box::<str>::from(format!("/locks/s/lock-{:010}", session.0 % 1_000_000_000));
    let table = SessionTable {
        expiries: sessions().map(|session| (session, Expiry::Running(510_000 + 2_000 * (number * 5 / 2)))).collect(),
        ephemerals: sessions().map(|session| (session, vec![path(session)])).collect(),
        ..SessionTable::default()
    };
    let watches = WatchTable { by_path: sessions().map(|session| (path(session), vec![session])).collect() };
    Observation::Evidence(Box::new(Round {
        reports: vec![Report {
            member: "10.1.0.1:2181".into(),
            number: Some(1),
            by: "AdminServer".into(),
            is_down: false,
            connections: MemberAnswer::Ok { asked_at: at, value: connections.collect() },
            sessions: MemberAnswer::Ok { asked_at: at, value: table },
            watches: MemberAnswer::Ok { asked_at: at, value: watches },
            health: MemberAnswer::Ok { asked_at: at, value: Health::default() },
        }],
    }))
}

fn rounds(sessions: i64) {
    let told: Vec<(TimeMs, Observation)> =
        (0..20).map(|number| (TimeMs(START + 5_000 * number), round(number, sessions))).collect();
    let bytes = |chunks: &[Chunk]| chunks.iter().map(|chunk| chunk.body.len()).sum::<usize>();
    let whole = bytes(&encode(&told[..1], 10_000).0);
    let (chunks, encoding) = encode(&told, 10_000);
    let (_, decoding) = decode(&chunks);
    println!(
        "rounds of {sessions} sessions: {whole} bytes whole, {} as a difference; {:.1} ms to encode, {:.1} to decode",
        (bytes(&chunks) - whole) / (told.len() - 1),
        encoding.as_secs_f64() * 1e3 / told.len() as f64,
        decoding.as_secs_f64() * 1e3 / told.len() as f64,
    );
}

/// A model of 100,000 znodes, ten minutes of life in front of the moment, and back to it.
fn look_back() {
    let settings = Settings { roots: vec!["/locks".into()], ..Settings::default() };
    let (mut model, mut life) = (Observatory::new(settings, TimeMs(START)), Life::new(10_000, 10_000_000));
    life.tell(Observation::SyncBegan { root: ROOT, why: "first sync".into() });
    life.tell(Observation::SyncEnded { root: ROOT });
    life.tell(Observation::Link { link: Link::Live, session: None, why: "".into() });
    (0..100_000).for_each(|_| life.three(100_000));
    for (now, observation) in life.told.drain(..) {
        model.apply(now, observation);
    }
    let mut live = model.clone();
    let begin = Instant::now();
    let copy = model.checkpoint().unwrap();
    let cloning = begin.elapsed();
    let (mut encoder, begin) = (Encoder::new(1), Instant::now());
    let mut chunks = encoder.checkpoint(TimeMs(life.now), copy.observations()).unwrap();
    let making = begin.elapsed();
    let bytes: usize = chunks.iter().map(|chunk| chunk.body.len()).sum();
    println!(
        "checkpoint of 100,000 znodes in 10,000 locks: {:.1} MB, {:.0} ms to take it, {:.0} ms to encode",
        bytes as f64 / 1e6,
        cloning.as_secs_f64() * 1e3,
        making.as_secs_f64() * 1e3,
    );
    life.live(1_000, 100, 100_000);
    let told = std::mem::take(&mut life.told);
    told.iter().for_each(|(now, observation)| encoder.push(*now, observation, &mut chunks).unwrap());
    chunks.extend(encoder.close());
    let (mut ticks, mut others) = (Duration::ZERO, Duration::ZERO);
    for (now, observation) in told.iter().cloned() {
        let (begin, is_tick) = (lockscope_runtime::clock::thread_cpu(), observation == Observation::Tick);
        live.apply(now, observation);
        *(if is_tick { &mut ticks } else { &mut others }) +=
            lockscope_runtime::clock::thread_cpu().saturating_sub(begin);
    }
    println!("of the 100 s the live model takes {ticks:.0?} of CPU for ticks and {others:.0?} for the rest");
    let directory = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(directory.path(), "bench").unwrap();
    store.append(&chunks, &[]).unwrap();
    let timed = |what: &str, act: &mut dyn FnMut()| {
        let (begin, cpu) = (Instant::now(), lockscope_runtime::clock::thread_cpu());
        act();
        let cpu = lockscope_runtime::clock::thread_cpu().saturating_sub(cpu);
        println!("{what}: {:.0} ms, {:.0} of CPU", begin.elapsed().as_secs_f64() * 1e3, cpu.as_secs_f64() * 1e3);
    };
    // The longest tail: right before so much happened that a checkpoint is due.
    let longest = lockscope_history::historian::CHECKPOINT_OBSERVATIONS as usize;
    let end = told[longest - 1].0.0;
    println!("the longest tail: {longest} observations, {:.0} s of 1,000 events/s", (end - told[0].0.0) as f64 / 1e3);
    let mut rewound = None;
    timed("rewind cold to the checkpoint", &mut || {
        rewound = Some(Rewound::new(&store, Moment::At(told[0].0)).unwrap());
    });
    timed("rewind cold over the longest tail", &mut || {
        rewound = Some(Rewound::new(&store, Moment::At(TimeMs(end))).unwrap());
    });
    let mut rewound = rewound.unwrap();
    timed("step of 10 ms", &mut || rewound.step_to(&store, Moment::At(TimeMs(end + 10))).unwrap());
    timed("step of 4 s", &mut || rewound.step_to(&store, Moment::At(TimeMs(end + 4_010))).unwrap());
}
