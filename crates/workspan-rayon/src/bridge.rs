//! Hooks of `par_bridge`.

use workspan_collect::resource;
use workspan_collect::thread::{self, current};

/// The shared iterator of one `par_bridge`.
#[derive(Debug)]
pub struct Resource(resource::Resource);

impl Resource {
    /// Before the first item.
    pub fn new() -> Resource {
        let resource = resource::Resource::new();
        if let Some(thread) = current() {
            resource.owned_by(thread);
        }
        Resource(resource)
    }
}

impl Drop for Resource {
    fn drop(&mut self) {
        if let Some(thread) = current() {
            self.0.finish(thread);
        }
    }
}

/// One worker's turns at it, until dropped.
#[derive(Debug)]
pub struct Turns<'a> {
    turns: resource::Turns,
    resource: &'a Resource,
}

impl<'a> Turns<'a> {
    /// Before the first turn.
    pub fn new(resource: &'a Resource) -> Turns<'a> {
        let turns = resource::Turns::new();
        if let Some((thread, now)) = thread::running() {
            turns.enter(thread, now);
        }
        Turns { turns, resource }
    }

    /// The lock was taken.
    pub fn begin(&self) {
        if let Some((thread, now)) = thread::waking() {
            self.turns.begin(thread, now, &self.resource.0);
        }
    }

    /// The iterator has answered; the lock is still held.
    pub fn end(&self, item: bool) {
        if let Some((thread, now)) = thread::running() {
            self.turns.end(thread, now, &self.resource.0, item);
        }
    }

    /// The item was consumed.
    pub fn item_done(&self) {
        if let Some((thread, now)) = thread::running() {
            self.turns.item_done(thread, now, &self.resource.0);
        }
    }
}

impl Drop for Turns<'_> {
    fn drop(&mut self) {
        if let Some((thread, now)) = thread::running() {
            self.turns.leave(thread, now, &self.resource.0);
        }
    }
}
