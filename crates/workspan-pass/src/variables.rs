//! Variables that loops carry, out of the values that optimisation has made of them.
//!
//! What is a `phi` at the head of a loop becomes memory of its own, together with the `phi`s inside the loop that feed it:
//! a conditional `s += x` is one variable again.
//!
//! **Argument:** each `phi` is read where it stood, and every edge that leads to it writes what it took. That holds whichever
//! of them share memory. A write of a value that has just been read from there is skipped if nothing on the way back to that read
//! writes: it would change nothing.

use std::collections::{HashMap, HashSet};

use crate::cfg::{graph, loops, Loops};
use crate::llvm::{opcode, Llvm, Ref};
use crate::locals::users;
use crate::names::{Valued, Variable};

/// Makes one sum of those of one number that several ways back each add for themselves, as those through `filter` do: of the head's `phi`,
/// whatever the way.
pub(crate) fn gather_steps(llvm: &Llvm, function: Ref) {
    let shape = Shape::of(llvm, function);
    let builder = llvm.create_builder(llvm.context_of_value(function));
    for number in 0..shape.loops.loops.len() {
        for head in shape.phis(shape.loops.loops[number].header) {
            let back = shape.incoming(head).into_iter().filter(|(_, from)| shape.loops.contains(number, *from));
            for (meeting, _) in back.collect::<Vec<_>>() {
                let block = shape.block(meeting);
                if meeting == head || !shape.is_phi(meeting) || shape.loops.innermost[block] != Some(number) {
                    continue;
                }
                let Some((step, sum)) = shape.step_of_all(head, meeting) else { continue };
                let all = llvm.instructions(shape.blocks[block]);
                let Some(first) = all.into_iter().find(|at| llvm.opcode(*at) != opcode::PHI) else { continue };
                llvm.position_before(builder, first);
                let new = llvm.build_add(builder, head, step, c"".as_ptr());
                llvm.set_debug_location(new, llvm.debug_location(sum));
                llvm.replace_uses(meeting, new);
                llvm.erase(meeting);
            }
        }
    }
    llvm.dispose_builder(builder);
}

/// Gives them memory, and notes how the source calls them; those that stay values, since iterators keep them for themselves.
pub fn demote(llvm: &Llvm, function: Ref, valued: &Valued, names: &mut HashMap<Ref, Variable>) -> HashSet<Ref> {
    let shape = Shape::of(llvm, function);
    let heads = (0..shape.loops.loops.len())
        .flat_map(|number| shape.phis(shape.loops.loops[number].header).into_iter().map(move |phi| (phi, number)));
    let kept: HashSet<Ref> =
        heads.filter(|(phi, number)| shape.is_of_iterator(*phi, *number, valued)).map(|(phi, _)| phi).collect();
    let mut taken = kept.clone();
    for number in 0..shape.loops.loops.len() {
        let header = shape.loops.loops[number].header;
        for phi in shape.phis(header) {
            if taken.contains(&phi) || !shape.can_store(phi) {
                continue;
            }
            let web = shape.web(phi, number, &taken);
            taken.extend(web.iter().copied());
            shape.rewrite(&web, valued, names);
        }
    }
    kept
}

pub(crate) struct Shape<'l> {
    pub(crate) llvm: &'l Llvm,
    function: Ref,
    pub(crate) blocks: Vec<Ref>,
    number: HashMap<Ref, usize>,
    pub(crate) predecessors: Vec<Vec<usize>>,
    pub(crate) loops: Loops,
}

impl Shape<'_> {
    fn of(llvm: &Llvm, function: Ref) -> Shape<'_> {
        let blocks = llvm.blocks(function);
        let (number, successors) = graph(llvm, &blocks);
        let mut predecessors = vec![Vec::new(); blocks.len()];
        for (block, all) in successors.iter().enumerate() {
            for next in all {
                predecessors[*next].push(block);
            }
        }
        Shape { llvm, function, blocks, number, predecessors, loops: loops(&successors) }
    }

    fn phis(&self, block: usize) -> Vec<Ref> {
        let all = self.llvm.instructions(self.blocks[block]);
        all.into_iter().take_while(|i| self.llvm.opcode(*i) == opcode::PHI).collect()
    }

    pub(crate) fn block(&self, instruction: Ref) -> usize {
        self.number.get(&self.llvm.block_of(instruction)).copied().unwrap_or(0)
    }

    pub(crate) fn number(&self, block: Ref) -> Option<usize> {
        self.number.get(&block).copied()
    }

    fn is_phi(&self, value: Ref) -> bool {
        !self.llvm.is_a_instruction(value).is_null() && self.llvm.opcode(value) == opcode::PHI
    }

    pub(crate) fn incoming(&self, phi: Ref) -> Vec<(Ref, usize)> {
        let all = 0..self.llvm.incoming_count(phi);
        let block = |at| self.number.get(&self.llvm.incoming_block(phi, at)).copied().unwrap_or(0);
        all.map(|at| (self.llvm.incoming_value(phi, at), block(at))).collect()
    }

    /// The constant that all values of a `phi` add to another one, and one of these sums.
    fn step_of_all(&self, head: Ref, meeting: Ref) -> Option<(Ref, Ref)> {
        let llvm = self.llvm;
        let step = |value: Ref| {
            let is_sum = !llvm.is_a_instruction(value).is_null() && llvm.opcode(value) == opcode::ADD;
            let is_step = is_sum && llvm.operand(value, 0) == head && llvm.constant(llvm.operand(value, 1)).is_some();
            is_step.then(|| llvm.operand(value, 1))
        };
        let all = self.incoming(meeting);
        let first = all.first()?.0;
        let found = step(first)?;
        all.iter().all(|(value, _)| step(*value) == Some(found)).then_some((found, first))
    }

    /// True if every edge to a `phi` has a place for a write, and the `phi` one for a read.
    fn can_store(&self, phi: Ref) -> bool {
        let llvm = self.llvm;
        !self.is_landing(self.block(phi))
            && self.incoming(phi).iter().all(|(_, from)| {
                let end = llvm.terminator(self.blocks[*from]);
                llvm.opcode(end) == opcode::BR && llvm.is_conditional(end) == 0
            })
    }

    /// True for a block where unwinding arrives: nothing may stand before that.
    fn is_landing(&self, block: usize) -> bool {
        self.llvm.instructions(self.blocks[block]).iter().any(|i| self.llvm.opcode(*i) == opcode::LANDING_PAD)
    }

    /// The `phi`s of one variable.
    fn web(&self, first: Ref, number: usize, taken: &HashSet<Ref>) -> Vec<Ref> {
        let mut web = vec![first];
        let mut at = 0;
        while let Some(phi) = web.get(at).copied() {
            at += 1;
            for (value, _) in self.incoming(phi) {
                let joins = self.is_phi(value)
                    && !web.contains(&value)
                    && !taken.contains(&value)
                    && self.llvm.type_of(value) == self.llvm.type_of(first)
                    && self.loops.contains(number, self.block(value))
                    && web.iter().all(|other| self.block(*other) != self.block(value))
                    && self.can_store(value);
                if joins {
                    web.push(value);
                }
            }
        }
        web
    }

    /// True if a variable still holds `value` at the end of a block: nothing on the way from where it was read writes.
    fn holds(&self, web: &[Ref], value: Ref, end: usize) -> bool {
        let from = self.block(value);
        let members: HashSet<usize> = web.iter().map(|phi| self.block(*phi)).collect();
        let (mut open, mut seen) = (vec![end], HashSet::new());
        while let Some(block) = open.pop() {
            if block == from || !seen.insert(block) {
                continue;
            }
            if members.contains(&block) {
                return false;
            }
            open.extend(&self.predecessors[block]);
        }
        true
    }

    fn rewrite(&self, web: &[Ref], valued: &Valued, names: &mut HashMap<Ref, Variable>) {
        let llvm = self.llvm;
        let builder = llvm.create_builder(llvm.context_of_value(self.function));
        let ty = llvm.type_of(web[0]);
        llvm.position_before(builder, llvm.first_instruction(self.blocks[0]));
        let variable = llvm.build_alloca(builder, ty, c"".as_ptr());
        let mut name = None;
        let mut loads = HashMap::new();
        // Edges are looked at before anything is changed.
        let mut writes = Vec::new();
        for phi in web {
            for (value, from) in self.incoming(*phi) {
                if !(web.contains(&value) && self.holds(web, value, from)) {
                    writes.push((value, from));
                }
                name = name.or_else(|| valued.variable(value));
            }
            name = valued.variable(*phi).or(name);
        }
        for phi in web {
            let block = self.blocks[self.block(*phi)];
            let first = llvm.instructions(block).into_iter().find(|i| llvm.opcode(*i) != opcode::PHI);
            let Some(first) = first else {
                continue;
            };
            self.read_after(builder, web, *phi, variable);
            let used = users(llvm, *phi).into_iter().any(|user| !web.contains(&user))
                || writes.iter().any(|(value, _)| value == phi);
            if used {
                llvm.position_before(builder, first);
                let load = llvm.build_load(builder, ty, variable, c"".as_ptr());
                llvm.set_debug_location(load, self.place_of_use(*phi));
                loads.insert(*phi, load);
            }
        }
        for (value, from) in writes {
            let end = llvm.terminator(self.blocks[from]);
            llvm.position_before(builder, end);
            let value_now = loads.get(&value).copied().unwrap_or(value);
            if self.is_undefined(value_now) {
                continue;
            }
            let store = llvm.build_store(builder, value_now, variable);
            let is_instruction = !llvm.is_a_instruction(value_now).is_null();
            let own = if is_instruction { llvm.debug_location(value_now) } else { std::ptr::null_mut() };
            llvm.set_debug_location(store, if own.is_null() { llvm.debug_location(end) } else { own });
        }
        for phi in web {
            let value = loads.get(phi).copied().unwrap_or_else(|| llvm.undefined(ty));
            llvm.replace_uses(*phi, value);
        }
        for phi in web {
            llvm.erase(*phi);
        }
        names.extend(name.map(|name| (variable, name)));
        llvm.dispose_builder(builder);
    }

    fn is_undefined(&self, value: Ref) -> bool {
        self.llvm.is_undefined(value) != 0
    }

    /// What is read after a `phi`'s loop is read there: once behind each exit, or where exits have met. No exit may be one where the
    /// variable holds something else already.
    fn read_after(&self, builder: Ref, web: &[Ref], phi: Ref, variable: Ref) {
        let llvm = self.llvm;
        let own = self.block(phi);
        let Some(number) = self.loops.innermost[own] else { return };
        let is_inside = |block: usize| self.loops.contains(number, block);
        let members: HashSet<usize> = web.iter().map(|phi| self.block(*phi)).collect();
        let holds = |exit: usize| {
            let from = &self.predecessors[exit];
            !members.contains(&exit) && from.iter().all(|from| is_inside(*from) && self.holds(web, phi, *from))
        };
        let is_exit =
            |block: &usize| !is_inside(*block) && self.predecessors[*block].iter().any(|from| is_inside(*from));
        let (exits, others): (Vec<usize>, Vec<usize>) =
            (0..self.blocks.len()).filter(is_exit).partition(|exit| holds(*exit));
        // Who comes to the loop again comes to its head. Until then nobody writes, so it holds what it held at the exit.
        let everywhere = others.is_empty()
            && self.loops.loops[number].header == own
            && members.iter().all(|member| is_inside(*member));
        let place_of = |place: usize| {
            let behind = exits.iter().copied().find(|exit| self.loops.dominates(*exit, place));
            behind.or((everywhere && !is_inside(place)).then_some(place)).filter(|block| !self.is_landing(*block))
        };
        let mut loads: HashMap<usize, Ref> = HashMap::new();
        for user in users(llvm, phi).into_iter().filter(|user| !web.contains(user)) {
            let count = u32::try_from(llvm.operands(user)).unwrap_or(0);
            for at in (0..count).filter(|at| llvm.operand(user, *at) == phi) {
                let is_phi = llvm.opcode(user) == opcode::PHI;
                let place = if is_phi { self.number(llvm.incoming_block(user, at)) } else { Some(self.block(user)) };
                let Some(block) = place.and_then(place_of) else { continue };
                let load = *loads.entry(block).or_insert_with(|| {
                    let all = llvm.instructions(self.blocks[block]);
                    let first = all.into_iter().find(|i| llvm.opcode(*i) != opcode::PHI).unwrap_or(user);
                    llvm.position_before(builder, first);
                    let load = llvm.build_load(builder, llvm.type_of(phi), variable, c"".as_ptr());
                    llvm.set_debug_location(load, llvm.debug_location(user));
                    load
                });
                llvm.set_operand(user, at, load);
            }
        }
    }

    /// Where a value is used first, as far as is known.
    fn place_of_use(&self, phi: Ref) -> Ref {
        let all = users(self.llvm, phi).into_iter().rev().map(|user| self.llvm.debug_location(user));
        let is_known = |location: &Ref| !location.is_null() && self.llvm.location_line(*location) != 0;
        all.into_iter().find(is_known).unwrap_or(std::ptr::null_mut())
    }
}
