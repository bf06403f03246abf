//! The emulator's functions, and the few of the C library that a plugin needs.
//!
//! They are the same in versions 1 to 6, but for [`insn_data`]: up to version 2 it returns a pointer, from 3 on it copies. In
//! version 7 callbacks of processors and of the end have other arguments.

use std::ffi::{c_char, c_int, c_uint, c_void, CStr};

/// What the emulator says about itself; more follows.
#[repr(C)]
#[derive(Debug)]
pub struct Info {
    /// Name of the architecture.
    pub target: *const c_char,
    /// Oldest version of the interface that it accepts.
    pub oldest: c_int,
    /// Its own.
    pub current: c_int,
}

/// A handle of the emulator's.
pub(super) type Handle = *mut c_void;

/// Callbacks that look at no registers.
const NO_REGISTERS: c_int = 0;
/// Loads and stores.
const BOTH: c_int = 3;

/// Called with a virtual processor.
pub(super) type OnProcessor = extern "C" fn(u64, c_uint);
/// Called when a block runs.
pub(super) type OnBlock = extern "C" fn(c_uint, *mut c_void);
/// Called when memory was accessed.
pub(super) type OnAccess = extern "C" fn(c_uint, u32, u64, *mut c_void);
/// Called when the program calls the system.
pub(super) type OnCall = extern "C" fn(u64, c_uint, i64, u64, u64, u64, u64, u64, u64, u64, u64);
/// Called when the system has answered.
pub(super) type OnReturn = extern "C" fn(u64, c_uint, i64, i64);

unsafe extern "C" {
    fn qemu_plugin_register_vcpu_tb_trans_cb(id: u64, callback: extern "C" fn(u64, Handle));
    fn qemu_plugin_register_vcpu_init_cb(id: u64, callback: OnProcessor);
    fn qemu_plugin_register_vcpu_exit_cb(id: u64, callback: OnProcessor);
    fn qemu_plugin_register_atexit_cb(id: u64, callback: extern "C" fn(u64, *mut c_void), data: *mut c_void);
    fn qemu_plugin_register_vcpu_syscall_cb(id: u64, callback: OnCall);
    fn qemu_plugin_register_vcpu_syscall_ret_cb(id: u64, callback: OnReturn);
    fn qemu_plugin_register_vcpu_tb_exec_cb(block: Handle, callback: OnBlock, registers: c_int, data: *mut c_void);
    fn qemu_plugin_register_vcpu_mem_cb(
        insn: Handle,
        callback: OnAccess,
        registers: c_int,
        which: c_int,
        data: *mut c_void,
    );
    fn qemu_plugin_tb_n_insns(block: Handle) -> usize;
    fn qemu_plugin_tb_get_insn(block: Handle, place: usize) -> Handle;
    fn qemu_plugin_insn_size(insn: Handle) -> usize;
    fn qemu_plugin_insn_vaddr(insn: Handle) -> u64;
    fn qemu_plugin_insn_haddr(insn: Handle) -> *mut c_void;
    fn qemu_plugin_insn_data(insn: Handle, into: *mut u8, len: usize) -> *const u8;
    fn qemu_plugin_mem_size_shift(info: u32) -> c_uint;
    fn qemu_plugin_mem_is_store(info: u32) -> bool;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn close(fd: c_int) -> c_int;
    fn pthread_atfork(
        before: Option<extern "C" fn()>,
        parent: Option<extern "C" fn()>,
        child: Option<extern "C" fn()>,
    ) -> c_int;
}

/// Whether the process has a function of this name.
pub(super) fn has(name: &CStr) -> bool {
    // SAFETY: the name is a string; null stands for the default order of libraries.
    !unsafe { dlsym(std::ptr::null_mut(), name.as_ptr()) }.is_null()
}

/// Closes a file descriptor that is ours.
pub(super) fn close_file(fd: i32) {
    // SAFETY: nobody else uses it.
    unsafe { close(fd) };
}

/// Calls `child` in every process that this one makes.
pub(super) fn at_fork(child: extern "C" fn()) {
    // SAFETY: the function is there as long as the library is, which is never unloaded.
    unsafe { pthread_atfork(None, None, Some(child)) };
}

/// What the emulator is to call.
pub(super) struct Callbacks {
    pub(super) translation: extern "C" fn(u64, Handle),
    pub(super) processor: OnProcessor,
    pub(super) processor_end: OnProcessor,
    pub(super) call: OnCall,
    pub(super) result: OnReturn,
    pub(super) end: extern "C" fn(u64, *mut c_void),
}

/// Registers what concerns the whole run.
pub(super) fn register(id: u64, callbacks: &Callbacks) {
    // SAFETY: these functions only note what to call, and what they are given lives as long as the process.
    unsafe { qemu_plugin_register_vcpu_tb_trans_cb(id, callbacks.translation) };
    // SAFETY: as above.
    unsafe { qemu_plugin_register_vcpu_init_cb(id, callbacks.processor) };
    // SAFETY: as above.
    unsafe { qemu_plugin_register_vcpu_exit_cb(id, callbacks.processor_end) };
    // SAFETY: as above.
    unsafe { qemu_plugin_register_vcpu_syscall_cb(id, callbacks.call) };
    // SAFETY: as above.
    unsafe { qemu_plugin_register_vcpu_syscall_ret_cb(id, callbacks.result) };
    // SAFETY: as above.
    unsafe { qemu_plugin_register_atexit_cb(id, callbacks.end, std::ptr::null_mut()) };
}

/// Requests a call whenever a block begins to run.
pub(super) fn on_every_run(block: Handle, callback: OnBlock, id: u64) {
    let data = std::ptr::without_provenance_mut(usize::try_from(id).unwrap_or(0));
    // SAFETY: the handle is valid while its block is translated; the data is only a number.
    unsafe { qemu_plugin_register_vcpu_tb_exec_cb(block, callback, NO_REGISTERS, data) };
}

/// Requests a call whenever an instruction has accessed memory.
pub(super) fn on_every_access(insn: Handle, callback: OnAccess, place: usize) {
    let data = std::ptr::without_provenance_mut(place);
    // SAFETY: as above.
    unsafe { qemu_plugin_register_vcpu_mem_cb(insn, callback, NO_REGISTERS, BOTH, data) };
}

/// Number of instructions of a block that is translated.
pub(super) fn instructions(block: Handle) -> usize {
    // SAFETY: the handle is valid while its block is translated.
    unsafe { qemu_plugin_tb_n_insns(block) }
}

/// One of them; `place` is less than [`instructions`].
pub(super) fn instruction(block: Handle, place: usize) -> Handle {
    // SAFETY: as above, and there is an instruction at that place.
    unsafe { qemu_plugin_tb_get_insn(block, place) }
}

/// Its length in bytes.
pub(super) fn insn_len(insn: Handle) -> usize {
    // SAFETY: the handle is valid while its block is translated.
    unsafe { qemu_plugin_insn_size(insn) }
}

/// Its address in the program.
pub(super) fn insn_address(insn: Handle) -> u64 {
    // SAFETY: as above.
    unsafe { qemu_plugin_insn_vaddr(insn) }
}

/// Its address in this process; 0 if the emulator does not say.
pub(super) fn insn_host_address(insn: Handle) -> u64 {
    // SAFETY: as above.
    unsafe { qemu_plugin_insn_haddr(insn) }.addr() as u64
}

/// Its first bytes.
pub(super) fn insn_data(insn: Handle, version: u32, into: &mut [u8]) {
    // SAFETY: from version 3 on it copies at most `len` bytes; before, it ignores the two arguments behind the first, which
    // the calling conventions of all systems that it runs on allow.
    let at = unsafe { qemu_plugin_insn_data(insn, into.as_mut_ptr(), into.len()) };
    if version < 3 {
        // SAFETY: then it returns a pointer to the bytes, as many as the instruction is long, and `into` is no longer.
        unsafe { at.copy_to_nonoverlapping(into.as_mut_ptr(), into.len()) };
    }
}

/// Size of an access as a power of two, and whether it is a store.
#[cold]
pub(super) fn access(info: u32) -> (u64, bool) {
    // SAFETY: it only looks at the number.
    let size = unsafe { qemu_plugin_mem_size_shift(info) };
    // SAFETY: it only looks at the number.
    let store = unsafe { qemu_plugin_mem_is_store(info) };
    (u64::from(size), store)
}
