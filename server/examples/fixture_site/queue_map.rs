//! The map of a made-up queue, from its contenders, as the real projection makes it of the model's.

use lockscope_view::{
    Contender, ContenderRole, HAND_OVERS_MIN, HandOvers, Liveness, LockPage, QUEUE_DEAD_MAX, QUEUE_SLICES_MAX,
    QueueMap, QueueMapQuery, QueuePlace, QueueSlice,
};

/// Of a page with all contenders.
pub(crate) fn queue_map(query: &QueueMapQuery, page: &LockPage, now_ms: i64) -> QueueMap {
    let rows = &page.window.rows;
    let per_slice = page.window.total.div_ceil(QUEUE_SLICES_MAX).max(1);
    let slice = |rows: &[Contender]| {
        let mut slice = QueueSlice::default();
        rows.iter().for_each(|row| slice.add(row.liveness));
        slice
    };
    let waiters = || (0_u32..).zip(rows).filter(|(_, row)| row.role == ContenderRole::Waiter);
    let dead = || waiters().filter(|(_, row)| row.liveness == Liveness::Disconnected);
    let is_of_app = |row: &Contender| {
        let label = row.label.as_deref().and_then(|label| label.rsplit_once('-')).map(|(app, _)| app);
        let host = row.client.as_ref().and_then(|client| client.address.rsplit_once(':')).map(|(host, _)| host);
        !query.app.is_empty() && (label == Some(&*query.app) || host == Some(&*query.app))
    };
    let place = waiters().find(|(_, row)| is_of_app(row)).map(|(at, _)| QueuePlace { position: at, ahead: at });
    // As quickly as a crowd changes hands.
    let is_seen = page.head.stats.acquisitions >= HAND_OVERS_MIN as u64;
    let hand_overs = is_seen.then_some(HandOvers { count: 15, since_ms: now_ms - 300, until_ms: now_ms });
    QueueMap {
        state: page.head.row.state,
        total: page.window.total,
        mapped: page.window.total,
        per_slice,
        slices: rows.chunks(per_slice as usize).map(slice).collect(),
        dead_count: u32::try_from(dead().count()).unwrap_or(u32::MAX),
        dead: dead().map(|(at, _)| at).take(QUEUE_DEAD_MAX).collect(),
        hand_overs,
        place,
        app: query.app.clone(),
    }
}
