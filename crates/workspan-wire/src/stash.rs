//! A few elements of a table that a thread has given back and keeps for itself: it takes them again without a word to others.
//!
//! They stay with the slot of the thread, and are the next one's that gets it.

use core::cell::Cell;

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
        let len = self.len.get().checked_sub(1)?;
        let id = self.ids.get(len as usize)?.get();
        self.len.set(len);
        Some(id)
    }

    /// Keeps `id`. False: there is no room.
    #[inline(always)]
    pub fn give(&self, id: u32) -> bool {
        let len = self.len.get();
        let Some(place) = self.ids.get(len as usize) else { return false };
        place.set(id);
        self.len.set(len + 1);
        true
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
