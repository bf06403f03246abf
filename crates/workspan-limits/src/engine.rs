//! The engine: instructions in, depths out.
//!
//! For each instruction that ran, in the order in which they ran, it computes the length of the longest path that ends
//! there, in all models at once: one more than the deepest of those that it depends on. It remembers the depths of whoever
//! wrote each register and each piece of memory last, and of whoever read that memory since; no older instruction can
//! matter. **Cost**: a few dozen operations for an instruction, on rows of lanes; nothing is allocated but cells of memory
//! that is new, and nodes of paths.
//!
//! `N` lanes, of which the first `T` have name dependences; if `A`, the last one knows addresses beforehand.

use workspan_wire::trace;

use crate::frames::Frames;
use crate::merge::{Merges, Regions};
use crate::model::{Control, Model};
use crate::op::{register, Flow, Move, Op};
use crate::path::{Link, Paths};
use crate::row::{depth, next, node, raise, with_node, Row, DEEPEST, START};
use crate::shadow::Shadow;

/// What an engine may use.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Bytes for cells of memory.
    pub memory: usize,
    /// Whether paths are followed.
    pub paths: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { memory: 4 << 30, paths: true }
    }
}

/// Memory that a system call reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// First address.
    pub address: u64,
    /// Bytes.
    pub len: u64,
    /// True if they are written.
    pub store: bool,
}

/// A thread of the program.
#[derive(Debug)]
struct Thread<const N: usize> {
    registers: [Row<N>; register::COUNT],
    /// Instructions that wrote them.
    by: [u32; register::COUNT],
    /// What every instruction must wait for, in models with control dependences.
    control: Row<N>,
    frames: Frames,
    /// A branch, or another instruction that ended a block; what runs next is not known yet.
    left: Option<Left<N>>,
    regions: Regions<N>,
    /// The last of its instructions that called the system.
    called: Row<N>,
}

/// The last instruction of a block.
#[derive(Clone, Copy, Debug)]
struct Left<const N: usize> {
    id: u32,
    flow: Flow,
    row: Row<N>,
}

/// Depths of a program that runs.
#[derive(Debug)]
pub struct Engine<const N: usize, const T: usize, const A: bool> {
    models: [Model; N],
    spaghetti: [bool; N],
    shadow: Shadow<N, T>,
    threads: Vec<Option<Box<Thread<N>>>>,
    deepest: Row<N>,
    /// For each instruction, 1 if its value was seen to be part of an address.
    marks: Vec<u8>,
    paths: Paths<N>,
    follow: bool,
    count: u64,
    frames: u32,
    merges: Merges,
    misses: Vec<(u32, u8)>,
    /// Branches that ran, and those that were predicted wrong.
    branches: (u64, u64),
    found: Found,
}

/// Cells that an instruction accesses.
#[derive(Debug, Default)]
struct Found {
    loads: Vec<(u32, u32)>,
    stores: Vec<(u32, u32)>,
}

impl<const N: usize, const T: usize, const A: bool> Engine<N, T, A> {
    /// An engine for these models: those with name dependences first.
    pub fn new(models: [Model; N], settings: Settings) -> Engine<N, T, A> {
        debug_assert!(models.iter().enumerate().all(|(n, model)| model.names == (n < T)));
        debug_assert!(models.iter().enumerate().all(|(n, model)| model.addresses == (A && n == N - 1)));
        Engine {
            models,
            spaghetti: models.map(|model| model.spaghetti),
            shadow: Shadow::new(settings.memory),
            threads: Vec::new(),
            deepest: [START; N],
            marks: Vec::new(),
            paths: Paths::new(),
            follow: settings.paths,
            count: 0,
            frames: 1,
            merges: Merges::default(),
            misses: Vec::new(),
            branches: (0, 0),
            found: Found::default(),
        }
    }

    /// Instructions so far.
    pub fn instructions(&self) -> u64 {
        self.count
    }

    /// The models.
    pub fn models(&self) -> &[Model; N] {
        &self.models
    }

    /// The length of the longest path in each model.
    pub fn critical_paths(&self) -> [u64; N] {
        self.deepest.map(depth)
    }

    /// True while depths can be distinguished.
    pub fn has_room(&self) -> bool {
        self.deepest.iter().all(|lane| depth(*lane) < DEEPEST - (1 << 20))
    }

    /// Whether values of an instruction are parts of addresses, and it does nothing else.
    pub fn is_marked(&self, id: u32) -> bool {
        self.marks.get(id as usize).is_some_and(|mark| *mark != 0)
    }

    /// Paths, and the last node of each model's longest.
    pub fn paths(&self) -> (&Paths<N>, [u32; N]) {
        (&self.paths, self.deepest.map(node))
    }

    /// Branches that ran, and how many of them the predictor got wrong.
    pub fn branches(&self) -> (u64, u64) {
        self.branches
    }

    /// Bytes that the engine takes, and whether cells had to become coarse.
    pub fn memory(&self) -> (usize, bool) {
        (self.shadow.bytes() + self.paths.bytes(), self.shadow.is_coarse())
    }

    /// Memory has new content.
    pub fn forget(&mut self, address: u64, len: u64) {
        self.shadow.forget(address, len);
    }

    /// What runs after a jump from elsewhere is not its consequence: a signal came, or tracing began.
    pub fn interrupt(&mut self, thread: usize) {
        if let Some(Some(thread)) = self.threads.get_mut(thread) {
            thread.left = None;
        }
    }

    /// Instructions that run one after the other, with the accesses of each: words as in a trace, whose places are those of
    /// the instructions. Returns how many words belong to them.
    pub fn run(&mut self, thread: usize, ops: &[Op], words: &[u64]) -> usize {
        let mut thread_state = self.thread(thread);
        let state = &mut *thread_state;
        if let Some(first) = ops.first() {
            self.arrive(state, first);
        }
        let mut used = 0;
        let mut here = [START; N];
        for (place, op) in (0u64..).zip(ops) {
            let whose = trace::access(place, 0, false, 0);
            let from = used;
            while used < words.len() && words[used] & trace::WHOSE == whose {
                used += 1;
            }
            here = self.step(state, op, &words[from..used], &[]);
        }
        if let Some(last) = ops.last() {
            state.left = Some(Left { id: last.id, flow: last.flow, row: here });
        }
        self.threads[thread] = Some(thread_state);
        used
    }

    /// A system call, with what it reads and writes.
    pub fn call(&mut self, thread: usize, op: &Op, ranges: &[Range]) {
        let mut state = self.thread(thread);
        self.arrive(&mut state, op);
        let here = self.step(&mut state, op, &[], ranges);
        state.left = Some(Left { id: op.id, flow: op.flow, row: here });
        state.called = state.registers[register::GENERAL as usize];
        self.threads[thread] = Some(state);
    }

    /// A thread's state; a new one waits for the last system call of any thread, which made it.
    fn thread(&mut self, thread: usize) -> Box<Thread<N>> {
        if self.threads.len() <= thread {
            self.threads.resize_with(thread + 1, || None);
        }
        if let Some(state) = self.threads[thread].take() {
            return state;
        }
        let mut start = [START; N];
        for other in self.threads.iter().flatten() {
            raise(&mut start, &other.called);
        }
        Box::new(Thread {
            registers: [start; register::COUNT],
            by: [0; register::COUNT],
            control: [START; N],
            frames: Frames::default(),
            left: None,
            regions: Regions::default(),
            called: start,
        })
    }

    /// Control comes to an instruction: what the one before has decided is known now.
    fn arrive(&mut self, thread: &mut Thread<N>, op: &Op) {
        let Some(left) = thread.left.take() else { return };
        if left.flow.decides() {
            let missed = left.flow != Flow::Return && self.misses(left.id, op.id);
            self.branches.0 += 1;
            self.branches.1 += u64::from(missed);
            for ((lane, model), row) in thread.control.iter_mut().zip(&self.models).zip(&left.row) {
                if model.control == Control::Last || missed && model.control == Control::Missed {
                    *lane = *row;
                }
            }
        }
        self.merges.edge(left.id, left.flow, op.id, &mut thread.regions, &left.row);
        self.enter(thread, op.id);
    }

    /// Regions of branches that end at an instruction.
    fn enter(&mut self, thread: &mut Thread<N>, id: u32) {
        let row = thread.regions.enter(id, &self.merges);
        for ((lane, model), row) in thread.control.iter_mut().zip(&self.models).zip(row) {
            if model.control == Control::Merge {
                *lane = row;
            }
        }
    }

    /// A predictor with a target and a bit of confidence for each branch.
    fn misses(&mut self, branch: u32, target: u32) -> bool {
        let at = branch as usize;
        if self.misses.len() <= at {
            self.misses.resize(at + 1, (0, 0));
        }
        let (predicted, sure) = &mut self.misses[at];
        let missed = *predicted != target;
        match (missed, *sure) {
            (false, _) => *sure = 1,
            (true, 0) => *predicted = target,
            (true, _) => *sure = 0,
        }
        missed
    }

    /// Code that follows each other in a block.
    pub fn learn(&mut self, ops: &[Op]) {
        self.merges.learn(ops);
    }

    #[inline(always)]
    fn mark(&mut self, id: u32) {
        let at = id as usize;
        if at >= self.marks.len() {
            self.marks.resize(at + 1024, 0);
        }
        self.marks[at] = 1;
    }

    fn step(&mut self, thread: &mut Thread<N>, op: &Op, words: &[u64], ranges: &[Range]) -> Row<N> {
        if self.merges.is_end(op.id) {
            self.enter(thread, op.id);
        }
        self.found.loads.clear();
        self.found.stores.clear();
        if op.memory {
            if op.flow == Flow::Return {
                words.iter().for_each(|word| thread.frames.leave(trace::address(*word)));
            } else if op.flow.calls() {
                if let Some(word) = words.iter().find(|word| **word & trace::STORE != 0) {
                    self.frames = self.frames.wrapping_add(1).max(2);
                    thread.frames.call(trace::address(*word), self.frames);
                }
            }
            self.find(&thread.frames, op, words, ranges);
        }
        // What it waits for.
        let mut row = thread.control;
        for source in op.sources.iter() {
            raise(&mut row, thread.at(*source));
        }
        if let Some(rest) = &op.rest {
            rest.sources.iter().for_each(|source| raise(&mut row, thread.at(*source)));
        }
        for (cell, _) in &self.found.loads {
            raise(&mut row, &self.shadow.cell(*cell as usize).written);
        }
        let known = row[N - 1];
        for address in op.addresses.iter() {
            raise(&mut row, thread.at(*address));
        }
        if op.allocates {
            raise(&mut row, &without(thread.at(register::STACK), &self.spaghetti));
        }
        if A && op.memory {
            row[N - 1] = known;
        }
        for (cell, owner) in &self.found.stores {
            let cell = self.shadow.cell(*cell as usize);
            let same = cell.owner == *owner;
            for ((lane, touched), spaghetti) in row.iter_mut().zip(&cell.touched).zip(&self.spaghetti) {
                if (same || !spaghetti) && *touched > *lane {
                    *lane = *touched;
                }
            }
        }
        let removed = A && self.marked(thread, op);
        let mut here = next(&row);
        let mut sample = None;
        if self.follow && self.count >= self.paths.next() {
            sample = Some(self.sample(thread, op, &row));
            self.paths.advance(self.count);
            here = here.map(|lane| with_node(lane, sample.unwrap_or(0)));
        }
        if removed {
            here[N - 1] = START;
        }
        self.count += 1;
        raise(&mut self.deepest, &here);
        self.leave_traces(op, &here);
        if op.moves.is_empty() && op.turn == 0 {
            for target in op.targets.iter() {
                thread.set(*target, &here, op.id);
            }
        } else {
            self.write(thread, op, &here, sample.is_some());
        }
        if let Some(rest) = &op.rest {
            rest.targets.iter().for_each(|target| thread.set(*target, &here, op.id));
        }
        here
    }

    /// Writes registers of an instruction that also moves pointers, or turns the floating-point stack.
    fn write(&mut self, thread: &mut Thread<N>, op: &Op, here: &Row<N>, sample: bool) {
        // Pointers move without waiting for the rest.
        let mut moved = [(0, [START; N]); 3];
        for (place, one) in moved.iter_mut().zip(op.moves.iter()) {
            *place = (one.to, self.moved(thread, one, op.id, sample));
            raise(&mut self.deepest, &place.1);
        }
        if op.turn < 0 {
            thread.turn(op.turn);
        }
        for target in op.targets.iter() {
            thread.set(*target, here, op.id);
        }
        for (to, row) in &moved[..op.moves.len()] {
            thread.set(*to, row, 0);
        }
        if op.turn > 0 {
            thread.turn(op.turn);
        }
    }

    /// The cells that an instruction accesses.
    #[inline(always)]
    fn find(&mut self, frames: &Frames, op: &Op, words: &[u64], ranges: &[Range]) {
        let Found { loads, stores } = &mut self.found;
        let shadow = &mut self.shadow;
        loop {
            let splits = shadow.splits();
            let mut access = |address: u64, size: u64, load: bool, store: bool| {
                let owner = if T > 0 { frames.owner(address) } else { 0 };
                shadow.each(address, size, |cell| {
                    if load {
                        loads.push((cell, owner));
                    }
                    if store {
                        stores.push((cell, owner));
                    }
                });
            };
            for word in words {
                let store = word & trace::STORE != 0;
                access(trace::address(*word), trace::size(*word), !store || op.updates, store);
            }
            for range in ranges {
                access(range.address & trace::ADDRESS, range.len, !range.store, range.store);
            }
            // A cell that was found may have been split by a later access.
            if shadow.splits() == splits {
                return;
            }
            loads.clear();
            stores.clear();
        }
    }

    /// Notes an instruction's depth in the cells that it accessed.
    #[inline(always)]
    fn leave_traces(&mut self, op: &Op, here: &Row<N>) {
        for (cell, owner) in &self.found.loads {
            if T == 0 {
                break;
            }
            let cell = self.shadow.cell(*cell as usize);
            if cell.owner != *owner {
                cell.owner = *owner;
                for (touched, spaghetti) in cell.touched.iter_mut().zip(&self.spaghetti) {
                    if *spaghetti {
                        *touched = START;
                    }
                }
            }
            for (touched, lane) in cell.touched.iter_mut().zip(here) {
                *touched = if *touched > *lane { *touched } else { *lane };
            }
        }
        for (cell, owner) in &self.found.stores {
            self.shadow.write(*cell as usize, here, op.id, *owner);
        }
    }

    /// Learns which values are parts of addresses; true if the instruction does nothing but compute such.
    #[inline(always)]
    fn marked(&mut self, thread: &Thread<N>, op: &Op) -> bool {
        if op.memory {
            for address in op.addresses.iter() {
                self.mark(thread.by(*address));
            }
            if op.allocates {
                self.mark(thread.by(register::STACK));
            }
        }
        if !self.is_marked(op.id) {
            return false;
        }
        for source in op.all_sources() {
            self.mark(thread.by(source));
        }
        if op.allocates {
            self.mark(thread.by(register::STACK));
        }
        for n in 0..self.found.loads.len() {
            let by = self.shadow.cell(self.found.loads[n].0 as usize).by;
            self.mark(by);
        }
        !op.memory
    }

    /// The depth of a pointer that an instruction moves.
    fn moved(&mut self, thread: &Thread<N>, one: &Move, id: u32, sample: bool) -> Row<N> {
        let mut row = thread.control;
        let from = thread.at(one.from);
        if one.allocates {
            raise(&mut row, &without(from, &self.spaghetti));
        } else {
            raise(&mut row, from);
        }
        let mut here = next(&row);
        if sample {
            let link = |lane: usize| match () {
                () if depth(row[lane]) == 0 => Link::Begin,
                () if row[lane].to_bits() == from[lane].to_bits() && one.from == register::STACK => Link::StackPointer,
                () if row[lane].to_bits() == from[lane].to_bits() => Link::Address,
                () => Link::Control,
            };
            let new = self.paths.push(id, row.map(node), std::array::from_fn(link));
            here = here.map(|lane| with_node(lane, new));
        }
        if A && one.address {
            here[N - 1] = START;
        }
        here
    }

    /// A node for an instruction: what it waited for, in each lane.
    #[cold]
    fn sample(&mut self, thread: &Thread<N>, op: &Op, row: &Row<N>) -> u32 {
        let mut link = [None; N];
        let mut waits = |other: &[f64], why: Link| {
            for ((link, lane), other) in link.iter_mut().zip(row).zip(other) {
                if link.is_none() && lane.to_bits() == other.to_bits() {
                    *link = Some(why);
                }
            }
        };
        let of_register = |register: u8, other: Link| match register {
            register::STACK => Link::StackPointer,
            _ => other,
        };
        waits(&[START; N], Link::Begin);
        for source in op.all_sources() {
            waits(thread.at(source), of_register(source, Link::Register));
        }
        for (cell, owner) in &self.found.loads {
            let why = if *owner == 0 { Link::MemoryValue } else { Link::StackValue };
            waits(&self.shadow.cell(*cell as usize).written, why);
        }
        for address in op.addresses.iter() {
            waits(thread.at(*address), of_register(*address, Link::Address));
        }
        if op.allocates {
            waits(thread.at(register::STACK), Link::StackPointer);
        }
        for (cell, owner) in &self.found.stores {
            let why = if *owner == 0 { Link::MemoryName } else { Link::StackName };
            waits(&self.shadow.cell(*cell as usize).touched, why);
        }
        self.paths.push(op.id, row.map(node), link.map(|link| link.unwrap_or(Link::Control)))
    }
}

impl<const N: usize> Thread<N> {
    #[inline(always)]
    fn at(&self, register: u8) -> &Row<N> {
        &self.registers[usize::from(register) % register::COUNT]
    }

    #[inline(always)]
    fn by(&self, register: u8) -> u32 {
        self.by[usize::from(register) % register::COUNT]
    }

    #[inline(always)]
    fn set(&mut self, register: u8, row: &Row<N>, by: u32) {
        self.registers[usize::from(register) % register::COUNT] = *row;
        self.by[usize::from(register) % register::COUNT] = by;
    }

    /// Turns the floating-point stack: its top is always the same register here.
    fn turn(&mut self, by: i8) {
        let stack = usize::from(register::FLOAT)..usize::from(register::FLOAT) + 8;
        let places = usize::from(by.unsigned_abs()) % 8;
        if by < 0 {
            self.registers[stack.clone()].rotate_right(places);
            self.by[stack].rotate_right(places);
        } else {
            self.registers[stack.clone()].rotate_left(places);
            self.by[stack].rotate_left(places);
        }
    }
}

/// A row without what a spaghetti stack does not wait for.
#[inline(always)]
fn without<const N: usize>(row: &Row<N>, spaghetti: &[bool; N]) -> Row<N> {
    std::array::from_fn(|lane| if spaghetti[lane] { START } else { row[lane] })
}
