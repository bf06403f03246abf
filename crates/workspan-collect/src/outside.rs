//! Whether a strand that gave up its processor can have waited for the outside world.
//!
//! The kernel has locks of its own: a thread that touches memory for the first time, or maps some, waits for others that do so, and
//! gives up its processor as if it slept. That is no wait for a file, a timer or a process, and who came first is accident: it is time
//! without a processor, not time blocked. So where an adapter reports the calls that may wait for the outside world ([`is_seen`]), and the
//! thread has made none, the time is taken for that if there was a page fault for each time that the processor was given up, and none of them
//! needed input. Calls that the C library makes for itself, such as those of `fread`, show in the kernel's count of reads and writes. One of them is no
//! wait: with the ninth thread that allocates, the C library reads once which processors there are.
//!
//! **Bias:** a wait of a strand with page faults counts as time without a processor if it is by a call that neither the adapter nor that count
//! knows, as the C library's for names of hosts. Where the kernel has no such count, all such time counts as blocked.

use core::cell::Cell;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::platform::{self, Transfers, Usage};

static IS_SEEN: AtomicBool = AtomicBool::new(false);
/// Bytes that the C library reads to know how many processors there are; 0: not known.
static COUNTING: AtomicU64 = AtomicU64::new(0);
/// Such reads that are still believed to be that. Several threads may be the ninth.
static BELIEVED: AtomicU64 = AtomicU64::new(4);

/// What was known of the calling thread at its last look.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// Calls that may wait for the outside world.
    calls: u64,
    usage: Usage,
}

std::thread_local! {
    static CALLS: Cell<u64> = const { Cell::new(0) };
    static KNOWN: Cell<Known> = const { Cell::new(Known { calls: 0, usage: Usage::NONE }) };
    /// Times that the thread may have waited for memory without a page fault.
    static MAPPED: Cell<u64> = const { Cell::new(0) };
    /// Reads and writes, without the collector's, when the kernel last said their number.
    static TRANSFERS: Cell<Transfers> = const { Cell::new(Transfers::NONE) };
}

/// The program, which the calling thread runs, has several threads from now on, and calls that may wait for the outside world are
/// reported. What the thread has read until then, as the loader does, is of the past.
pub fn is_seen() {
    if !IS_SEEN.swap(true, Ordering::Relaxed) {
        COUNTING.store(platform::processors_length(), Ordering::Relaxed);
        TRANSFERS.set(platform::transfers().unwrap_or_default());
    }
}

/// The calling thread makes a call that may wait for the outside world.
#[inline(always)]
pub fn call() {
    // A thread that ends may have no such cells any more.
    let _ = CALLS.try_with(|calls| calls.set(calls.get() + 1));
}

/// The calling thread makes a call, as that which creates a thread, that maps memory so often.
pub fn maps(times: u64) {
    MAPPED.set(MAPPED.get() + times);
}

/// The kernel has just said this of the calling thread. True if what it has waited for since the last time was not the outside world.
pub(super) fn waited_for_memory(usage: &Usage, concludes: bool) -> bool {
    let calls = CALLS.get();
    let before = KNOWN.replace(Known { calls, usage: *usage });
    concludes && before.calls == calls && needs_no_input(&before.usage, usage) && has_transferred_nothing()
}

/// Each time that the processor was given up there was a page fault. One that the kernel calls major may only have been tried twice, for want of
/// its own lock: whether it needed input is known by itself.
fn needs_no_input(before: &Usage, usage: &Usage) -> bool {
    let switches = usage.voluntary.wrapping_sub(before.voluntary);
    let faults = usage.faults().wrapping_sub(before.faults()) + MAPPED.take();
    IS_SEEN.load(Ordering::Relaxed) && (1..=faults).contains(&switches) && usage.input == before.input
}

fn has_transferred_nothing() -> bool {
    let Some(transfers) = platform::transfers() else { return false };
    is_nothing(transfers.since(TRANSFERS.replace(transfers)))
}

fn is_nothing(transfers: Transfers) -> bool {
    let counting = Transfers { number: 1, bytes: COUNTING.load(Ordering::Relaxed) };
    let believed = || BELIEVED.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok();
    transfers == Transfers::NONE || counting.bytes > 0 && transfers == counting && believed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_faults_explain_as_many_waits() {
        let before = Usage { voluntary: 10, minor_faults: 100, ..Usage::NONE };
        let after = |voluntary, minor_faults| Usage { voluntary, minor_faults, ..Usage::NONE };
        assert!(!needs_no_input(&before, &after(12, 102)), "nobody reports the calls");
        is_seen();
        assert!(needs_no_input(&before, &after(12, 102)));
        assert!(!needs_no_input(&before, &after(13, 102)), "one more wait than faults");
        assert!(!needs_no_input(&before, &after(10, 102)), "no wait");
        assert!(needs_no_input(&before, &Usage { major_faults: 1, ..after(13, 102) }), "tried twice");
        assert!(!needs_no_input(&before, &Usage { input: 1, ..after(12, 102) }));
        maps(1);
        assert!(needs_no_input(&before, &after(13, 102)), "it has mapped memory, too");
        assert!(!waited_for_memory(&after(12, 102), false));
        call();
        assert!(!waited_for_memory(&after(13, 103), true), "a call that may wait for the outside world");
        let read = |bytes| Transfers { number: 1, bytes };
        COUNTING.store(4, Ordering::Relaxed);
        assert!(is_nothing(Transfers::NONE) && !is_nothing(read(5)) && !is_nothing(Transfers { number: 2, bytes: 4 }));
        assert_eq!((0..6).filter(|_| is_nothing(read(4))).count(), 4, "the C library looks once");
    }
}
