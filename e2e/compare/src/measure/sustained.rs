//! A load that goes on: what the recording of it takes on the disk, what of it is dropped, and whether memory grows.
//! Short unless told otherwise: `--rates 1000 --seconds 600`, `--rates 15000 --seconds 60`.

use std::path::Path;
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};

use super::{Setup, lockscope_with, status_until, zookeeper};
use crate::load::{self, Rate};
use crate::process::resident_bytes;
use crate::table::{Goal, Row};

const ROOT: &str = "/sustained";
const LOCKS: usize = 16;
const SAMPLE: Duration = Duration::from_millis(500);
/// The goals: bytes an event of the recording and of what is derived of it, the part that is dropped up to so many changes a
/// second and beyond, and how many times the memory of the first third the last third has.
const CHUNK_BYTES: f64 = 40.0;
const ROW_BYTES: f64 = 20.0;
const EVERYDAY: u32 = 1_000;
const DROPPED_PERCENT: f64 = 1.0;
const TIMES: f64 = 1.1;

/// What one run came to.
struct Outcome {
    rate: f64,
    chunks: f64,
    rows: f64,
    dropped: f64,
    gaps: f64,
    growth: f64,
    memory_mb: f64,
}

pub(super) async fn run(setup: &Setup) -> Vec<Row> {
    let mut rows = Vec::new();
    for rate in &setup.rates {
        let mut all = Vec::new();
        for _ in 0..setup.rounds {
            all.push(of_rate(setup, *rate).await);
        }
        rows.extend(rows_of(setup, *rate, &all));
    }
    rows
}

async fn of_rate(setup: &Setup, rate: u32) -> Outcome {
    let server = zookeeper().await;
    let (connect, directory) = (server.address(), tempfile::tempdir().unwrap());
    let client = load::open(&connect).await;
    load::make_locks(&client, ROOT, LOCKS).await;
    let flags = ["--data-dir", directory.path().to_str().unwrap()];
    let mut lockscope = lockscope_with(setup, &connect, &[ROOT.to_owned()], &flags).await;
    let recorded = |status: &serde_json::Value| status["history"]["is_recorded"] == true;
    status_until(&lockscope, recorded).await;
    let pid = lockscope.pid().unwrap();
    let load = load::run(&connect, ROOT, LOCKS, Rate::ASecond(rate), setup.lasting);
    tokio::pin!(load);
    let (mut memory, mut pulse) = (Vec::new(), interval(SAMPLE));
    pulse.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let done = loop {
        tokio::select! {
            done = &mut load => break done,
            _ = pulse.tick() => memory.push(resident_bytes(pid) as f64 / 1e6),
        }
    };
    status_until(&lockscope, |status| status["events"].as_u64() >= Some(done.changes)).await;
    let metrics =
        lockscope.http.get(format!("{}/metrics", lockscope.url())).send().await.unwrap().text().await.unwrap();
    let dropped = figure(&metrics, "lockscope_history_events_dropped_total");
    // What is stored at the end says how much was lost on the way.
    let status = status_until(&lockscope, recorded).await;
    lockscope.end().await;
    let (chunks, rows) = bytes_below(directory.path());
    let third = memory.len() / 3;
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len().max(1) as f64;
    let (first, last) = (mean(&memory[..third]), mean(&memory[memory.len() - third..]));
    let changes = done.changes as f64;
    Outcome {
        rate: changes / done.took.as_secs_f64(),
        chunks: chunks as f64 / changes,
        rows: rows as f64 / changes,
        dropped: 100.0 * dropped / changes,
        gaps: status["history"]["gaps"].as_u64().unwrap() as f64,
        growth: last / first,
        memory_mb: last,
    }
}

fn rows_of(setup: &Setup, rate: u32, all: &[Outcome]) -> Vec<Row> {
    let (seconds, reached) = (setup.lasting.as_secs(), all.iter().map(|one| one.rate).fold(f64::INFINITY, f64::min));
    let row = |what: &str, unit, figure: fn(&Outcome) -> f64, limit| Row {
        what: format!("{what}, {rate}/s for {seconds} s ({reached:.0}/s were made)"),
        unit,
        ours: all.iter().map(figure).collect(),
        peers: Vec::new(),
        goal: Goal::Limit(limit),
    };
    let dropped = if rate <= EVERYDAY { 0.0 } else { DROPPED_PERCENT };
    vec![
        row("recording on disk, an event, with checkpoints", "B", |one| one.chunks, CHUNK_BYTES),
        row("what is derived of it on disk, an event", "B", |one| one.rows, ROW_BYTES),
        row("dropped by the recording", "%", |one| one.dropped, dropped),
        row("gaps in the recording", "", |one| one.gaps, if rate <= EVERYDAY { 0.0 } else { 1.0 }),
        row("resident memory, last third by first third", "x", |one| one.growth, TIMES),
        row("resident memory in the last third", "MB", |one| one.memory_mb, 400.0),
    ]
}

/// A figure of the only ensemble.
fn figure(metrics: &str, name: &str) -> f64 {
    let line = metrics.lines().find_map(|line| line.strip_prefix(name)?.split_once("} "));
    line.unwrap().1.parse().unwrap()
}

/// Bytes of chunks and checkpoints, and of what is derived of them.
fn bytes_below(folder: &Path) -> (u64, u64) {
    let (mut chunks, mut rows) = (0, 0);
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            let below = bytes_below(&path);
            (chunks, rows) = (chunks + below.0, rows + below.1);
            continue;
        }
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let bytes = std::fs::metadata(&path).unwrap().len();
        match name.contains(".rows.db") {
            true => rows += bytes,
            false if name.contains(".db") => chunks += bytes,
            false => {}
        }
    }
    (chunks, rows)
}
