//! What this machine is like: its clock and its interrupts.

use std::time::{Duration, Instant};
use std::{fs, thread};

use workspan_collect::platform::{self, interrupt_witness};
use workspan_model::Machine;

/// How long to listen for interrupts: some ten at the usual 250 a second.
const LISTEN: Duration = Duration::from_millis(50);

/// The machine's name, without a measurement.
pub fn name() -> Machine {
    Machine {
        processor: processor(),
        cpus: thread::available_parallelism().map_or(1, |n| u32::try_from(n.get()).unwrap_or(u32::MAX)),
        system: system(),
        ..Machine::default()
    }
}

/// Describes the machine and measures its clock. Takes as long as [`LISTEN`].
pub fn describe() -> Machine {
    let before = reading();
    let (lengths, listened) = listen();
    // The longer apart the two readings, the better the rate.
    if listened < LISTEN {
        thread::sleep(LISTEN - listened);
    }
    let after = reading();
    let (ticks, nanos) = (after.0.wrapping_sub(before.0), after.1.saturating_sub(before.1).max(1));
    let ticks_per_second = u64::try_from(u128::from(ticks) * 1_000_000_000 / u128::from(nanos)).unwrap_or(0).max(1);
    let to_nanos =
        |ticks: u64| u64::try_from(u128::from(ticks) * 1_000_000_000 / u128::from(ticks_per_second)).unwrap_or(0);
    let at = |share: usize| lengths.get(lengths.len() * share / 100).map_or(0, |ticks| to_nanos(*ticks));
    Machine {
        ticks_per_second,
        interrupt_ns: if lengths.len() >= 4 { [at(10), at(50), at(90)] } else { [0; 3] },
        interrupt_period_ns: match u64::try_from(lengths.len()) {
            Ok(count) if count >= 4 => u64::try_from(listened.as_nanos()).unwrap_or(0) / count,
            _ => 0,
        },
        ..name()
    }
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

/// Whether this machine shows that an interrupt came.
pub fn interrupts_show() -> bool {
    // Large enough to come fresh from the kernel: its pages fault at the first touch.
    let mut untouched = vec![0u8; 1 << 24];
    interrupt_witness::works(|| std::hint::black_box(&mut untouched)[1 << 23] = 1)
}

/// Lengths of the interrupts met while spinning, ascending, in ticks, and how long that was.
fn listen() -> (Vec<u64>, Duration) {
    let started = Instant::now();
    let mut lengths = Vec::new();
    if !interrupts_show() {
        return (lengths, started.elapsed());
    }
    interrupt_witness::arm();
    let mut last = platform::ticks();
    while started.elapsed() < LISTEN {
        for _ in 0..100 {
            let now = platform::ticks();
            if interrupt_witness::intact() {
                last = now;
            } else {
                // It may have come after the reading: read again.
                interrupt_witness::arm();
                let now = platform::ticks();
                lengths.push(now.wrapping_sub(last));
                last = now;
            }
        }
    }
    // Longer than a millisecond is no interrupt but a switch to another thread.
    lengths.sort_unstable();
    let listened = started.elapsed();
    let most = lengths.partition_point(|ticks| *ticks < 3_000_000);
    lengths.truncate(most);
    (lengths, listened)
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
