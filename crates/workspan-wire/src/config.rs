//! What the runner requests of a collector.

use core::sync::atomic::{AtomicI64, AtomicU32, AtomicU64};

/// What the runner requests. Written before the program starts.
#[derive(Debug)]
#[repr(C)]
pub struct Config {
    /// A [`Clock`](super::shm::Clock).
    pub clock: AtomicU32,
    /// Number of cores as on which the runtime splits its loops; 0 for the true number.
    pub logical_cores: AtomicU32,
    /// Ticks of the cycle counter per second.
    pub ticks_per_second: AtomicU64,
    /// Virtual clock only: cost of creating one task, in 1/1024 ticks.
    pub virtual_task_cost: AtomicI64,
    /// Interrupts of this machine: 10th, 50th and 90th percentile of their length, in ticks.
    pub interrupt_ticks: [AtomicI64; 3],
    /// Mean ticks between interrupts; 0 if not known.
    pub interrupt_period: AtomicI64,
    /// Pauses of this machine that show by nothing: length that few exceed, in ticks; 0 for none.
    pub pause_ticks: AtomicI64,
    /// [`Feature`](super::shm::Feature) bits that the collector must not use.
    pub disabled: AtomicU32,
    /// Share of time that such pauses take, in millionths.
    pub pause_ppm: AtomicU32,
    /// 1 if every strand is to be logged.
    pub log: AtomicU32,
    /// 1 if only idle time is to be accounted for: no strands, no paths.
    pub idle_only: AtomicU32,
    /// What a steal costs, in ticks, for burdened spans.
    pub steal_ticks: AtomicI64,
    /// The number of threads that a program with one worker is given when it asks; 0 for the true number.
    pub answered_threads: AtomicU32,
    /// 1 if threads are to say when their serial code ran ([`super::segment`]).
    pub segments: AtomicU32,
}
