//! The engine: instructions in, depths out.
//!
//! For each instruction that ran, in the order in which they ran, it computes the length of the longest path that ends
//! there, in all models at once: one more than the deepest of those that it depends on. It remembers the depths of whoever
//! wrote each register and each piece of memory last, and of whoever read that memory since; no older instruction can
//! matter. **Cost**: a hundred or two operations for an instruction, on rows of lanes ([`crate::step`]); nothing is allocated
//! but cells of memory that is new, and nodes of paths.
//!
//! A [`Kind`] of engine has `N` lanes, of which the first `T` have name dependences.

use workspan_wire::trace;

use crate::frames::Frames;
use crate::heap::Heap;
use crate::merge::{Merges, Regions};
use crate::model::{Control, Kind, Machine, Model, Names, REUSES};
use crate::op::{register, Flow, Op};
use crate::path::Paths;
use crate::profile::{Profile, Slack};
use crate::row::{mask, raise, Lane, Row, DEEPEST};
use crate::shadow::Shadow;
use crate::window::Windows;

/// What an engine may use.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Bytes for cells of memory, packed ones included.
    pub memory: usize,
    /// Bytes for cells that are not packed: of memory that is in use.
    pub ready: usize,
    /// Whether paths are followed, in an engine that can.
    pub paths: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { memory: 4 << 30, ready: 640 << 20, paths: true }
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
pub(crate) struct Thread<L, const N: usize> {
    pub(crate) registers: [Row<L, N>; register::COUNT],
    /// Instructions that wrote them.
    pub(crate) by: [u32; register::COUNT],
    /// When their values were used first; 0 if not yet.
    pub(crate) used: [u32; register::COUNT],
    /// What every instruction must wait for, in models with control dependences.
    pub(crate) control: Row<L, N>,
    pub(crate) frames: Frames,
    /// The stack pointer before each active call.
    pub(crate) callers: Vec<Row<L, N>>,
    /// The stack pointer before the call that ends.
    pub(crate) caller: Option<Row<L, N>>,
    /// A branch, or another instruction that ended a block; what runs next is not known yet.
    left: Option<(u32, Flow)>,
    pub(crate) left_row: Row<L, N>,
    regions: Regions<L, N>,
    /// The last of its instructions that called the system.
    called: Row<L, N>,
    /// The call of the allocator that it is in: its number, and where its return address is; 0 if in none.
    pub(crate) allocator: (u32, u64),
}

/// Which lanes do what.
#[derive(Debug)]
pub(crate) struct Masks<L, const N: usize, const T: usize> {
    /// Have one stack: those that wait for the stack pointer where room is made.
    pub(crate) one_stack: Row<L, N>,
    /// Give the caller its own stack pointer back when a call ends.
    pub(crate) given_back: Row<L, N>,
    /// Wait for memory of an earlier call of the allocator.
    pub(crate) allocator: Row<L, N>,
    /// Wait for earlier accesses, by [`crate::model::Reuse`].
    pub(crate) names: [Row<L, T>; 4],
    /// Forget who accessed memory when another frame has it.
    pub(crate) kept: Row<L, T>,
    last: Row<L, N>,
    missed: Row<L, N>,
    merge: Row<L, N>,
}

/// Depths of a program that runs.
#[derive(Debug)]
pub struct Engine<K: Kind, const N: usize, const T: usize> {
    models: [Model; N],
    pub(crate) masks: Masks<K::Lane, N, T>,
    pub(crate) slow: [bool; N],
    pub(crate) shadow: Shadow<K::Lane, N, T>,
    threads: Vec<Option<Box<Thread<K::Lane, N>>>>,
    pub(crate) deepest: Row<K::Lane, N>,
    /// For each instruction, 1 if its value was seen to be part of an address.
    pub(crate) marks: Vec<u8>,
    pub(crate) paths: Paths<N>,
    pub(crate) follow: bool,
    pub(crate) count: u64,
    pub(crate) frames: u32,
    pub(crate) merges: Merges,
    misses: Vec<(u32, u8)>,
    /// Branches that ran, and those that were predicted wrong.
    branches: (u64, u64),
    pub(crate) found: Found,
    pub(crate) heap: Heap,
    pub(crate) windows: Windows<K::Lane, N>,
    pub(crate) profiles: Vec<(usize, Profile)>,
    pub(crate) slack: Slack,
    allocations: u32,
}

/// Cells that an instruction accesses: cell, frame, first address.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) loads: Vec<(u32, u32)>,
    pub(crate) stores: Vec<(u32, u32, u64)>,
}

/// Models whose profile is kept, in an engine that keeps any.
const PROFILED: [&str; 3] = ["TruNamCtl", "Tru", "TruSp"];

impl<K: Kind, const N: usize, const T: usize> Engine<K, N, T> {
    /// An engine for these models: those with name dependences first.
    pub fn new(models: [Model; N], settings: Settings) -> Engine<K, N, T> {
        debug_assert!(models.iter().enumerate().all(|(n, model)| (model.names != Names::None) == (n < T)));
        debug_assert!(models.iter().enumerate().all(|(n, model)| model.addresses == (K::ADDRESSES && n == N - 1)));
        let of = |control| mask(|lane: usize| models[lane].control == control);
        let names = |reuse| mask(|lane: usize| models[lane].names != Names::Without(reuse));
        let kept = mask(|lane: usize| !models[lane].spaghetti && models[lane].names != Names::Without(REUSES[1]));
        let masks = Masks {
            one_stack: mask(|lane| !models[lane].spaghetti),
            given_back: mask(|lane| models[lane].spaghetti && !models[lane].addresses),
            allocator: mask(|lane| !models[lane].allocator),
            names: [names(REUSES[0]), kept, names(REUSES[2]), names(REUSES[3])],
            kept,
            last: of(Control::Last),
            missed: of(Control::Missed),
            merge: of(Control::Merge),
        };
        let profiled = |name: &&str| models.iter().position(|model| **name == *model.name).filter(|_| K::PROFILE);
        Engine {
            models,
            masks,
            slow: models.map(|model| model.machine == Machine::Latency),
            shadow: Shadow::new(settings.memory, settings.ready),
            threads: Vec::new(),
            deepest: [K::Lane::START; N],
            marks: vec![0; 1024],
            paths: Paths::new(),
            follow: settings.paths && K::PATHS,
            count: 0,
            frames: 1,
            merges: Merges::default(),
            misses: Vec::new(),
            branches: (0, 0),
            found: Found::default(),
            heap: Heap::default(),
            windows: Windows::new(&models, K::BEYOND),
            profiles: PROFILED.iter().filter_map(profiled).map(|lane| (lane, Profile::default())).collect(),
            slack: Slack::default(),
            allocations: 0,
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
        self.deepest.map(Lane::depth)
    }

    /// True while depths can be distinguished.
    pub fn has_room(&self) -> bool {
        self.room() > 0
    }

    /// At least N more instructions have room: none takes longer than its latency, which is less than 256 cycles.
    pub fn room(&self) -> u64 {
        let deepest = self.deepest.iter().map(|lane| lane.depth()).max().unwrap_or(0);
        (DEEPEST - (1 << 20)).saturating_sub(deepest) / 256
    }

    /// Whether values of an instruction are parts of addresses, and it does nothing else.
    #[inline(always)]
    pub fn is_marked(&self, id: u32) -> bool {
        self.marks.get(id as usize).is_some_and(|mark| *mark != 0)
    }

    /// Paths, and the last node of each model's longest.
    pub fn paths(&self) -> (&Paths<N>, [u32; N]) {
        (&self.paths, self.deepest.map(Lane::node))
    }

    /// Branches that ran, and how many of them the predictor got wrong.
    pub fn branches(&self) -> (u64, u64) {
        self.branches
    }

    /// The profile of a model, if it is kept.
    pub fn profile(&self, lane: usize) -> Option<&Profile> {
        self.profiles.iter().find(|(of, _)| *of == lane).map(|(_, profile)| profile)
    }

    /// How long values in registers waited for their first use, in `Tru`.
    pub fn slack(&self) -> Option<&Slack> {
        K::PROFILE.then_some(&self.slack)
    }

    /// Bytes that the engine takes, and whether cells had to become coarse.
    pub fn memory(&self) -> (usize, bool) {
        (self.shadow.bytes() + self.paths.bytes(), self.shadow.is_coarse())
    }

    /// Memory that has new content, and whether it is heap from now on.
    pub fn map(&mut self, address: u64, len: u64, heap: bool) {
        let address = address & trace::ADDRESS;
        self.shadow.forget(address, len);
        if K::BEYOND {
            self.heap.set(address, address.saturating_add(len), heap);
        }
    }

    /// Memory that is heap from now on.
    pub fn heap(&mut self, from: u64, to: u64) {
        self.heap.set(from & trace::ADDRESS, to & trace::ADDRESS, true);
    }

    /// A thread runs a block; `words` are its accesses to memory. Returns how many words belong to them.
    pub fn run(&mut self, thread: usize, ops: &[Op], words: &[u64]) -> usize {
        self.pack();
        let mut state = self.thread(thread);
        if let Some(first) = ops.first() {
            self.arrive(&mut state, first);
        }
        let mut used = 0;
        let mut whose = trace::access(0, 0, false, 0);
        for op in ops {
            let from = used;
            while let Some(word) = words.get(used) {
                if word & trace::WHOSE != whose {
                    break;
                }
                used += 1;
            }
            whose += 1 << trace::PLACE_SHIFT;
            self.step(&mut state, op, &words[from..used], &[]);
        }
        state.left = ops.last().map(|last| (last.id, last.flow));
        self.threads[thread] = Some(state);
        used
    }

    /// A system call, with what it reads and writes.
    pub fn call(&mut self, thread: usize, op: &Op, ranges: &[Range]) {
        self.pack();
        let mut state = self.thread(thread);
        self.arrive(&mut state, op);
        self.step(&mut state, op, &[], ranges);
        state.left = Some((op.id, op.flow));
        state.called = state.registers[register::GENERAL as usize];
        self.threads[thread] = Some(state);
    }

    /// Packs memory that is not in use, if there is much. No cell is looked at meanwhile.
    #[inline(always)]
    fn pack(&mut self) {
        if self.shadow.is_over() {
            self.shadow.pack();
        }
    }

    /// A thread's state; a new one waits for the last system call of any thread, which made it.
    #[inline(always)]
    fn thread(&mut self, thread: usize) -> Box<Thread<K::Lane, N>> {
        match self.threads.get_mut(thread).and_then(Option::take) {
            Some(state) => state,
            None => self.new_thread(thread),
        }
    }

    #[cold]
    fn new_thread(&mut self, thread: usize) -> Box<Thread<K::Lane, N>> {
        if self.threads.len() <= thread {
            self.threads.resize_with(thread + 1, || None);
        }
        let mut start = [K::Lane::START; N];
        for other in self.threads.iter().flatten() {
            raise(&mut start, &other.called);
        }
        Box::new(Thread {
            registers: [start; register::COUNT],
            by: [0; register::COUNT],
            used: [0; register::COUNT],
            control: [K::Lane::START; N],
            frames: Frames::default(),
            callers: Vec::new(),
            caller: None,
            left: None,
            left_row: [K::Lane::START; N],
            regions: Regions::default(),
            called: start,
            allocator: (0, 0),
        })
    }

    /// Control comes to an instruction: what the one before has decided is known now.
    #[inline(always)]
    fn arrive(&mut self, thread: &mut Thread<K::Lane, N>, op: &Op) {
        if K::BEYOND && op.allocator && thread.allocator.0 == 0 {
            self.allocations = self.allocations.wrapping_add(1).max(1);
            thread.allocator = (self.allocations, thread.frames.innermost());
        }
        let Some((id, flow)) = thread.left.take() else { return };
        if flow.decides() {
            self.branches.0 += 1;
            if K::LAST {
                choose(&mut thread.control, &thread.left_row, &self.masks.last);
            }
            if K::MISSED && flow != Flow::Return && self.misses(id, op.id) {
                self.branches.1 += 1;
                choose(&mut thread.control, &thread.left_row, &self.masks.missed);
            }
        }
        if K::MERGE {
            // Regions that end here do so when the instruction runs.
            if self.merges.edge(id, flow, op.id, &mut thread.regions, &thread.left_row) {
                choose(&mut thread.control, thread.regions.last(), &self.masks.merge);
            }
        }
    }

    /// Regions of branches that end at an instruction.
    pub(crate) fn enter(&mut self, thread: &mut Thread<K::Lane, N>, id: u32) {
        let row = thread.regions.enter(id, &self.merges);
        choose(&mut thread.control, row, &self.masks.merge);
    }

    /// A predictor with a target and a bit of confidence for each branch.
    #[inline(always)]
    fn misses(&mut self, branch: u32, target: u32) -> bool {
        let at = branch as usize;
        if self.misses.len() <= at {
            self.misses.resize(at + 1024, (0, 0));
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
        if K::MERGE {
            self.merges.learn(ops);
        }
        let most = ops.iter().map(|op| op.id as usize).max().unwrap_or(0);
        if self.marks.len() <= most {
            self.marks.resize(most + 1024, 0);
        }
    }
}

/// Lanes of another row, where a mask says so.
#[inline(always)]
pub(crate) fn choose<L: Lane, const N: usize>(row: &mut Row<L, N>, other: &Row<L, N>, mask: &Row<L, N>) {
    for ((lane, other), mask) in row.iter_mut().zip(other).zip(mask) {
        *lane = other.chosen(*lane, *mask);
    }
}
