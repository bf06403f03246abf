//! Data races: accesses of two tasks to the same bytes, one of them a write, that the graph leaves unordered.
//!
//! Each context has a vector clock. It advances where the context releases; what acquires an object takes over what was
//! released to it before; creation, join and barriers do the same. A lock orders only those who hold it one after the
//! other, as in this run: another run may have them in another order, but not at the same time. Two atomic accesses to a
//! place do not race; they order as the replay has them, which may not be the order in which they happened: locks made of
//! them, as Rust's, raise no alarm, but a race may stay unseen.
//!
//! The shadow of 8 bytes keeps the last access of each context, kind and group of bytes: it is as good as all of them, since a later
//! access of a context that is ordered before another makes the earlier ones so. Memory that is allocated begins without a
//! shadow; so does the stack of a new thread. **Memory:** proportional to what the program touched.

use std::collections::{BTreeMap, HashMap, HashSet};

use workspan_trace::control::{Kind, Operation};
use workspan_trace::program::{operation, Access as Mode};

use crate::events::{Access, Control};
use crate::replay::{episode, Consumer, Executed};

/// Kinds of races.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Conflict {
    /// A write, then a read.
    WriteRead,
    /// A read, then a write.
    ReadWrite,
    /// Two writes.
    WriteWrite,
}

impl Conflict {
    /// As shown.
    pub fn name(self) -> &'static str {
        match self {
            Conflict::WriteRead => "write-read",
            Conflict::ReadWrite => "read-write",
            Conflict::WriteWrite => "write-write",
        }
    }
}

/// An operation of the program: module and number in it.
pub type Place = (u32, u32);

/// Two places that race.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Race {
    /// Kind.
    pub conflict: Conflict,
    /// The access that came first in the replay.
    pub first: Place,
    /// The other.
    pub second: Place,
}

/// The first time that two places were seen to race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instance {
    /// Address.
    pub address: u64,
    /// Contexts of the two.
    pub contexts: (u32, u32),
    /// The allocation that the address lies in: its first byte, size, and the segment that ended in the call.
    pub allocation: Option<Allocation>,
    /// How often.
    pub count: u64,
}

/// An allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// First byte.
    pub address: u64,
    /// Bytes.
    pub size: u64,
    /// Id of the segment that was executed last before it.
    pub segment: u32,
}

#[derive(Clone, Copy)]
struct Last {
    context: u32,
    clock: u32,
    bytes: u8,
    write: bool,
    atomic: bool,
    place: Place,
}

type Clock = Vec<u32>;

/// Distinguishes what atomics order from locks at the same address; no address has this bit.
const OF_ATOMICS: u64 = 1 << 63;

#[derive(Default)]
struct Context {
    clock: Clock,
    /// Segment executed last.
    segment: u32,
}

/// Finds races in a replayed recording.
#[derive(Default)]
#[expect(missing_debug_implementations, reason = "it may hold all memory of a program")]
pub struct Races {
    contexts: Vec<Context>,
    objects: HashMap<u64, Clock>,
    barriers: HashMap<(u64, u64), Clock>,
    started: HashMap<u32, Clock>,
    ended: HashMap<u32, Clock>,
    shadow: HashMap<u64, Vec<Last>>,
    allocations: BTreeMap<u64, Allocation>,
    found: BTreeMap<Race, Instance>,
}

fn join(into: &mut Clock, other: &[u32]) {
    if into.len() < other.len() {
        into.resize(other.len(), 0);
    }
    for (mine, theirs) in into.iter_mut().zip(other) {
        *mine = (*mine).max(*theirs);
    }
}

impl Races {
    /// What was found, in the order of places.
    pub fn found(&self) -> &BTreeMap<Race, Instance> {
        &self.found
    }

    fn context(&mut self, number: u32) -> &mut Context {
        let at = number as usize;
        if self.contexts.len() <= at {
            self.contexts.resize_with(at + 1, Context::default);
        }
        let context = &mut self.contexts[at];
        if context.clock.len() <= at {
            context.clock.resize(at + 1, 0);
        }
        context.clock[at] = context.clock[at].max(1);
        context
    }

    /// The context goes on to its next moment; what it knew until now.
    fn release(&mut self, number: u32) -> Clock {
        let context = self.context(number);
        let clock = context.clock.clone();
        context.clock[number as usize] += 1;
        clock
    }

    fn sync(&mut self, context: u32, object: u64, operation: Operation) {
        if operation.acquires() {
            if let Some(clock) = self.objects.get(&object).cloned() {
                join(&mut self.context(context).clock, &clock);
            }
        }
        if operation.releases() {
            let clock = self.release(context);
            join(self.objects.entry(object).or_default(), &clock);
        }
    }

    fn forget(&mut self, address: u64, size: u64) {
        let (first, last) = (address >> 3, address.saturating_add(size) >> 3);
        if last - first > self.shadow.len() as u64 {
            self.shadow.retain(|cell, _| !(first..=last).contains(cell));
        } else {
            for cell in first..=last {
                self.shadow.remove(&cell);
            }
        }
    }

    fn touch(&mut self, context: u32, access: &Access, place: Place) {
        let clock = std::mem::take(&mut self.context(context).clock);
        let now = clock[context as usize];
        let write = access.mode != Mode::Load;
        let atomic = access.flags & operation::ATOMIC != 0;
        let end = access.address.saturating_add(access.size);
        let mut at = access.address;
        while at < end {
            let cell = at >> 3;
            let until = end.min((cell + 1) << 3);
            let bytes = (at..until).fold(0_u8, |mask, byte| mask | 1 << (byte & 7));
            let mut against = Vec::new();
            let lasts = self.shadow.entry(cell).or_default();
            for last in lasts.iter() {
                let ordered = last.context == context
                    || clock.get(last.context as usize).is_some_and(|known| *known >= last.clock);
                let conflicts = last.bytes & bytes != 0 && (last.write || write) && !(last.atomic && atomic);
                if conflicts && !ordered {
                    against.push(*last);
                }
            }
            let new = Last { context, clock: now, bytes, write, atomic, place };
            let same = |last: &&mut Last| {
                (last.context, last.bytes, last.write, last.atomic) == (context, bytes, write, atomic)
            };
            match lasts.iter_mut().find(same) {
                Some(last) => *last = new,
                None => lasts.push(new),
            }
            for last in against {
                self.race(last, new, at);
            }
            at = until;
        }
        self.context(context).clock = clock;
    }

    fn race(&mut self, first: Last, second: Last, address: u64) {
        let conflict = match (first.write, second.write) {
            (true, true) => Conflict::WriteWrite,
            (true, false) => Conflict::WriteRead,
            (false, _) => Conflict::ReadWrite,
        };
        let below = self.allocations.range(..=address).next_back().map(|(_, allocation)| *allocation);
        let allocation = below.filter(|found| address - found.address < found.size);
        let race = Race { conflict, first: first.place, second: second.place };
        let contexts = (first.context, second.context);
        self.found.entry(race).or_insert(Instance { address, contexts, allocation, count: 0 }).count += 1;
    }
}

impl Consumer for Races {
    fn segment(&mut self, executed: Executed<'_>, accesses: &[Access]) {
        self.context(executed.context).segment = executed.id;
        for access in accesses {
            let atomic = access.flags & operation::ATOMIC != 0;
            if atomic && access.mode != Mode::Store {
                self.sync(executed.context, access.address | OF_ATOMICS, Operation::AtomicLoad);
            }
            self.touch(executed.context, access, (executed.module_number, access.operation));
            if atomic && access.mode != Mode::Load {
                self.sync(executed.context, access.address | OF_ATOMICS, Operation::AtomicStore);
            }
        }
    }

    fn control(&mut self, context: u32, control: Control) {
        let [first, second, third, _, fifth] = control.slots;
        let other = |number: u64| u32::try_from(number).ok().and_then(|number| number.checked_sub(1));
        match control.kind {
            Kind::Begin => {
                if let Some(clock) = self.started.remove(&context) {
                    join(&mut self.context(context).clock, &clock);
                }
            }
            Kind::Create => {
                if let Some(child) = other(third) {
                    let clock = self.release(context);
                    self.started.insert(child, clock);
                }
            }
            Kind::End => {
                let clock = self.release(context);
                self.ended.insert(context, clock);
            }
            Kind::Join => {
                if let Some(clock) = other(third).and_then(|child| self.ended.get(&child).cloned()) {
                    join(&mut self.context(context).clock, &clock);
                }
            }
            Kind::Sync => {
                if let Some(operation) = Operation::of(fifth) {
                    self.sync(context, third, operation);
                }
            }
            Kind::Barrier => {
                if let Some(clock) = self.barriers.get(&episode(&control)).cloned() {
                    join(&mut self.context(context).clock, &clock);
                }
            }
            Kind::Allocate => {
                self.forget(first, second);
                let segment = self.context(context).segment;
                self.allocations.insert(first, Allocation { address: first, size: second, segment });
            }
            Kind::Free => {
                self.allocations.remove(&first);
            }
            Kind::Gap => {}
        }
    }

    fn arrive(&mut self, context: u32, barrier: Control) {
        // All arrive before any leaves: whoever leaves takes over what all did before.
        let clock = self.release(context);
        join(self.barriers.entry(episode(&barrier)).or_default(), &clock);
    }
}

impl Races {
    /// Places that race, without how often.
    pub fn pairs(&self) -> HashSet<Race> {
        self.found.keys().copied().collect()
    }
}
