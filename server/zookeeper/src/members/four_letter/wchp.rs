//! `wchp`: who watches which path; data, exists and persistent watches only.

use lockscope_core::evidence::WatchTable;

use super::super::fault::{Malformed, WATCHES_MAX, count};
use super::{ending, opening, session};

/// The watches by path.
pub fn parse(text: &str) -> Result<WatchTable, Malformed> {
    opening(text)?;
    let mut table = WatchTable::default();
    let mut watches = 0;
    let mut path: Option<&str> = None;
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        if line.starts_with('/') {
            path = Some(line);
            continue;
        }
        let (Some(path), Some(id)) = (path, session(line.trim())) else { return Err(Malformed::strange(line)) };
        count(&mut watches, "watches", WATCHES_MAX)?;
        table.by_path.entry(path.into()).or_default().push(id);
    }
    ending(text)?;
    for sessions in table.by_path.values_mut() {
        sessions.sort_unstable();
        sessions.dedup();
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use lockscope_core::znode::SessionId;

    use super::*;

    #[test]
    fn a_real_answer() {
        let table = parse("/l\n\t0x100016dbe330001\n\t0x2\n/l/a b\n\t0x2\n\n").unwrap();
        assert_eq!(table.by_path["/l"], [SessionId(2), SessionId(72_059_164_892_004_353)]);
        assert_eq!(table.by_path["/l/a b"], [SessionId(2)]);
        assert_eq!(parse("\n"), Ok(WatchTable::default()));
    }

    #[test]
    fn what_is_none() {
        assert_eq!(parse("/l\n\t0x1\n"), Err(Malformed::CutOff));
        assert_eq!(parse("\t0x1\n\n"), Err(Malformed::strange("0x1")));
        assert_eq!(parse("wchp is not executed because it is not in the whitelist.\n"), Err(Malformed::Denied));
    }
}
