//! Data races: accesses of two tasks to the same bytes, one of them a write, that the graph leaves unordered.
//!
//! [`crate::order`] knows what comes before what: creation, joins, barriers, dependences; locks order only those who hold
//! them one after the other, as in this run: another run may have them in another order, but not at the same time. So do
//! atomic operations that release and acquire. Two atomic accesses to a place do not race.
//!
//! The shadow of 8 bytes keeps the last accesses that are not ordered before others of their kind, [`MOST`] at most: of what
//! more tasks read at the same time, some reads are forgotten. Memory that is allocated begins without a shadow. So does the
//! stack: a task that begins on a thread's stack has what is below its frame for itself, and leaves nothing there. Code that
//! the compiler makes up for reductions and copies runs within the runtime's own order, and is excluded; so is the code of
//! runtimes that is compiled into the program ([`crate::runtimes`]). Tasks that run on one thread share its thread-local variables:
//! a task that uses one comes after what the task that used it before has done so far.
//! **Memory:** proportional to what the program touched.

use std::collections::{BTreeMap, HashMap, HashSet};

use workspan_trace::control::{Kind, Operation};
use workspan_trace::program::{operation, Access as Mode};

pub use crate::allocations::Allocation;
use crate::allocations::Allocations;
use crate::causes::Causes;
use crate::events::{Access, Control};
use crate::ranks;
use crate::replay::{Consumer, Executed};
use crate::runtimes::{Owner, Owners};

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

#[derive(Clone, Copy)]
struct Last {
    context: u32,
    /// Context of the thread.
    thread: u32,
    moment: u32,
    /// [`Races::marks`] at the time.
    marks: u32,
    bytes: u8,
    write: bool,
    atomic: bool,
    place: Place,
}

/// Accesses that a shadow keeps.
const MOST: usize = 16;
/// How far the first thread's stack reaches below a frame, at most.
const STACK: u64 = 8 << 20;
/// Functions that compilers make for the OpenMP runtime.
const MADE_UP: [&str; 3] = ["omp.reduction", "omp_task_dup", "omp.copyprivate"];

#[derive(Default)]
struct Context {
    /// Segment executed last.
    segment: u32,
    /// The first frame on the stack that it runs on.
    frame: Option<u64>,
    /// What it has just released by an atomic operation that comes next.
    released: Option<u64>,
}

/// Finds races in a replayed recording.
#[derive(Default)]
#[expect(missing_debug_implementations, reason = "it may hold all memory of a program")]
pub struct Races {
    causes: Causes,
    contexts: HashMap<u32, Context>,
    shadow: HashMap<u64, Vec<Last>>,
    allocations: Allocations,
    found: BTreeMap<Race, Instance>,
    /// Of each stack, by its first byte: below which frames nothing is left, since which mark. Frames fall, marks rise.
    stacks: HashMap<u64, Vec<(u64, u32)>>,
    marks: u32,
    /// Functions that are excluded, by module.
    left_out: HashMap<u32, HashSet<u32>>,
    /// Whose code contexts run.
    owners: Owners,
    /// The variables that threads have for themselves: first address, the one after the last.
    locals: BTreeMap<u64, u64>,
}

/// What accesses.
#[derive(Clone, Copy)]
struct From {
    context: u32,
    thread: u32,
    place: Place,
}

impl Races {
    /// What was found, in the order of places.
    pub fn found(&self) -> &BTreeMap<Race, Instance> {
        &self.found
    }

    fn context(&mut self, number: u32) -> &mut Context {
        self.contexts.entry(number).or_default()
    }

    /// The stack that an address may lie in: its first byte; the bits of the rank alone: the first thread's.
    fn stack(&self, address: u64) -> u64 {
        self.allocations.at(address).map_or(ranks::bits_of(address), |found| found.address)
    }

    /// Nothing is left below a frame.
    fn mark(&mut self, frame: u64) {
        self.marks += 1;
        let stack = self.stack(frame);
        let marks = self.stacks.entry(stack).or_default();
        while marks.last().is_some_and(|(last, _)| *last <= frame) {
            marks.pop();
        }
        marks.push((frame, self.marks));
    }

    /// True if an access was made to a stack that has been used again since.
    fn is_gone(&self, last: &Last, address: u64) -> bool {
        let stack = self.stack(address);
        let Some(marks) = self.stacks.get(&stack) else {
            return false;
        };
        let above = marks.partition_point(|(frame, _)| *frame > address);
        above.checked_sub(1).is_some_and(|at| {
            let (frame, mark) = marks[at];
            (stack != ranks::bits_of(address) || frame - address < STACK) && last.marks < mark
        })
    }

    fn is_left_out(&mut self, executed: &Executed<'_>) -> bool {
        let found = self.left_out.entry(executed.module_number).or_insert_with(|| {
            let functions = (0..).zip(&executed.module.module.functions);
            functions
                .filter(|(_, function)| MADE_UP.iter().any(|name| function.name.contains(name)))
                .map(|(number, _)| number)
                .collect()
        });
        !found.is_empty() && found.contains(&executed.segment.function)
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

    /// True for a variable that threads have for themselves.
    fn is_local(&self, access: &Access) -> bool {
        let below = || self.locals.range(..=access.address).next_back();
        access.flags & operation::THREAD_LOCAL != 0 || below().is_some_and(|(_, end)| access.address < *end)
    }

    fn touch(&mut self, from: From, access: &Access) {
        let From { context, thread, place } = from;
        let write = access.mode != Mode::Load;
        let atomic = access.flags & operation::ATOMIC != 0;
        // Whoever takes over what an operation releases comes after the operation itself.
        let is_release = atomic && self.context(context).released.take() == Some(access.address);
        let moment = self.causes.order.now(context) - u32::from(is_release);
        let end = access.address.saturating_add(access.size);
        let mut at = access.address;
        let local = self.is_local(access);
        while at < end {
            let cell = at >> 3;
            let until = end.min((cell + 1) << 3);
            let bytes = (at..until).fold(0_u8, |mask, byte| mask | 1 << (byte & 7));
            let new = Last { context, thread, moment, marks: self.marks, bytes, write, atomic, place };
            let lasts = self.shadow.entry(cell).or_default();
            let same =
                |last: &Last| (last.context, last.bytes, last.write, last.atomic) == (context, bytes, write, atomic);
            if let [only] = lasts.as_mut_slice() {
                if same(only) {
                    *only = new;
                    at = until;
                    continue;
                }
            }
            if local {
                take_over(&mut self.causes, lasts, &new);
            }
            let mut against = Vec::new();
            let order = &mut self.causes.order;
            lasts.retain(|last| {
                let mine = last.context == context;
                let overlap = last.bytes & bytes != 0;
                if !overlap && !mine || !(last.write || write || mine) && last.bytes & !bytes != 0 {
                    return true;
                }
                let ordered = mine || order.is_before(last.context, last.moment, context);
                if !ordered {
                    if overlap && (last.write || write) && !(last.atomic && atomic) {
                        against.push(*last);
                    }
                    return true;
                }
                // The new one says as much.
                last.bytes & !bytes != 0 || last.write && !write || last.atomic != atomic
            });
            if lasts.len() >= MOST {
                lasts.remove(0);
            }
            lasts.push(new);
            for last in against {
                if !self.is_gone(&last, at) {
                    self.race(last, new, at);
                }
            }
            at = until;
        }
    }

    fn race(&mut self, first: Last, second: Last, address: u64) {
        let conflict = match (first.write, second.write) {
            (true, true) => Conflict::WriteWrite,
            (true, false) => Conflict::WriteRead,
            (false, _) => Conflict::ReadWrite,
        };
        let allocation = self.allocations.at(address);
        let race = Race { conflict, first: first.place, second: second.place };
        let contexts = (first.context, second.context);
        self.found.entry(race).or_insert(Instance { address, contexts, allocation, count: 0 }).count += 1;
    }
}

/// A task uses a variable of its thread: it comes after those that have used it there.
fn take_over(causes: &mut Causes, lasts: &[Last], new: &Last) {
    let order = &mut causes.order;
    for last in lasts.iter().filter(|last| last.thread == new.thread && last.bytes & new.bytes != 0) {
        if !order.is_before(last.context, last.moment, new.context) {
            let learnt = order.release(last.context);
            order.learn(new.context, &learnt);
        }
    }
}

impl Consumer for Races {
    fn segment(&mut self, executed: Executed<'_>, accesses: &[Access]) {
        let owned = self.owners.segment(&executed);
        let context = self.context(executed.context);
        context.segment = executed.id;
        if let Some(frame) = executed.frame.filter(|_| context.frame.is_none()) {
            context.frame = Some(frame);
            self.mark(frame);
        }
        if self.is_left_out(&executed) {
            return;
        }
        for access in accesses {
            if owned.operation(access.operation) == Owner::Program {
                let place = (executed.module_number, access.operation);
                self.touch(From { context: executed.context, thread: executed.thread, place }, access);
            }
        }
    }

    fn control(&mut self, context: u32, control: Control) {
        let [address, size, ..] = control.slots;
        // What a scheduler's atomic operations order is in the graph, by design; the rest is accident.
        if control.kind == Kind::Atomic && self.owners.schedules(context) {
            return;
        }
        self.causes.control(context, control);
        self.owners.control(context, &control);
        match control.kind {
            Kind::End => {
                if let Some(frame) = self.context(context).frame {
                    self.mark(frame);
                }
            }
            Kind::Allocate => self.forget(address, size),
            Kind::Local => drop(self.locals.insert(address, address.saturating_add(size))),
            Kind::Atomic if Operation::of(control.slots[2]).is_some_and(Operation::releases) => {
                self.context(context).released = Some(address);
            }
            Kind::Frame if self.context(context).frame.is_none() => {
                self.context(context).frame = Some(address);
                self.mark(address);
            }
            _ => {}
        }
        let segment = self.context(context).segment;
        self.allocations.control(control, segment);
    }

    fn after(&mut self, context: u32, before: u32) {
        self.causes.order.join(context, before);
    }

    fn arrive(&mut self, context: u32, barrier: Control) {
        self.causes.arrive(context, barrier);
    }
}

impl Races {
    /// Places that race, without how often.
    pub fn pairs(&self) -> HashSet<Race> {
        self.found.keys().copied().collect()
    }
}
