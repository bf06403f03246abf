//! Loops as the source has them: where they stand, how they end, which variables advance by the same step.
//!
//! **Invariant:** a loop without [`loop_flag`] ends after a number of iterations that is known when it begins: it has one
//! exit, and its condition reads nothing but variables that the loop does not write, and such that advance by the same step.
//! Exits into code that never returns do not count.

use std::collections::{HashMap, HashSet};

use workspan_trace::facts::loop_flag;

use crate::cfg::Loops;
use crate::debug::{in_container, in_library, shown};
use crate::llvm::{opcode, Llvm, Ref};
use crate::locals::{base, users_through, Locals};

/// LLVM's kind of metadata for a place in the source.
const LOCATION: u32 = 5;
/// How deep expressions are followed.
const DEEPEST: usize = 40;

/// A loop.
#[derive(Debug, Default)]
pub struct Shape {
    /// [`loop_flag`].
    pub flags: u32,
    /// Block that begins the body.
    pub body: usize,
    /// Variables that advance: their `alloca`, step (0: not constant), read by the condition.
    pub inductions: Vec<(Ref, i64, bool)>,
    /// Where the statement begins.
    pub begin: Option<Ref>,
    /// Where it ends.
    pub last_line: u32,
}

/// Looks at loops of one function.
#[derive(Clone, Copy)]
#[expect(missing_debug_implementations, reason = "handles")]
pub struct Conditions<'l> {
    /// LLVM.
    pub llvm: &'l Llvm,
    /// Its context.
    pub context: Ref,
    /// Loops.
    pub loops: &'l Loops,
    /// Blocks by number.
    pub blocks: &'l [Ref],
    /// Locals without an address.
    pub locals: &'l Locals,
    /// Every condition on the way to the exit counts: optimisation may have made one value of several.
    pub all_conditions: bool,
}

impl Conditions<'_> {
    /// The shape of a loop.
    pub fn shape(&self, number: usize) -> Shape {
        let header = self.loops.loops[number].header;
        let mut shape = Shape { body: header, ..Shape::default() };
        self.place(number, &mut shape);
        let inside: Vec<usize> = (0..self.blocks.len()).filter(|block| self.loops.contains(number, *block)).collect();
        let exits: Vec<usize> = inside.iter().copied().filter(|block| self.leaves(number, *block)).collect();
        shape.inductions = self.inductions(number, &inside);
        let Some(first) = self.first_exit(number, &exits) else {
            shape.flags |= loop_flag::ENDLESS;
            return shape;
        };
        let (before, is_condition) = self.ahead_of(number, first);
        if is_condition {
            let mut next = self.loops.successors[first].iter().filter(|next| self.loops.contains(number, **next));
            shape.body = next.next().copied().unwrap_or(header);
        }
        if exits.len() > 1 && !self.ends_in_library(number, &exits) {
            shape.flags |= loop_flag::EARLY_EXIT;
        }
        let mut slice =
            Slice { conditions: self, number, inside: &inside, shape: &mut shape, data: false, seen: HashMap::new() };
        let all = is_condition || self.all_conditions;
        let counts = |block: &usize| *block == first || all && self.goes_on_in_several_ways(*block);
        for block in before.into_iter().filter(counts).chain([first]) {
            slice.of_end(block);
        }
        if slice.data {
            shape.flags |= loop_flag::DATA_EXIT;
        }
        shape
    }

    /// True if an iterator of Rust's library ends a loop in several places, before anything else is done: `skip` where it begins, and later.
    /// What data decide is [`loop_flag::DATA_EXIT`] anyway.
    fn ends_in_library(&self, number: usize, exits: &[usize]) -> bool {
        if !self.all_conditions {
            return false;
        }
        let header = self.loops.loops[number].header;
        let (mut open, mut ahead) = (exits.to_vec(), HashSet::new());
        while let Some(block) = open.pop() {
            if ahead.insert(block) && block != header {
                let all = self.loops.successors.iter().enumerate();
                let from = all.filter(|(from, next)| next.contains(&block) && self.loops.contains(number, *from));
                open.extend(from.map(|(from, _)| from));
            }
        }
        let latches: HashSet<usize> = self.loops.latches(number).collect();
        let llvm = self.llvm;
        let is_of_library = |block: &usize| {
            let all = llvm.instructions(self.blocks[*block]);
            let reads = |at: &Ref| llvm.opcode(*at) == opcode::LOAD && self.locals.touch(llvm, *at).is_none();
            let writes = |at: &Ref| matches!(llvm.opcode(*at), opcode::STORE | opcode::INVOKE) || reads(at);
            let end = llvm.terminator(self.blocks[*block]);
            !all.iter().any(writes) && in_library(llvm, llvm.debug_location(end)) != Some(false)
        };
        ahead.is_disjoint(&latches) && ahead.iter().all(is_of_library)
    }

    /// Where the compiler says that the statement is.
    fn place(&self, number: usize, shape: &mut Shape) {
        let llvm = self.llvm;
        let kind = llvm.metadata_kind_id(self.context, c"llvm.loop".as_ptr(), 9);
        for latch in self.loops.latches(number) {
            let end = llvm.terminator(self.blocks[latch]);
            let node = if end.is_null() { end } else { llvm.metadata(end, kind) };
            if node.is_null() {
                continue;
            }
            let mut list = vec![std::ptr::null_mut(); llvm.metadata_operands(node) as usize];
            if list.is_empty() {
                continue;
            }
            llvm.metadata_operand_list(node, list.as_mut_ptr());
            let places = list.into_iter().filter(|value| !value.is_null()).map(|value| llvm.value_as_metadata(value));
            for place in places.filter(|place| !place.is_null() && llvm.metadata_kind(*place) == LOCATION) {
                if shape.begin.is_none() {
                    shape.begin = Some(place);
                } else {
                    shape.last_line = llvm.location_line(shown(llvm, place));
                }
            }
            return;
        }
        if self.all_conditions {
            shape.begin = self.in_container(number).or_else(|| self.first(number));
        }
    }

    /// Where a loop of Rust's library stands that was inlined with all of it, and goes through nothing that the program iterates over.
    fn in_container(&self, number: usize) -> Option<Ref> {
        let llvm = self.llvm;
        let blocks = (0..self.blocks.len()).filter(|block| self.loops.contains(number, *block));
        let all = blocks.flat_map(|block| llvm.instructions(self.blocks[block]));
        let all = all.filter(|i| self.locals.touch(llvm, *i).is_none()).map(|i| llvm.debug_location(i));
        let mut found = None;
        for place in all.filter(|place| !place.is_null() && llvm.location_line(*place) != 0) {
            found = Some(in_container(llvm, place)?);
        }
        found
    }

    /// The first place of a loop's code in its function's own text. rustc does not say where a loop is, and once iterators are
    /// inlined its first instruction may be the body's. Optimisation leaves lines from before the loop in it: what also stands outside
    /// counts only where the loop ends.
    fn first(&self, number: usize) -> Option<Ref> {
        let llvm = self.llvm;
        let (mut inside, mut ends, mut elsewhere) = (Vec::new(), Vec::new(), HashSet::new());
        for block in 0..self.blocks.len() {
            // Where a variable was taken from says nothing, nor where its values meet.
            let moves = |i: &Ref| llvm.opcode(*i) == opcode::PHI || self.locals.touch(llvm, *i).is_some();
            let all = llvm.instructions(self.blocks[block]).into_iter().filter(|i| !moves(i));
            let places = all.filter_map(|i| self.own_place(i));
            if !self.loops.contains(number, block) {
                elsewhere.extend(places.map(|place| llvm.location_line(place)));
                continue;
            }
            let places: Vec<Ref> = places.collect();
            if self.leaves(number, block) {
                ends.extend(self.own_place(llvm.terminator(self.blocks[block])).or_else(|| places.last().copied()));
            }
            inside.extend(places);
        }
        let order = |place: &Ref| (llvm.location_line(*place), llvm.location_column(*place));
        let only = inside.iter().copied().filter(|place| !elsewhere.contains(&llvm.location_line(*place)));
        ends.into_iter().chain(only).min_by_key(order).or_else(|| inside.into_iter().min_by_key(order)).or_else(|| {
            let all = (0..self.blocks.len()).filter(|block| self.loops.contains(number, *block));
            let all = all.flat_map(|block| llvm.instructions(self.blocks[block])).map(|i| llvm.debug_location(i));
            let places = all.filter(|place| !place.is_null()).map(|place| shown(llvm, place));
            places.filter(|place| llvm.location_line(*place) != 0).min_by_key(order)
        })
    }

    /// Where an instruction stands in its function's own text.
    fn own_place(&self, instruction: Ref) -> Option<Ref> {
        let llvm = self.llvm;
        let place = llvm.debug_location(instruction);
        let place = if place.is_null() { return None } else { shown(llvm, place) };
        (llvm.location_inlined_at(place).is_null() && llvm.location_line(place) != 0).then_some(place)
    }

    /// Blocks that follow a loop, and from which nothing goes on: they throw, panic or end the program.
    pub fn dead_ends(&self) -> HashSet<usize> {
        let of_block = |block: usize| {
            let number = self.loops.innermost[block];
            let next = self.loops.successors[block].iter().copied();
            next.filter(move |next| number.is_some_and(|number| !self.loops.contains(number, *next)))
        };
        let outside: HashSet<usize> = (0..self.blocks.len()).flat_map(of_block).collect();
        outside.into_iter().filter(|block| self.is_dead_end(*block)).collect()
    }

    /// True if a block can leave a loop for code that goes on.
    fn leaves(&self, number: usize, block: usize) -> bool {
        let outside = self.loops.successors[block].iter().filter(|next| !self.loops.contains(number, **next));
        outside.into_iter().any(|next| !self.is_dead_end(*next))
    }

    /// True for a choice: a check that ends the program if it fails is none.
    fn goes_on_in_several_ways(&self, block: usize) -> bool {
        self.loops.successors[block].iter().filter(|next| !self.is_dead_end(**next)).count() > 1
    }

    /// True for code that ends the program, or that unwinding arrives at: all ways from there end without a return.
    fn is_dead_end(&self, block: usize) -> bool {
        let llvm = self.llvm;
        let (mut open, mut seen) = (vec![block], HashSet::from([block]));
        let mut ends = false;
        while let Some(block) = open.pop() {
            let handle = self.blocks[block];
            if llvm.instructions(handle).iter().any(|i| llvm.opcode(*i) == opcode::LANDING_PAD) {
                ends = true;
                continue;
            }
            let end = llvm.terminator(handle);
            match if end.is_null() { opcode::UNREACHABLE } else { llvm.opcode(end) } {
                opcode::RET => return false,
                opcode::UNREACHABLE if !self.returns() && self.exits(handle) => return false,
                opcode::UNREACHABLE | opcode::RESUME => ends = true,
                _ => open.extend(self.loops.successors[block].iter().copied().filter(|next| seen.insert(*next))),
            }
        }
        ends
    }

    /// True if the function can return at all.
    fn returns(&self) -> bool {
        let llvm = self.llvm;
        let ends = self.blocks.iter().map(|block| llvm.terminator(*block));
        ends.into_iter().any(|end| !end.is_null() && llvm.opcode(end) == opcode::RET)
    }

    /// True if a block ends the program as planned: `main` need not return.
    fn exits(&self, block: Ref) -> bool {
        const NAMES: [&str; 5] = ["exit", "_exit", "_Exit", "quick_exit", "pthread_exit"];
        let llvm = self.llvm;
        let calls = llvm.instructions(block).into_iter().filter(|i| llvm.opcode(*i) == opcode::CALL);
        calls.filter_map(|call| llvm.callee(call)).any(|callee| NAMES.contains(&llvm.name(callee).as_str()))
    }

    /// The exit that comes first after the header.
    fn first_exit(&self, number: usize, exits: &[usize]) -> Option<usize> {
        let header = self.loops.loops[number].header;
        let (mut open, mut seen) = (std::collections::VecDeque::from([header]), HashSet::from([header]));
        while let Some(block) = open.pop_front() {
            if exits.contains(&block) {
                return Some(block);
            }
            for next in &self.loops.successors[block] {
                if self.loops.contains(number, *next) && seen.insert(*next) {
                    open.push_back(*next);
                }
            }
        }
        None
    }

    /// Blocks between the header and an exit; true if they do nothing but compute the condition.
    fn ahead_of(&self, number: usize, exit: usize) -> (Vec<usize>, bool) {
        let header = self.loops.loops[number].header;
        let (mut found, mut open) = (Vec::new(), vec![header]);
        while let Some(block) = open.pop() {
            if block == exit || found.contains(&block) || !self.loops.contains(number, block) {
                continue;
            }
            found.push(block);
            open.extend(&self.loops.successors[block]);
        }
        let llvm = self.llvm;
        let writes = |block: usize| {
            // Objects that the compiler makes up on the way have a dot in their names.
            let counts = |i: &Ref| {
                let to = base(llvm, llvm.operand(*i, 1));
                self.locals.number(llvm, to).is_none() || !llvm.name(to).contains('.')
            };
            llvm.instructions(self.blocks[block]).iter().any(|i| llvm.opcode(*i) == opcode::STORE && counts(i))
        };
        let latches: Vec<usize> = self.loops.latches(number).collect();
        let pure = !found.iter().any(|block| writes(*block) || latches.contains(block));
        let pure = pure && !writes(exit) && (exit == header || !latches.contains(&exit));
        (found, pure)
    }

    /// Variables that each iteration sets to what they were plus the same step, at once or in several steps.
    fn inductions(&self, number: usize, inside: &[usize]) -> Vec<(Ref, i64, bool)> {
        let mut found = Vec::new();
        for alloca in self.locals.counters() {
            let stores = self.stores(alloca, inside);
            let each_time = stores.iter().all(|(_, block)| {
                self.loops.innermost[*block] == Some(number)
                    && self.loops.latches(number).all(|latch| self.loops.dominates(*block, latch))
            });
            if !each_time || stores.is_empty() {
                continue;
            }
            let steps: Option<Vec<i64>> = stores.iter().map(|(store, _)| self.step(*store, alloca, inside)).collect();
            if let Some(steps) = steps {
                // Not known: a part of it is not, or they are nothing together.
                let is_known = steps.iter().all(|step| *step != 0);
                let sum = steps.iter().fold(0_i64, |sum, step| sum.wrapping_add(*step));
                found.push((alloca, if is_known { sum } else { 0 }, false));
            } else if let [(store, _)] = stores.as_slice() {
                found.extend(self.is_number(number, *store).then_some((alloca, 1, true)));
            }
        }
        found
    }

    /// True if what is stored is the loop's own counter, which the front end keeps without a variable, as Fortran's do.
    fn is_number(&self, number: usize, store: Ref) -> bool {
        let llvm = self.llvm;
        let value = self.plain(llvm.operand(store, 0));
        !llvm.is_a_instruction(value).is_null()
            && llvm.opcode(value) == opcode::PHI
            && llvm.block_of(value) == self.blocks[self.loops.loops[number].header]
    }

    /// Writes of a variable within some blocks.
    pub(crate) fn stores(&self, alloca: Ref, inside: &[usize]) -> Vec<(Ref, usize)> {
        let llvm = self.llvm;
        let writes = |user: &Ref| llvm.opcode(*user) == opcode::STORE && base(llvm, llvm.operand(*user, 1)) == alloca;
        let all = users_through(llvm, alloca).into_iter().filter(writes);
        all.filter_map(|store| {
            let block = llvm.block_of(store);
            inside.iter().find(|number| self.blocks[**number] == block).map(|number| (store, *number))
        })
        .collect()
    }
}

/// What a condition depends on.
struct Slice<'s, 'l> {
    conditions: &'s Conditions<'l>,
    number: usize,
    inside: &'s [usize],
    shape: &'s mut Shape,
    data: bool,
    /// What has been followed, and whether it changes: many values use the same one.
    seen: HashMap<Ref, bool>,
}

impl Slice<'_, '_> {
    fn of_end(&mut self, block: usize) {
        let llvm = self.conditions.llvm;
        let end = llvm.terminator(self.conditions.blocks[block]);
        let code = if end.is_null() { 0 } else { llvm.opcode(end) };
        if code == opcode::SWITCH || code == opcode::BR && llvm.is_conditional(end) != 0 {
            let _ = self.varies(llvm.operand(end, 0), 0);
        }
    }

    /// Follows a value; true if it changes from iteration to iteration. Notes counters that it is made of.
    fn varies(&mut self, value: Ref, depth: usize) -> bool {
        if let Some(known) = self.seen.get(&value) {
            return *known;
        }
        let found = self.follow(value, depth);
        self.seen.insert(value, found);
        found
    }

    fn follow(&mut self, value: Ref, depth: usize) -> bool {
        let llvm = self.conditions.llvm;
        if llvm.is_a_instruction(value).is_null() || depth > DEEPEST {
            return false;
        }
        // What was computed before the loop does not change in it.
        let block = llvm.block_of(value);
        if !self.inside.iter().any(|inside| self.conditions.blocks[*inside] == block) {
            return false;
        }
        let code = llvm.opcode(value);
        // On the way round a cycle, it changes.
        self.seen.insert(value, true);
        let count = u32::try_from(llvm.operands(value)).unwrap_or(0);
        match code {
            opcode::LOAD => {
                let pointer = base(llvm, llvm.operand(value, 0));
                if let Some(counter) = self.shape.inductions.iter_mut().find(|(alloca, ..)| *alloca == pointer) {
                    counter.2 = true;
                    return true;
                }
                if self.conditions.locals.number(llvm, pointer).is_none() {
                    let moves = self.varies(pointer, depth + 1);
                    self.data |= moves;
                    return moves;
                }
                // What is computed anew for each test from what does not change, does not change.
                let stores = self.conditions.stores(pointer, self.inside);
                let is_made_up = llvm.name(pointer).contains('.');
                let mut moves = !stores.is_empty() && !is_made_up;
                for (store, _) in stores.iter().filter(|_| is_made_up) {
                    moves |= self.varies(llvm.operand(*store, 0), depth + 1);
                }
                // A copy that the test itself makes of a counter is no more than that counter.
                let Conditions { loops, blocks, .. } = self.conditions;
                let is_copy = is_made_up
                    && matches!(stores.as_slice(), [(store, at)] if loops.is_before(llvm, blocks, (*store, *at), value));
                self.data |= moves && !is_copy;
                moves
            }
            opcode::CALL | opcode::INVOKE => {
                let intrinsic = llvm.callee(value).is_some_and(|callee| llvm.name(callee).starts_with("llvm."));
                let mut moves = false;
                for at in 0..llvm.arguments(value) {
                    moves |= self.varies(llvm.operand(value, at), depth + 1);
                }
                self.data |= moves && !intrinsic;
                moves
            }
            opcode::PHI => {
                let in_header =
                    llvm.block_of(value) == self.conditions.blocks[self.conditions.loops.loops[self.number].header];
                let mut moves = in_header;
                for at in 0..llvm.incoming_count(value) {
                    moves |= self.varies(llvm.incoming_value(value, at), depth + 1);
                }
                moves
            }
            opcode::ALLOCA => false,
            _ => {
                let mut moves = false;
                for at in 0..count {
                    moves |= self.varies(llvm.operand(value, at), depth + 1);
                }
                moves
            }
        }
    }
}
