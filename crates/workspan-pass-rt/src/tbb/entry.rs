//! The entry points of libtbb that create tasks, wait, or hand out memory.

use core::ffi::c_void;

use super::abi::{followed, hand_over, role, Context, Pointer, Role, Task, COUNT};
use super::run::{prepared, runners, running, Running};
use super::table;
use crate::event::now;
use crate::{atomics, memory, original, tasks};

/// A task is about to be spawned into a context; null: nobody waits for it.
///
/// # Safety
/// What a program passes to libtbb.
unsafe fn spawned(task: *const Task, context: *const Context) {
    if !followed() {
        return;
    }
    // SAFETY: alive until it has run.
    let (task, known) = unsafe { (&*task, context.as_ref()) };
    let own = task.table.get();
    if table::original(own).is_some() {
        return;
    }
    // SAFETY: a task has a virtual table.
    let role = unsafe { role(own) };
    let mine = running().filter(|running| !context.is_null() && running.key == context);
    let gather = match (role, known) {
        (_, None) => 0,
        (Role::Splits, Some(known)) => mine.map_or_else(|| known.gather(), |mine| mine.gather),
        (Role::Beside | Role::Several, Some(_)) => match mine.filter(|mine| mine.siblings) {
            Some(mine) => mine.gather,
            None => prepare(context),
        },
        (Role::Single, Some(known)) => known.gather(),
    };
    hand_over(task, tasks::create(gather), gather, role == Role::Several, runners());
}

/// The gather of the algorithm that the caller prepares in a context.
fn prepare(context: *const Context) -> u32 {
    let (key, gather) = prepared().get();
    if key == context as usize && gather != 0 {
        return gather;
    }
    let gather = tasks::gather();
    prepared().set((context as usize, gather));
    gather
}

/// A wait; over with this, also if it throws an exception.
struct Waiting {
    /// The context whose tasks are waited for; null: those of the gather alone.
    of: *const Context,
    gather: u32,
    wait: Pointer,
    since: u64,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        // SAFETY: null, or the program's, alive until the wait is over.
        if let Some(context) = unsafe { self.of.as_ref() } {
            // Tasks may have come only while it waited.
            if self.gather == 0 {
                self.gather = context.gathered();
            }
            context.take(self.gather);
        }
        if crate::event::wanted() {
            atomics::take(self.wait.wrapping_byte_add(COUNT) as u64);
        }
        tasks::join_gather(self.gather, self.since);
    }
}

#[export_name = "_ZN3tbb6detail2r15spawnERNS0_2d14taskERNS2_18task_group_contextE"]
unsafe extern "C-unwind" fn spawn(task: *const Task, context: *const Context) {
    // SAFETY: the caller's own.
    unsafe { spawned(task, context) };
    original!(
        c"_ZN3tbb6detail2r15spawnERNS0_2d14taskERNS2_18task_group_contextE",
        fn(*const Task, *const Context) -> (),
        task,
        context
    );
}

#[export_name = "_ZN3tbb6detail2r15spawnERNS0_2d14taskERNS2_18task_group_contextEt"]
unsafe extern "C-unwind" fn spawn_to(task: *const Task, context: *const Context, slot: u16) {
    // SAFETY: the caller's own.
    unsafe { spawned(task, context) };
    original!(
        c"_ZN3tbb6detail2r15spawnERNS0_2d14taskERNS2_18task_group_contextEt",
        fn(*const Task, *const Context, u16) -> (),
        task,
        context,
        slot
    );
}

#[export_name = "_ZN3tbb6detail2r16submitERNS0_2d14taskERNS2_18task_group_contextEPNS1_5arenaEm"]
unsafe extern "C-unwind" fn submit(task: *const Task, context: *const Context, arena: Pointer, critical: usize) {
    // SAFETY: the caller's own.
    unsafe { spawned(task, context) };
    original!(
        c"_ZN3tbb6detail2r16submitERNS0_2d14taskERNS2_18task_group_contextEPNS1_5arenaEm",
        fn(*const Task, *const Context, Pointer, usize) -> (),
        task,
        context,
        arena,
        critical
    );
}

#[export_name = "_ZN3tbb6detail2r17enqueueERNS0_2d14taskEPNS2_15task_arena_baseE"]
unsafe extern "C-unwind" fn enqueue(task: *const Task, arena: Pointer) {
    // SAFETY: the caller's own.
    unsafe { spawned(task, core::ptr::null()) };
    original!(
        c"_ZN3tbb6detail2r17enqueueERNS0_2d14taskEPNS2_15task_arena_baseE",
        fn(*const Task, Pointer) -> (),
        task,
        arena
    );
}

#[export_name = "_ZN3tbb6detail2r17enqueueERNS0_2d14taskERNS2_18task_group_contextEPNS2_15task_arena_baseE"]
unsafe extern "C-unwind" fn enqueue_in(task: *const Task, context: *const Context, arena: Pointer) {
    // SAFETY: the caller's own.
    unsafe { spawned(task, context) };
    original!(
        c"_ZN3tbb6detail2r17enqueueERNS0_2d14taskERNS2_18task_group_contextEPNS2_15task_arena_baseE",
        fn(*const Task, *const Context, Pointer) -> (),
        task,
        context,
        arena
    );
}

#[export_name = "_ZN3tbb6detail2r116execute_and_waitERNS0_2d14taskERNS2_18task_group_contextERNS2_12wait_contextES6_"]
unsafe extern "C-unwind" fn execute_and_wait(
    task: *const Task,
    context: *const Context,
    wait: Pointer,
    waits_in: *const Context,
) {
    let waiting = followed().then(|| {
        // SAFETY: the program's own, alive until the wait is over.
        let (task, known) = unsafe { (&*task, &*context) };
        // SAFETY: a task has a virtual table.
        let role = unsafe { role(task.table.get()) };
        let gather = match role {
            Role::Splits => tasks::gather(),
            Role::Single => known.gather(),
            Role::Beside | Role::Several => {
                let gather = prepare(context);
                prepared().set((0, 0));
                gather
            }
        };
        hand_over(task, tasks::create(gather), gather, role == Role::Several, runners());
        let of = if role == Role::Single { context } else { core::ptr::null() };
        Waiting { of, gather, wait, since: now() }
    });
    original!(
        c"_ZN3tbb6detail2r116execute_and_waitERNS0_2d14taskERNS2_18task_group_contextERNS2_12wait_contextES6_",
        fn(*const Task, *const Context, Pointer, *const Context) -> (),
        task,
        context,
        wait,
        waits_in
    );
    drop(waiting);
}

#[export_name = "_ZN3tbb6detail2r14waitERNS0_2d112wait_contextERNS2_18task_group_contextE"]
unsafe extern "C-unwind" fn wait_for(wait: Pointer, context: *const Context) {
    // SAFETY: the program's own, alive until the wait is over.
    let gathered = || unsafe { (*context).gathered() };
    let waiting = followed().then(|| Waiting { of: context, gather: gathered(), wait, since: now() });
    original!(
        c"_ZN3tbb6detail2r14waitERNS0_2d112wait_contextERNS2_18task_group_contextE",
        fn(Pointer, *const Context) -> (),
        wait,
        context
    );
    drop(waiting);
}

#[export_name = "_ZN3tbb6detail2r110initializeERNS0_2d118task_group_contextE"]
unsafe extern "C-unwind" fn initialize(context: *const Context) {
    original!(c"_ZN3tbb6detail2r110initializeERNS0_2d118task_group_contextE", fn(*const Context) -> (), context);
    if followed() {
        // SAFETY: it is a context now.
        unsafe { (*context).begin() };
    }
}

#[export_name = "_ZN3tbb6detail2r17destroyERNS0_2d118task_group_contextE"]
unsafe extern "C-unwind" fn destroy(context: *const Context) {
    if followed() {
        // SAFETY: it is a context still.
        unsafe { (*context).end() };
    }
    original!(c"_ZN3tbb6detail2r17destroyERNS0_2d118task_group_contextE", fn(*const Context) -> (), context);
}

/// `tbb::detail::d1::delegate_base`, and what libtbb runs in its place: on the calling thread, or on a worker of the arena
/// while the calling thread sleeps.
#[repr(C)]
struct Delegate {
    functions: *const Functions,
    program: *const Delegate,
    task: u32,
}

#[repr(C)]
struct Functions {
    run: unsafe extern "C-unwind" fn(*const Delegate) -> bool,
    destroy: [unsafe extern "C-unwind" fn(*const Delegate); 2],
}

static FUNCTIONS: Functions = Functions { run: run_delegate, destroy: [nothing, nothing] };

unsafe extern "C-unwind" fn nothing(_: *const Delegate) {}

unsafe extern "C-unwind" fn run_delegate(delegate: *const Delegate) -> bool {
    // SAFETY: libtbb passes what it was given, which lives until it returns.
    let ours = unsafe { &*delegate };
    let running = Running::new(ours.task, 0, core::ptr::null(), false);
    running.enter();
    // SAFETY: the program's own, with a virtual table.
    let answer = unsafe { ((*(*ours.program).functions).run)(ours.program) };
    drop(running);
    answer
}

/// Joins also if an exception is thrown.
struct Entered(u32, u64);

impl Drop for Entered {
    fn drop(&mut self) {
        tasks::join(self.0, self.1);
    }
}

#[export_name = "_ZN3tbb6detail2r17executeERNS0_2d115task_arena_baseERNS2_13delegate_baseE"]
unsafe extern "C-unwind" fn execute(arena: Pointer, delegate: *const Delegate) {
    let task = if followed() { tasks::create(0) } else { 0 };
    let ours = Delegate { functions: &FUNCTIONS, program: delegate, task };
    let used = if task == 0 { delegate } else { &raw const ours };
    let entered = (task != 0).then(|| Entered(task, now()));
    original!(
        c"_ZN3tbb6detail2r17executeERNS0_2d115task_arena_baseERNS2_13delegate_baseE",
        fn(Pointer, *const Delegate) -> (),
        arena,
        used
    );
    drop(entered);
}

type Memory = *mut c_void;

/// Memory that libtbb hands out may have been another task's.
fn handed_out(memory: Memory, size: usize) -> Memory {
    memory::allocated(memory, size);
    memory
}

#[export_name = "_ZN3tbb6detail2r18allocateERPNS0_2d117small_object_poolEm"]
unsafe extern "C-unwind" fn allocate(pool: Pointer, size: usize) -> Memory {
    handed_out(
        original!(
            c"_ZN3tbb6detail2r18allocateERPNS0_2d117small_object_poolEm",
            fn(Pointer, usize) -> Memory,
            pool,
            size
        ),
        size,
    )
}

#[export_name = "_ZN3tbb6detail2r18allocateERPNS0_2d117small_object_poolEmRKNS2_14execution_dataE"]
unsafe extern "C-unwind" fn allocate_in(pool: Pointer, size: usize, how: Pointer) -> Memory {
    handed_out(
        original!(
            c"_ZN3tbb6detail2r18allocateERPNS0_2d117small_object_poolEmRKNS2_14execution_dataE",
            fn(Pointer, usize, Pointer) -> Memory,
            pool,
            size,
            how
        ),
        size,
    )
}

#[export_name = "_ZN3tbb6detail2r115allocate_memoryEm"]
unsafe extern "C-unwind" fn allocate_memory(size: usize) -> Memory {
    handed_out(original!(c"_ZN3tbb6detail2r115allocate_memoryEm", fn(usize) -> Memory, size), size)
}

#[export_name = "_ZN3tbb6detail2r122cache_aligned_allocateEm"]
unsafe extern "C-unwind" fn cache_aligned_allocate(size: usize) -> Memory {
    handed_out(original!(c"_ZN3tbb6detail2r122cache_aligned_allocateEm", fn(usize) -> Memory, size), size)
}
