//! Where serial code spends its time: samples of the running program.
//!
//! The kernel samples all threads of the program ([`workspan_events::sampling`]); a thread of the runner keeps them until the
//! program has ended. Then those that lie in a segment of serial code ([`workspan_read::segments`]) are followed to their
//! callers, and [`mod@name`] finds what most samples of a row have in common. Nothing of it is in the program but the kernel's timer.
//!
//! **Cost:** memory for [`MOST`] bytes of samples; beyond that every second one is dropped, again and again.
//!
//! Where the kernel refuses, serial code is named by its neighbours alone.

mod calls;
mod name;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use workspan_events::record::{Record, Sample, NAMES};
use workspan_events::sampling::Sampler;
use workspan_events::Refused;
use workspan_model::ContextId;
use workspan_read::segments::Segments;
use workspan_symbols::Stopped;

pub use calls::Seen;
pub use name::name;

/// Nanoseconds of a thread's processor time between two samples: about 4 ms, and in no step with what a program does regularly.
const PERIOD: u64 = 3_917_000;
/// Between two looks at what has come: a ring fills in half a second.
const PAUSE: Duration = Duration::from_millis(100);
/// Bytes of samples that are kept.
const MOST: usize = 64 << 20;
/// Samples of a row that are followed: more say no more.
const ENOUGH: usize = 1000;

/// Samples of a run.
#[derive(Debug, Default)]
pub struct Samples {
    kept: Vec<Kept>,
    mapped: Vec<calls::Mapping>,
    bytes: usize,
    /// Of how many samples one is kept, and how many have come.
    every: u64,
    come: u64,
}

/// A sample.
#[derive(Debug)]
struct Kept {
    pid: u32,
    tid: u32,
    time: u64,
    registers: [u64; NAMES.len()],
    stack: Vec<u8>,
}

impl Samples {
    /// Runs `program`, which starts one on this thread, and samples it. The samples are refused where the kernel does not permit them.
    pub fn during<R>(program: impl FnOnce() -> R) -> (R, Result<Samples, Refused>) {
        let mut sampler = match open() {
            Ok(sampler) => sampler,
            Err(refused) => return (program(), Err(refused)),
        };
        let ended = AtomicBool::new(false);
        thread::scope(|scope| {
            let taker = scope.spawn(|| {
                let mut samples = Samples { every: 1, ..Samples::default() };
                loop {
                    // In this order: what came before the end is taken after it.
                    let last = ended.load(Ordering::Acquire);
                    sampler.drain(|record| samples.keep(record));
                    if last {
                        return samples;
                    }
                    thread::park_timeout(PAUSE);
                }
            });
            let result = program();
            ended.store(true, Ordering::Release);
            taker.thread().unpark();
            (result, taker.join().map_err(|_| Refused::Closed))
        })
    }

    fn keep(&mut self, record: Record<'_>) {
        match record {
            Record::Sample(Sample { pid, tid, time, registers, stack }) => {
                self.come += 1;
                if !self.come.is_multiple_of(self.every) {
                    return;
                }
                self.bytes += stack.len() + size_of::<Kept>();
                self.kept.push(Kept { pid, tid, time, registers, stack: stack.to_vec() });
                if self.bytes > MOST {
                    self.thin_out();
                }
            }
            Record::Mapped(mapped) => self.mapped.push(calls::Mapping::of(&mapped)),
            Record::Lost(_) => {}
        }
    }

    fn thin_out(&mut self) {
        self.every *= 2;
        let mut keep = false;
        self.kept.retain(|_| {
            keep = !keep;
            keep
        });
        self.bytes = self.kept.iter().map(|kept| kept.stack.len() + size_of::<Kept>()).sum();
    }

    /// Where serial code was seen, by row.
    pub fn seen(self, segments: &Segments) -> Vec<Seen> {
        let Samples { kept, mapped, .. } = self;
        let rows: Vec<(ContextId, &Kept)> =
            kept.iter().filter_map(|kept| Some((segments.row(kept.tid, kept.time)?, kept))).collect();
        let pids = rows.iter().map(|(_, kept)| kept.pid).collect();
        let files = calls::Files::read(&mapped, &pids);
        let code = calls::Code::new(&mapped, &files);
        let mut seen = Vec::new();
        for (row, kept) in evenly(rows) {
            let registers = NAMES.into_iter().zip(kept.registers);
            let calls = code.calls(kept.pid, Stopped::new(registers, &kept.stack));
            seen.push(Seen { row, tid: kept.tid, main_thread: kept.tid == kept.pid, calls });
        }
        seen
    }
}

/// Of each row not many more than [`ENOUGH`], from all of its time.
fn evenly<K>(rows: Vec<(ContextId, K)>) -> Vec<(ContextId, K)> {
    let mut by_row: BTreeMap<ContextId, Vec<K>> = BTreeMap::new();
    for (row, sample) in rows {
        by_row.entry(row).or_default().push(sample);
    }
    let some = |(row, samples): (ContextId, Vec<K>)| {
        let step = samples.len().div_ceil(ENOUGH);
        samples.into_iter().step_by(step).map(move |sample| (row, sample))
    };
    by_row.into_iter().flat_map(some).collect()
}

/// Unless somebody wants to see what happens without samples.
fn open() -> Result<Sampler, Refused> {
    let refused = std::env::var("WORKSPAN_DISABLE").unwrap_or_default();
    if refused.split(',').any(|word| word.trim() == "samples") {
        return Err(Refused::NotPermitted);
    }
    Sampler::open(PERIOD)
}

/// The same for `doctor`: whether the kernel permits samples.
pub fn permitted() -> Result<(), Refused> {
    open().map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_samples_some_of_all_the_time_are_followed() {
        let rows = (0..5000).map(|at| (ContextId(1 + u32::from(at >= 4990)), at)).collect();
        let kept = evenly(rows);
        let of =
            |row: u32| kept.iter().filter(|(found, _)| *found == ContextId(row)).map(|(_, at)| *at).collect::<Vec<_>>();
        assert_eq!(of(1), (0..4990).step_by(5).collect::<Vec<_>>());
        assert_eq!(of(2), (4990..5000).collect::<Vec<_>>());
    }

    #[test]
    fn beyond_the_limit_every_second_sample_is_dropped() {
        let mut samples = Samples { every: 1, ..Samples::default() };
        let stack = vec![0; 1 << 20];
        for time in 0..200 {
            samples.keep(Record::Sample(Sample { pid: 1, tid: 1, time, registers: [0; NAMES.len()], stack: &stack }));
        }
        assert!(samples.bytes <= MOST, "{}", samples.bytes);
        assert_eq!(samples.every, 4);
        assert!(samples.kept.windows(2).all(|pair| pair[0].time < pair[1].time));
    }
}
