//! What this machine is like: its clock, its interrupts, what it costs to move a task, and which tasks are worth spawning.

mod caches;
mod known;
mod listening;
mod spawn;
mod steal;

use std::{fs, thread};

use workspan_collect::platform;
use workspan_model::Machine;

pub use caches::{last_level, LastLevel};
pub use known::Pauses;
pub use listening::interrupts_show;
use listening::LISTEN;
pub use spawn::{known_thresholds, spawn_thresholds, SpawnRuntime, SpawnThreshold, Unmeasured};

/// The machine's name, without a measurement.
pub fn name() -> Machine {
    Machine {
        processor: processor(),
        cpus: thread::available_parallelism().map_or(1, |n| u32::try_from(n.get()).unwrap_or(u32::MAX)),
        system: system(),
        ..Machine::default()
    }
}

/// Interrupts are taken to be no longer than this many usual ones: of the ten or so that were heard, one in ten is a single one, into
/// which something else may have come.
const LONG_INTERRUPT: u64 = 2;
/// Millionths of the time that pauses are taken to be at most: in so short a time their share is known no better, and what is taken out
/// for them may have been the program's.
const MOST_PAUSES: u32 = 20_000;

/// Describes the machine for runs: as it was measured first since it has started, so that runs can be compared, and wait for nothing. What a
/// busy host adds to a measurement is bounded.
pub fn describe() -> (Machine, Pauses) {
    let (machine, pauses) = known::read(&name()).unwrap_or_else(measure);
    bounded(machine, pauses)
}

fn bounded(machine: Machine, pauses: Pauses) -> (Machine, Pauses) {
    let [low, median, high] = machine.interrupt_ns;
    let interrupt_ns = [low, median, high.min(LONG_INTERRUPT * median)];
    (Machine { interrupt_ns, ..machine }, Pauses { ppm: pauses.ppm.min(MOST_PAUSES), ..pauses })
}

/// Describes the machine and measures its clock, for later commands, too. Takes a twentieth of a second, more on a busy machine.
#[expect(clippy::disallowed_methods, reason = "two readings of clocks, some time apart")]
pub fn measure() -> (Machine, Pauses) {
    let before = reading();
    let heard = listening::listen();
    // The longer apart the two readings, the better the rate.
    if let Some(rest) = LISTEN.checked_sub(heard.wall) {
        thread::sleep(rest);
    }
    let after = reading();
    let (ticks, nanos) = (after.0.wrapping_sub(before.0), after.1.saturating_sub(before.1).max(1));
    let ticks_per_second = u64::try_from(u128::from(ticks) * 1_000_000_000 / u128::from(nanos)).unwrap_or(0).max(1);
    let to_nanos =
        |ticks: u64| u64::try_from(u128::from(ticks) * 1_000_000_000 / u128::from(ticks_per_second)).unwrap_or(0);
    let interrupts = &heard.interrupts;
    let at = |share: usize| interrupts.get(interrupts.len() * share / 100).map_or(0, |ticks| to_nanos(*ticks));
    let cpu = u64::try_from(heard.cpu.as_nanos()).unwrap_or(0).max(1);
    let any = !interrupts.is_empty();
    let pauses = Pauses {
        // Few are heard in so short a time, so there may well be longer ones.
        longest_ns: (2 * to_nanos(listening::long_pause(&heard.pauses))).min(200_000),
        ppm: u32::try_from(to_nanos(heard.pauses.iter().sum()) * 1_000_000 / cpu).unwrap_or(0),
    };
    let machine = Machine {
        steal_ns: steal::ticks().map_or(0, to_nanos),
        ticks_per_second,
        interrupt_ns: if any { [at(10), at(50), at(90)] } else { [0; 3] },
        interrupt_period_ns: if any { cpu / interrupts.len() as u64 } else { 0 },
        ..name()
    };
    // On a machine too busy for that, the next command tries again.
    if machine.steal_ns > 0 || machine.cpus < 2 {
        known::write(&machine, pauses);
    }
    (machine, pauses)
}

/// The counter and the kernel's clock, read close together.
fn reading() -> (u64, u64) {
    // Of several attempts, the one that took least time.
    (0..20)
        .map(|_| {
            let before = platform::ticks();
            let nanos = platform::monotonic_nanos();
            let after = platform::ticks();
            (after.wrapping_sub(before), (before + after.wrapping_sub(before) / 2, nanos))
        })
        .min_by_key(|(width, _)| *width)
        .map_or((0, 0), |(_, reading)| reading)
}

fn processor() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    name.map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, name)| name.trim().to_owned())
}

fn system() -> String {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("{} {}", std::env::consts::OS, release.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_busy_host_adds_is_bounded() {
        let measured = Machine { interrupt_ns: [23_000, 34_000, 870_000], ..Machine::default() };
        let (machine, pauses) = bounded(measured, Pauses { longest_ns: 200_000, ppm: 183_448 });
        assert_eq!((machine.interrupt_ns, pauses.longest_ns, pauses.ppm), ([23_000, 34_000, 68_000], 200_000, 20_000));
        let quiet = Machine { interrupt_ns: [23_000, 34_000, 39_000], ..Machine::default() };
        let (machine, pauses) = bounded(quiet, Pauses { longest_ns: 150_000, ppm: 11_287 });
        assert_eq!((machine.interrupt_ns, pauses.longest_ns, pauses.ppm), ([23_000, 34_000, 39_000], 150_000, 11_287));
    }
}
