//! What really happens to processes and disks: a recording process is killed, or its files can't grow. The process is
//! this test's own program, which runs [`child`].

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use lockscope_core::observation::{Link, Observation};
use lockscope_core::time::TimeMs;
use lockscope_history::historian::{Historian, HistoryState};
use lockscope_history::replay::{Moment, Rewound};
use lockscope_history::store::sqlite::SqliteStore;
use lockscope_history::store::{GapReason, Retention, Store};
use lockscope_runtime::clock::Clock;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::historian::{Engine, until};

const DIRECTORY: &str = "HISTORY_CHILD_DIRECTORY";
/// Bytes of text with each event; none for small events.
const TEXT_BYTES: &str = "HISTORY_CHILD_TEXT_BYTES";

/// Starts this program anew to run [`child`] only. `limit` is what a shell says first.
fn start(directory: &Path, limit: &str, text_bytes: usize) -> Child {
    let script = format!("{limit} exec \"$0\" --exact faults::child --ignored --nocapture");
    Command::new("sh")
        .args(["-c", &script])
        .arg(std::env::current_exe().unwrap())
        .env(DIRECTORY, directory)
        .env(TEXT_BYTES, text_bytes.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Records 500 events a second, says each instant, and whatever state it is in. Files that may not grow may again once
/// the store failed.
#[test]
#[ignore = "is run by others"]
fn child() {
    let Some(directory) = std::env::var_os(DIRECTORY) else { return };
    let text_bytes: usize = std::env::var(TEXT_BYTES).unwrap().parse().unwrap();
    let retention =
        || Retention { chunks_ms: i64::MAX, chunk_bytes_max: u64::MAX, spans_ms: i64::MAX, minutes_ms: i64::MAX };
    let open = move || Ok(Arc::new(SqliteStore::open(Path::new(&directory), "prod")?) as Arc<dyn Store>);
    let clock = Clock::system();
    let (historian, recorder) = Historian::start(Box::new(open), retention, clock.clone()).unwrap();
    let (handle, mut engine) = (recorder.handle(), Engine::new(recorder, clock.now_ms()));
    let (mut has_failed, mut last_at) = (false, 0);
    for number in 0_u32.. {
        engine.now = TimeMs(clock.now_ms());
        let why = format!("{number} at {} {}", engine.now.0, "x".repeat(text_bytes)).into();
        engine.apply(Observation::Link { link: Link::Stale, session: None, why });
        let state = handle.status().state;
        println_now(&format!("{state:?} {}", engine.now.0));
        if state == HistoryState::Failing && !has_failed {
            has_failed = true;
            let limit = getrlimit(Resource::Fsize);
            setrlimit(Resource::Fsize, Rlimit { current: limit.maximum, maximum: limit.maximum }).unwrap();
        }
        if has_failed && state == HistoryState::Recording {
            if last_at == 0 {
                last_at = engine.now.0 + 200;
            } else if engine.now.0 > last_at {
                break;
            }
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    drop(engine);
    historian.join();
    println_now("Ended 0");
}

fn println_now(line: &str) {
    use std::io::Write as _;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").unwrap();
    out.flush().unwrap();
}

/// How often a process is killed; more by the environment.
fn kills() -> usize {
    std::env::var("HISTORY_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(3)
}

#[test]
fn a_killed_process_loses_a_second_at_most_and_it_is_a_gap() {
    let directory = tempfile::tempdir().unwrap();
    let mut last_known = None;
    for round in 0..kills() {
        let mut process = start(directory.path(), "", 0);
        let (said, recording_since) = (Arc::new(AtomicI64::new(0)), Arc::new(AtomicI64::new(0)));
        let reader = {
            let (said, since) = (Arc::clone(&said), Arc::clone(&recording_since));
            let lines = BufReader::new(process.stdout.take().unwrap()).lines();
            std::thread::spawn(move || {
                for line in lines.map_while(Result::ok) {
                    let Some((state, at)) = line.split_once(' ') else { continue };
                    let Ok(at) = at.parse() else { continue };
                    said.store(at, Ordering::SeqCst);
                    if state == "Recording" && since.load(Ordering::SeqCst) == 0 {
                        since.store(at, Ordering::SeqCst);
                    }
                }
            })
        };
        // From at once to some seconds later, otherwise in each round.
        let after = (round as i64 * 617 + 13) % 2_900;
        let (at, since) = (|| said.load(Ordering::SeqCst), || recording_since.load(Ordering::SeqCst));
        until("it records", || since() > 0 && at() >= since() + after);
        process.kill().unwrap();
        process.wait().unwrap();
        reader.join().unwrap();
        let (since, killed_at) = (since(), at());
        let store = SqliteStore::open(directory.path(), "prod").unwrap();
        let kept = store.coverage().unwrap().to.unwrap();
        assert!(killed_at - kept.0 <= 1_000, "round {round}: {} ms lost", killed_at - kept.0);
        let rewound = Rewound::new(&store, Moment::At(TimeMs(i64::MAX))).unwrap();
        assert_eq!(rewound.known_at(), kept);
        let (_, _, why) = rewound.observatory().link();
        assert!(why.ends_with(&format!(" at {} ", kept.0)) || kept.0 <= since, "round {round}: {why}, {kept}");
        let gaps = store.gaps(TimeMs(0)..TimeMs(i64::MAX)).unwrap();
        assert_eq!(gaps.len(), round, "each restart is a gap");
        if let Some(last_known) = last_known {
            let gap = gaps.last().unwrap();
            assert_eq!((gap.from, gap.why), (last_known, GapReason::NotRunning));
        }
        last_known = Some(kept);
    }
}

#[test]
fn files_that_may_not_grow_are_told_and_recovered_from() {
    let directory = tempfile::tempdir().unwrap();
    // Blocks of 512 bytes; the signal would end the process.
    let mut process = start(directory.path(), "trap '' XFSZ; ulimit -S -f 2000;", 20_000);
    let lines = BufReader::new(process.stdout.take().unwrap()).lines().map_while(Result::ok);
    let states: Vec<String> = lines.filter_map(|line| Some(line.split_once(' ')?.0.to_owned())).collect();
    assert!(process.wait().unwrap().success(), "{:?}", states.last());
    let first = |state: &str| states.iter().position(|one| one == state).unwrap();
    assert!(first("Recording") < first("Failing") && first("Failing") < first("Ended"));
    let store = SqliteStore::open(directory.path(), "prod").unwrap();
    assert_eq!(store.gaps(TimeMs(0)..TimeMs(i64::MAX)).unwrap(), [], "what waited in memory was written");
    let rewound = Rewound::new(&store, Moment::At(TimeMs(i64::MAX))).unwrap();
    assert!(rewound.observatory().link().2.contains(&format!(" at {} ", rewound.known_at().0)));
}
