//! Calls whose sums are not known yet: instances of sites that may have something created in them that outlasts them.
//!
//! An instance of OpenMP has all that was created in it, so that its sums are known when the last of it has ended, long after
//! the critical path may have left it. Its path is marked where it *begins* ([`super::path::mark`]), with the number of a
//! [`workspan_wire::path::Call`]; that is replaced by the sums once they are known, or when the path is read. Most instances need none: a
//! task that creates nothing is known when it ends, and then its path has the sums at once.
//!
//! **Open.** A call is known when nothing keeps it open any more: the construct itself, the tasks created in it, and calls
//! within it in the same task. Work of tasks goes up from call to call, and what is left to the task itself ([`let_go`]).
//!
//! **Ownership.** Whoever opens a call holds it until it is known, and each entry of a path that stands for it does; the
//! last one frees it. Entries are moved when a chain is folded, never copied.
//!
//! **Cost**: some ten stores and two or three locked instructions a call.

use workspan_wire::shm::{Thread, MAX_CALLS};
use workspan_wire::sync::{AtomicU32, Ordering};

use super::free::Free;
use super::shared::Shared;
use super::spare;
use super::tables::{ContextId, ROOT};

/// A position in the table of calls; 0 for none.
pub type CallId = u32;

/// Sums of a call that is known.
#[derive(Clone, Copy, Debug)]
pub struct Sums {
    /// Context of the instance.
    pub context: ContextId,
    /// Its work.
    pub work: i64,
    /// Its span.
    pub span: i64,
}

/// A call in `context` begins within `around` (0 for none), kept open by `parts`. 0: there is no room.
pub fn begin(shared: Shared, context: ContextId, around: CallId, parts: u32) -> CallId {
    let Some(id) = free(shared).take() else {
        shared.header().dropped_nodes.fetch_add(1, Ordering::Relaxed);
        return 0;
    };
    let call = shared.call(id);
    call.holders.store(1, Ordering::Relaxed);
    call.open.store(parts, Ordering::Relaxed);
    call.known.store(0, Ordering::Relaxed);
    call.context.store(context, Ordering::Relaxed);
    call.around.set(around);
    call.whole.set(0);
    call.work.store(0, Ordering::Relaxed);
    call.unjoined_work.store(0, Ordering::Relaxed);
    call.span.store(0, Ordering::Relaxed);
    if around != 0 {
        keep_open(shared, around);
    }
    id
}

/// One thing more keeps `id` open: a task created in it, or a call.
pub fn keep_open(shared: Shared, id: CallId) {
    shared.call(id).open.fetch_add(1, Ordering::Relaxed);
}

/// `work` was done in `id` by its own strands.
pub fn add(shared: Shared, id: CallId, work: i64) {
    shared.call(id).work.fetch_add(work, Ordering::Relaxed);
}

/// A task that was created in `id`, with all below, has done `work`, and is over: [`let_go`].
pub fn task_over(thread: &Thread, id: CallId, work: i64) -> i64 {
    let call = Shared::of(thread).call(id);
    call.work.fetch_add(work, Ordering::Relaxed);
    call.unjoined_work.fetch_add(work, Ordering::Relaxed);
    let_go(thread, id)
}

/// One thing less keeps `id` open. Returns the work that is the task's around: of tasks that were created in calls
/// which are known now.
pub fn let_go(thread: &Thread, id: CallId) -> i64 {
    let shared = Shared::of(thread);
    let mut id = id;
    loop {
        let call = shared.call(id);
        if call.open.fetch_sub(1, Ordering::AcqRel) != 1 {
            return 0;
        }
        let unjoined_work = call.unjoined_work.load(Ordering::Relaxed);
        let (around, whole) = (call.around.get(), call.whole.get());
        if whole != 0 {
            // All members have a part in it, and none has it around.
            shared.call(whole).work.fetch_add(call.work.load(Ordering::Relaxed), Ordering::Relaxed);
            let_go(thread, whole);
        } else {
            // Of the root: no member knows the place.
            let context = call.context.load(Ordering::Relaxed);
            if context != ROOT {
                let account = shared.account(thread, context);
                account.work.set(account.work.get() + call.work.load(Ordering::Relaxed));
            }
        }
        call.known.store(1, Ordering::Release);
        release(shared, id);
        if around == 0 {
            return unjoined_work;
        }
        let call = shared.call(around);
        call.work.fetch_add(unjoined_work, Ordering::Relaxed);
        call.unjoined_work.fetch_add(unjoined_work, Ordering::Relaxed);
        id = around;
    }
}

/// The sums of a task's own call `id`: its frame knows what keeps it open, and has counted its work.
pub fn make_known(shared: Shared, id: CallId, work: i64, span: i64) {
    let call = shared.call(id);
    call.work.store(work, Ordering::Relaxed);
    call.span.store(span, Ordering::Relaxed);
    call.known.store(1, Ordering::Release);
    release(shared, id);
}

/// What `id` amounts to, if that is known.
pub fn known(shared: Shared, id: CallId) -> Option<Sums> {
    let call = shared.call(id);
    (call.known.load(Ordering::Acquire) != 0).then(|| Sums {
        context: call.context.load(Ordering::Relaxed),
        work: call.work.load(Ordering::Relaxed),
        span: call.span.load(Ordering::Relaxed),
    })
}

/// An entry of a path stands for `id`.
pub(super) fn hold(shared: Shared, id: CallId) {
    shared.call(id).holders.fetch_add(1, Ordering::Relaxed);
}

/// A holder less: an entry of a path, or whoever opened it and found that it is not needed.
pub fn release(shared: Shared, id: CallId) {
    if shared.call(id).holders.fetch_sub(1, Ordering::AcqRel) == 1 {
        free(shared).give(id);
    }
}

fn free(shared: Shared) -> Free<'static, impl Fn(u32) -> &'static AtomicU32> {
    let header = shared.header();
    let next = move |id| &shared.call(id).next;
    Free { head: &header.free_calls, used: &header.calls, count: MAX_CALLS, next, stash: spare::calls(shared) }
}
