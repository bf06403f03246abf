//! What programs may call (`include/workspan.h`).

use core::ffi::c_int;

use workspan_collect::region::{CallSite, Place, Told};
use workspan_collect::thread::{self, current};
use workspan_wire::site::SiteKind;

use crate::dag::frame::Frame;
use crate::dag::{marked, task};

/// Advances the virtual clock of the calling thread. Without virtual clock it has no effect.
#[no_mangle]
pub extern "C" fn workspan_tick(ticks: u64) {
    if let Some(thread) = current() {
        thread.virtual_now.set(thread.virtual_now.get().wrapping_add(ticks));
    }
}

/// Begins (command 1) or ends (2) the region `id`, or begins (3) the one of the calling function.
#[cfg(target_arch = "x86_64")]
#[no_mangle]
#[unsafe(naked)]
pub extern "C" fn workspan_mark(command: c_int, id: c_int) {
    core::arch::naked_asm!("mov rdx, qword ptr [rsp]", "jmp {mark}", mark = sym mark)
}

/// The same; where the call comes from is not known here.
#[cfg(not(target_arch = "x86_64"))]
#[no_mangle]
pub extern "C" fn workspan_mark(command: c_int, id: c_int) {
    mark(command, id, 0);
}

extern "C" fn mark(command: c_int, id: c_int, after: u64) {
    const BEGIN: c_int = 1;
    const END: c_int = 2;
    const FUNCTION: c_int = 3;
    /// Beside numbers of regions, so that no address is the same.
    const KEY: u64 = 0xffff_ffff << 32;
    let Some((thread, now)) = thread::running() else { return };
    // A thread that has met no construct of OpenMP has no frame yet: what it marks is serial code.
    let Some(frame) = Frame::on(thread).filter(|_| thread.task.waiting.get() == 0) else { return };
    task::stop(thread, Some(now));
    if command == BEGIN || command == FUNCTION {
        let address = after.wrapping_sub(1);
        let place = match command {
            FUNCTION => Place::Address(address),
            _ => Place::Told { key: KEY | u64::from(id.cast_unsigned()), address, tell },
        };
        marked::begin(thread, frame, now, &CallSite { kind: SiteKind::Marked, place, type_name: || "" });
    } else if command == END {
        marked::end(thread, frame, now);
    }
    task::go(thread, Some(now));
}

fn tell(key: u64) -> Told {
    let id = key as u32;
    Told { file: "", function: "", line: 0, column: id.wrapping_add(1), address: 0 }
}
