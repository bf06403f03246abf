//! Callbacks of the OpenMP runtime.
//!
//! The runtime keeps a word for us with each task: context + 1, above 32 bits the barriers that it has passed, and in the
//! highest bits whether its creator waits for it, and whether it has begun. A region's word has the context + 1 of its first member, above 32 bits how
//! many there are. Contexts of members have numbers one after the other, reserved when the region begins.
//!
//! **A region** of N threads: its creator creates N contexts, each arrives at the last barrier and ends there, the creator
//! joins N. The members' threads report the end of that barrier only when they have something else to do.

use core::ffi::{c_int, c_uint, c_void};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering::Relaxed};

use workspan_trace::control::{Awaited, Kind, Use};

use super::abi::{flag, status, sync, Data, Dependence, GetTaskMemory, BEGIN};
use crate::event::{now, write};
use crate::platform::thread;
use crate::thread::{Thread, REGIONS};
use crate::{c, memory, ring, shared};

const LOW: u64 = 0xffff_ffff;
const UNDEFERRED: u64 = 1 << 63;
const BEGUN: u64 = 1 << 62;
/// Objects that are barriers of regions: no address has this bit and so few others.
const BARRIER: u64 = 1 << 47;

static GET_TASK_MEMORY: AtomicPtr<c_void> = AtomicPtr::new(null_mut());

/// Keeps a function of the runtime.
pub fn remember(get_task_memory: *const c_void) {
    GET_TASK_MEMORY.store(get_task_memory.cast_mut(), Relaxed);
}

/// The word behind a pointer of the runtime; 0 if there is none.
fn word(data: *const Data) -> u64 {
    // SAFETY: null, or a word that the runtime keeps for us.
    unsafe { data.as_ref() }.map_or(0, Data::get)
}

fn set_word(data: *const Data, value: u64) {
    // SAFETY: as above.
    if let Some(word) = unsafe { data.as_ref() } {
        word.set(value);
    }
}

/// Context + 1 of a task.
fn context(word: u64) -> u32 {
    (word & LOW) as u32
}

/// The thread goes on with another context.
fn switch(thread: &Thread, context: u32) {
    if context != 0 && thread.context_now() != context {
        write(Kind::Switch, [now(), context.into()]);
        thread.current.set(context);
    }
}

/// A thread that has written nothing yet has no context.
fn begin_thread(thread: &Thread) {
    if thread.context.get() == 0 {
        write(Kind::Gap, [now()]);
    }
}

/// A parallel region begins.
///
/// # Safety
/// The runtime calls it.
pub unsafe extern "C" fn parallel_begin(
    _task: *const Data,
    _frame: *const c_void,
    region: *const Data,
    requested: c_uint,
    _flags: c_int,
    _after: *const c_void,
) {
    let Some(header) = shared::header() else { return };
    let thread = thread();
    begin_thread(thread);
    let depth = thread.depth.get() as usize;
    thread.depth.set(thread.depth.get() + 1);
    let Some(place) = thread.regions.get(depth) else {
        header.untracked.fetch_add(1, Relaxed);
        return;
    };
    let first = header.contexts.fetch_add(requested.max(1), Relaxed) + 1;
    place.set(first.into());
    thread.waits_since.set(now());
    set_word(region, first.into());
}

/// A parallel region ends.
///
/// # Safety
/// The runtime calls it.
pub unsafe extern "C" fn parallel_end(_region: *const Data, task: *const Data, _flags: c_int, _after: *const c_void) {
    let thread = thread();
    let Some(depth) = thread.depth.get().checked_sub(1).filter(|_| shared::recording()) else { return };
    thread.depth.set(depth);
    switch(thread, context(word(task)));
    if depth as usize >= REGIONS {
        return;
    }
    let region = thread.regions[depth as usize].get();
    let at = now();
    for member in 0..region >> 32 {
        // 0: since the members were created.
        write(Kind::Join, [if member == 0 { 0 } else { at }, at, (region & LOW) + member]);
    }
}

/// An implicit or initial task begins or ends.
///
/// # Safety
/// The runtime calls it.
pub unsafe extern "C" fn implicit_task(
    endpoint: c_int,
    region: *const Data,
    task: *const Data,
    size: c_uint,
    index: c_uint,
    flags: c_int,
) {
    if !shared::recording() {
        return;
    }
    let thread = thread();
    begin_thread(thread);
    let first = word(region) & LOW;
    if endpoint == BEGIN {
        if first == 0 {
            if flags.cast_unsigned() & flag::INITIAL != 0 {
                set_word(task, u64::from(thread.context.get()) | BEGUN);
            }
            return;
        }
        if index == 0 {
            create_members(thread, first, size.max(1));
        }
        set_word(region, first | u64::from(size.max(1)) << 32);
        let own = first + u64::from(index);
        set_word(task, own | BEGUN);
        switch(thread, context(own));
        write(Kind::Begin, [now(), 1]);
    } else if flags.cast_unsigned() & flag::INITIAL == 0 && context(word(task)) != 0 {
        // A region of one thread has no barrier.
        arrive_last(thread, region, task);
    }
}

fn create_members(thread: &Thread, first: u64, size: u32) {
    let (since, at) = (thread.waits_since.get(), now());
    for member in 0..size {
        write(Kind::Create, [if member == 0 { since.min(at) } else { at }, at, first + u64::from(member)]);
    }
    if let Some(place) = thread.depth.get().checked_sub(1).and_then(|depth| thread.regions.get(depth as usize)) {
        place.set(first | u64::from(size) << 32);
    }
}

/// A member comes to the end of its region.
fn arrive_last(thread: &Thread, region: *const Data, task: *const Data) {
    let task_word = word(task);
    if thread.context_now() != context(task_word) {
        return;
    }
    // A region of one thread is not named at its end.
    let innermost = || thread.depth.get().checked_sub(1).and_then(|depth| thread.regions.get(depth as usize));
    let region = match word(region) {
        0 => innermost().map_or(0, core::cell::Cell::get),
        region => region,
    };
    barrier(region, task_word, now(), 0);
    write(Kind::End, [now()]);
    thread.waits_since.set(now());
    // From here on libomp uses the word for something else, too, and wants it empty.
    set_word(task, 0);
}

fn barrier(region: u64, task: u64, before: u64, after: u64) {
    let (first, size) = (region & LOW, region >> 32);
    if first == 0 || size == 0 {
        return;
    }
    let index = u64::from(context(task)).wrapping_sub(first);
    let passed = (task & !(UNDEFERRED | BEGUN)) >> 32;
    write(Kind::Barrier, [before, after, first | BARRIER, passed * size + index, size]);
}

/// A task is created.
///
/// # Safety
/// The runtime calls it.
pub unsafe extern "C" fn task_create(
    _creator: *const Data,
    _frame: *const c_void,
    task: *const Data,
    flags: c_int,
    _has_dependences: c_int,
    _after: *const c_void,
) {
    let flags = flags.cast_unsigned();
    if !shared::recording() || flags & (flag::TASKWAIT | flag::INITIAL) != 0 {
        return;
    }
    let before = now();
    begin_thread(thread());
    let context = u64::from(ring::new_context()) + 1;
    let waits = if flags & flag::UNDEFERRED == 0 { 0 } else { UNDEFERRED };
    set_word(task, context | waits);
    write(Kind::Task, [before, now(), context]);
}

/// A task's dependences.
///
/// # Safety
/// The runtime calls it.
pub unsafe extern "C" fn dependences(task: *const Data, list: *const Dependence, count: c_int) {
    let Some(count) = usize::try_from(count).ok().filter(|_| !list.is_null() && shared::recording()) else { return };
    // SAFETY: the runtime passes that many.
    let list = unsafe { core::slice::from_raw_parts(list, count) };
    let depending = u64::from(context(word(task)));
    for item in list {
        let how = match item.kind {
            1 => Use::Read,
            4 => Use::Exclusive,
            // They order iterations, not tasks.
            5 | 6 => continue,
            7 => Use::Set,
            34 | 35 => Use::All,
            _ => Use::Write,
        };
        write(Kind::Depend, [depending, item.variable, how as u64]);
    }
}

/// A thread changes from one task to another.
///
/// # Safety
/// The runtime calls it.
pub unsafe extern "C" fn task_schedule(prior: *const Data, how: c_int, next: *const Data) {
    if !shared::recording() || status::FULFILLED.contains(&how) {
        return;
    }
    let thread = thread();
    if how == status::TASKWAIT_COMPLETE {
        let at = now();
        return write(Kind::Wait, [at.min(thread.waits_since.get()), at, Awaited::Items as u64]);
    }
    let (ended, goes_on) = (word(prior), next);
    let next = word(goes_on);
    let over = matches!(how, status::COMPLETE | status::CANCEL | status::DETACH);
    if over && ended != 0 {
        // Of one that never ran, too: whoever waits for it goes on.
        switch(thread, context(ended));
        forget_memory();
        write(Kind::End, [now()]);
        set_word(prior, 0);
    }
    // 0: a member that is at its last barrier, and has ended.
    switch(thread, context(next));
    if next != 0 && next & BEGUN == 0 {
        set_word(goes_on, next | BEGUN);
        write(Kind::Begin, [now(), 1]);
    }
    if over && ended & UNDEFERRED != 0 && next != 0 {
        let at = now();
        write(Kind::Join, [at, at, context(ended).into()]);
    }
}

/// The runtime uses a task's memory again, for another.
fn forget_memory() {
    let function = GET_TASK_MEMORY.load(Relaxed);
    if function.is_null() {
        return;
    }
    // SAFETY: the function of this name and type.
    let function = unsafe { core::mem::transmute::<*mut c_void, GetTaskMemory>(function) };
    let (mut address, mut size) = (null_mut(), 0);
    // SAFETY: places for the answers.
    let more = unsafe { function(&raw mut address, &raw mut size, 0) };
    if more >= 0 && size > 0 {
        memory::allocated(address, size);
    }
}

/// A wait, a group or a barrier begins or ends.
///
/// # Safety
/// The runtime calls it.
pub unsafe extern "C" fn sync_region(
    kind: c_int,
    endpoint: c_int,
    region: *const Data,
    task: *const Data,
    _after: *const c_void,
) {
    if !shared::recording() || kind == sync::REDUCTION {
        return;
    }
    let errno = c::errno();
    let (thread, at) = (thread(), now());
    let before = at.min(thread.waits_since.get());
    if endpoint == BEGIN {
        match kind {
            sync::LAST_BARRIER if context(word(task)) != 0 => arrive_last(thread, region, task),
            sync::TASKGROUP => write(Kind::Group, [at]),
            _ => {}
        }
        thread.waits_since.set(at);
    } else {
        match kind {
            sync::TASKWAIT => write(Kind::Wait, [before, at, Awaited::Children as u64]),
            sync::TASKGROUP => write(Kind::Wait, [before, at, Awaited::Group as u64]),
            sync::LAST_BARRIER => {}
            _ => {
                let own = word(task);
                if context(own) != 0 && !thread.reduces.get() {
                    barrier(word(region), own, before, at);
                    set_word(task, own + (1 << 32));
                }
            }
        }
    }
    c::set_errno(errno);
}
