//! What a process of this machine has used: CPU time and memory, as Linux counts them.

/// CPU seconds (user and system) of a process so far; Linux counts them in hundredths.
pub(crate) fn cpu_seconds(pid: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    (fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap()) / 100.0
}

/// Resident memory of a process, in bytes.
pub(crate) fn resident_bytes(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1_024
}

/// The Java process with this text in its command line.
pub(crate) fn java(argument: &str) -> Option<u32> {
    let read = |pid: u32, name: &str| std::fs::read_to_string(format!("/proc/{pid}/{name}")).unwrap_or_default();
    let pids = std::fs::read_dir("/proc").ok()?.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.into_iter().find(|pid| read(*pid, "comm").trim() == "java" && read(*pid, "cmdline").contains(argument))
}
