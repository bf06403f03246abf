//! The thresholds, kept until the machine starts again: a line for each in the user's cache folder.
//!
//! **Invariant:** a file that makes no sense is as good as none. Another machine, kernel, or version of this command has another
//! file, and so have a build without optimisation and another way to measure.

use std::fs;
use std::path::PathBuf;

use workspan_model::Machine;

use super::super::known;
use super::threshold::{SpawnRuntime, SpawnThreshold};
use crate::cache;

/// Counts up where numbers of before are no longer comparable.
const VERSION: u32 = 1;

/// What is known of the machine of this name.
pub(super) fn read(name: &Machine) -> Option<Vec<SpawnThreshold>> {
    let path = file(name)?;
    if !cache::is_ours(&path) {
        return None;
    }
    parse(&fs::read_to_string(path).ok()?)
}

/// Keeps what was measured. Where it cannot be kept, it will be measured again.
pub(super) fn write(name: &Machine, thresholds: &[SpawnThreshold]) {
    if let Some(path) = file(name) {
        let _ = cache::write(&path, text(thresholds).as_bytes());
    }
}

fn file(name: &Machine) -> Option<PathBuf> {
    // Rayon is part of this program, and slower if that is not optimised.
    let of = format!("{} {VERSION} {}", known::key(name)?, cfg!(debug_assertions));
    Some(cache::folder()?.join(format!("spawn-{:016x}.txt", cache::hash(of.as_bytes()))))
}

fn text(thresholds: &[SpawnThreshold]) -> String {
    let line = |of: &SpawnThreshold| format!("{} {} {}\n", of.runtime.name(), of.instructions, of.nanos);
    thresholds.iter().map(line).collect()
}

fn parse(text: &str) -> Option<Vec<SpawnThreshold>> {
    let mut found: Vec<SpawnThreshold> = Vec::new();
    for line in text.lines() {
        let mut words = line.split(' ');
        let name = words.next()?;
        let runtime = SpawnRuntime::ALL.into_iter().find(|runtime| runtime.name() == name)?;
        let mut number = || words.next()?.parse().ok().filter(|number| *number > 0);
        let threshold = SpawnThreshold { runtime, instructions: number()?, nanos: number()? };
        if words.next().is_some() || found.iter().any(|found| found.runtime == runtime) {
            return None;
        }
        found.push(threshold);
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let of = |runtime, instructions, nanos| SpawnThreshold { runtime, instructions, nanos };
        let all: Vec<_> = SpawnRuntime::ALL.into_iter().zip(1..).map(|(runtime, n)| of(runtime, 4 * n, n)).collect();
        for some in [&all[..], &all[1..3], &[]] {
            assert_eq!(parse(&text(some)).as_deref(), Some(some));
        }
        let written = text(&all[..2]);
        assert_eq!(written, "rayon 4 1\nlibgomp 8 2\n");
        for broken in [
            written.replace("rayon", "ray"),
            written.replace("rayon", "libgomp"),
            written.replace("8 2", "many 2"),
            written.replace("8 2", "8 0"),
            written.replace("8 2", "8"),
            written.replace("8 2", "8 2 1"),
            format!("{written}\n"),
        ] {
            assert_eq!(parse(&broken), None, "{broken}");
        }
    }
}
