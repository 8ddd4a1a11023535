//! What looking for records may cost.

use super::{Damage, LogEntry, TolerantLogDecoder};

fn record(zxid: i64, checksum: Option<u32>) -> Vec<u8> {
    let mut payload = [0; 36];
    payload[12..20].copy_from_slice(&zxid.to_be_bytes());
    payload[28..32].copy_from_slice(&(-1i32).to_be_bytes());
    let checksum = checksum.unwrap_or_else(|| adler2::adler32_slice(&payload));
    [&u64::from(checksum).to_be_bytes()[..], &36u32.to_be_bytes(), &payload, b"B"].concat()
}

/// Behind a record with a wrong length, many that have the frame and the number of the next, and not its checksum.
fn log() -> Vec<u8> {
    let mut bytes = b"ZKLG\0\0\0\x02\0\0\0\0\0\0\0\0".to_vec();
    bytes.extend(record(1, None));
    let mut damaged = record(2, None);
    damaged[8] = 0x7f;
    bytes.extend(damaged);
    (0..100).for_each(|_| bytes.extend(record(3, Some(7))));
    bytes.extend(record(3, None));
    bytes
}

fn damage(checksums_left: u64) -> Damage {
    let mut decoder = TolerantLogDecoder { checksums_left, ..TolerantLogDecoder::default() };
    decoder.push(&log());
    decoder.finish();
    assert!(matches!(decoder.next_entry(), Some(LogEntry::Transaction(_))));
    let Some(LogEntry::Damage(damage)) = decoder.next_entry() else { panic!("no damage") };
    let rest: Vec<LogEntry> = std::iter::from_fn(|| decoder.next_entry()).collect();
    assert_eq!((rest.len(), decoder.end().is_some()), if damage.resumed_at.is_some() { (1, true) } else { (0, false) });
    damage
}

#[test]
fn looking_for_the_next_record_ends_with_its_budget() {
    let last = log().len() as u64 - 49;
    assert_eq!(damage(1 << 30).resumed_at, Some(last));
    assert_eq!(damage(101 * 36 + 1).resumed_at, Some(last));
    assert_eq!(damage(50 * 36).resumed_at, None);
}
