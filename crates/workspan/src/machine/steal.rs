//! What it costs that a task moves to another processor.
//!
//! Two threads hand one job to and fro as a victim and a thief do: the victim publishes it, the thief takes it by
//! compare-and-swap, reads what it is to do, writes the result and opens a latch; the victim waits for that. A round moves
//! the job's cache lines there and back, so half a round is one move: what the burdened span charges at a fork and again
//! at the join (Cilkview's burden). Both threads look out for each other, so it is the least that a steal can cost there:
//! a thief that sleeps or tries several victims takes longer.
//!
//! Processors that share a core are closer than others. So the first one is tried with a few others, each thread kept on its
//! own, and the costliest of these pairs counts.

use std::hint;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use nix::sched::{sched_getaffinity, sched_setaffinity, CpuSet};
use nix::unistd::Pid;
use workspan_collect::platform;

/// Rounds of a sample.
const ROUNDS: u64 = 20;
/// Samples; the median counts, so that other threads on the two processors may disturb nearly half of them.
const SAMPLES: usize = 41;
/// Fewer than these are no measurement.
const ENOUGH: usize = 15;
/// Pairs of processors.
const PAIRS: usize = 3;
/// No longer than this for a pair, on a machine that has no two processors to spare.
const PATIENCE: Duration = Duration::from_millis(150);

/// A cache line of its own.
#[repr(align(128))]
#[derive(Default)]
struct Line<T>(T);

/// What the two share: the deque's end, the job, the latch.
#[derive(Default)]
struct Shared {
    /// Number of the round whose job may be taken, times two; odd: it is taken.
    bottom: Line<AtomicU64>,
    job: Line<[AtomicU64; 4]>,
    latch: Line<AtomicU64>,
}

const STOP: u64 = u64::MAX;

/// Ticks of one move, the median; `None` if there is one processor, or the other thread did not come often enough.
pub(super) fn ticks() -> Option<u64> {
    let allowed = sched_getaffinity(Pid::from_raw(0)).ok()?;
    let processors: Vec<usize> = (0..CpuSet::count()).filter(|cpu| allowed.is_set(*cpu) == Ok(true)).collect();
    let (first, others) = processors.split_first()?;
    let chosen =
        (1..=PAIRS.min(others.len())).filter_map(|n| others.get(others.len() * n / PAIRS.min(others.len()) - 1));
    chosen.filter_map(|other| between(*first, *other)).max()
}

/// The same between two processors.
fn between(victim: usize, thief: usize) -> Option<u64> {
    let shared = Shared::default();
    thread::scope(|scope| {
        let thief = thread::Builder::new().spawn_scoped(scope, || {
            stay_on(thief);
            steal(&shared);
        });
        let thief = thief.ok()?;
        // The calling thread, and what it will start, may run anywhere.
        let victim = thread::Builder::new().spawn_scoped(scope, || {
            stay_on(victim);
            give(&shared)
        });
        let rounds = victim.ok().and_then(|victim| victim.join().ok());
        shared.bottom.0.store(STOP, Ordering::Release);
        thief.join().ok()?;
        rounds?
    })
}

/// Keeps the calling thread on a processor; without the right to, it runs anywhere.
fn stay_on(processor: usize) {
    let mut set = CpuSet::new();
    if set.set(processor).is_ok() {
        // Where it fails, the measurement is of whatever processors there are.
        let _ = sched_setaffinity(Pid::from_raw(0), &set);
    }
}

fn give(shared: &Shared) -> Option<u64> {
    let began = Instant::now();
    let mut samples = Vec::with_capacity(SAMPLES);
    let mut round = 0;
    // The first sample starts the thread, and is excluded.
    for sample in 0..=SAMPLES {
        let before = platform::ticks();
        for _ in 0..ROUNDS {
            round += 1;
            for (at, word) in shared.job.0.iter().enumerate() {
                word.store(round + at as u64, Ordering::Relaxed);
            }
            shared.bottom.0.store(2 * round, Ordering::Release);
            let mut looks = 0u32;
            while shared.latch.0.load(Ordering::Acquire) != round {
                hint::spin_loop();
                looks = looks.wrapping_add(1);
                if looks.is_multiple_of(1024) && began.elapsed() > PATIENCE {
                    return median(&mut samples);
                }
            }
        }
        if sample > 0 {
            samples.push(platform::ticks().wrapping_sub(before) / (2 * ROUNDS));
        }
    }
    median(&mut samples)
}

fn steal(shared: &Shared) {
    loop {
        let round = shared.bottom.0.load(Ordering::Acquire);
        if round == STOP {
            return;
        }
        let free = round != 0 && round.is_multiple_of(2);
        if !free || shared.bottom.0.compare_exchange(round, round + 1, Ordering::AcqRel, Ordering::Relaxed).is_err() {
            hint::spin_loop();
            continue;
        }
        let [first, .., result] = &shared.job.0;
        result.store(first.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        shared.latch.0.store(round / 2, Ordering::Release);
    }
}

fn median(samples: &mut [u64]) -> Option<u64> {
    samples.sort_unstable();
    let enough = samples.len() >= ENOUGH;
    samples.get(samples.len() / 2).copied().filter(|_| enough)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_never_comes_is_not_waited_for() {
        assert_eq!(give(&Shared::default()), None);
    }

    #[test]
    fn every_round_is_taken_by_the_other_thread() {
        if thread::available_parallelism().map_or(1, usize::from) < 2 {
            assert_eq!(ticks(), None);
        } else if let Some(ticks) = ticks() {
            // Two transfers of a cache line, or another thread was always in the way.
            assert!(ticks > 10, "{ticks}");
        }
    }
}
