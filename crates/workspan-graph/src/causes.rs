//! The order of a replayed recording: what comes before what because of creation, joins, dependences, barriers, locks,
//! conditions and atomics. For consumers that ask whether two accesses are ordered.

use std::collections::HashMap;

use workspan_trace::control::{Kind, Operation};
use workspan_trace::program::{operation, Access as Mode};

use crate::events::{Access, Control};
use crate::order::{Learnt, Order};
use crate::replay::episode;
use crate::structure::other;

/// Distinguishes what atomics order from locks at the same address; no address has this bit.
const OF_ATOMICS: u64 = 1 << 63;

/// What is known of the order so far.
#[derive(Clone, Debug, Default)]
pub struct Causes {
    /// The order of moments.
    pub order: Order,
    objects: HashMap<u64, Learnt>,
    barriers: HashMap<(u64, u64), Learnt>,
}

impl Causes {
    /// Takes a control event.
    pub fn control(&mut self, context: u32, control: Control) {
        let [_, _, third, _, fifth] = control.slots;
        match control.kind {
            Kind::Create | Kind::Task => {
                if let Some(child) = other(third) {
                    self.order.create(context, child);
                }
            }
            Kind::Sync => {
                if let Some(operation) = Operation::of(fifth) {
                    self.sync(context, third, operation);
                }
            }
            Kind::Barrier => {
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

    /// Before an access: an atomic one takes over what others released there.
    pub fn before(&mut self, context: u32, access: &Access) {
        if access.flags & operation::ATOMIC != 0 && access.mode != Mode::Store {
            self.sync(context, access.address | OF_ATOMICS, Operation::AtomicLoad);
        }
    }

    /// After an access: an atomic one lets others take over.
    pub fn after(&mut self, context: u32, access: &Access) {
        if access.flags & operation::ATOMIC != 0 && access.mode != Mode::Load {
            self.sync(context, access.address | OF_ATOMICS, Operation::AtomicStore);
        }
    }

    fn sync(&mut self, context: u32, object: u64, operation: Operation) {
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
