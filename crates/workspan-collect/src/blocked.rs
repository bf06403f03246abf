//! Threads that wait for others' work, where only idle time is measured ([`super::idle`]).

use super::idle;
use super::memory;
use super::shared::Shared;
use super::thread;

/// While it lives, the calling thread waits for others' work.
#[derive(Debug)]
pub struct Blocked(());

impl Blocked {
    /// From now on.
    pub fn new() -> Blocked {
        if idle::here().is_none() && memory::shared().is_some_and(Shared::is_idle_only) {
            // Now that it does it is one of those that count.
            thread::current();
        }
        idle::waits();
        Blocked(())
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        idle::works();
    }
}
