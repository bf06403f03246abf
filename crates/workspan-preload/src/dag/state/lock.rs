//! Locks that a task holds.

use core::cell::Cell;

use workspan_collect::tables::{ContextId, ROOT};
use workspan_wire::shm::Account;

use super::call::Open;

/// What an account knows of code that is under no lock.
pub(in crate::dag) const NONE: u64 = 0;
/// The same of code under several in turn.
const SEVERAL: u64 = 1;

/// The code of `account` is under `lock`.
pub(in crate::dag) fn is_under(account: &Account, lock: u64) {
    let known = account.lock.get();
    account.lock.set(if known == NONE || known == lock { lock } else { SEVERAL });
}

/// Locks that a task can hold at a time and still have all of them kept separate.
pub(in crate::dag) const DEPTH: usize = 4;

/// Locks that a task holds.
#[derive(Debug)]
pub struct Held {
    pub(in crate::dag) depth: Cell<u32>,
    pub(in crate::dag) held: [Cell<Hold>; DEPTH],
    pub(in crate::dag) waits_since: Cell<u64>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(in crate::dag) struct Hold {
    pub(in crate::dag) lock: u64,
    pub(in crate::dag) before: ContextId,
    pub(in crate::dag) given_back: bool,
    /// It has a context of its own.
    pub(in crate::dag) shown: bool,
    pub(in crate::dag) call: Open,
}

impl Hold {
    const NONE: Hold = Hold { lock: 0, before: ROOT, given_back: false, shown: false, call: Open::NONE };
}

impl Held {
    pub(in crate::dag) const fn new() -> Held {
        let held = [const { Cell::new(Hold::NONE) }; DEPTH];
        Held { depth: Cell::new(0), held, waits_since: Cell::new(0) }
    }
}
