//! The numbers of a recording as samples. Pure.

use lockscope_history::historian::{HistoryState, HistoryStatus};
use lockscope_history::store::Connections;

use super::catalogue::Family;
use super::text::Exposition;

const SECOND_US: f64 = 1_000_000.0;

pub(super) fn tell(ensemble: &str, status: &HistoryStatus, out: &mut Exposition) {
    let (labels, coverage) = ([ensemble], &status.coverage);
    let counts = [
        (Family::HistoryRecording, (status.state == HistoryState::Recording).into()),
        (Family::HistoryStandby, status.is_standby.into()),
        (Family::HistoryBytes, coverage.bytes),
        (Family::HistoryChunks, coverage.chunks),
        (Family::HistoryCheckpoints, coverage.checkpoints),
        (Family::HistoryWritten, status.written),
        (Family::HistoryDropped, status.dropped),
        (Family::HistoryWrites, status.writes),
    ];
    for (family, count) in counts {
        out.count(family, &labels, count);
    }
    out.ms(Family::HistoryGap, &labels, coverage.gap_ms);
    out.add(Family::HistoryWriteTime, &labels, seconds(status.write_us.1));
}

pub(super) fn tell_connections(connections: Connections, out: &mut Exposition) {
    let Connections { made, failed, timeouts } = connections;
    out.count(Family::HistoryConnects, &["made"], made);
    out.count(Family::HistoryConnects, &["failed"], failed);
    out.count(Family::HistoryTimeouts, &[], timeouts);
}

#[expect(clippy::cast_precision_loss, reason = "the format has nothing but 64-bit floats")]
fn seconds(us: u64) -> f64 {
    us as f64 / SECOND_US
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockscope_history::store::Coverage;

    fn told(status: &HistoryStatus) -> String {
        let mut out = Exposition::default();
        tell("a", status, &mut out);
        out.finish()
    }

    #[test]
    fn a_recording_is_told_in_seconds_and_bytes() {
        let coverage =
            Coverage { chunks: 7, checkpoints: 2, gaps: 1, gap_ms: 1_500, bytes: 4_096, ..Coverage::default() };
        let text = told(&HistoryStatus {
            state: HistoryState::Recording,
            coverage,
            written: 90,
            dropped: 3,
            write_us: (10, 250_000),
            writes: 5,
            ..HistoryStatus::default()
        });
        for line in [
            "lockscope_history_recording{ensemble=\"a\"} 1\n",
            "lockscope_history_bytes{ensemble=\"a\"} 4096\n",
            "lockscope_history_chunks{ensemble=\"a\"} 7\n",
            "lockscope_history_checkpoints{ensemble=\"a\"} 2\n",
            "lockscope_history_gap_seconds{ensemble=\"a\"} 1.5\n",
            "lockscope_history_events_written_total{ensemble=\"a\"} 90\n",
            "lockscope_history_events_dropped_total{ensemble=\"a\"} 3\n",
            "lockscope_history_writes_total{ensemble=\"a\"} 5\n",
            "lockscope_history_write_seconds_total{ensemble=\"a\"} 0.25\n",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
    }

    #[test]
    fn connections_are_told_once() {
        let mut out = Exposition::default();
        tell_connections(Connections { made: 5, failed: 2, timeouts: 1 }, &mut out);
        let text = out.finish();
        for line in [
            "lockscope_history_connects_total{result=\"made\"} 5\n",
            "lockscope_history_connects_total{result=\"failed\"} 2\n",
            "lockscope_history_timeouts_total 1\n",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
    }

    #[test]
    fn only_what_is_recorded_counts_as_recorded() {
        use HistoryState::{Ended, Failing, Opening, Waiting};
        for state in [Opening, Waiting, Failing, Ended] {
            let text = told(&HistoryStatus { state, ..HistoryStatus::default() });
            assert!(text.contains("lockscope_history_recording{ensemble=\"a\"} 0\n"), "{state:?}");
        }
    }
}
