//! gcc's tasks that are not deferred and have a function that copies what they take along (`firstprivate` of C++ objects,
//! Fortran's assumed-shape arrays).
//!
//! libgomp makes the copy and runs the body on it. libomp's `GOMP_task` makes the copy, then runs the body on the original,
//! whose layout is another: correct programs crash. So Workspan's entry point, which is found first, passes Workspan's body and no
//! function that copies; the body, which libomp runs at the right time and reports as any task of `if(0)`, does both in
//! libgomp's order: after what the task depends on, copy, then body.
//!
//! **Invariant:** a [`Task`] is read once, by the body that it was passed with, before the entry point returns. **Cost:** an
//! allocation for each such task; none for others.

use core::ffi::c_void;
use core::mem;

extern "C" {
    fn malloc(size: usize) -> *mut c_void;
    fn free(at: *mut c_void);
}

type Body = unsafe extern "C-unwind" fn(*mut c_void);
type Copy = unsafe extern "C-unwind" fn(*mut c_void, *mut c_void);

/// What the program passed.
#[repr(C)]
#[derive(Debug)]
struct Task {
    body: u64,
    data: u64,
    copy: u64,
    align: usize,
}

/// The body and the data to pass in place of the program's; None if there is no memory.
pub fn replacement(body: u64, data: u64, copy: u64, size: u64, align: u64) -> Option<(u64, u64)> {
    let (size, align) = (size as usize, (align as usize).max(1));
    let bytes = size_of::<Task>().checked_add(size)?.checked_add(align)?;
    // SAFETY: any size may be requested.
    let task = unsafe { malloc(bytes) }.cast::<Task>();
    if task.is_null() {
        return None;
    }
    // SAFETY: fresh memory, large enough and aligned for anything.
    unsafe { task.write(Task { body, data, copy, align }) };
    Some((run as *const () as u64, task as u64))
}

/// True of the body that [`replacement`] returns.
#[cfg(not(idle_only))]
pub fn is_ours(body: *const c_void) -> bool {
    core::ptr::eq(body, run as *const c_void)
}

/// The body in place of the program's.
unsafe extern "C-unwind" fn run(task: *mut c_void) {
    /// Gives the memory back, also if the body is left by an exception.
    struct Freed(*mut c_void);
    impl Drop for Freed {
        fn drop(&mut self) {
            // SAFETY: allocated by `malloc` in `replacement`, and used by nobody any more.
            unsafe { free(self.0) };
        }
    }
    let _freed = Freed(task);
    // SAFETY: what `replacement` has written, passed by the runtime as it was.
    let Task { body, data, copy, align } = unsafe { task.cast::<Task>().read() };
    let behind = task as usize + size_of::<Task>();
    let place = (behind + align - 1) & !(align - 1);
    // SAFETY: the program passes functions of these types (gcc's ABI).
    let copy = unsafe { mem::transmute::<u64, Copy>(copy) };
    // SAFETY: as above.
    let body = unsafe { mem::transmute::<u64, Body>(body) };
    // SAFETY: the place has the size and alignment that the program requests; the data are those it passed, on a stack that is
    // still there as the task is not deferred.
    unsafe { copy(place as *mut c_void, data as *mut c_void) };
    // SAFETY: as above; the body takes what was just made.
    unsafe { body(place as *mut c_void) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_body_runs_on_the_copy() {
        static mut SEEN: (usize, u64) = (0, 0);
        unsafe extern "C-unwind" fn copy(to: *mut c_void, from: *mut c_void) {
            // SAFETY: as passed below.
            let value = unsafe { from.cast::<u64>().read() };
            // SAFETY: as above.
            unsafe { to.cast::<u64>().write(value + 1) };
        }
        unsafe extern "C-unwind" fn body(at: *mut c_void) {
            // SAFETY: written by `copy`; one thread.
            let value = unsafe { at.cast::<u64>().read() };
            // SAFETY: one thread.
            unsafe { SEEN = (at as usize, value) };
        }
        let data = 41u64;
        for align in [0, 1, 8, 64, 4096] {
            let pair =
                replacement(body as *const () as u64, &raw const data as u64, copy as *const () as u64, 8, align);
            let (code, task) = pair.expect("there is memory");
            // SAFETY: what libomp does with the pair.
            let code = unsafe { mem::transmute::<u64, Body>(code) };
            // SAFETY: as above.
            unsafe { code(task as *mut c_void) };
            // SAFETY: one thread.
            let (at, value) = unsafe { SEEN };
            assert_eq!((at % (align as usize).max(1), value), (0, 42));
        }
    }
}
