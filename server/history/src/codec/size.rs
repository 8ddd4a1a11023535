//! How much an observation is in memory, about: what queues are bounded by, and what is too large to be kept. At least
//! what [`super::tables::Reader::spend`] counts when it is read back.

use lockscope_core::evidence::{Connection, MemberAnswer, Report, SessionTable, WatchTable};
use lockscope_core::observation::{LockConfig, Observation};
use lockscope_core::settings::Settings;
use lockscope_core::znode::Facts;

use super::recollection;
use super::tables::ELEMENT_BYTES;

/// About the bytes that an observation takes in memory.
pub fn bytes_of(observation: &Observation) -> usize {
    ELEMENT_BYTES
        + match observation {
            Observation::Link { why, .. }
            | Observation::SyncBegan { why, .. }
            | Observation::ComparisonBegan { why, .. }
            | Observation::RootTrouble { why, .. } => why.len(),
            Observation::SyncNode { path, facts, .. }
            | Observation::NodeRead { path, facts, .. }
            | Observation::Counted { path, facts, .. } => 2 * path.len() + of_facts(facts),
            Observation::NodeCreated { path, .. }
            | Observation::NodeDenied { path, .. }
            | Observation::NodeDeleted { path, .. }
            | Observation::Incomplete { path, .. }
            | Observation::Missed { path, .. } => 2 * path.len(),
            Observation::Listed { path, names, .. } => {
                2 * path.len() + names.iter().map(|name| name.len() + ELEMENT_BYTES).sum::<usize>()
            }
            Observation::Evidence(round) => round.reports.iter().map(of_report).sum(),
            Observation::ConfigChanged(config) => of_config(config),
            Observation::OrdersSnoozed(snoozes) => recollection::bytes_of_snoozes(snoozes),
            Observation::Recalled(part) => recollection::bytes_of(part),
            Observation::Restarted(settings) => of_settings(settings),
            Observation::SyncEnded { .. }
            | Observation::ComparisonEnded { .. }
            | Observation::Asked
            | Observation::Answered
            | Observation::Synced { .. }
            | Observation::EventsArrived { .. }
            | Observation::ClockRead { .. }
            | Observation::SessionTold { .. }
            | Observation::SessionTimeout { .. }
            | Observation::Tick => 0,
        }
}

fn of_facts(facts: &Facts) -> usize {
    size_of::<Facts>() + facts.payload.as_ref().map_or(0, |payload| payload.len())
}

fn of_settings(settings: &Settings) -> usize {
    let Settings { roots, thresholds: _, configured, limits } = settings;
    let of_roots: usize = roots.iter().map(|root| root.len() + ELEMENT_BYTES).sum();
    of_roots + of_config(&LockConfig { configured: configured.clone(), limits: limits.clone() })
}

fn of_config(config: &LockConfig) -> usize {
    let of_configured: usize = config.configured.iter().map(|one| one.pattern.len() + ELEMENT_BYTES).sum();
    let of_held: usize = config.limits.must_be_held.iter().map(|pattern| pattern.len() + ELEMENT_BYTES).sum();
    of_configured + of_held + config.limits.off.len() * ELEMENT_BYTES
}

fn of_report(report: &Report) -> usize {
    let Report { member, number: _, by, is_down: _, connections, sessions, watches, health } = report;
    4 * ELEMENT_BYTES
        + 2 * member.len()
        + by.len()
        + of_answer(connections, |all| all.iter().map(of_connection).sum())
        + of_answer(sessions, of_sessions)
        + of_answer(watches, of_watches)
        + of_answer(health, |health| 2 * ELEMENT_BYTES + health.version.as_ref().map_or(0, |version| version.len()))
}

fn of_answer<T>(answer: &MemberAnswer<T>, of: impl FnOnce(&T) -> usize) -> usize {
    match answer {
        MemberAnswer::Ok { value, .. } => of(value),
        MemberAnswer::None { remedy, .. } => remedy.len(),
        MemberAnswer::NotAsked => 0,
    }
}

/// Twice its texts: a changed one is counted before and after.
fn of_connection(connection: &Connection) -> usize {
    let operation = connection.last_operation.as_ref().map_or(0, |text| text.len());
    ELEMENT_BYTES + 2 * (connection.address.len() + operation)
}

fn of_sessions(table: &SessionTable) -> usize {
    let SessionTable { expiries, timeouts_ms, local, ephemerals } = table;
    let paths = ephemerals.values().flatten().map(|path| 3 * path.len() + ELEMENT_BYTES + 16).sum::<usize>();
    (expiries.len() + timeouts_ms.len() + local.len() + ephemerals.len()) * ELEMENT_BYTES + paths
}

fn of_watches(table: &WatchTable) -> usize {
    let one = |path: &str, watchers: usize| 3 * path.len() + (watchers + 1) * (ELEMENT_BYTES + 8);
    table.by_path.iter().map(|(path, watchers)| one(path, watchers.len())).sum()
}
