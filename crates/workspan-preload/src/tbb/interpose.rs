//! The entry points of libtbb, defined here first: each notes what it is called for, and goes on to libtbb's own.
//!
//! Those that create tasks get where their return address lies on the stack as one more argument, by a shim that leaves the
//! stack as it is.

use core::ffi::{c_void, CStr};
use core::mem;
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};

use workspan_collect::asked;
use workspan_wire::shm::Asked;

use super::abi::{Context, Task};
use super::site::Called;
use super::{
    algorithm, arena, context, fold, library, limiter, pipeline, spawn, start, state, suspend as suspension, wait,
};

extern "C" {
    fn abort() -> !;
}

/// An entry point of libtbb.
struct Own {
    name: &'static CStr,
    at: AtomicPtr<c_void>,
}

impl Own {
    const fn new(name: &'static CStr) -> Own {
        Own { name, at: AtomicPtr::new(ptr::null_mut()) }
    }

    #[inline(always)]
    fn get(&self) -> *mut c_void {
        let known = self.at.load(Ordering::Relaxed);
        if known.is_null() {
            self.find()
        } else {
            known
        }
    }

    #[cold]
    fn find(&self) -> *mut c_void {
        let found = library::find(self.name);
        if found.is_null() {
            // The caller has been linked with it: there is nothing to go on to.
            // SAFETY: does not return.
            unsafe { abort() };
        }
        self.at.store(found, Ordering::Relaxed);
        found
    }
}

/// libtbb's own function of this name and type.
macro_rules! own {
    ($name:literal as $kind:ty) => {{
        static OWN: Own = Own::new(name(concat!($name, "\0").as_bytes()));
        // SAFETY: libtbb defines it with this signature.
        unsafe { mem::transmute::<*mut c_void, $kind>(OWN.get()) }
    }};
}

const fn name(text: &'static [u8]) -> &'static CStr {
    match CStr::from_bytes_with_nul(text) {
        Ok(name) => name,
        Err(_) => c"",
    }
}

/// An entry point that passes on where its return address lies: in a register that its own arguments leave free.
macro_rules! with_stack {
    ($shim:ident, $name:literal, $register:literal, $to:ident) => {
        #[export_name = $name]
        #[unsafe(naked)]
        unsafe extern "C-unwind" fn $shim() {
            core::arch::naked_asm!(concat!("mov ", $register, ", rsp"), "jmp {to}", to = sym $to)
        }
    };
}

with_stack!(spawn_shim, "_ZN3tbb6detail2r15spawnERNS0_2d14taskERNS2_18task_group_contextE", "rdx", spawn_here);
unsafe extern "C-unwind" fn spawn_here(task: *const Task, context: *const Context, called: Called) {
    type Kind = unsafe extern "C-unwind" fn(*const Task, *const Context);
    let own = own!("_ZN3tbb6detail2r15spawnERNS0_2d14taskERNS2_18task_group_contextE" as Kind);
    if start::watched() {
        // SAFETY: the caller's own.
        unsafe { spawn::spawned(task, context, called) };
    }
    // SAFETY: the caller's own.
    unsafe { own(task, context) };
}

with_stack!(spawn_to_shim, "_ZN3tbb6detail2r15spawnERNS0_2d14taskERNS2_18task_group_contextEt", "rcx", spawn_to);
unsafe extern "C-unwind" fn spawn_to(task: *const Task, context: *const Context, slot: u16, called: Called) {
    type Kind = unsafe extern "C-unwind" fn(*const Task, *const Context, u16);
    let own = own!("_ZN3tbb6detail2r15spawnERNS0_2d14taskERNS2_18task_group_contextEt" as Kind);
    if start::watched() {
        // SAFETY: the caller's own.
        unsafe { spawn::spawned(task, context, called) };
    }
    // SAFETY: the caller's own.
    unsafe { own(task, context, slot) };
}

with_stack!(
    submit_shim,
    "_ZN3tbb6detail2r16submitERNS0_2d14taskERNS2_18task_group_contextEPNS1_5arenaEm",
    "r8",
    submit
);
unsafe extern "C-unwind" fn submit(
    task: *const Task,
    context: *const Context,
    arena: *const c_void,
    critical: usize,
    called: Called,
) {
    type Kind = unsafe extern "C-unwind" fn(*const Task, *const Context, *const c_void, usize);
    let own = own!("_ZN3tbb6detail2r16submitERNS0_2d14taskERNS2_18task_group_contextEPNS1_5arenaEm" as Kind);
    if start::watched() {
        // SAFETY: the caller's own.
        unsafe { spawn::spawned(task, context, called) };
    }
    // SAFETY: the caller's own.
    unsafe { own(task, context, arena, critical) };
}

with_stack!(enqueue_shim, "_ZN3tbb6detail2r17enqueueERNS0_2d14taskEPNS2_15task_arena_baseE", "rdx", enqueue);
unsafe extern "C-unwind" fn enqueue(task: *const Task, arena: *const c_void, called: Called) {
    type Kind = unsafe extern "C-unwind" fn(*const Task, *const c_void);
    let own = own!("_ZN3tbb6detail2r17enqueueERNS0_2d14taskEPNS2_15task_arena_baseE" as Kind);
    if start::watched() {
        // SAFETY: the caller's own.
        unsafe { spawn::spawned(task, ptr::null(), called) };
    }
    // SAFETY: the caller's own.
    unsafe { own(task, arena) };
}

with_stack!(
    enqueue_in_shim,
    "_ZN3tbb6detail2r17enqueueERNS0_2d14taskERNS2_18task_group_contextEPNS2_15task_arena_baseE",
    "rcx",
    enqueue_in
);
unsafe extern "C-unwind" fn enqueue_in(
    task: *const Task,
    context: *const Context,
    arena: *const c_void,
    called: Called,
) {
    type Kind = unsafe extern "C-unwind" fn(*const Task, *const Context, *const c_void);
    let own = own!("_ZN3tbb6detail2r17enqueueERNS0_2d14taskERNS2_18task_group_contextEPNS2_15task_arena_baseE" as Kind);
    if start::watched() {
        // SAFETY: the caller's own.
        unsafe { spawn::spawned(task, context, called) };
    }
    // SAFETY: the caller's own.
    unsafe { own(task, context, arena) };
}

with_stack!(
    execute_and_wait_shim,
    "_ZN3tbb6detail2r116execute_and_waitERNS0_2d14taskERNS2_18task_group_contextERNS2_12wait_contextES6_",
    "r8",
    execute_and_wait
);
unsafe extern "C-unwind" fn execute_and_wait(
    task: *const Task,
    context: *const Context,
    wait: *const c_void,
    waits_in: *const Context,
    called: Called,
) {
    type Kind = unsafe extern "C-unwind" fn(*const Task, *const Context, *const c_void, *const Context);
    let own = own!(
        "_ZN3tbb6detail2r116execute_and_waitERNS0_2d14taskERNS2_18task_group_contextERNS2_12wait_contextES6_" as Kind
    );
    // SAFETY: the caller's own.
    let running = start::watched().then(|| unsafe { algorithm::begin(task, context, called) });
    // SAFETY: the caller's own.
    unsafe { own(task, context, wait, waits_in) };
    drop(running);
}

#[export_name = "_ZN3tbb6detail2r14waitERNS0_2d112wait_contextERNS2_18task_group_contextE"]
unsafe extern "C-unwind" fn wait_for(wait: *const c_void, context: *const Context) {
    type Kind = unsafe extern "C-unwind" fn(*const c_void, *const Context);
    let own = own!("_ZN3tbb6detail2r14waitERNS0_2d112wait_contextERNS2_18task_group_contextE" as Kind);
    // SAFETY: the caller's own.
    let waiting = start::watched().then(|| unsafe { wait::begin(context) });
    // SAFETY: the caller's own.
    unsafe { own(wait, context) };
    drop(waiting);
}

#[export_name = "_ZN3tbb6detail2r17executeERNS0_2d115task_arena_baseERNS2_13delegate_baseE"]
unsafe extern "C-unwind" fn execute(arena: *const c_void, delegate: *const arena::Delegate) {
    type Kind = unsafe extern "C-unwind" fn(*const c_void, *const arena::Delegate);
    let own = own!("_ZN3tbb6detail2r17executeERNS0_2d115task_arena_baseERNS2_13delegate_baseE" as Kind);
    let entered = if start::watched() { arena::enter(delegate) } else { None };
    match entered {
        None => {
            // SAFETY: the caller's own.
            unsafe { own(arena, delegate) };
        }
        Some(entered) => {
            // SAFETY: the caller's own, but for the delegate, which goes on to the caller's.
            unsafe { own(arena, entered.delegate()) };
            drop(entered);
        }
    }
}

with_stack!(
    parallel_pipeline_shim,
    "_ZN3tbb6detail2r117parallel_pipelineERNS0_2d118task_group_contextEmRKNS2_11filter_nodeE",
    "rcx",
    parallel_pipeline
);
unsafe extern "C-unwind" fn parallel_pipeline(
    context: *const Context,
    tokens: usize,
    root: *const pipeline::Node,
    called: Called,
) {
    type Kind = unsafe extern "C-unwind" fn(*const Context, usize, *const pipeline::Node);
    let own = own!("_ZN3tbb6detail2r117parallel_pipelineERNS0_2d118task_group_contextEmRKNS2_11filter_nodeE" as Kind);
    // SAFETY: the caller's own, but for the tree, which has the stages of the caller's.
    let run = |root| unsafe { own(context, tokens, root) };
    if start::watched() {
        // SAFETY: the caller's own.
        unsafe { pipeline::follow(root, tokens, (context, called), run) };
    } else {
        run(root);
    }
}

#[export_name = "_ZN3tbb6detail2r110initializeERNS0_2d118task_group_contextE"]
unsafe extern "C-unwind" fn initialize(at: *const Context) {
    type Kind = unsafe extern "C-unwind" fn(*const Context);
    let own = own!("_ZN3tbb6detail2r110initializeERNS0_2d118task_group_contextE" as Kind);
    // SAFETY: the caller's own.
    unsafe { own(at) };
    if start::watched() {
        // SAFETY: it is a context now.
        context::begun(unsafe { &*at });
    }
}

#[export_name = "_ZN3tbb6detail2r17destroyERNS0_2d118task_group_contextE"]
unsafe extern "C-unwind" fn destroy(at: *const Context) {
    type Kind = unsafe extern "C-unwind" fn(*const Context);
    let own = own!("_ZN3tbb6detail2r17destroyERNS0_2d118task_group_contextE" as Kind);
    if start::watched() {
        // SAFETY: it is a context still.
        context::over(unsafe { &*at });
    }
    // SAFETY: the caller's own.
    unsafe { own(at) };
}

#[export_name = "_ZN3tbb6detail2r18allocateERPNS0_2d117small_object_poolEm"]
unsafe extern "C-unwind" fn allocate(pool: *const c_void, size: usize) -> *mut c_void {
    static FIRST: start::First = start::First::new();
    type Kind = unsafe extern "C-unwind" fn(*const c_void, usize) -> *mut c_void;
    let own = own!("_ZN3tbb6detail2r18allocateERPNS0_2d117small_object_poolEm" as Kind);
    state::allocates();
    // SAFETY: the caller's own.
    FIRST.call(|| unsafe { own(pool, size) })
}

#[export_name = "_ZN3tbb6detail2r18allocateERPNS0_2d117small_object_poolEmRKNS2_14execution_dataE"]
unsafe extern "C-unwind" fn allocate_in(pool: *const c_void, size: usize, how: *const c_void) -> *mut c_void {
    type Kind = unsafe extern "C-unwind" fn(*const c_void, usize, *const c_void) -> *mut c_void;
    let own = own!("_ZN3tbb6detail2r18allocateERPNS0_2d117small_object_poolEmRKNS2_14execution_dataE" as Kind);
    state::allocates();
    // SAFETY: the caller's own.
    let block = unsafe { own(pool, size, how) };
    fold::allocated(block);
    block
}

#[export_name = "_ZN3tbb6detail2r110deallocateERNS0_2d117small_object_poolEPvmRKNS2_14execution_dataE"]
unsafe extern "C-unwind" fn deallocate_in(pool: *const c_void, block: *mut c_void, size: usize, how: *const c_void) {
    type Kind = unsafe extern "C-unwind" fn(*const c_void, *mut c_void, usize, *const c_void);
    let own = own!("_ZN3tbb6detail2r110deallocateERNS0_2d117small_object_poolEPvmRKNS2_14execution_dataE" as Kind);
    fold::given_back(block);
    // SAFETY: the caller's own.
    unsafe { own(pool, block, size, how) };
}

#[export_name = "_ZN3tbb6detail2r17suspendEPFvPvPNS1_18suspend_point_typeEES2_"]
unsafe extern "C-unwind" fn suspend(callback: suspension::Callback, argument: *mut c_void) {
    type Kind = unsafe extern "C-unwind" fn(suspension::Callback, *mut c_void);
    let own = own!("_ZN3tbb6detail2r17suspendEPFvPvPNS1_18suspend_point_typeEES2_" as Kind);
    // SAFETY: the caller's own.
    unsafe { suspension::suspends(own, callback, argument) }
}

#[export_name = "_ZN3tbb6detail2r16resumeEPNS1_18suspend_point_typeE"]
unsafe extern "C-unwind" fn resume(point: *const c_void) {
    type Kind = unsafe extern "C-unwind" fn(*const c_void);
    let own = own!("_ZN3tbb6detail2r16resumeEPNS1_18suspend_point_typeE" as Kind);
    suspension::resumes(point as u64);
    // SAFETY: the caller's own.
    unsafe { own(point) };
}

/// Entry points of one argument that start libtbb where they come first, and are passed on as they are.
macro_rules! starts {
    ($($function:ident $name:literal;)*) => {$(
        #[export_name = $name]
        unsafe extern "C-unwind" fn $function(it: *const c_void) -> usize {
            type Kind = unsafe extern "C-unwind" fn(*const c_void) -> usize;
            static FIRST: start::First = start::First::new();
            let own = own!($name as Kind);
            // SAFETY: the caller's own; what comes back is nothing, or a truth value in the register of a number.
            FIRST.call(|| unsafe { own(it) })
        }
    )*};
}

starts! {
    initialize_arena "_ZN3tbb6detail2r110initializeERNS0_2d115task_arena_baseE";
    create_control "_ZN3tbb6detail2r16createERNS0_2d114global_controlE";
}

#[export_name = "_ZN3tbb6detail2r16attachERNS0_2d115task_arena_baseE"]
unsafe extern "C-unwind" fn attach_arena(arena: *const c_void) -> bool {
    type Kind = unsafe extern "C-unwind" fn(*const c_void) -> bool;
    static FIRST: start::First = start::First::new();
    let own = own!("_ZN3tbb6detail2r16attachERNS0_2d115task_arena_baseE" as Kind);
    // A graph does so when it begins.
    limiter::forget();
    // SAFETY: the caller's own.
    FIRST.call(|| unsafe { own(arena) })
}

#[export_name = "_ZN3tbb6detail2r120isolate_within_arenaERNS0_2d113delegate_baseEl"]
unsafe extern "C-unwind" fn isolate(body: *const c_void, isolation: isize) {
    type Kind = unsafe extern "C-unwind" fn(*const c_void, isize);
    let own = own!("_ZN3tbb6detail2r120isolate_within_arenaERNS0_2d113delegate_baseEl" as Kind);
    // `std::execution::par` calls it first.
    start::begin();
    // SAFETY: the caller's own.
    unsafe { own(body, isolation) }
}

#[export_name = "_ZN3tbb6detail2r128is_group_execution_cancelledERNS0_2d118task_group_contextE"]
unsafe extern "C-unwind" fn is_cancelled(context: *const Context) -> bool {
    type Kind = unsafe extern "C-unwind" fn(*const Context) -> bool;
    let own = own!("_ZN3tbb6detail2r128is_group_execution_cancelledERNS0_2d118task_group_contextE" as Kind);
    fold::asked(context);
    // SAFETY: the caller's own.
    unsafe { own(context) }
}

#[export_name = "_ZN3tbb6detail2r115max_concurrencyEPKNS0_2d115task_arena_baseE"]
unsafe extern "C-unwind" fn max_concurrency(arena: *const c_void) -> i32 {
    type Kind = unsafe extern "C-unwind" fn(*const c_void) -> i32;
    let own = own!("_ZN3tbb6detail2r115max_concurrencyEPKNS0_2d115task_arena_baseE" as Kind);
    // SAFETY: the caller's own.
    let there_are = || unsafe { own(arena) };
    if arena.is_null() && start::watched() {
        if let Some(threads) = state::threads_to_split_for() {
            return threads;
        }
    }
    let actual = there_are();
    if !start::watched() {
        return actual;
    }
    let answer = usize::try_from(actual).map(|actual| asked::answer(Asked::MaxConcurrency, actual));
    answer.ok().and_then(|answer| i32::try_from(answer).ok()).unwrap_or(actual)
}
