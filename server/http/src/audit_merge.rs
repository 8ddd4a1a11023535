//! Pages of several audit logs made into one, newest first, and what can be said of each chain. Pure.
//!
//! In one log a larger number is newer, whatever the clock says; between logs the clocks decide.

use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};

use lockscope_wire::{AuditPage, AuditRecord};

use audit::chain::{self, ChainHead};

/// Logs that a cursor may name.
const LOGS_MAX: usize = 64;

/// Where to go on in each log: only records with a smaller number. 0: it is at its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Cursor(BTreeMap<String, u64>);

impl Cursor {
    /// As an answer gave it; None where it is none.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let one = |part: &str| {
            // An id may have a colon, as that of a host and a port has.
            let (replica, before) = part.rsplit_once(':')?;
            Some((replica.to_owned(), before.parse().ok()?))
        };
        let parts: Option<BTreeMap<String, u64>> = text.split(',').map(one).collect();
        parts.filter(|parts| parts.len() <= LOGS_MAX).map(Self)
    }

    pub(super) fn before(&self, replica: &str) -> Option<u64> {
        self.0.get(replica).copied()
    }

    fn text(&self) -> String {
        let parts = self.0.iter().map(|(replica, before)| format!("{replica}:{before}"));
        parts.collect::<Vec<_>>().join(",")
    }
}

/// Records of all logs, at most `limit`, and the cursor to go on with; None at the end of all.
pub(super) fn merged(
    pages: BTreeMap<String, AuditPage>,
    limit: usize,
    cursor: &Cursor,
) -> (Vec<AuditRecord>, Option<String>) {
    let mut next = cursor.clone();
    let mut rests: BTreeMap<String, (VecDeque<AuditRecord>, Option<u64>)> =
        pages.into_iter().map(|(replica, page)| (replica, (page.records.into(), page.next_before))).collect();
    let mut records: Vec<AuditRecord> = Vec::new();
    // More of a log may be newer than what others have: it is for the next page to say.
    let is_cut = |(rest, next_before): &(VecDeque<AuditRecord>, Option<u64>)| rest.is_empty() && next_before.is_some();
    while records.len() < limit && !rests.values().any(is_cut) {
        let newest = rests.iter().filter_map(|(replica, (rest, _))| Some((rest.front()?.at_ms, replica)));
        let Some((_, replica)) = newest.max_by_key(|(at_ms, replica)| (*at_ms, Reverse(*replica))) else { break };
        let replica = replica.clone();
        let Some((rest, _)) = rests.get_mut(&replica) else { break };
        let Some(record) = rest.pop_front() else { break };
        next.0.insert(replica.clone(), record.id);
        records.push(AuditRecord { replica: Some(replica), ..record });
    }
    for (replica, (rest, next_before)) in &rests {
        if rest.is_empty() {
            next.0.insert(replica.clone(), next_before.unwrap_or(0));
        }
    }
    let is_more = rests.values().any(|(rest, next_before)| !rest.is_empty() || next_before.is_some());
    (records, is_more.then(|| next.text()))
}

/// How many records, newest first and without a gap, follow each other up to a head that was shown.
///
/// # Errors
/// What does not fit, in one sentence.
pub(super) fn check(records: &[AuditRecord], head: &ChainHead) -> Result<u64, String> {
    let Some(newest) = records.first().filter(|record| record.id == head.id) else {
        return Err(format!("record {} is not in it, which it showed the others as its last", head.id));
    };
    if newest.hash != head.hash {
        return Err(format!("record {} is not the one that it showed the others: it was changed", head.id));
    }
    let genesis = ChainHead::default();
    let mut checked = 0;
    for (at, record) in records.iter().enumerate() {
        let before = match records.get(at + 1) {
            Some(older) => ChainHead { id: older.id, hash: older.hash.clone() },
            None if record.id == 1 => genesis.clone(),
            // Of the oldest here nothing can be said: the one before it is not here.
            None => break,
        };
        let plain = AuditRecord { replica: None, ..record.clone() };
        match chain::link(&before, plain) {
            Ok((_, linked)) if linked.id == record.id && linked.hash == record.hash => checked += 1,
            Ok(_) | Err(_) => {
                return Err(format!("record {} does not follow the one before: one of them was changed", record.id));
            }
        }
    }
    Ok(checked)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(times: &[i64]) -> Vec<AuditRecord> {
        let mut tip = ChainHead::default();
        let mut records = Vec::new();
        for at_ms in times {
            let text = format!(
                "{{\"id\":0,\"at_ms\":{at_ms},\"kind\":\"started\",\"actor\":\"a\",\"actor_by\":\"b\",\"address\":null,\"ensemble\":null,\"lock\":null,\"path\":null,\"intent\":null,\"outcome\":null,\"reason\":null,\"detail\":\"\",\"hash\":\"\"}}"
            );
            let (line, next) = chain::link(&tip, serde_json::from_str(&text).unwrap()).unwrap();
            records.insert(0, serde_json::from_slice(&line).unwrap());
            tip = next;
        }
        records
    }

    fn page(log: &[AuditRecord], before: Option<u64>, limit: usize) -> AuditPage {
        let fits = |record: &&AuditRecord| before.is_none_or(|before| record.id < before);
        let records: Vec<AuditRecord> = log.iter().filter(fits).take(limit).cloned().collect();
        let next_before = records.last().map(|record| record.id).filter(|id| *id > 1);
        let text = "{\"total\":9,\"file\":\"\",\"trouble\":\"\",\"records\":[]}";
        AuditPage { records, next_before, ..serde_json::from_str(text).unwrap() }
    }

    #[test]
    fn pages_of_several_logs_are_one_list_without_gaps_whatever_the_limit() {
        // The clock of b went back in the middle.
        let (a, b) = (log(&[10, 30, 50, 70]), log(&[20, 60, 40, 65]));
        for limit in 1..9 {
            let mut cursor = Cursor::default();
            let mut seen = Vec::new();
            loop {
                let of = |name: &str, log: &[AuditRecord]| (name.to_owned(), page(log, cursor.before(name), limit));
                let (records, next) = merged(BTreeMap::from([of("a:1", &a), of("b", &b)]), limit, &cursor);
                seen.extend(records.into_iter().map(|record| (record.replica.unwrap(), record.id, record.at_ms)));
                assert!(seen.len() <= 8, "{limit}: {seen:?}");
                let Some(next) = next else { break };
                cursor = Cursor::parse(&next).unwrap();
            }
            let of = |name: &str| seen.iter().filter(|one| one.0 == name).map(|one| one.1).collect::<Vec<_>>();
            assert_eq!((of("a:1"), of("b")), (vec![4, 3, 2, 1], vec![4, 3, 2, 1]), "{limit}");
        }
        let (all, next) = merged(
            BTreeMap::from([("a".to_owned(), page(&a, None, 9)), ("b".to_owned(), page(&b, None, 9))]),
            9,
            &Cursor::default(),
        );
        let times: Vec<i64> = all.iter().map(|record| record.at_ms).collect();
        assert_eq!((times, next), (vec![70, 65, 50, 40, 60, 30, 20, 10], None));
    }

    #[test]
    fn a_chain_is_checked_up_to_the_head_that_it_showed() {
        let log = log(&[1, 2, 3, 4]);
        let head = ChainHead { id: 4, hash: log[0].hash.clone() };
        assert_eq!(check(&log, &head), Ok(4));
        assert_eq!(check(&log[..2], &head), Ok(1));
        assert!(check(&log[1..], &head).unwrap_err().contains("record 4 is not in it"));
        assert!(check(&[], &head).is_err());
        let mut changed = log.clone();
        changed[2].actor = "somebody else".to_owned();
        assert!(check(&changed, &head).unwrap_err().contains("record 2"));
        let mut cut = log.clone();
        cut.remove(1);
        assert!(check(&cut, &head).unwrap_err().contains("record 4"));
        let other = ChainHead { id: 4, hash: "0".repeat(64) };
        assert!(check(&log, &other).unwrap_err().contains("changed"));
    }

    #[test]
    fn a_cursor_is_what_was_given() {
        let cursor = Cursor::parse("host:8080:12,b:0").unwrap();
        assert_eq!((cursor.before("host:8080"), cursor.before("b"), cursor.before("c")), (Some(12), Some(0), None));
        assert_eq!(Cursor::parse(&cursor.text()), Some(cursor));
        for none in ["", "a", "a:", "a:-1", "a:x", &"a:1,".repeat(99)] {
            assert_eq!(Cursor::parse(none), None, "{none}");
        }
    }
}
