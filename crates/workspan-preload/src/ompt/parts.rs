//! Untied tasks, part by part.
//!
//! LLVM's compilers cut an untied task into parts, each of which hands the next one to the runtime. A task is complete once
//! all threads that ran parts of it have let go of it; so the thread that says so need not be the one that ran the last
//! part, and the runtime reports nothing of that one. Its books on the task must be closed nevertheless, at the end of the part's code:
//! no other event may follow on that thread for as long as others wait for the task.
//!
//! So the code of an untied task is replaced, when the task is allocated, by a function that calls it and closes the books
//! afterwards. There are as many such functions as a program may have untied tasks in its source, one each; further
//! ones are left alone, and may be charged what follows them on their thread.

use core::ffi::{c_int, c_void};
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};

use super::tasks;

/// Most functions that can be replaced.
const PARTS: usize = 256;
/// Bytes of a replacement's code.
const CODE: usize = 16;

/// What each replacement stands for; filled from the front.
static ROUTINES: [AtomicPtr<c_void>; PARTS] = [const { AtomicPtr::new(ptr::null_mut()) }; PARTS];

/// The code of a task: thread number and task.
type Routine = unsafe extern "C-unwind" fn(c_int, *mut c_void) -> c_int;

// The replacements: each adds its number as a third argument.
#[cfg(target_arch = "x86_64")]
core::arch::global_asm!(
    ".pushsection .text.workspan_parts,\"ax\",@progbits",
    ".p2align 4",
    ".hidden workspan_parts",
    ".globl workspan_parts",
    ".type workspan_parts, @function",
    "workspan_parts:",
    ".set workspan_part, 0",
    ".rept {parts}",
    ".p2align 4",
    "mov edx, OFFSET workspan_part",
    "jmp {run}",
    ".set workspan_part, workspan_part + 1",
    ".endr",
    ".popsection",
    parts = const PARTS,
    run = sym run,
);

#[cfg(target_arch = "x86_64")]
extern "C" {
    #[link_name = "workspan_parts"]
    fn first_replacement();
}

/// What to call in place of `routine`, the code of an untied task.
#[cfg(target_arch = "x86_64")]
pub fn replacement(routine: *mut c_void) -> *mut c_void {
    for (at, known) in ROUTINES.iter().enumerate() {
        let found = known.load(Ordering::Acquire);
        let free = found.is_null()
            && match known.compare_exchange(ptr::null_mut(), routine, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => true,
                Err(other) => other == routine,
            };
        if free || found == routine {
            return (first_replacement as *const () as usize + at * CODE) as *mut c_void;
        }
    }
    routine
}

#[cfg(not(target_arch = "x86_64"))]
pub fn replacement(routine: *mut c_void) -> *mut c_void {
    routine
}

/// Runs a part of a task whose code is replaced by number `part`. A thread that is ended in it (`pthread_cancel`) unwinds through here.
unsafe extern "C-unwind" fn run(gtid: c_int, task: *mut c_void, part: usize) -> c_int {
    let here = tasks::untied_task();
    let routine = ROUTINES[part % PARTS].load(Ordering::Acquire);
    // SAFETY: the runtime calls a replacement only after `replacement` gave it out for this function, which is one of a
    // task's.
    let routine: Routine = unsafe { core::mem::transmute::<*mut c_void, Routine>(routine) };
    // SAFETY: with the arguments that the runtime passes for it.
    let result = unsafe { routine(gtid, task) };
    if let Some(task) = here {
        tasks::part_over(task);
    }
    result
}
