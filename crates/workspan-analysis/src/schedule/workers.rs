//! What the simulation of work stealing keeps of its workers.

use std::collections::VecDeque;

/// A worker.
#[derive(Debug, Default)]
pub(super) struct Worker {
    /// What it waits for, the innermost last: it goes on with that, and nothing else of these, when it has nothing to run.
    pub(super) waits: Vec<u32>,
    /// What it has to offer: it takes from the back, thieves from the front.
    pub(super) deque: VecDeque<u32>,
}

/// Some of the workers, one of whom can be picked at random.
#[derive(Debug)]
pub(super) struct Some {
    members: Vec<u32>,
    places: Vec<u32>,
}

const NOT: u32 = u32::MAX;

impl Some {
    pub(super) fn none_of(workers: u32) -> Some {
        Some { members: Vec::new(), places: vec![NOT; workers as usize] }
    }

    pub(super) fn has(&self, worker: u32) -> bool {
        self.places[worker as usize] != NOT
    }

    pub(super) fn add(&mut self, worker: u32) {
        if !self.has(worker) {
            self.places[worker as usize] = self.count();
            self.members.push(worker);
        }
    }

    pub(super) fn remove(&mut self, worker: u32) {
        let place = std::mem::replace(&mut self.places[worker as usize], NOT);
        if place != NOT {
            self.members.swap_remove(place as usize);
            if let Option::Some(moved) = self.members.get(place as usize) {
                self.places[*moved as usize] = place;
            }
        }
    }

    /// Below the number of workers.
    pub(super) fn count(&self) -> u32 {
        u32::try_from(self.members.len()).unwrap_or(NOT)
    }

    pub(super) fn pick(&self, random: &mut Random) -> Option<u32> {
        let at = random.up_to(i64::from(self.count()) - 1);
        self.members.get(usize::try_from(at).ok()?).copied()
    }

    pub(super) fn all(&self) -> &[u32] {
        &self.members
    }
}

/// Marsaglia's xorshift with a multiplication behind it: small, and the same everywhere.
#[derive(Debug)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Random {
        // Seeds close to each other must not begin alike; the state must not be 0.
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        for _ in 0..8 {
            random.next();
        }
        random
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// From 0 to `most`, or 0 if that is less.
    pub(super) fn up_to(&mut self, most: i64) -> i64 {
        let Ok(bound) = u64::try_from(most.max(0)).map(|most| u128::from(most) + 1) else {
            return 0;
        };
        i64::try_from((u128::from(self.next()) * bound) >> 64).unwrap_or(0)
    }
}
