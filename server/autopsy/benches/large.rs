//! What a large log costs: transactions a second and the most memory, for the plain bytes, the reader, and the whole autopsy.
//! `AUTOPSY_BENCH_BYTES=1000000000` makes a log of a gigabyte.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark fails by panicking, and prints")]

use std::fs::File;
use std::io::{BufWriter, Read as _, Write as _};
use std::path::Path;
use std::time::Instant;

use lockscope_autopsy::source::LogStream;
use lockscope_autopsy::{Options, perform};
use tikv_jemallocator::Jemalloc;

/// As the program has it.
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

const BYTES: u64 = 64_000_000;
const LOCKS: i64 = 200;
const BEGIN_MS: i64 = 1_790_000_000_000;

/// Bytes as ZooKeeper writes them.
#[derive(Default)]
struct Out(Vec<u8>);

impl Out {
    fn int(&mut self, value: i32) -> &mut Self {
        self.0.extend(value.to_be_bytes());
        self
    }

    fn long(&mut self, value: i64) -> &mut Self {
        self.0.extend(value.to_be_bytes());
        self
    }

    fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.int(i32::try_from(bytes.len()).unwrap());
        self.0.extend(bytes);
        self
    }
}

/// Writes records, one a millisecond.
struct Log {
    file: BufWriter<File>,
    zxid: i64,
    written: u64,
}

impl Log {
    fn new(path: &Path) -> Self {
        let mut file = BufWriter::new(File::create(path).unwrap());
        file.write_all(&[b"ZKLG".as_slice(), &2_i32.to_be_bytes(), &0_i64.to_be_bytes()].concat()).unwrap();
        Self { file, zxid: 0, written: 16 }
    }

    fn record(&mut self, session: i64, kind: i32, body: impl FnOnce(&mut Out)) {
        self.zxid += 1;
        let mut payload = Out::default();
        payload.long(session).int(1).long(self.zxid).long(BEGIN_MS + self.zxid).int(kind);
        body(&mut payload);
        payload.int(2).long(0x1234_5678_9abc);
        let mut out = Out::default();
        out.long(i64::from(adler2::adler32_slice(&payload.0))).bytes(&payload.0);
        out.0.push(b'B');
        self.written += out.0.len() as u64;
        self.file.write_all(&out.0).unwrap();
    }

    fn create(&mut self, session: i64, path: &str, data: &[u8], is_ephemeral: bool) {
        self.record(session, 15, |out| {
            out.bytes(path.as_bytes()).bytes(data).int(1).int(31).bytes(b"world").bytes(b"anyone");
            out.0.push(u8::from(is_ephemeral));
            out.int(-1);
        });
    }
}

/// Locks that change hands, and data that changes beside them.
fn generate(path: &Path, bytes: u64) -> i64 {
    let mut log = Log::new(path);
    log.create(1, "/locks", b"", false);
    log.create(1, "/config", b"", false);
    for lock in 0..LOCKS {
        log.create(1, &format!("/locks/{lock}"), b"", false);
        log.create(1, &format!("/config/{lock}"), b"", false);
    }
    let (data, mut number) = ([b'x'; 400], 0_i64);
    while log.written < bytes {
        let lock = number % LOCKS;
        let name = |number: i64| format!("/locks/{}/lock-{:010}", number % LOCKS, number / LOCKS);
        log.create(number + 2, &name(number), b"10.0.0.1-worker", true);
        if number >= 2 * LOCKS {
            let gone = name(number - 2 * LOCKS);
            log.record(number - 2 * LOCKS + 2, 2, |out| _ = out.bytes(gone.as_bytes()));
        }
        log.record(1, 5, |out| _ = out.bytes(format!("/config/{lock}").as_bytes()).bytes(&data).int(1));
        number += 1;
    }
    log.file.write_all(&[0; 4_096]).unwrap();
    log.file.flush().unwrap();
    log.zxid
}

/// The most memory so far, in MB.
fn peak_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or(0) / 1_024
}

/// CPU time of all threads so far, in seconds: on a busy machine it says more than the time that passes.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
    let ticks = |at: usize| fields.get(at).and_then(|text| text.parse::<f64>().ok()).unwrap_or_default();
    // utime and stime, in hundredths.
    (ticks(11) + ticks(12)) / 100.0
}

/// What is measured: from when on, by either clock.
struct Stopwatch(Instant, f64);

impl Stopwatch {
    fn start() -> Self {
        Self(Instant::now(), cpu_seconds())
    }

    fn told(self, what: &str, transactions: i64) {
        let (seconds, cpu) = (self.0.elapsed().as_secs_f64(), cpu_seconds() - self.1);
        let (rate, us) = (transactions as f64 / seconds, cpu * 1e6 / transactions as f64);
        let peak = peak_mb();
        println!(
            "{what}: {seconds:.1} s, {rate:.0} transactions/s; {cpu:.1} s of CPU, {us:.1} µs each; at most {peak} MB so far"
        );
    }
}

fn main() {
    let bytes = std::env::var("AUTOPSY_BENCH_BYTES").ok().and_then(|text| text.parse().ok()).unwrap_or(BYTES);
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("log.1");
    let transactions = generate(&path, bytes);
    println!("{transactions} transactions in {} MB", std::fs::metadata(&path).unwrap().len() >> 20);

    let (began, mut file, mut piece) = (Stopwatch::start(), File::open(&path).unwrap(), vec![0; 256 << 10]);
    while file.read(&mut piece).unwrap() > 0 {}
    began.told("plain bytes", transactions);

    let (began, mut stream, mut count) = (Stopwatch::start(), LogStream::open(&path, true).unwrap(), 0);
    while stream.next_transaction().unwrap().is_some() {
        count += 1;
    }
    assert_eq!(count, transactions);
    began.told("reader", transactions);

    let options = Options {
        directories: vec![place.path().to_owned()],
        roots: vec!["/".to_owned()],
        from_ms: None,
        to_ms: None,
        audit_log: None,
        store: place.path().join("history"),
        ensemble: "default".to_owned(),
    };
    let began = Stopwatch::start();
    let done = perform(&options).unwrap();
    began.told("whole autopsy", transactions);
    println!("{} holds, {} locks", done.report.holds, done.report.locks.len());
}
