//! Pauses that leave no trace: the host of a virtual machine takes the processor away, for an interrupt of its own,
//! without the guest's knowledge. The cycle counter goes on, no witness shows it, and the kernel counts it as the
//! thread's. Among equal strands the one that met a pause is the longest, and the span a maximum over pauses.
//!
//! The runner has measured, on this machine, how long pauses are and what share of time they take. A strand that is
//! longer than all of its *peers* (undisturbed strands of the same context, and of the same size) is taken to have met
//! one if the excess is no longer than a pause, and as long as pauses are *due*: their share of the thread's CPU time,
//! less what has been taken out. It then counts as long as the longest of its peers. The same holds for a strand that was
//! switched out, which leaves more behind than the time off the CPU; no share limits that, since it was seen.
//!
//! **Bias:** a strand that is really longer than its peers, by less than a pause, is taken for one that met a pause, as
//! long as one is due. So a span is too short by at most the share of pauses (at most 2 %; below 1 % on the machine of
//! `docs/methods`) plus one pause; where there are no pauses, nothing is taken out.

use core::sync::atomic::Ordering;

use super::shared::Shared;
use super::ticks::ticks_of;
use workspan_wire::shm::{Account, Thread};

/// Strands of a size that make an excess remarkable.
const PEERS: u32 = 8;
/// Pauses that may be due at a time.
const DUE: i64 = 4;
/// What a switch may cost a strand after it: the kernel's own work, and caches to be filled again.
const SWITCH_NANOS: u64 = 100_000;
/// Inverse of the share by which peers differ anyhow.
const USUAL: i64 = 32;

/// What a thread may take out for pauses starts with one of them.
pub fn start(thread: &Thread) {
    thread.due.set(Shared::of(thread).header().config.pause_ticks.load(Ordering::Relaxed));
    thread.due_since.set(0);
}

/// Learns from a strand of `ticks` that met nothing.
pub fn learn(account: &Account, ticks: i64) {
    let longest = account.clean_max.get();
    if ticks > 2 * longest {
        account.clean_peers.set(1);
    } else if ticks > longest / 2 {
        account.clean_peers.set(account.clean_peers.get().saturating_add(1));
    }
    if ticks > longest {
        account.clean_max.set(ticks);
    }
}

/// True if a strand of `ticks` is so much longer than its peers that a look at the kernel's clocks is worth its cost;
/// `short` is too little to matter.
pub fn stands_out(account: &Account, ticks: i64, short: i64) -> bool {
    let longest = account.clean_max.get();
    account.clean_peers.get() >= PEERS && ticks - longest > short.max(longest / USUAL)
}

/// The ticks of a pause, or of what follows a switch, in a strand of `ticks`.
pub fn take(thread: &Thread, account: &Account, ticks: i64, switched: bool) -> i64 {
    let excess = ticks - account.clean_max.get();
    if account.clean_peers.get() < PEERS || excess <= thread.short.get() {
        return 0;
    }
    if switched && excess <= ticks_of(thread, SWITCH_NANOS) {
        return excess;
    }
    let longest = Shared::of(thread).header().config.pause_ticks.load(Ordering::Relaxed);
    if excess > longest || excess > due(thread) {
        return 0;
    }
    thread.due.set(thread.due.get() - excess);
    excess
}

/// Ticks that may be taken out for pauses now.
fn due(thread: &Thread) -> i64 {
    let cpu = thread.anchor.cpu.get();
    let config = &Shared::of(thread).header().config;
    let since = thread.due_since.replace(cpu);
    let passed = ticks_of(thread, cpu.wrapping_sub(since));
    let share = i64::from(config.pause_ppm.load(Ordering::Relaxed));
    let most = config.pause_ticks.load(Ordering::Relaxed) * DUE;
    // In two steps: the product of ticks and millionths may be too large.
    let due = thread.due.get() + passed / 1000 * share / 1000;
    thread.due.set(due.min(most));
    thread.due.get()
}
