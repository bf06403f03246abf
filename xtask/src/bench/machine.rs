//! The machine in plain words, as far as results depend on it.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{json, Value};

/// The machine, and when.
#[derive(Clone, Debug)]
pub(super) struct Machine {
    /// Processor and system.
    pub(super) words: String,
    /// Mean number of processes that were ready, over the last minute, at the start.
    pub(super) load: String,
    /// Seconds since 1970.
    pub(super) seconds: u64,
}

/// Describes this machine.
pub(super) fn describe() -> Machine {
    let processor = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let virtual_machine = if processor.contains(" hypervisor") { ", a virtual machine" } else { "" };
    let processor = processor.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": ").map(|p| p.1));
    let cpus = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    // What follows the number names a build.
    let release = release.split('-').next().unwrap_or_default().trim();
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    Machine {
        words: format!("{}, {cpus} processors{virtual_machine}, Linux {release}", processor.unwrap_or("unknown")),
        load: load.split(' ').next().unwrap_or_default().to_owned(),
        seconds: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs()),
    }
}

impl Machine {
    /// The day, as year-month-day.
    pub(super) fn day(&self) -> String {
        let (mut year, mut days) = (1970, self.seconds / 86_400);
        let leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
        while days >= 365 + u64::from(leap(year)) {
            days -= 365 + u64::from(leap(year));
            year += 1;
        }
        let lengths = [31, 28 + u64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
        let mut month = 0;
        while days >= lengths[month] {
            days -= lengths[month];
            month += 1;
        }
        format!("{year}-{:02}-{:02}", month + 1, days + 1)
    }

    /// For scripts.
    pub(super) fn to_json(&self) -> Value {
        json!({ "words": self.words, "load": self.load, "at": self.seconds })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_of_leap_years() {
        let day = |seconds| Machine { words: String::new(), load: String::new(), seconds }.day();
        assert_eq!(day(0), "1970-01-01");
        assert_eq!(day(951_782_400), "2000-02-29");
        assert_eq!(day(1_767_225_599), "2025-12-31");
        assert_eq!(day(1_767_225_600), "2026-01-01");
    }
}
