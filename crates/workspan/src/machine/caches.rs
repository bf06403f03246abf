//! The caches of this machine, as the kernel describes them.

use std::fs;
use std::path::Path;

/// Where the kernel describes those of the first processor.
const FOLDER: &str = "/sys/devices/system/cpu/cpu0/cache";

/// The last-level cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastLevel {
    /// Bytes, rounded down to a power of two.
    pub bytes: u64,
    /// Lines of a set, rounded down to a power of two.
    pub ways: u64,
}

/// The last-level cache of the first processor; nothing if the kernel does not say.
pub fn last_level() -> Option<LastLevel> {
    last_level_in(Path::new(FOLDER))
}

fn last_level_in(folder: &Path) -> Option<LastLevel> {
    let caches = fs::read_dir(folder).ok()?.filter_map(|entry| {
        let cache = entry.ok()?.path();
        let text = |name: &str| Some(fs::read_to_string(cache.join(name)).ok()?.trim().to_owned());
        if text("type")? == "Instruction" {
            return None;
        }
        let size = text("size")?;
        let kib: u64 = size.strip_suffix('K').unwrap_or(&size).parse().ok()?;
        let ways = text("ways_of_associativity").and_then(|ways| ways.parse::<u64>().ok()).filter(|ways| *ways > 0);
        Some((text("level")?.parse::<u32>().ok()?, power(kib * 1024)?, power(ways.unwrap_or(16))?))
    });
    caches.max().map(|(_, bytes, ways)| LastLevel { bytes, ways })
}

/// The largest power of two that is not larger.
fn power(number: u64) -> Option<u64> {
    number.checked_ilog2().map(|log| 1 << log)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_level_is_the_highest_that_holds_data() {
        let folder = tempfile::tempdir().expect("writable");
        let caches = [("1", "Data", "48K", "12"), ("1", "Instruction", "32K", "8"), ("3", "Unified", "36864K", "12")];
        for (number, (level, kind, size, ways)) in caches.into_iter().enumerate() {
            let cache = folder.path().join(format!("index{number}"));
            fs::create_dir(&cache).expect("writable");
            for (name, text) in [("level", level), ("type", kind), ("size", size), ("ways_of_associativity", ways)] {
                fs::write(cache.join(name), format!("{text}\n")).expect("writable");
            }
        }
        fs::write(folder.path().join("uevent"), "").expect("writable");
        assert_eq!(last_level_in(folder.path()), Some(LastLevel { bytes: 32 << 20, ways: 8 }));
        assert_eq!(last_level_in(&folder.path().join("none")), None);
    }
}
