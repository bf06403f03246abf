//! Threads that have done what they were created for when the program ends, and have not come to their ends yet.
//!
//! Who waits for them need not wait for their ends: Rust's scopes are over as soon as each of their threads has said so, and a latch or a
//! flag is no more than that. A thread that loses its processor in between would be missing, with all that it did. So the program's end waits
//! for threads that the kernel would let run, for a moment: what is to be seen of them comes in some microseconds.
//!
//! **Cost:** a store where a thread begins, and one where it ends. A program that ends while its threads work ends [`PATIENCE_NANOS`] later,
//! on a busy machine when they have had a processor for as long, and after [`MOST_NANOS`] at the latest.

use core::sync::atomic::{AtomicU32, Ordering};

use workspan_collect::platform;
use workspan_collect::shared::Shared;
use workspan_collect::thread;
use workspan_collect::waits::Wait;
use workspan_wire::shm::{Thread, MAX_THREADS};

use crate::dag::patience::patiently;

/// How long others have to come to their ends: of time, and of processor time.
const PATIENCE_NANOS: u64 = 50_000_000;
/// The longest wait, where the machine has no processor for them.
const MOST_NANOS: u64 = 1_000_000_000;

/// By slot: the kernel's number of the program's thread there, until it has ended; 0 for none.
static RUNNING: [AtomicU32; MAX_THREADS] = [const { AtomicU32::new(0) }; MAX_THREADS];

/// A thread of the program that has begun. It goes when what is known of the thread is, and its slot may be another's.
#[derive(Debug)]
pub struct Begun {
    place: &'static AtomicU32,
    tid: u32,
}

impl Drop for Begun {
    fn drop(&mut self) {
        self.place.compare_exchange(self.tid, 0, Ordering::Release, Ordering::Relaxed).ok();
    }
}

/// `thread`, the calling one, begins with what it was created for.
pub fn begins(thread: &Thread) -> Option<Begun> {
    let begun = Begun { place: RUNNING.get(Shared::of(thread).slot_of(thread) as usize)?, tid: thread.tid.get() };
    begun.place.store(begun.tid, Ordering::Relaxed);
    Some(begun)
}

/// The program ends on the calling thread.
pub fn wait_for_ends() {
    let Some((thread, now)) = thread::attached().filter(|(thread, _)| thread.task.waiting.get() == 0) else { return };
    let own = thread.tid.get();
    let is_any_running = || {
        let mut others =
            RUNNING.iter().map(|place| place.load(Ordering::Acquire)).filter(|tid| *tid != 0 && *tid != own);
        others.any(platform::is_runnable)
    };
    if !is_any_running() {
        return;
    }
    let wait = Wait::begin_at(thread, now);
    let times =
        || (platform::monotonic_nanos(), platform::process_cpu_nanos().saturating_sub(platform::thread_cpu_nanos()));
    let (begun, had) = times();
    let is_enough = || {
        let (now, have) = times();
        now - begun > PATIENCE_NANOS && have.saturating_sub(had) > PATIENCE_NANOS
    };
    patiently(MOST_NANOS, || !is_any_running() || is_enough());
    let woken = thread::waking().map_or(now, |(_, now)| now);
    wait.end_undecided(woken);
}
