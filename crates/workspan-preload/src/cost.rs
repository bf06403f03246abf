//! What a callback adds to a strand: less while the program has one thread, more once it has several.

use core::sync::atomic::{AtomicI64, Ordering};

use workspan_collect::process;
use workspan_collect::thread;

/// What a callback takes, and a batch of them, once there are several threads.
pub(crate) static AMONG_OTHERS: [AtomicI64; 2] = [AtomicI64::new(0), AtomicI64::new(0)];

/// The calling thread, the only one so far, is about to create another.
pub fn several_threads() {
    let [each, batch] = [0, 1].map(|i| AMONG_OTHERS[i].load(Ordering::Relaxed));
    let Some(shared) = process::shared().filter(|_| each != 0) else {
        return;
    };
    let header = shared.header();
    header.probe_ticks.store(each, Ordering::Relaxed);
    header.batch_probe_ticks.store(batch, Ordering::Relaxed);
    if let Some(thread) = thread::hot() {
        thread.probe.set(if thread.batching.get() == 0 { each } else { batch });
    }
}
