//! The clock: cycle counter, corrected for everything that is not the program.
//!
//! Reading the counter costs 8 ns and is right as long as nothing interrupts the thread. Nothing does in a strand
//! shorter than [`SHORT_NANOS`], since even an empty interrupt takes longer; so the hot path is the counter and one
//! comparison. A longer strand looks at two witnesses, a few nanoseconds together (`platform`): was the thread switched
//! out, did an interrupt come? A strand that was switched out, or is longer than [`LONG_NANOS`], consults the kernel's clocks, which is taken
//! out. One that was only interrupted has been on its processor all the time: of it the kernel's count of page faults is read, no clock.
//! So a system call is made once for a long strand, once for an interrupted one (a page fault is an interrupt, too), and three times for one
//! that was switched out.
//!
//! Off-CPU time splits in two: *preempted* (ready, but no CPU: excluded from everything) and *blocked* (waiting for I/O or
//! a lock: in span, not in work). If the thread never gave up its CPU (`ru_nvcsw`), all of it was preemption; otherwise
//! the kernel's run-queue delay is ([`super::run_delay`]), and the rest was blocking.
//!
//! **Batching.** Where reading the counter costs more than what it measures, most readings are skipped. When a long row
//! of hooks finds next to no time between them ([`TINY_NANOS`]), only one hook in [`BATCH`] reads the counter; the others
//! take the time as unchanged, and what has passed is charged to the strand that runs at the next reading. That displaces
//! at most [`BATCH_NANOS`] by a few strands. If more has passed the prediction was wrong: batching ends and the time is
//! noted as displaced. While more than 1/[`DISPLACED_SHARE`] of the thread's time is displaced, batching does not start
//! again; so the displaced time is at most that share, plus one wrong prediction. With the virtual clock, and where strands
//! are logged, nothing is batched.
//!
//! **Locks of the program.** A busy machine likes to switch at a system call. Whoever loses its processor while it holds a lock keeps all others
//! from it, and a lock that is held for microseconds is then waited for for milliseconds, which the program by itself would not. So no
//! clock of the kernel is read under a lock that is fought for: before it is taken ([`look_early`]), and after it has been given back
//! ([`catch_up`]).
//!
//! **Bias:** of what is taken out for interrupts, see [`super::interrupt`]; for pauses of a virtual machine that nothing in
//! it shows, see [`super::pause`].

use core::cell::Cell;
use core::sync::atomic::Ordering;

use super::interrupt::{disturbance, Interrupts, Peers};
use super::outside;
use super::pause;
use super::platform::{self, interrupt_witness, switch_witness, ErrnoGuard};
use super::polls;
use super::run_delay;
use super::shared::{current_account, Shared};
use super::strand;
use super::ticks::ticks_of;
use workspan_wire::histogram;
use workspan_wire::shm::{Anchor, Feature, Thread, Unread, BATCH};

/// No interrupt is shorter.
pub const SHORT_NANOS: u64 = 1_000;
/// Strands longer than this always consult the kernel, and so does a thread that wakes after this time.
pub const LONG_NANOS: u64 = 200_000;

/// Time between two hooks that is not worth a reading.
pub const TINY_NANOS: u64 = 100;
/// Time in a batch that is not worth more readings.
pub const BATCH_NANOS: u64 = 900;
/// Hooks in a row that start batching.
pub const STREAK: u32 = 512;
/// Inverse of the share of a thread's time that may be displaced.
pub const DISPLACED_SHARE: i64 = 64;
/// An interrupted strand consults the kernel's clocks if nobody has for this time: the counter's rate is known only so well.
const STALE_NANOS: u64 = 4_000_000;
/// Hooks to wait if more than that share is displaced.
const PAUSE: u32 = 8_192;
/// Times that the anchor is set again, at most, where the thread is switched out meanwhile.
const AGAIN: u32 = 2;

std::thread_local! {
    /// The anchor of the calling thread has been moved without a look at the kernel's clocks.
    static DUE: Cell<bool> = const { Cell::new(false) };
}

/// Tick now, for a thread that runs a strand. Corrects `thread.start` so that the difference is the strand's cost.
#[inline(always)]
pub fn read(thread: &Thread) -> u64 {
    let now = platform::ticks();
    if now.wrapping_sub(thread.start.get()) as i64 > thread.tiny.get() {
        return read_long(thread, now);
    }
    if thread.batching.get() != 0 {
        count_batch(thread, now);
        begin_batch(thread);
    }
    now
}

/// The same for the hooks of joins, which may leave a reading out (`None`).
#[inline(always)]
pub fn read_often(thread: &Thread) -> Option<u64> {
    let skip = thread.skip.get();
    if skip as u32 != 0 {
        thread.skip.set(skip - 1);
        return None;
    }
    let now = platform::ticks();
    if now.wrapping_sub(thread.start.get()) as i64 > thread.tiny.get() {
        return Some(read_long(thread, now));
    }
    let streak = thread.streak.get() + 1;
    thread.streak.set(streak);
    if streak >= thread.streak_needed.get() {
        next_batch(thread, now);
    }
    Some(now)
}

/// Counts a task that ended in the running batch.
#[inline(always)]
pub fn count_later(thread: &Thread) {
    thread.skip.set(thread.skip.get() + (1 << 32));
}

/// True if the last hook left the reading out.
#[inline(always)]
pub fn is_unread(thread: &Thread) -> bool {
    thread.batching.get() != 0 && thread.skip.get() as u32 != BATCH - 1
}

/// Counts a task of the current context that ended at a hook which left the reading out: as the mean of the batch before.
#[inline]
pub fn count_unread(thread: &Thread) {
    let Unread { tasks, bucket, mean } = thread.unread.get();
    thread.unread.set(Unread { tasks: tasks + 1, bucket, mean });
    strand::count_task_in(current_account(thread), mean, bucket as usize);
}

/// The thread may have had nothing to run since a hook that left the reading out. Since when, if that shows: the batch ends there.
#[cold]
pub fn idle_since(thread: &Thread) -> Option<u64> {
    let passed = platform::ticks().wrapping_sub(thread.start.get()) as i64;
    if passed <= thread.tiny.get() {
        return None;
    }
    if thread.batching.get() != 0 {
        // What the strand had of it, which is no more than a batch, is displaced.
        thread.displaced.set(thread.displaced.get() + thread.tiny.get());
        let not_taken = thread.probe.get() * i64::from(thread.skip.get() as u32) / i64::from(BATCH);
        count_batch(thread, thread.start.get().wrapping_sub(not_taken as u64));
        stop_batching(thread);
    }
    Some(thread.start.get())
}

/// A batch went as predicted, or the first begins.
#[inline(never)]
fn next_batch(thread: &Thread, now: u64) {
    if thread.is_logged() {
        // Every hook has its record.
        thread.batching.set(0);
        thread.streak.set(0);
        return;
    }
    if thread.batching.get() == 0 {
        let age = now.wrapping_sub(thread.born.get()) as i64;
        if thread.displaced.get() > age / DISPLACED_SHARE {
            thread.streak.set(0);
            thread.streak_needed.set(PAUSE);
            return;
        }
        let header = Shared::of(thread).header();
        thread.batching.set(1);
        thread.probe.set(header.batch_probe_ticks.load(Ordering::Relaxed));
        thread.tiny.set(ticks_of(thread, BATCH_NANOS));
    } else {
        count_batch(thread, now);
        // Where it stands: the next reading that goes as predicted leads here again.
        thread.streak.set(thread.streak_needed.get());
    }
    begin_batch(thread);
}

/// The strand that begins next has the cost of a whole batch of hooks taken out: [`BATCH`] hooks pass before the next reading,
/// unless [`count_batch`] takes it back.
fn begin_batch(thread: &Thread) {
    thread.skip.set(u64::from(BATCH - 1));
}

/// Ends a batch, possibly before its time: takes the cost of the hooks that did not happen back, and charges the tasks
/// that ended in it, each with the mean.
#[inline(never)]
fn count_batch(thread: &Thread, now: u64) {
    let skip = thread.skip.replace(0);
    let (left, tasks) = (skip as u32, skip >> 32);
    let not_taken = thread.probe.get() * i64::from(left) / i64::from(BATCH);
    thread.start.set(thread.start.get().wrapping_sub(not_taken as u64));
    let ticks = now.wrapping_sub(thread.start.get()) as i64;
    // To whichever task measures its own size around this batch, it is the work of nested tasks.
    thread.task.nested.set(thread.task.nested.get() + ticks);
    let unread = thread.unread.get().tasks;
    if unread != 0 {
        let mean = ticks.max(0) / i64::from(unread);
        thread.unread.set(Unread { tasks: 0, bucket: histogram::bucket(mean as u64) as u32, mean });
    }
    if tasks == 0 {
        return;
    }
    let account = current_account(thread);
    let mean = if ticks > 0 { ticks as u64 / tasks } else { 0 };
    account.tasks.set(account.tasks.get() + tasks);
    account.task_work.set(account.task_work.get() + ticks);
    let size = &account.sizes[histogram::bucket(mean)];
    size.set(size.get().wrapping_add(tasks as u32));
}

/// More than next to nothing has passed.
#[inline(never)]
fn read_long(thread: &Thread, now: u64) -> u64 {
    let mut now = now;
    let mut excused = false;
    let ticks = now.wrapping_sub(thread.start.get()) as i64;
    if ticks > thread.short.get() {
        (now, excused) = examine(thread, now);
    } else {
        pause::learn(current_account(thread), ticks);
    }
    if thread.batching.get() != 0 {
        count_batch(thread, now);
        if !excused {
            let displaced = now.wrapping_sub(thread.start.get()) as i64;
            thread.displaced.set(thread.displaced.get() + displaced);
            stop_batching(thread);
        } else {
            begin_batch(thread);
        }
    }
    if !excused {
        thread.streak.set(0);
        thread.streak_needed.set(STREAK);
    }
    // What this has taken since the reading, the first time with page faults of its own, is in no strand.
    let end = platform::ticks();
    let took = end.wrapping_sub(now);
    thread.start.set(thread.start.get().wrapping_add(took));
    thread.collector.set(thread.collector.get() + took as i64);
    end
}

/// Reads the counter at every hook again.
fn stop_batching(thread: &Thread) {
    let header = Shared::of(thread).header();
    thread.batching.set(0);
    thread.streak.set(0);
    thread.probe.set(header.probe_ticks.load(Ordering::Relaxed));
    thread.tiny.set(ticks_of(thread, TINY_NANOS));
}

/// Tick now, for a thread that is about to run a strand after waiting.
#[inline]
pub fn wake(thread: &Thread) -> u64 {
    let now = platform::ticks();
    let stale = now.wrapping_sub(thread.anchor.ticks.get()) > thread.long.get() as u64;
    let switched = !switch_witness::intact(thread.switch_witness.get());
    if stale || switched {
        return set_anchor(thread, switched);
    }
    arm_interrupt_witness(thread);
    now
}

/// The same for a thread that has slept since tick `since` and now holds a lock of the program. Where a look is called for, it is
/// only due: the anchor moves by what the wait took, since who sleeps has no processor. **Bias:** what the wait's own system calls took, some
/// microseconds, is missing from time off the processor under this lock, and a strand that blocks under it may be taken for preempted.
pub fn wake_holding(thread: &Thread, since: u64) -> u64 {
    let now = platform::ticks();
    let anchor = &thread.anchor;
    let took = now.wrapping_sub(since);
    let stale = now.wrapping_sub(anchor.ticks.get()) > thread.long.get() as u64;
    if stale || !switch_witness::intact(thread.switch_witness.get()) {
        anchor.ticks.set(anchor.ticks.get().wrapping_add(took));
        switch_witness::arm(thread.switch_witness.get());
        DUE.set(true);
    }
    arm_interrupt_witness(thread);
    now
}

/// True if a look at the kernel's clocks is due.
#[inline(always)]
pub fn is_due() -> bool {
    DUE.get()
}

/// The look that is due, in the middle of a strand of `thread`, at tick `now`, unless the reading of that was one.
#[cold]
pub fn catch_up(thread: &Thread, now: u64) {
    if DUE.get() {
        set_anchor(thread, true);
        restart(thread, now);
    }
}

/// A strand of `thread`, which was looked at at tick `now`, is about to take a lock: it is not looked at again for what it did until now.
pub fn look_early(thread: &Thread, now: u64) {
    strand::stop(thread, now);
    strand::go(thread, now);
}

/// A strand of `thread`, stopped at tick `now`, is about to take a lock: the look that it would ask for with the lock is now. Returns the tick
/// then.
pub fn look_before_wait(thread: &Thread, now: u64) -> u64 {
    let age = now.wrapping_sub(thread.anchor.ticks.get());
    if age > thread.long.get() as u64 / 2 {
        set_anchor(thread, false)
    } else {
        now
    }
}

/// Looks at the kernel's clocks without drawing conclusions, and arms the witnesses. `switched`: the thread may have
/// lost its CPU since the last look.
#[cold]
pub fn set_anchor(thread: &Thread, switched: bool) -> u64 {
    let _errno = ErrnoGuard::new();
    let began = platform::ticks();
    look(thread, switched, false);
    let now = platform::ticks();
    thread.collector.set(thread.collector.get() + now.wrapping_sub(began) as i64);
    now
}

/// Time that passed since the anchor was set.
struct Passed {
    /// Off the CPU, in ticks.
    off: i64,
    /// Of it: blocked.
    blocked: i64,
    /// Page faults.
    faults: u64,
}

/// Looks at the witnesses, and at the kernel's clocks if need be. Returns the tick, and whether what passed was not the
/// program's doing.
#[cold]
#[inline(never)]
fn examine(thread: &Thread, now: u64) -> (u64, bool) {
    let ticks = now.wrapping_sub(thread.start.get()) as i64;
    let switched = !switch_witness::intact(thread.switch_witness.get());
    let interrupted = has(thread, Feature::InterruptWitness) && !interrupt_witness::intact();
    let account = current_account(thread);
    let short = thread.short.get();
    let is_odd = ticks >= thread.long.get() || pause::stands_out(account, ticks, short);
    if !switched && !interrupted && !is_odd {
        pause::learn(account, ticks);
        return (now, false);
    }
    let _errno = ErrnoGuard::new();
    let passed = if switched || !has(thread, Feature::SwitchWitness) {
        consult(thread, now)
    } else {
        stayed(thread, now, interrupted, is_odd)
    };
    let blocked = passed.blocked.min(ticks);
    let preempted = (passed.off.min(ticks) - blocked).max(0);
    let on_cpu = ticks - blocked - preempted;
    let mut disturbed = 0;
    if interrupted {
        thread.interrupts.set(thread.interrupts.get() + 1);
        let peers = Peers { clean_max: account.clean_max.get(), faults: passed.faults };
        disturbed = disturbance(on_cpu, &interrupts(thread), &peers);
    }
    disturbed += pause::take(thread, account, on_cpu - disturbed, switched);
    if !switched && !interrupted {
        pause::learn(account, on_cpu - disturbed);
    }
    thread.preempted.set(thread.preempted.get() + preempted);
    let polled = polls::of_strand(thread, on_cpu - disturbed, now);
    if polled > 0 {
        polls::count(thread, polled);
    }
    thread.interrupted.set(thread.interrupted.get() + disturbed);
    if blocked > 0 {
        strand::count_blocked(thread, blocked);
        strand::lengthen(thread, blocked);
    }
    // The look itself is not part of the strand either: shift the start by everything from `now` to here.
    let end = platform::ticks();
    let look = end.wrapping_sub(now);
    thread.collector.set(thread.collector.get() + look as i64);
    let excluded = (blocked + preempted + disturbed + polled) as u64;
    thread.start.set(thread.start.get().wrapping_add(excluded).wrapping_add(look));
    (end, interrupted || switched || disturbed > 0)
}

/// The thread has not been switched out since the witness was armed. `is_odd`: its processor may still have been taken from the whole
/// machine, so the clocks are compared.
fn stayed(thread: &Thread, now: u64, interrupted: bool, is_odd: bool) -> Passed {
    let anchor = &thread.anchor;
    let age = now.wrapping_sub(anchor.ticks.get()) as i64;
    let mut passed = Passed { off: 0, blocked: 0, faults: 0 };
    if is_odd || age > ticks_of(thread, STALE_NANOS) {
        let cpu = platform::thread_cpu_nanos();
        passed.off = off_cpu(thread, now, cpu);
        thread.resyncs.set(thread.resyncs.get() + 1);
        // Unless it is switched out before this is over, both are of the same moment.
        anchor.cpu.set(cpu);
        anchor.ticks.set(now);
    }
    if interrupted {
        let faults = platform::thread_usage().faults();
        passed.faults = faults.saturating_sub(anchor.faults.replace(faults));
        arm_interrupt_witness(thread);
    }
    if !switch_witness::intact(thread.switch_witness.get()) {
        look(thread, true, false);
    }
    passed
}

/// Reads the kernel's clocks for the time up to tick `now`, compares with the anchor and moves the anchor here.
///
/// A busy machine likes to switch at a system call. So the CPU time is read first, and is that of `now` but for the call
/// itself, however late it returns; the anchor is set last, by a reading of its own. What happens in between belongs to no
/// strand.
fn consult(thread: &Thread, now: u64) -> Passed {
    let cpu = platform::thread_cpu_nanos();
    let anchor = &thread.anchor;
    let off = off_cpu(thread, now, cpu);
    let (before_voluntary, before_faults) = (anchor.voluntary.get(), anchor.faults.get());
    let delay = run_delay::Before::of(thread);
    thread.resyncs.set(thread.resyncs.get() + 1);
    let memory = look(thread, true, true);
    let faults = anchor.faults.get() - before_faults;
    let mut blocked = 0;
    if off > 0 && !memory && anchor.voluntary.get() != before_voluntary {
        blocked = (off - delay.delay(thread, off)).max(0);
    }
    Passed { off, blocked, faults }
}

/// Ticks off the processor since the anchor was set, up to tick `now`, at which the thread has had `cpu` nanoseconds.
fn off_cpu(thread: &Thread, now: u64, cpu: u64) -> i64 {
    let anchor = &thread.anchor;
    let elapsed = now.wrapping_sub(anchor.ticks.get()) as i64;
    let off = elapsed - ticks_of(thread, cpu.wrapping_sub(anchor.cpu.get()));
    // Below the resolution of the two clocks nothing can be known.
    if off < thread.short.get() {
        0
    } else {
        off
    }
}

/// Moves the anchor here and arms the witnesses, in an order such that a switch in between is seen later. `concludes`: what has passed
/// since the anchor is looked at. True if it is, and what the thread has waited for was not the outside world.
fn look(thread: &Thread, switched: bool, concludes: bool) -> bool {
    DUE.set(false);
    let anchor = &thread.anchor;
    switch_witness::arm(thread.switch_witness.get());
    let usage = platform::thread_usage();
    let memory = outside::waited_for_memory(&usage, concludes);
    let gave_up = concludes && anchor.voluntary.replace(usage.voluntary) != usage.voluntary;
    anchor.voluntary.set(usage.voluntary);
    let asked = switched && has(thread, Feature::RunDelay) && run_delay::look(thread, gave_up);
    anchor.faults.set(usage.faults());
    set(anchor);
    let mut again = if asked && has(thread, Feature::SwitchWitness) { AGAIN } else { 0 };
    // A busy machine likes to switch where the kernel is asked: that delay is before the anchor, so it must be known.
    while again > 0 && !switch_witness::intact(thread.switch_witness.get()) {
        switch_witness::arm(thread.switch_witness.get());
        run_delay::again(thread);
        set(anchor);
        again -= 1;
    }
    arm_interrupt_witness(thread);
    memory
}

/// The anchor is here.
fn set(anchor: &Anchor) {
    anchor.cpu.set(platform::thread_cpu_nanos());
    anchor.ticks.set(platform::ticks());
}

#[inline(always)]
fn arm_interrupt_witness(thread: &Thread) {
    // To look is a fraction of what arming takes, and it is armed still unless an interrupt came.
    if has(thread, Feature::InterruptWitness) && !interrupt_witness::intact() {
        interrupt_witness::arm();
    }
}

#[inline(always)]
fn has(thread: &Thread, feature: Feature) -> bool {
    thread.features.get() & feature as u32 != 0
}

fn interrupts(thread: &Thread) -> Interrupts {
    let config = &Shared::of(thread).header().config;
    let length = |i: usize| config.interrupt_ticks[i].load(Ordering::Relaxed);
    Interrupts {
        low: length(0),
        median: length(1),
        high: length(2),
        period: config.interrupt_period.load(Ordering::Relaxed),
    }
}

/// The strand goes on only now: what has passed since tick `began`, at which the hook did, was the collector's own work.
pub fn restart(thread: &Thread, began: u64) {
    if (began.wrapping_sub(thread.start.get()) as i64) > 0 {
        // The hook has changed nothing: the strand has run until then.
        strand::stop(thread, began);
    }
    let now = platform::ticks();
    thread.collector.set(thread.collector.get() + now.wrapping_sub(began) as i64);
    thread.excluded.set(0);
    strand::go(thread, now);
}

/// Takes the time of `work` out of the strand that begins at the end of the hook. Events of `work` still count.
pub(super) fn exclude_time<R>(thread: &Thread, work: impl FnOnce() -> R) -> R {
    if Shared::of(thread).is_virtual() {
        return work();
    }
    let before = platform::ticks();
    let result = work();
    // An interruption meanwhile is not to be taken for the next strand's.
    let took = wake(thread).wrapping_sub(before);
    thread.collector.set(thread.collector.get() + took as i64);
    thread.excluded.set(thread.excluded.get() + took);
    result
}
