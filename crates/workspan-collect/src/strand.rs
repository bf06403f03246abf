//! Strands: the running sum of work and span.
//!
//! A thread carries, for the task it runs, the work so far and an offset such that *absolute span = work + offset*:
//! the length of the longest chain of strands from program start to this point, as if on infinitely many processors
//! ("finish time", Cilkprof ch. 3; TaskProf Alg. 8 keeps the same sums as LS + CS). A fork hands the absolute span to
//! both branches, a join takes the larger one; that is all, whatever the construct.
//!
//! Hot path: [`stop`] and [`go`] are a handful of arithmetic on one cache line.

use super::segment;
use super::shared::{current_account, Shared};
use super::tables::{ContextId, ROOT};
use workspan_wire::histogram;
use workspan_wire::shm::{Account, Position, Spans, TaskState, Thread};

/// Ends the running strand at tick `now`. Returns the absolute span.
#[inline(always)]
pub fn stop(thread: &Thread, now: u64) -> i64 {
    let work = thread.task.work.get() + now.wrapping_sub(thread.start.get()) as i64;
    thread.task.work.set(work);
    work + thread.task.offsets.actual.get()
}

/// Begins a strand at tick `now`, with the cost of the hook that follows taken out beforehand.
#[inline(always)]
pub fn go(thread: &Thread, now: u64) {
    thread.start.set(now.wrapping_add(thread.probe.get() as u64));
}

/// Absolute span at the last stop.
#[inline(always)]
pub fn span(thread: &Thread) -> i64 {
    thread.task.work.get() + thread.task.offsets.actual.get()
}

/// Continues with absolute span `span`.
#[inline(always)]
pub fn set_span(thread: &Thread, span: i64) {
    thread.task.offsets.actual.set(span - thread.task.work.get());
}

/// Absolute span at the last stop if all were stolen that can be.
#[inline(always)]
pub fn burdened(thread: &Thread) -> i64 {
    thread.task.work.get() + thread.task.offsets.burdened.get()
}

/// All spans at the last stop.
pub fn spans(thread: &Thread) -> Spans {
    let work = thread.task.work.get();
    let Spans { actual, uniform, burdened } = thread.task.offsets.get();
    Spans { actual: work + actual, uniform: work + uniform, burdened: work + burdened }
}

/// None of the spans of the stopped strand is less than that of `others`.
pub fn raise(thread: &Thread, others: Spans) {
    let work = thread.task.work.get();
    let Spans { actual, uniform, burdened } = thread.task.offsets.get();
    thread.task.offsets.set(Spans {
        actual: actual.max(others.actual - work),
        uniform: uniform.max(others.uniform - work),
        burdened: burdened.max(others.burdened - work),
    });
}

/// Continues with that span.
#[inline(always)]
pub fn set_burdened(thread: &Thread, span: i64) {
    thread.task.offsets.burdened.set(span - thread.task.work.get());
}

/// The strand of `thread` was blocked for `ticks`, which is counted as such.
pub fn count_blocked(thread: &Thread, ticks: i64) {
    thread.blocked.set(thread.blocked.get() + ticks);
    let account = current_account(thread);
    account.blocked.set(account.blocked.get() + ticks);
}

/// All spans of the stopped strand are longer by `ticks`, which were no work.
#[inline]
pub fn lengthen(thread: &Thread, ticks: i64) {
    thread.task.offsets.advance(ticks);
}

/// The thread continues with the task of this state.
#[inline(always)]
pub fn load(thread: &Thread, state: TaskState) {
    let same = thread.task.position.get().context == state.position.context && thread.account.get() != 0;
    thread.task.set(state);
    if !same {
        set_context(Shared::of(thread), thread, state.position.context);
    }
}

/// The context of the running strand.
#[inline(always)]
pub fn context(thread: &Thread) -> ContextId {
    thread.task.position.get().context
}

/// The path handle of the running strand.
#[inline(always)]
pub fn path(thread: &Thread) -> u32 {
    thread.task.position.get().path
}

/// The account of `context`.
#[inline(always)]
pub fn account_of(thread: &Thread, context: ContextId) -> &'static Account {
    if thread.task.position.get().context == context && thread.account.get() != 0 {
        current_account(thread)
    } else {
        Shared::of(thread).account(thread, context)
    }
}

/// Replaces the path handle.
#[inline(always)]
pub fn set_path(thread: &Thread, path: u32) {
    thread.task.position.set(Position { path, ..thread.task.position.get() });
}

/// Replaces the path handle, and the span up to which it accounts.
#[inline(always)]
pub fn set_tail(thread: &Thread, path: u32, since: i64) {
    thread.task.position.set(Position { path, since, ..thread.task.position.get() });
}

/// Charges the work since the last flush to the current context. The strand must be stopped.
///
/// Serial code at the root stays pending: which row it belongs to is known only when the next region begins.
pub fn flush(thread: &Thread) {
    if context(thread) != ROOT {
        flush_to(thread, current_account(thread));
    }
}

/// Charges the work since the last flush to `account`.
pub fn flush_to(thread: &Thread, account: &Account) {
    let work = thread.task.work.get();
    account.self_work.set(account.self_work.get() + work - thread.task.flushed.get());
    thread.task.flushed.set(work);
}

/// Makes `context` the current one.
pub fn set_context(shared: Shared, thread: &Thread, context: ContextId) {
    thread.task.position.set(Position { context, ..thread.task.position.get() });
    thread.account.set(shared.account(thread, context) as *const Account as u64);
    segment::moved(thread, context);
}

/// Touches the account of `context`, so that the first strand that is charged to it does not pay for its pages.
#[inline]
pub fn touch_account(thread: &Thread, context: ContextId) {
    let account = Shared::of(thread).account(thread, context);
    if account.tasks.get() == 0 {
        account.tasks.set(0);
        let last = &account.sizes[histogram::BUCKETS - 1];
        last.set(last.get());
    }
}

/// Counts a task that has ended after `own` ticks of its own.
#[inline(always)]
pub fn count_task(account: &Account, own: i64) {
    count_task_in(account, own, histogram::bucket(if own > 0 { own as u64 } else { 0 }));
}

/// The same where its bucket of sizes is known.
#[inline(always)]
pub fn count_task_in(account: &Account, own: i64, bucket: usize) {
    account.tasks.set(account.tasks.get() + 1);
    account.task_work.set(account.task_work.get() + own);
    let size = &account.sizes[bucket.min(histogram::BUCKETS - 1)];
    size.set(size.get().wrapping_add(1));
}
