//! Listening for what takes the processor away from a thread that does nothing but read the counter.

use std::time::{Duration, Instant};

use nix::sys::resource::{getrusage, UsageWho};
use workspan_collect::platform::{self, interrupt_witness};

/// CPU time to listen: some ten interrupts at the usual 250 a second.
pub(super) const LISTEN: Duration = Duration::from_millis(50);
/// On a busy machine that takes longer, but no longer than this.
const PATIENCE: Duration = Duration::from_millis(250);
/// Ticks between two readings below which nothing came between.
const NOTHING: u64 = 2_000;
/// Ticks above which it was no interrupt but another thread, or another guest.
const LONGEST_INTERRUPT: u64 = 3_000_000;
/// Ticks above which a pause is too rare to be reckoned with.
const LONGEST_PAUSE: u64 = 500_000;

/// What came between.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// Lengths of the interrupts, ascending, in ticks.
    pub(super) interrupts: Vec<u64>,
    /// Lengths of the pauses that nothing but the counter showed, ascending, in ticks.
    pub(super) pauses: Vec<u64>,
    /// CPU time meanwhile.
    pub(super) cpu: Duration,
    /// Time meanwhile.
    pub(super) wall: Duration,
}

/// Whether this machine shows that an interrupt came.
pub fn interrupts_show() -> bool {
    // Larger than what the C library keeps for its heap (32 MiB), so fresh from the kernel: its pages fault at the first touch.
    let mut untouched = vec![0u8; 1 << 26];
    interrupt_witness::works(|| std::hint::black_box(&mut untouched)[1 << 25] = 1)
}

/// Listens.
pub(super) fn listen() -> Heard {
    let started = Instant::now();
    let mut heard = Heard::default();
    if !interrupts_show() {
        return heard;
    }
    let cpu = || Duration::from_nanos(platform::thread_cpu_nanos());
    let begun = cpu();
    let mut switches = switches_so_far();
    interrupt_witness::arm();
    let mut last = platform::ticks();
    while heard.cpu < LISTEN && started.elapsed() < PATIENCE {
        for _ in 0..1000 {
            let now = platform::ticks();
            let intact = interrupt_witness::intact();
            // An interrupt may have come after the reading: read again.
            let now = if intact { now } else { platform::ticks() };
            let passed = now.wrapping_sub(last);
            last = now;
            if intact && passed < NOTHING {
                continue;
            }
            let (lengths, longest) = match intact {
                true => (&mut heard.pauses, LONGEST_PAUSE),
                false => (&mut heard.interrupts, LONGEST_INTERRUPT),
            };
            // A switch to another thread comes with an interrupt, but is none.
            let after = switches_so_far();
            if after == switches && passed < longest {
                lengths.push(passed);
            }
            switches = after;
            interrupt_witness::arm();
            last = platform::ticks();
        }
        heard.cpu = cpu().saturating_sub(begun);
    }
    heard.interrupts.sort_unstable();
    heard.pauses.sort_unstable();
    heard.wall = started.elapsed();
    heard
}

/// Of ascending lengths, that below which nine tenths of the time went.
pub(super) fn long_pause(lengths: &[u64]) -> u64 {
    let all: u64 = lengths.iter().sum();
    let mut sum = 0;
    let found = lengths.iter().find(|length| {
        sum += **length;
        sum >= all - all / 10
    });
    found.copied().unwrap_or(0)
}

/// Times that this thread has lost its CPU to another.
fn switches_so_far() -> i64 {
    getrusage(UsageWho::RUSAGE_THREAD)
        .map_or(0, |usage| usage.voluntary_context_switches() + usage.involuntary_context_switches())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nine_tenths_of_the_time() {
        assert_eq!(long_pause(&[]), 0);
        assert_eq!(long_pause(&[7]), 7);
        assert_eq!(long_pause(&[10, 10, 10, 10, 60]), 60);
        assert_eq!(long_pause(&[5, 10, 40, 40, 5000]), 5000);
    }
}
