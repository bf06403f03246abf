//! The entry points that the emulator calls, and the callbacks of the whole run.

use std::ffi::{c_char, c_int, c_uint, c_void, CStr};
use std::sync::atomic::{AtomicU32, Ordering};

use super::api::{self, Callbacks, Info};
use super::state::{asleep, ring, ASLEEP, RING};
use super::{code, processor};
use crate::ring::{Ring, NEWEST};

/// Version of the interface that this plugin is for. The emulator reads it before it calls anything.
#[unsafe(no_mangle)]
pub static qemu_plugin_version: AtomicU32 = AtomicU32::new(1);

/// Runs when the library is loaded: which version the emulator accepts shows in which functions it has.
#[used]
#[unsafe(link_section = ".init_array")]
static CHOOSE_VERSION: extern "C" fn() = {
    extern "C" fn choose() {
        // Version 1 is that of QEMU 7.2; from version 2 on, which came with QEMU 9.0, older plugins are refused. Version 3 has no
        // function of its own, and accepts 2.
        let newest = [
            (c"qemu_plugin_set_pc", 6),
            (c"qemu_plugin_write_memory_vaddr", 5),
            (c"qemu_plugin_read_memory_vaddr", 4),
            (c"qemu_plugin_get_registers", 2),
        ];
        let found = newest.into_iter().find(|(name, _)| api::has(name));
        qemu_plugin_version.store(found.map_or(1, |(_, version)| version), Ordering::Relaxed);
    }
    choose
};

/// The emulator calls this first. The one argument is `memory=FD`.
///
/// # Safety
/// Called by the emulator, with what its interface promises.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qemu_plugin_install(
    id: u64,
    info: *const Info,
    argc: c_int,
    argv: *const *const c_char,
) -> c_int {
    let mut memory = None;
    for n in 0..usize::try_from(argc).unwrap_or(0) {
        // SAFETY: there are `argc` arguments.
        let argument = unsafe { *argv.add(n) };
        // SAFETY: each is a string that ends with a zero.
        let argument = unsafe { CStr::from_ptr(argument) }.to_str().unwrap_or_default();
        memory = memory.or(argument.strip_prefix("memory=").and_then(|fd| fd.parse::<i32>().ok()));
    }
    let Some(ring) = memory.and_then(Ring::join) else { return 1 };
    if let Some(memory) = memory {
        // The program's own files begin where they would without us.
        api::close_file(memory);
    }
    // SAFETY: it is valid during this call.
    let current = u32::try_from(unsafe { (*info).current }).unwrap_or(0);
    ring.remark(|remarks| remarks.interface = current);
    if current > NEWEST {
        // From 7 on callbacks have other arguments.
        return 1;
    }
    code::INTERFACE.store(current, Ordering::Relaxed);
    RING.store(Box::into_raw(Box::new(ring)), Ordering::Release);
    api::at_fork(fall_asleep);
    let callbacks = Callbacks {
        translation: code::on_translation,
        processor: on_processor,
        processor_end: on_processor_end,
        call: processor::on_call,
        result: processor::on_return,
        end: on_end,
    };
    api::register(id, &callbacks);
    0
}

extern "C" fn fall_asleep() {
    ASLEEP.store(true, Ordering::Relaxed);
    processor::forget_all();
}

extern "C" fn on_processor(_id: u64, processor: c_uint) {
    if !asleep() {
        ring().remark(|remarks| remarks.processors = remarks.processors.max(processor + 1));
        processor::joined();
    }
}

extern "C" fn on_processor_end(_id: u64, processor: c_uint) {
    processor::left(processor);
}

extern "C" fn on_end(_id: u64, _: *mut c_void) {
    if !asleep() {
        processor::publish_all();
    }
}
