//! Waits: which wake-up ended which, and tasks that are put aside until then.
//!
//! A wake-up is known by a *key*: where it was left, and the absolute span of whoever left it; whoever was woken names the
//! same. Rows stand in an order in which no wait comes before what it waits for. So a thread that waits for what is done later in
//! serial order is parked, and goes on where it is woken, as a task of whoever wakes it: the last moment at which nothing
//! waits for it yet. What happened in a run cannot be a circle, so all are woken. A task of a group is parked, too, and goes on in that group:
//! if the group is waited for before it is woken, in this order, it comes as much later as it did.
//!
//! Positions within teams are relative to their rounds: a wait there is an edge only if both ends are in the same one.

use std::collections::BTreeMap;

use super::entry::{Cursor, Entry};

/// By what a wake-up and its waits are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key(u64, i64);

impl Key {
    pub(super) fn of(entry: &Entry) -> Option<Key> {
        entry.with.map(|with| Key(with.identity, with.n))
    }
}

/// Within which round of which team, if any.
pub(super) type Round = Option<(u64, usize)>;

/// A wake-up that has a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Woken {
    pub(super) label: u32,
    pub(super) position: i64,
    pub(super) round: Round,
}

/// A thread that was put aside.
#[derive(Clone, Debug)]
pub(super) struct Parked {
    /// Where it goes on.
    pub(super) cursor: Cursor,
    /// What its last row is.
    pub(super) end: Woken,
    /// Regions that it was in, from the outside inward, and the context of its strands.
    pub(super) regions: Vec<u32>,
    pub(super) context: u32,
    /// It waits for a lock.
    pub(super) lock: bool,
    /// Place of its group in what is open.
    pub(super) group: Option<usize>,
    /// It goes on without what it waits for.
    pub(super) is_late: bool,
    /// By how much later it came.
    pub(super) raised: i64,
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Waits {
    /// How many waits for a key are still to come.
    awaited: BTreeMap<Key, u32>,
    woken: BTreeMap<Key, Woken>,
    parked: BTreeMap<Key, Vec<Parked>>,
    /// To be resumed when no more is open than this.
    pub(super) ready: Vec<(usize, Parked)>,
    free: Vec<u32>,
    labels: u32,
}

impl Waits {
    /// Of logs in which these are waited for.
    pub(super) fn new(awaited: BTreeMap<Key, u32>) -> Waits {
        Waits { awaited, ..Waits::default() }
    }

    /// A label that nobody awaits.
    pub(super) fn label(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.labels += 1;
            self.labels - 1
        })
    }

    /// Nobody awaits it any more.
    pub(super) fn release(&mut self, label: u32) {
        self.free.push(label);
    }

    /// True if somebody waits for this, now or later.
    pub(super) fn is_awaited(&self, key: Key) -> bool {
        self.awaited.contains_key(&key)
    }

    /// A wake-up has got its row; who was parked for it can go on.
    pub(super) fn wake(&mut self, key: Key, woken: Woken) -> Vec<Parked> {
        let parked = self.parked.remove(&key).unwrap_or_default();
        let left = self.awaited.get(&key).copied().unwrap_or(0);
        if left as usize > parked.len() {
            self.woken.insert(key, woken);
        } else {
            self.release(woken.label);
        }
        for _ in &parked {
            self.take(key);
        }
        parked
    }

    /// What a wait for `key` goes on from, if that is known.
    pub(super) fn woken(&self, key: Key) -> Option<Woken> {
        self.woken.get(&key).copied()
    }

    /// A wait for it is over.
    pub(super) fn take(&mut self, key: Key) {
        let Some(left) = self.awaited.get_mut(&key) else {
            return;
        };
        *left -= 1;
        if *left == 0 {
            self.awaited.remove(&key);
            if let Some(woken) = self.woken.remove(&key) {
                self.release(woken.label);
            }
        }
    }

    /// Puts a thread aside until `key`.
    pub(super) fn park(&mut self, key: Key, parked: Parked) {
        self.parked.entry(key).or_default().push(parked);
    }

    /// One that is parked and belongs to the group at this place; it waits no more.
    pub(super) fn unpark_of(&mut self, group: usize) -> Option<Parked> {
        let is_its = |parked: &Parked| parked.group == Some(group);
        let (key, all) = self.parked.iter_mut().find(|(_, all)| all.iter().any(is_its))?;
        let key = *key;
        let parked = all.iter().position(is_its).map(|at| all.remove(at));
        if all.is_empty() {
            self.parked.remove(&key);
        }
        self.take(key);
        parked
    }

    /// Who is parked for whatever.
    pub(super) fn all_parked(&mut self) -> Vec<Parked> {
        std::mem::take(&mut self.parked).into_values().flatten().collect()
    }
}
