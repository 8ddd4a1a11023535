//! What the system reports of our own process. What it does not report is omitted.

use std::fs;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) resident_bytes: Option<u64>,
    pub(super) open_fds: Option<u64>,
    pub(super) max_fds: Option<u64>,
}

impl Process {
    pub(super) fn now() -> Self {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
        Self {
            resident_bytes: resident_bytes(&status),
            // One of them is the directory that is read.
            open_fds: fs::read_dir("/proc/self/fd").ok().map(|entries| (entries.count() as u64).saturating_sub(1)),
            max_fds: max_fds(&limits),
        }
    }
}

fn resident_bytes(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1_024)
}

fn max_fds(limits: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_writes_is_read() {
        assert_eq!(resident_bytes("Name:\tx\nVmRSS:\t   40 kB\nThreads: 1\n"), Some(40_960));
        assert_eq!(
            max_fds("Limit  Soft Limit  Hard Limit  Units\nMax open files            1024      524288      files\n"),
            Some(1_024)
        );
        assert_eq!((resident_bytes(""), max_fds("Max open files  unlimited unlimited files")), (None, None));
    }
}
