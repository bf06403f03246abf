//! What threads did and waited, of a run of which more may not be known.

use std::io;
use std::mem::{offset_of, size_of};

use workspan_model::Nanos;
use workspan_wire::shm::{self, Config, Header, Instant, Thread, ThreadArea};

use crate::memory::{Record, Snapshot, Ticks};

/// What the threads of a run did, all together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Busy {
    /// What they lived and did not wait for work, from when each was first seen.
    pub busy: Nanos,
    /// From the start of the collector to the end of the program.
    pub wall: Nanos,
    /// Workers of the largest pool.
    pub workers: u32,
    /// Threads that were seen.
    pub threads: u32,
    /// Threads that did not fit.
    pub dropped: u64,
}

/// Reads it. `ended`: the cycle counter when the runner learnt of the end, for a program that did not report.
pub fn read_busy(snapshot: &(impl Snapshot + ?Sized), ended: u64) -> io::Result<Busy> {
    let header = Record::read(snapshot, 0, size_of::<Header>())?;
    let ticks = Ticks::new(header.u64(offset_of!(Header, config) + offset_of!(Config, ticks_per_second)));
    let at = |instant: usize| header.u64(instant + offset_of!(Instant, ticks));
    let (started, finished) = (at(offset_of!(Header, started)), at(offset_of!(Header, finished)));
    let end = if finished != 0 { finished } else { ended.max(started) };
    let mut busy = 0i64;
    let count = (header.u32(offset_of!(Header, thread_slots)) as usize).min(shm::MAX_THREADS);
    for slot in 0..count {
        let place = shm::THREADS + slot * size_of::<ThreadArea>() + offset_of!(ThreadArea, thread);
        let thread = Record::read(snapshot, place, size_of::<Thread>())?;
        let since = |field: usize| (end.wrapping_sub(thread.u64(field)) as i64).max(0);
        busy = busy.saturating_add(lived(|field| thread.i64(field), |field| thread.u32(field), since));
    }
    Ok(Busy {
        busy: ticks.nanos(busy),
        wall: ticks.nanos_u(end.saturating_sub(started)),
        workers: header.u32(offset_of!(Header, workers)),
        threads: header.u32(offset_of!(Header, threads)),
        dropped: header.u64(offset_of!(Header, dropped_threads)),
    })
}

/// How long a thread has lived and not waited, of its fields. `since`: from the instant in a field to the end.
pub(crate) fn lived(field: impl Fn(usize) -> i64, small: impl Fn(usize) -> u32, since: impl Fn(usize) -> i64) -> i64 {
    let ended = field(offset_of!(Thread, lived)).saturating_sub(field(offset_of!(Thread, waited)));
    if small(offset_of!(Thread, state)) != 1 {
        return ended;
    }
    let waits = small(offset_of!(Thread, task.waiting)) != 0;
    let waited = if waits { since(offset_of!(Thread, idle_since)) } else { 0 };
    ended.saturating_add(since(offset_of!(Thread, born))).saturating_sub(waited)
}
