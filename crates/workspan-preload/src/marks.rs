//! What programs may call (`include/workspan.h`).

use workspan_collect::thread::current;

/// Advances the virtual clock of the calling thread. Without virtual clock it has no effect.
#[no_mangle]
pub extern "C" fn workspan_tick(ticks: u64) {
    if let Some(thread) = current() {
        thread.virtual_now.set(thread.virtual_now.get().wrapping_add(ticks));
    }
}
