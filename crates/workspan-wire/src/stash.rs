//! A few elements of a table that a thread has given back and keeps for itself: it takes them again without a word to others.
//!
//! They stay with the slot of the thread, and are the next one's that gets it.
//!
//! **Signals.** While one is taken or given the stash seems empty, so that a handler that runs in between gets none of what is
//! being taken. What the handler gives then may be lost, and nothing is ever handed out twice.

use core::cell::Cell;
use core::sync::atomic::{compiler_fence, Ordering};

/// Elements that a thread keeps of a table.
const MOST: usize = 7;

/// Numbers of elements.
#[repr(C)]
#[derive(Debug, Default)]
pub struct Stash {
    len: Cell<u32>,
    ids: [Cell<u32>; MOST],
}

impl Stash {
    /// Takes one, if there is one.
    #[inline(always)]
    pub fn take(&self) -> Option<u32> {
        self.change(|ids, len| {
            let left = len.checked_sub(1)?;
            Some((left, ids.get(left as usize)?.get()))
        })
    }

    /// Keeps `id`. False: there is no room.
    #[inline(always)]
    pub fn give(&self, id: u32) -> bool {
        let kept = self.change(|ids, len| {
            ids.get(len as usize)?.set(id);
            Some((len + 1, ()))
        });
        kept.is_some()
    }

    /// Seems empty until `work`, which gets how many there are, has said how many there are then; `None`: as many.
    #[inline(always)]
    fn change<R>(&self, work: impl FnOnce(&[Cell<u32>; MOST], u32) -> Option<(u32, R)>) -> Option<R> {
        let before = self.len.replace(0);
        compiler_fence(Ordering::SeqCst);
        let done = work(&self.ids, before);
        compiler_fence(Ordering::SeqCst);
        let (len, result) = done.map_or((before, None), |(len, result)| (len, Some(result)));
        self.len.set(len);
        result
    }
}

/// What a thread keeps.
#[repr(C)]
#[derive(Debug, Default)]
pub struct Spare {
    /// Nodes of paths.
    pub nodes: Stash,
    /// Calls.
    pub calls: Stash,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_as_fit() {
        let stash = Stash::default();
        assert_eq!(stash.take(), None);
        assert_eq!((1..=9).filter(|id| stash.give(*id)).count(), MOST);
        for id in (1..=7).rev() {
            assert_eq!(stash.take(), Some(id));
        }
        assert!(stash.take().is_none() && stash.give(8) && stash.take() == Some(8));
    }
}
