//! Modules: which file of code an address lies in. Looked up once per site that is known by address only.

use core::sync::atomic::Ordering;

use super::platform::{self, Module};
use super::shared::Shared;
use super::text::{copy_text, kept_end};
use workspan_wire::shm::MAX_MODULES;

/// Position + 1 of the module in which `address` lies; 0 if it is in none, or the table is full.
pub fn index(shared: Shared, address: u64) -> u32 {
    platform::module_of(address).map_or(0, |module| intern(shared, &module))
}

fn intern(shared: Shared, module: &Module<'_>) -> u32 {
    let used = &shared.header().modules;
    let path = kept_end(module.path, workspan_wire::shm::FILE_BYTES);
    for i in 0..(used.load(Ordering::Acquire) as usize).min(MAX_MODULES) {
        let record = shared.module(i);
        if record.ready.load(Ordering::Acquire) != 0
            && record.base.get() == module.base
            && record.path_len.get() as usize == path.len()
        {
            return i as u32 + 1;
        }
    }
    // Two threads may add the same module at once: the reader does not mind.
    let id = used.fetch_add(1, Ordering::AcqRel);
    if id as usize >= MAX_MODULES {
        used.store(MAX_MODULES as u32, Ordering::Relaxed);
        return 0;
    }
    let record = shared.module(id as usize);
    record.base.set(module.base);
    record.path_len.set(copy_text(&record.path, path));
    record.ready.store(1, Ordering::Release);
    id + 1
}
