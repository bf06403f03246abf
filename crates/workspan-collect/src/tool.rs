//! Tools: other people's profilers on our hooks.
//!
//! A shared library that defines `workspan_tool_start` is loaded before `main` where the environment names one
//! ([`ENV`]), and is called for tasks from then on: when one begins, when it waits for what it has created, when it ends.
//! `include/workspan_tool.h` is the interface for others; its structures are repeated here.
//!
//! Where a tool is loaded, hooks take the way that they take for the log: every one of them, none skipped ([`super::log`]).
//! Strands may be logged at the same time. The address of what the tool is shown of a task ([`Task`]) travels wherever the task
//! goes ([`super::origin::Identity`]). Blocks for these come from a table of the process by a stack without locks; a task for which there is none is
//! counted, and the tool is not called for it.
//!
//! **Strands have numbers** that are the same in the log ([`Event::Seen`](workspan_wire::log::Event::Seen)): a number is given where
//! a strand begins, is the thread's ([`Thread::strand_number`]) while the strand runs, is put aside with the rest of its state
//! while another task runs ([`super::task`]), and travels in the task's block where the strand goes on elsewhere ([`put_strand`],
//! [`come_back`]). So no two strands have the same, and whoever is called sees the one that the log has.
//!
//! **Cost:** without tool none (the test is that of the log). With one, 76 ns a branch and 120 ns a spawned task besides the tool's own
//! (`docs/tools.md`), most of it as hooks are not batched. What the tool takes belongs to no strand ([`exclude_next`]).

use core::cell::Cell;
use core::ffi::{c_char, c_int, c_void};
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

use super::exclude::exclude_next;
use super::free::Free;
use super::memory;
use super::platform;
use super::shared::Shared;
use super::tables::ROOT;
use workspan_wire::shm::{Thread, MAX_CONTEXTS, MAX_SITES, THREAD_STRANDS};

/// The variable that names the library.
pub const ENV: &[u8] = b"WORKSPAN_TOOL\0";
/// Hooks call the tool.
pub const CALLED: u32 = 1;
/// Hooks do all they do for a tool, but for calling it; for calibration.
pub const REHEARSED: u32 = 2;

const VERSION: u32 = 2;

/// What a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Kind {
    /// The program's first strand, or a thread that it has started itself.
    Thread = 0,
    /// The second branch of a `join`.
    Branch = 1,
    /// A task that was created: `spawn`, `task`, `taskloop`.
    Spawn = 2,
    /// A member of a team.
    Member = 3,
}

/// `workspan_task`.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Task {
    id: Cell<u64>,
    parent: Cell<u64>,
    parent_data: Cell<*mut c_void>,
    data: Cell<*mut c_void>,
    kind: Cell<u32>,
    site: Cell<u32>,
    /// Of a call, the strand that it is about; between two pieces of a task on two threads, the strand that goes on.
    strand: Cell<u64>,
    /// Next free one, by its number.
    next: AtomicU32,
}

type Told = Option<unsafe extern "C" fn(task: *const Task, now: u64)>;

/// `workspan_tool`.
#[derive(Debug)]
#[repr(C)]
struct Tool {
    after_enter: Told,
    before_sync: Told,
    before_exit: Told,
    finish: Option<unsafe extern "C" fn()>,
}

/// `workspan_place`.
#[derive(Debug)]
#[repr(C)]
pub struct Place {
    file: *const c_char,
    file_length: u64,
    line: u32,
    column: u32,
    address: u64,
}

/// `workspan_tool_api`.
#[derive(Debug)]
#[repr(C)]
struct Api {
    version: u32,
    ticks_per_second: u64,
    place: unsafe extern "C" fn(site: u32, place: *mut Place) -> c_int,
}

static TOOL: AtomicPtr<Tool> = AtomicPtr::new(ptr::null_mut());
static TASKS: AtomicPtr<Task> = AtomicPtr::new(ptr::null_mut());
/// Tasks alive at a time.
const MOST: u64 = 1 << 22;
/// The stack of free blocks.
static FREE: AtomicU64 = AtomicU64::new(0);
/// Blocks that have been used.
static USED: AtomicU32 = AtomicU32::new(0);
/// Tasks so far.
static COUNT: AtomicU64 = AtomicU64::new(0);

/// Loads the tool, if one is named. Called once, by the main thread, before `main` and before it is attached.
pub fn start(shared: Shared) {
    let Some(path) = platform::environment(ENV) else {
        return;
    };
    let header = shared.header();
    let failed = |why: u32| header.tool.store(why, Ordering::Relaxed);
    let Some(entry) = platform::library_function(path, c"workspan_tool_start") else {
        failed(2);
        return;
    };
    let Some(tasks) = platform::map_private(MOST as usize * size_of::<Task>(), false) else {
        failed(3);
        return;
    };
    TASKS.store(tasks.cast().as_ptr(), Ordering::Release);
    // SAFETY: the interface says that the symbol is a function of this type.
    let begin: extern "C" fn(*const Api, *mut Tool) -> c_int = unsafe { core::mem::transmute(entry.as_ptr()) };
    let ticks_per_second = header.config.ticks_per_second.load(Ordering::Relaxed);
    static mut API: Api = Api { version: VERSION, ticks_per_second: 0, place };
    static mut CALLBACKS: Tool = Tool { after_enter: None, before_sync: None, before_exit: None, finish: None };
    let (api, callbacks) = (&raw mut API, &raw mut CALLBACKS);
    // SAFETY: there is one thread yet, and nothing else refers to it.
    unsafe { (*api).ticks_per_second = ticks_per_second };
    if begin(api, callbacks) != 0 {
        TOOL.store(callbacks, Ordering::Release);
        failed(1);
    } else {
        failed(4);
    }
}

/// True if there is one.
pub fn is_loaded() -> bool {
    !TOOL.load(Ordering::Acquire).is_null()
}

/// True if the hooks of `thread` have a tool to call.
#[inline]
pub fn on(thread: &Thread) -> bool {
    thread.tool.get() != 0
}

/// The program ends.
pub fn finish() {
    // SAFETY: null, or the static of `start`, which is not written any more.
    if let Some(tool) = unsafe { TOOL.swap(ptr::null_mut(), Ordering::AcqRel).as_ref() } {
        if let Some(finish) = tool.finish {
            // SAFETY: the interface says so.
            unsafe { finish() };
        }
    }
}

/// The current task creates one of `kind` in `context`. Returns its identity; 0 if there is no room.
#[cold]
pub fn create(thread: &Thread, kind: Kind, context: u32) -> u64 {
    make(thread, kind, context, thread.tool_task.get())
}

fn make(thread: &Thread, kind: Kind, context: u32, parent: u64) -> u64 {
    let Some(task) = allocate() else {
        Shared::of(thread).header().dropped_tool_tasks.fetch_add(1, Ordering::Relaxed);
        return 0;
    };
    let (id, data) = task_at(parent).map_or((0, ptr::null_mut()), |parent| (parent.id.get(), parent.data.get()));
    task.id.set(COUNT.fetch_add(1, Ordering::Relaxed) + 1);
    task.parent.set(id);
    task.parent_data.set(data);
    task.data.set(ptr::null_mut());
    task.kind.set(kind as u32);
    let known = context != ROOT && (context as usize) < MAX_CONTEXTS;
    task.site.set(if known { Shared::of(thread).context(context).site.get() + 1 } else { 0 });
    task as *const Task as u64
}

/// The thread begins, as a task of its own.
#[cold]
pub fn begin_thread(thread: &Thread) {
    begin(thread, create(thread, Kind::Thread, ROOT), now(thread));
}

/// The tick now, of a hook that has not read it.
pub fn now(thread: &Thread) -> u64 {
    if Shared::of(thread).is_virtual() {
        thread.virtual_now.get()
    } else {
        platform::ticks()
    }
}

/// The task of this identity begins; 0: one that the tool does not know. Returns the one before.
#[cold]
pub fn begin(thread: &Thread, identity: u64, now: u64) -> u64 {
    let before = thread.tool_task.replace(identity);
    tell(thread, identity, now, |tool| tool.after_enter);
    before
}

/// A task begins whose creation the tool does not know; its parent is the task of identity `parent`. Returns its own.
#[cold]
pub fn begin_new(thread: &Thread, kind: Kind, context: u32, parent: u64) -> u64 {
    let identity = make(thread, kind, context, parent);
    begin(thread, identity, now(thread));
    identity
}

/// The thread, of this slot, gives its strands numbers from now on.
pub fn number_strands(thread: &Thread, slot: usize) {
    if thread.strand_count.get() == 0 {
        thread.strand_count.set(slot as u64 * THREAD_STRANDS);
    }
    begin_strand(thread);
}

/// A strand begins: it gets a number.
#[inline]
pub fn begin_strand(thread: &Thread) {
    let number = thread.strand_count.get() + 1;
    thread.strand_count.set(number);
    thread.strand_number.set(number);
}

/// The running task's block gets the number of its strand: whoever is called sees it, and where the strand goes on elsewhere, it is
/// taken up there ([`come_back`]).
#[cold]
pub fn put_strand(thread: &Thread) {
    if let Some(task) = task_at(thread.tool_task.get()) {
        task.strand.set(thread.strand_number.get());
    }
}

/// The thread goes on with a strand that another has left, of the task of this identity.
#[cold]
pub fn come_back(thread: &Thread, identity: u64) {
    thread.tool_task.set(identity);
    match task_at(identity) {
        Some(task) => thread.strand_number.set(task.strand.get()),
        None => begin_strand(thread),
    }
}

/// The thread goes on with the task of this identity.
#[inline]
pub fn go_on(thread: &Thread, identity: u64) {
    thread.tool_task.set(identity);
}

/// The current task is about to wait for what it has created.
#[cold]
pub fn sync(thread: &Thread, now: u64) {
    tell(thread, thread.tool_task.get(), now, |tool| tool.before_sync);
}

/// The current task ends; what goes on is the task of identity `next`.
#[cold]
pub fn end(thread: &Thread, next: u64, now: u64) {
    let identity = thread.tool_task.get();
    tell(thread, identity, now, |tool| tool.before_exit);
    if let Some(task) = task_at(identity) {
        free(task);
    }
    thread.tool_task.set(next);
}

fn tell(thread: &Thread, identity: u64, now: u64, which: impl Fn(&Tool) -> Told) {
    if thread.tool.get() != CALLED || identity == 0 {
        return;
    }
    // SAFETY: null, or the static of `start`, which is not written any more.
    let Some(told) = (unsafe { TOOL.load(Ordering::Acquire).as_ref() }).and_then(which) else {
        return;
    };
    put_strand(thread);
    let call = || {
        // SAFETY: the interface says so; the block is this task's until `end`.
        unsafe { told(identity as *const Task, now) };
    };
    if Shared::of(thread).is_virtual() {
        // The tool may read the time, but not make it.
        let before = thread.virtual_now.get();
        call();
        thread.virtual_now.set(before);
    } else {
        exclude_next(thread, call);
    }
}

fn task_at(identity: u64) -> Option<&'static Task> {
    // SAFETY: 0, or the address of a block of the table that `make` has taken and nobody has given back.
    unsafe { (identity as *const Task).as_ref() }
}

/// The blocks that are free. `None`: there are no blocks.
fn blocks() -> Option<Free<'static, impl Fn(u32) -> &'static AtomicU32>> {
    if TASKS.load(Ordering::Acquire).is_null() {
        return None;
    }
    Some(Free { head: &FREE, used: &USED, count: MOST as usize + 1, next: |number| &block(number).next, stash: None })
}

/// The block of this number, from 1; there are blocks.
fn block(number: u32) -> &'static Task {
    let at = u64::from(number).clamp(1, MOST) - 1;
    // SAFETY: within the table, which `blocks` has found.
    let block = unsafe { TASKS.load(Ordering::Relaxed).add(at as usize) };
    // SAFETY: its bytes are zero at first, which is a block, and never unmapped.
    unsafe { &*block }
}

fn allocate() -> Option<&'static Task> {
    blocks()?.take().map(block)
}

fn free(task: &'static Task) {
    let at = (task as *const Task as u64 - TASKS.load(Ordering::Relaxed) as u64) / size_of::<Task>() as u64;
    if let Some(blocks) = blocks() {
        blocks.give(at as u32 + 1);
    }
}

/// Where a task was created, by the number in its `site`. 0: not known.
unsafe extern "C" fn place(site: u32, place: *mut Place) -> c_int {
    let (Some(shared), Some(id)) = (memory::shared(), site.checked_sub(1)) else {
        return 0;
    };
    if id as usize >= MAX_SITES || place.is_null() {
        return 0;
    }
    let record = shared.site(id);
    if record.ready.load(Ordering::Acquire) == 0 {
        return 0;
    }
    let found = Place {
        file: record.file.as_ptr().cast(),
        file_length: u64::from(record.file_len.get()),
        line: record.line.get(),
        column: record.column.get(),
        address: record.address.get(),
    };
    // SAFETY: the interface says that it can be written.
    unsafe { place.write(found) };
    1
}

const _: () = assert!(size_of::<Task>() == 64);
