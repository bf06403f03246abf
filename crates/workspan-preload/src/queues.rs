//! Tasks of a pool that the program has written itself (`include/workspan.h`, `workspan_probe`): who hands a piece of work to a queue
//! creates a task, and whoever runs it says where it begins and ends.
//!
//! A task begins where its creator was, whichever thread runs it and whatever that did before, as tasks of any runtime do. Tasks of one
//! queue, which is known by an address, are waited for together ([`gather`]): the program says where such a wait begins and ends.
//!
//! **Machinery.** What a thread does that runs tasks, outside of them and of waits, is its own strand, which tasks interrupt. It hands
//! out work and orders nothing: a lock that it gives back leaves nothing to who takes it next, and what it signals or posts says where
//! the task has come to that it ran last. So do programs whose waits are not marked go on behind their tasks. The thread ends
//! behind all tasks that it has run.
//!
//! **Cost:** a look-up of the queue and a lock of its own for each task, two readings of the clock at its begin and end, and two nodes of
//! a path.

use core::cell::Cell;
use core::ffi::c_void;
use core::hint;
use core::panic::Location;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use workspan_collect::exclude::exclude_next;
use workspan_collect::log;
use workspan_collect::region::{self, CallSite, Place};
use workspan_collect::shared::{current_account, Shared};
use workspan_collect::strand;
use workspan_collect::thread;
use workspan_collect::waits::Wait;
use workspan_wire::shm::Thread;
use workspan_wire::site::SiteKind;

use crate::dag::frame::{Frame, Kind};
use crate::dag::gather::{self, Gather};
use crate::dag::{create, task};
use crate::sync::waiters::Left;

/// More queues are not distinguished.
const QUEUES: usize = 1024;

/// Tasks that are waited for together.
struct Queue {
    /// Its address; 0: none yet.
    address: AtomicU64,
    busy: AtomicU32,
    /// Those that nobody has waited for yet.
    tasks: Cell<Option<&'static Gather>>,
}

// SAFETY: the cell is touched by whoever has taken `busy`.
unsafe impl Sync for Queue {}

static TABLE: [Queue; QUEUES] =
    [const { Queue { address: AtomicU64::new(0), busy: AtomicU32::new(0), tasks: Cell::new(None) } }; QUEUES];

std::thread_local! {
    static RAN: Ran = const { Ran { is_of_pool: Cell::new(false), last: Cell::new(None), latest: Cell::new(None) } };
}

/// Where the tasks have come to that a thread has run.
struct Ran {
    /// It runs tasks outside of waits.
    is_of_pool: Cell<bool>,
    /// The one after which it has begun none.
    last: Cell<Option<Left>>,
    /// The latest.
    latest: Cell<Option<Left>>,
}

/// The calling thread creates a task of the queue at this address; 0: nothing is recorded.
#[no_mangle]
#[unsafe(naked)]
pub extern "C" fn workspan_task_create(queue: *const c_void) -> u64 {
    core::arch::naked_asm!("mov rsi, qword ptr [rsp]", "jmp {create}", create = sym created_after)
}

extern "C" fn created_after(queue: *const c_void, after: u64) -> u64 {
    created(queue, Place::Address(after.wrapping_sub(1)))
}

/// The same, of a program in Rust.
///
/// # Safety
///
/// `location` is a `&'static Location`.
#[no_mangle]
pub unsafe extern "C" fn workspan_task_create_at(queue: *const c_void, location: *const u8) -> u64 {
    // SAFETY: the caller's promise.
    created(queue, Place::Location(unsafe { &*location.cast::<Location<'static>>() }))
}

/// The calling thread begins to run this task.
#[no_mangle]
pub extern "C" fn workspan_task_begin(task: u64) {
    // SAFETY: 0, or what a call that created a task has returned, of which there is one begin.
    let Some(frame) = (unsafe { (task as *const Frame).as_ref::<'static>() }) else { return };
    let Some((thread, own)) = here() else { return };
    let waits = thread.task.waiting.get() != 0;
    if !waits {
        let now = tick(thread);
        task::stop(thread, Some(now));
        RAN.with(|ran| ran.is_of_pool.set(ran.is_of_pool.get() || own.is_initial()));
    }
    RAN.with(|ran| release(thread, ran.last.take()));
    task::suspend(thread, own, false);
    frame.interrupts(Some(own));
    task::begin(thread, frame);
    if current_account(thread).tasks.get() == 0 {
        // Nothing of the kind has ended here: its account has no memory yet.
        exclude_next(thread, || strand::touch_account(thread, strand::context(thread)));
    }
    let now = tick(thread);
    task::wait_over(thread, now);
    task::go_late(thread, now);
}

/// The calling thread has run this task.
#[no_mangle]
pub extern "C" fn workspan_task_end(task: u64) {
    let Some((thread, frame)) = here().filter(|(thread, _)| thread.task.waiting.get() == 0) else { return };
    let Some(own) = frame.interrupted().filter(|_| core::ptr::from_ref(frame) as u64 == task) else { return };
    // Whoever goes on behind it.
    let left = Left::by(thread, tick(thread), task);
    let now = tick(thread);
    task::stop(thread, Some(now));
    if log::on(thread) {
        gather::abandon_in_log(thread, frame);
    }
    let gather = gather::of(thread, frame);
    task::end_complete(thread, frame);
    if let Some(gather) = gather {
        gather::left(gather, thread);
    }
    task::resume(thread, own, Some(now));
    task::go(thread, Some(now));
    let shared = Shared::of(thread);
    RAN.with(|ran| {
        if own.is_initial() && thread.task.waiting.get() == 0 {
            release(thread, ran.last.replace(Some(left.copy(shared))));
        }
        let latest = ran.latest.take().map_or(left, |before| before.later(left, shared));
        ran.latest.set(Some(latest));
    });
}

/// The calling thread waits for all tasks of the queue at this address: what it does from now on, but for tasks, is part of the wait.
#[no_mangle]
pub extern "C" fn workspan_task_wait_begin(_queue: *const c_void) {
    let Some((thread, _)) = here().filter(|(thread, _)| thread.task.waiting.get() == 0) else { return };
    let now = tick(thread);
    task::stop(thread, Some(now));
    task::wait(thread, now);
    task::go(thread, Some(now));
}

/// The wait is over: all tasks of the queue that have been created have ended.
#[no_mangle]
pub extern "C" fn workspan_task_wait_end(queue: *const c_void) {
    let Some((thread, frame)) = here() else { return };
    let now = tick(thread);
    task::stop(thread, Some(now));
    if let Some(queue) = Queue::at(queue as u64) {
        queue.locked(|tasks| {
            let Some(gather) = tasks.get() else { return };
            gather::join(thread, frame, gather);
            if !gather.is_open() {
                // What comes later is another wait's.
                tasks.set(None);
                gather::release(thread, gather);
            }
        });
    }
    let now = tick(thread);
    task::wait_over(thread, now);
    task::go_late(thread, now);
}

/// The tick now, of the calling thread.
fn tick(thread: &Thread) -> u64 {
    let read = if thread.task.waiting.get() != 0 { thread::waking() } else { thread::running() };
    read.map_or(0, |(_, now)| now)
}

/// The calling thread, and what runs on it.
fn here() -> Option<(&'static Thread, &'static Frame)> {
    let thread = thread::current().filter(|thread| !Shared::of(thread).is_idle_only())?;
    Some((thread, Frame::on(thread).or_else(|| create::initial(thread))?))
}

fn created(queue: *const c_void, place: Place) -> u64 {
    let Some((thread, creator)) = here().filter(|(thread, _)| thread.task.waiting.get() == 0) else { return 0 };
    // A task that comes of one that this thread has run.
    if let Some(left) = RAN.with(|ran| ran.last.take()) {
        let now = tick(thread);
        Wait::begin_at(thread, now).end_behind(now, left.at, Some(left.parts()));
    }
    let now = tick(thread);
    task::stop(thread, Some(now));
    let site = CallSite { kind: SiteKind::PoolTask, place, type_name: || "" };
    let target = region::target(thread, &site);
    let here = strand::context(thread);
    let (context, recursive) = target.map_or((here, true), |target| (target.context, target.recursive));
    let kind = Kind { recursive, ..Kind::default() };
    let frame = match Queue::at(queue as u64) {
        Some(queue) => queue.locked(|tasks| {
            let gather = tasks.get().or_else(|| gather::open(thread, creator, queue.address.load(Ordering::Relaxed)));
            tasks.set(gather);
            gather::create(thread, creator, gather, context, kind)
        }),
        None => gather::create(thread, creator, None, context, kind),
    };
    task::go(thread, Some(now));
    frame.map_or(0, |frame| core::ptr::from_ref(frame) as u64)
}

impl Queue {
    /// The queue at this address. `None`: the table is full.
    fn at(address: u64) -> Option<&'static Queue> {
        let first = (address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54) as usize;
        (0..QUEUES).map(|way| &TABLE[(first + way) % QUEUES]).find(|queue| {
            let known = queue.address.load(Ordering::Acquire);
            known == address
                || known == 0 && {
                    let taken = queue.address.compare_exchange(0, address, Ordering::AcqRel, Ordering::Acquire);
                    taken.is_ok() || taken == Err(address)
                }
        })
    }

    /// Does `work` with its tasks: a few dozen instructions.
    fn locked<R>(&self, work: impl FnOnce(&Cell<Option<&'static Gather>>) -> R) -> R {
        while self.busy.compare_exchange_weak(0, 1, Ordering::Acquire, Ordering::Relaxed).is_err() {
            hint::spin_loop();
        }
        let result = work(&self.tasks);
        self.busy.store(0, Ordering::Release);
        result
    }
}

fn release(thread: &Thread, left: Option<Left>) {
    if let Some(left) = left {
        left.release(Shared::of(thread));
    }
}

/// True of a thread that runs tasks, outside of them: what it does hands out work.
pub fn is_machinery(thread: &Thread) -> bool {
    RAN.with(|ran| ran.is_of_pool.get()) && Frame::on(thread).is_none_or(Frame::is_initial)
}

/// What the strand of `thread`, at tick `now`, leaves for who waits at `address`: where the task has come to that it has run last, if it
/// does nothing but run tasks.
pub fn left_by(thread: &Thread, now: u64, address: u64) -> Left {
    let ran = RAN.with(|ran| ran.last.get());
    match ran.filter(|_| is_machinery(thread)) {
        Some(ran) => ran.copy(Shared::of(thread)),
        None => Left::by(thread, now, address),
    }
}

/// The strand of `thread`, at tick `now`, is the last of its thread: it ends behind all tasks that it has run.
pub fn thread_ends(thread: &'static Thread, now: u64) {
    let (last, latest) = RAN.with(|ran| (ran.last.take(), ran.latest.take()));
    release(thread, last);
    if let Some(left) = latest {
        Wait::begin_at(thread, now).end_behind(now, left.at, Some(left.parts()));
    }
}
