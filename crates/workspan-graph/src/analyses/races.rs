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
//! **Memory:** proportional to what the program touched. **Cost:** a cell, and a comparison for each access that it holds; where all
//! are of one context, no question of order arises.

mod shadow;
mod stamps;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap, HashSet};

use workspan_trace::control::{Kind, Operation};
use workspan_trace::program::{operation, Access as Mode, Module, Segment, NONE};

pub use crate::allocations::Allocation;
use crate::allocations::Allocations;
use crate::causes::Causes;
use crate::contexts::Contexts;
use crate::events::{Access, Control};
use crate::ranks;
use crate::replay::{Consumer, Executed, Iterations};
use crate::runtimes::{Owned, Owner, Owners};
use shadow::{how, Held, Last, Shadow};
use stamps::{Stamp, Stamps};

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

/// Accesses that a shadow keeps.
const MOST: usize = 16;
/// How far the first thread's stack reaches below a frame, at most.
const STACK: u64 = 8 << 20;
/// Functions that compilers make for the OpenMP runtime.
const MADE_UP: [&str; 5] = ["omp.reduction", "omp_task_dup", "omp.copyprivate", REDUCTION_BEGINS, ".red_comb."];
/// The one that gives a thread's copy of what tasks reduce its first value.
const REDUCTION_BEGINS: &str = ".red_init.";
/// Calls that allocate these copies.
const REDUCTIONS: [&str; 2] = ["__kmpc_taskred_", "__kmpc_task_reduction_"];

/// What compilers make for the OpenMP runtime, of a module.
#[derive(Debug, Default)]
struct MadeUp {
    /// Functions; whether they give copies of reductions their first value.
    functions: HashMap<u32, bool>,
    /// Segments that end in calls which allocate such copies.
    calls: HashSet<u32>,
}

impl MadeUp {
    fn of(module: &Module) -> MadeUp {
        let is_made_up = |name: &str| MADE_UP.iter().any(|part| name.contains(part));
        let functions = (0..).zip(&module.functions).filter(|(_, function)| is_made_up(&function.name));
        let allocates = |segment: &Segment| {
            segment.callee != NONE && REDUCTIONS.iter().any(|start| module.text(segment.callee).starts_with(start))
        };
        let calls = (0..).zip(&module.segments).filter(|(_, segment)| allocates(segment));
        MadeUp {
            functions: functions.map(|(number, it)| (number, it.name.contains(REDUCTION_BEGINS))).collect(),
            calls: calls.map(|(number, _)| number).collect(),
        }
    }
}

#[derive(Default)]
struct Context {
    /// Segment executed last.
    segment: u32,
    /// What it allocates now are copies of what tasks reduce.
    reduces: bool,
    /// The first frame on the stack that it runs on.
    frame: Option<u64>,
    /// What it has just released by an atomic operation that comes next.
    released: Option<u64>,
    /// Its stamp, the number of that, and how many events there had been.
    stamp: Option<(Stamp, u32, u32)>,
}

/// Finds races in a replayed recording.
#[derive(Default)]
#[expect(missing_debug_implementations, reason = "it may hold all memory of a program")]
pub struct Races {
    causes: Causes,
    contexts: Contexts<Context>,
    shadow: Shadow,
    stamps: Stamps,
    allocations: Allocations,
    found: BTreeMap<Race, Instance>,
    /// Of each stack, by its first byte: below which frames nothing is left, since which mark. Frames fall, marks rise.
    stacks: HashMap<u64, Vec<(u64, u32)>>,
    marks: u32,
    /// By module.
    made_up: Vec<Option<MadeUp>>,
    /// Whose code contexts run.
    owners: Owners,
    /// The variables that threads have for themselves, in ascending order: first address, the one after the last.
    locals: Vec<(u64, u64)>,
    /// Of these, copies of what tasks reduce, each thread's beside those of others.
    copies: HashSet<u64>,
    /// Memory for lists: accesses of a cell, those that a new one races with.
    lists: (Vec<Last>, Vec<Last>),
}

/// What accesses.
#[derive(Clone, Copy)]
struct From {
    context: u32,
    thread: u32,
    module: u32,
    /// The stamp of its accesses, but of those that release.
    stamp: u32,
}

impl Races {
    /// What was found, in the order of places.
    pub fn found(&self) -> &BTreeMap<Race, Instance> {
        &self.found
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
    fn is_gone(&self, last: Last, address: u64) -> bool {
        let stack = self.stack(address);
        let Some(marks) = self.stacks.get(&stack) else {
            return false;
        };
        let above = marks.partition_point(|(frame, _)| *frame > address);
        above.checked_sub(1).is_some_and(|at| {
            let (frame, mark) = marks[at];
            (stack != ranks::bits_of(address) || frame - address < STACK) && self.stamps.of(last.stamp).marks < mark
        })
    }

    /// True if a segment's accesses are excluded.
    fn is_left_out(&mut self, executed: &Executed<'_>) -> bool {
        let module = executed.module_number as usize;
        if self.made_up.len() <= module {
            self.made_up.resize_with(module + 1, || None);
        }
        let found = self.made_up[module].get_or_insert_with(|| MadeUp::of(&executed.module.module));
        let function = if found.functions.is_empty() { None } else { found.functions.get(&executed.segment.function) };
        if !found.calls.is_empty() {
            let number = executed.id.saturating_sub(executed.module.base);
            self.contexts.get(executed.context).reduces = function == Some(&true) || found.calls.contains(&number);
        }
        function.is_some()
    }

    /// Memory that threads have for themselves.
    fn add_local(&mut self, address: u64, size: u64) {
        let local = (address, address.saturating_add(size));
        match self.locals.binary_search_by_key(&address, |(first, _)| *first) {
            Ok(at) => self.locals[at] = local,
            Err(at) => self.locals.insert(at, local),
        }
    }

    fn forget(&mut self, address: u64, size: u64) {
        if let Some(last) = size.checked_sub(1) {
            self.shadow.forget(address >> 3, address.saturating_add(last) >> 3);
        }
    }

    /// What a context does now, as one number.
    fn stamp(&mut self, context: u32, thread: u32) -> u32 {
        let events = self.stamps.events;
        let it = self.contexts.get(context);
        if let Some((last, number, since)) = it.stamp {
            if (last.thread, last.marks, since) == (thread, self.marks, events) {
                return number;
            }
        }
        let (moment, changes) = self.causes.order.state(context);
        let stamp = Stamp { context, thread, moment, changes, marks: self.marks };
        let number = match it.stamp {
            Some((last, number, _)) if last == stamp => number,
            _ => self.stamps.number(stamp),
        };
        it.stamp = Some((stamp, number, events));
        number
    }

    /// Accesses of a context, nothing between them.
    fn touch_all(&mut self, executed: &Executed<'_>, owned: &Owned, accesses: impl Iterator<Item = Access>) {
        let (context, thread, module) = (executed.context, executed.thread, executed.module_number);
        let stamp = self.stamp(context, thread);
        let from = From { context, thread, module, stamp };
        for access in accesses {
            if owned.operation(access.operation) == Owner::Program {
                self.touch(from, &access);
            }
        }
    }

    fn touch(&mut self, from: From, access: &Access) {
        let write = access.mode != Mode::Load;
        let atomic = access.flags & operation::ATOMIC != 0;
        let mut stamp = from.stamp;
        // Whoever takes over what an operation releases comes after the operation itself.
        if atomic && self.contexts.get(from.context).released.take() == Some(access.address) {
            let at = self.stamps.of(stamp);
            stamp = self.stamps.number(Stamp { moment: at.moment - 1, ..at });
        }
        let end = access.address.saturating_add(access.size);
        let mut at = access.address;
        while at < end {
            let until = end.min(((at >> 3) + 1) << 3);
            let bytes = u8::MAX << (at & 7) & u8::MAX >> (7 - ((until - 1) & 7));
            let how = how(bytes, write, atomic, from.module);
            self.touch_cell(from, Last { stamp, operation: access.operation, how }, at, access);
            at = until;
        }
    }

    fn touch_cell(&mut self, from: From, new: Last, address: u64, access: &Access) {
        let number = address >> 3;
        let page = self.shadow.page(number);
        let Races { shadow, stamps, locals, .. } = self;
        let is_mine = |last: Last| last.stamp == new.stamp || stamps.of(last.stamp).context == from.context;
        // What the same context did is ordered, and is kept if the new access says less.
        let says_more = |last: Last| {
            last.bytes() & !new.bytes() != 0 || last.write() && !new.write() || last.atomic() != new.atomic()
        };
        let cell = shadow.cell(page, number);
        match cell.held() {
            Held::Nothing => return cell.hold_one(new),
            Held::One(first) if is_mine(first) => {
                return if let Some(both) = first.for_both(new) {
                    cell.hold_one(both);
                } else if says_more(first) {
                    cell.hold_two(first, new);
                } else {
                    cell.hold_one(new);
                };
            }
            Held::Two(first, second) if is_mine(first) && is_mine(second) => {
                match (says_more(first), says_more(second), first.for_both(new), second.for_both(new)) {
                    (true, _, _, Some(both)) => return cell.hold_two(first, both),
                    (false, _, _, Some(both)) => return cell.hold_one(both),
                    (_, true, Some(both), _) => return cell.hold_two(both, second),
                    (_, false, Some(both), _) => return cell.hold_one(both),
                    (true, true, ..) => {}
                    (true, false, ..) => return cell.hold_two(first, new),
                    (false, true, ..) => return cell.hold_two(second, new),
                    (false, false, ..) => return cell.hold_one(new),
                }
            }
            _ => {}
        }
        let reads = !new.write() && !is_local(locals, access);
        if reads && shadow.read_again((page, number), new, is_mine) {
            return;
        }
        self.meet(from, new, (page, address), access);
    }

    /// An access to a cell that holds accesses of several contexts, or many.
    fn meet(&mut self, from: From, new: Last, (page, address): (u32, u64), access: &Access) {
        let number = address >> 3;
        let (mut lasts, mut against) = std::mem::take(&mut self.lists);
        self.shadow.take(page, number, &mut lasts);
        if is_local(&self.locals, access) {
            self.take_over(&lasts, new, from);
        }
        let Races { stamps, causes, .. } = self;
        let bytes = new.bytes();
        lasts.retain(|last| {
            let mine = stamps.of(last.stamp).context == from.context;
            let overlap = last.bytes() & bytes != 0;
            if !overlap && !mine || !(last.write() || new.write() || mine) && last.bytes() & !bytes != 0 {
                return true;
            }
            if !stamps.is_before(last.stamp, from.context, &mut causes.order) {
                if overlap && (last.write() || new.write()) && !(last.atomic() && new.atomic()) {
                    against.push(*last);
                }
                return true;
            }
            // The new one says as much.
            last.bytes() & !bytes != 0 || last.write() && !new.write() || last.atomic() != new.atomic()
        });
        if lasts.len() >= MOST {
            lasts.remove(0);
        }
        lasts.push(new);
        self.shadow.put(page, number, &mut lasts);
        for last in against.drain(..) {
            if !self.is_gone(last, address) {
                self.race(last, new, address);
            }
        }
        self.lists = (lasts, against);
    }

    /// A task uses a variable of its thread: it comes after those that have used it there.
    fn take_over(&mut self, lasts: &[Last], new: Last, from: From) {
        let Races { stamps, causes, .. } = self;
        for last in lasts.iter().filter(|last| last.bytes() & new.bytes() != 0) {
            let other = stamps.of(last.stamp);
            if other.thread == from.thread && !stamps.is_before(last.stamp, from.context, &mut causes.order) {
                let learnt = causes.order.release(other.context);
                causes.order.learn(from.context, &learnt);
                stamps.event();
            }
        }
    }

    fn race(&mut self, first: Last, second: Last, address: u64) {
        let conflict = match (first.write(), second.write()) {
            (true, true) => Conflict::WriteWrite,
            (true, false) => Conflict::WriteRead,
            (false, _) => Conflict::ReadWrite,
        };
        let allocation = self.allocations.at(address);
        let place = |last: Last| (last.module(), last.operation);
        let race = Race { conflict, first: place(first), second: place(second) };
        let contexts = (self.stamps.of(first.stamp).context, self.stamps.of(second.stamp).context);
        self.found.entry(race).or_insert(Instance { address, contexts, allocation, count: 0 }).count += 1;
    }

    /// A segment is executed, once or several times; whose its accesses are, if they count.
    fn executes(&mut self, executed: &Executed<'_>) -> Option<Owned> {
        let owned = self.owners.segment(executed);
        let context = self.contexts.get(executed.context);
        context.segment = executed.id;
        if let Some(frame) = executed.frame.filter(|_| context.frame.is_none()) {
            context.frame = Some(frame);
            self.mark(frame);
        }
        (!self.is_left_out(executed)).then_some(owned)
    }
}

/// True for a variable that threads have for themselves.
fn is_local(locals: &[(u64, u64)], access: &Access) -> bool {
    let below = || locals.partition_point(|(first, _)| *first <= access.address).checked_sub(1);
    access.flags & operation::THREAD_LOCAL != 0 || below().is_some_and(|at| access.address < locals[at].1)
}

impl Consumer for Races {
    fn segment(&mut self, executed: Executed<'_>, accesses: &[Access]) {
        if let Some(owned) = self.executes(&executed).filter(|_| !accesses.is_empty()) {
            self.touch_all(&executed, &owned, accesses.iter().copied());
        }
    }

    fn repeated(&mut self, executed: Executed<'_>, iterations: Iterations<'_>, _: &mut Vec<Access>) {
        let Iterations { first, steps, times } = iterations;
        let Some(owned) = self.executes(&executed) else {
            return;
        };
        let accesses = (0..times).flat_map(|number| {
            first.iter().zip(steps).map(move |(access, step)| {
                let moved = step.cast_unsigned().wrapping_mul(number);
                Access { address: access.address.wrapping_add(moved), ..*access }
            })
        });
        self.touch_all(&executed, &owned, accesses);
    }

    fn control(&mut self, context: u32, control: Control) {
        let [address, size, ..] = control.slots;
        // What a scheduler's atomic operations order is in the graph, by design; the rest is accident.
        if control.kind == Kind::Atomic && self.owners.schedules(context) {
            return;
        }
        self.stamps.event();
        self.causes.control(context, control);
        self.owners.control(context, &control);
        match control.kind {
            Kind::End => {
                if let Some(frame) = self.contexts.get(context).frame {
                    self.mark(frame);
                }
            }
            Kind::Allocate => {
                self.forget(address, size);
                if self.contexts.get(context).reduces {
                    self.add_local(address, size);
                    self.copies.insert(address);
                }
            }
            Kind::Free if self.copies.remove(&address) => self.locals.retain(|(first, _)| *first != address),
            Kind::Local => self.add_local(address, size),
            Kind::Atomic if Operation::of(control.slots[2]).is_some_and(Operation::releases) => {
                self.contexts.get(context).released = Some(address);
            }
            Kind::Frame if self.contexts.get(context).frame.is_none() => {
                self.contexts.get(context).frame = Some(address);
                self.mark(address);
            }
            _ => {}
        }
        let segment = self.contexts.get(context).segment;
        self.allocations.control(control, segment);
    }

    fn after(&mut self, context: u32, before: u32) {
        self.stamps.event();
        self.causes.order.join(context, before);
    }

    fn arrive(&mut self, context: u32, barrier: Control) {
        self.stamps.event();
        self.causes.arrive(context, barrier);
    }
}

impl Races {
    /// Places that race, without how often.
    pub fn pairs(&self) -> HashSet<Race> {
        self.found.keys().copied().collect()
    }
}
