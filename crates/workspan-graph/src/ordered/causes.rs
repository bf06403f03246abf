//! The order of a replayed recording: what comes before what because of creation, joins, dependences, barriers, locks,
//! conditions and atomics. For consumers that ask whether two accesses are ordered.

use std::collections::{BTreeMap, HashMap, HashSet};

use workspan_trace::control::{Kind, Operation};
use workspan_trace::mpi::Passage;

use crate::events::{episode, Control};
use crate::order::{Learnt, Order};
use crate::permits::Permits;
use crate::structure::other;

/// Distinguishes what atomics order from locks at the same address; no address has this bit.
const OF_ATOMICS: u64 = 1 << 63;

/// What is known of the order so far.
#[derive(Clone, Debug, Default)]
pub struct Causes {
    /// The order of moments.
    pub order: Order,
    objects: BTreeMap<u64, Learnt>,
    /// Who holds a lock for reading, and what those did who held it so.
    reading: HashSet<(u32, u64)>,
    readers: HashMap<u64, Learnt>,
    barriers: HashMap<(u64, u64), Learnt>,
    /// Semaphores of which the first value is known.
    permits: BTreeMap<u64, Permits>,
}

impl Causes {
    /// Takes a control event.
    pub fn control(&mut self, context: u32, control: Control) {
        let [_, _, third, _, fifth] = control.slots;
        match control.kind {
            Kind::Create | Kind::Task | Kind::Spawn => {
                if let Some(child) = other(third) {
                    self.order.create(context, child);
                }
            }
            Kind::Sync => {
                if let Some(operation) = Operation::of(fifth) {
                    self.sync(context, third, operation);
                }
            }
            Kind::Atomic => {
                if let Some(operation) = Operation::of(third) {
                    let object = control.slots[0] | OF_ATOMICS;
                    self.sync(context, object, operation);
                    if operation == Operation::Take {
                        self.objects.remove(&object);
                    }
                }
            }
            Kind::Allocate => {
                // Of an object that had been there before nothing is left.
                let [address, size, ..] = control.slots;
                let end = address.saturating_add(size);
                let gone: Vec<u64> = self.permits.range(address..end).map(|(at, _)| *at).collect();
                gone.iter().for_each(|at| drop(self.permits.remove(at)));
                for kind in [0, OF_ATOMICS] {
                    let gone: Vec<u64> = self.objects.range(address | kind..end | kind).map(|(at, _)| *at).collect();
                    gone.iter().for_each(|at| drop(self.objects.remove(at)));
                }
            }
            Kind::Semaphore => {
                let [semaphore, value, ..] = control.slots;
                self.permits.insert(semaphore, Permits::new(value));
            }
            Kind::Barrier if Passage::of(fifth).waits => {
                if let Some(learnt) = self.barriers.get(&episode(&control)) {
                    self.order.learn(context, learnt);
                }
            }
            _ => {}
        }
    }

    /// A context comes to a barrier. All arrive before any leaves: whoever leaves takes over what all did before.
    pub fn arrive(&mut self, context: u32, barrier: Control) {
        let learnt = self.order.release(context);
        join(self.barriers.entry(episode(&barrier)).or_default(), &learnt);
    }

    fn sync(&mut self, context: u32, object: u64, operation: Operation) {
        // Readers come before the next writer, not one after the other.
        match operation {
            Operation::ReadLock => drop(self.reading.insert((context, object))),
            Operation::Unlock if self.reading.remove(&(context, object)) => {
                let learnt = self.order.release(context);
                return join(self.readers.entry(object).or_default(), &learnt);
            }
            Operation::Lock => {
                if let Some(learnt) = self.readers.remove(&object) {
                    self.order.learn(context, &learnt);
                }
            }
            Operation::Post | Operation::Take => {
                if let Some(permits) = self.permits.get_mut(&object) {
                    return match operation {
                        Operation::Post => permits.post(&self.order.release(context)),
                        _ => permits.take().into_iter().for_each(|learnt| self.order.learn(context, learnt)),
                    };
                }
            }
            _ => {}
        }
        if operation.acquires() {
            if let Some(learnt) = self.objects.get(&object) {
                self.order.learn(context, learnt);
            }
        }
        if operation.releases() {
            let learnt = self.order.release(context);
            join(self.objects.entry(object).or_default(), &learnt);
        }
    }
}

fn join(into: &mut Learnt, other: &Learnt) {
    // Who releases a lock has learnt all that is known there, unless others read at the same time.
    if into.iter().all(|(context, moment)| other.get(context).is_some_and(|known| known >= moment)) {
        *into = Learnt::clone(other);
        return;
    }
    let into = Learnt::make_mut(into);
    for (context, moment) in other.iter() {
        let known = into.entry(*context).or_default();
        *known = (*known).max(*moment);
    }
}
