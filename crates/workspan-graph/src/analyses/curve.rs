//! Caches of a replayed recording: of each thread, or of all together.

use std::collections::BTreeMap;

use workspan_trace::control::Kind;

use crate::cache::{Caches, Size};
use crate::events::{Access, Control};
use crate::replay::{Consumer, Executed, Iterations};

pub mod excerpts;

/// Who shares a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// Each thread has its own.
    Private,
    /// All threads use one, taking turns.
    Shared,
}

/// Caches of a replayed recording.
#[derive(Debug)]
pub struct Curve {
    /// What those have counted whose threads have ended.
    ended: Caches,
    sharing: Sharing,
    /// The thread whose turn it is, and its caches.
    now: Option<(u32, Caches)>,
    /// Those of the other threads.
    caches: BTreeMap<u32, Caches>,
}

impl Curve {
    /// Before the first access.
    pub fn new(caches: Caches, sharing: Sharing) -> Curve {
        Curve { ended: caches, sharing, now: None, caches: BTreeMap::new() }
    }

    /// Misses of each size, of all caches of that size together.
    pub fn sizes(mut self) -> Vec<Size> {
        for caches in std::mem::take(&mut self.caches).into_values().chain(self.now.take().map(|(_, caches)| caches)) {
            self.ended.add(caches);
        }
        self.ended.sizes()
    }

    #[inline]
    fn of(&mut self, thread: u32) -> &mut Caches {
        let which = if self.sharing == Sharing::Shared { 0 } else { thread };
        if self.now.as_ref().is_none_or(|(now, _)| *now != which) {
            self.caches.extend(self.now.take());
        }
        let other = || (which, self.caches.remove(&which).unwrap_or_else(|| self.ended.fresh()));
        &mut self.now.get_or_insert_with(other).1
    }
}

impl Consumer for Curve {
    fn segment(&mut self, executed: Executed<'_>, accesses: &[Access]) {
        if accesses.is_empty() {
            return;
        }
        let caches = self.of(executed.thread);
        for access in accesses {
            caches.access(access.address, access.size);
        }
    }

    fn repeated(&mut self, executed: Executed<'_>, iterations: Iterations<'_>, _: &mut Vec<Access>) {
        if !iterations.first.is_empty() {
            self.of(executed.thread).iterate(iterations);
        }
    }

    fn control(&mut self, context: u32, control: Control) {
        // A context that is no thread has no caches.
        if control.kind == Kind::End && self.sharing == Sharing::Private {
            self.caches.extend(self.now.take());
            if let Some(caches) = self.caches.remove(&context) {
                self.ended.add(caches);
            }
        }
    }
}
