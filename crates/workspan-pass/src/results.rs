//! What calls return, where it goes on to another call: a variable of its own, so that it is known who waits for it.
//!
//! **Argument:** whoever takes a result right behind the call, on its line, is seen to: what is written there, and the branch there, take
//! it. Elsewhere a result is a value without a name. It is written behind its call, and read wherever it is used: the write takes the
//! result, and the reads are what waits. Each read comes after the write in the same execution, since the call dominates it.

use std::collections::{HashMap, HashSet};

use crate::debug::shown;
use crate::llvm::{opcode, type_kind, Llvm, Ref};
use crate::locals::users;
use crate::names::{Valued, Variable};
use crate::ways::first_behind;

/// Gives results memory; `names`: of those that have one in the source; `of_rust`: how to know these, and `phi`s that stay values.
pub fn keep(llvm: &Llvm, module: Ref, of_rust: Option<(&Valued, &HashSet<Ref>)>, names: &mut HashMap<Ref, Variable>) {
    let (valued, values) = (of_rust.map(|(valued, _)| valued), of_rust.map(|(_, values)| values));
    let builder = llvm.create_builder(llvm.context_of(module));
    for function in llvm.functions(module) {
        if llvm.is_declaration(function) != 0 || llvm.name(function).starts_with("__workspan_") {
            continue;
        }
        let blocks = llvm.blocks(function);
        let keeper = Keeper { llvm, builder, entry: blocks[0], blocks: &blocks, of_rust: valued.is_some() };
        keeper.keep_choices(values);
        for call in blocks.iter().flat_map(|block| llvm.instructions(*block)) {
            for value in keeper.results(call) {
                if let Some(variable) = keeper.keep(call, value) {
                    names.extend(valued.and_then(|valued| valued.variable(value)).map(|name| (variable, name)));
                }
            }
        }
    }
    llvm.dispose_builder(builder);
}

struct Keeper<'l> {
    llvm: &'l Llvm,
    builder: Ref,
    entry: Ref,
    blocks: &'l [Ref],
    of_rust: bool,
}

impl Keeper<'_> {
    /// True for a call of a function that may be the program's.
    fn is_call(&self, instruction: Ref) -> bool {
        let llvm = self.llvm;
        let is_call = matches!(llvm.opcode(instruction), opcode::CALL | opcode::INVOKE);
        let name = || llvm.callee(instruction).map_or_else(String::new, |callee| llvm.name(callee));
        is_call && llvm.is_a_inline_asm(llvm.called_value(instruction)).is_null() && {
            let name = name();
            !name.starts_with("llvm.") && !name.starts_with("__workspan_")
        }
    }

    /// Values that a call returns: of several, those that are taken out right behind it.
    fn results(&self, call: Ref) -> Vec<Ref> {
        let llvm = self.llvm;
        if !self.is_call(call) {
            return Vec::new();
        }
        let is_result = |value: &Ref| self.is_value(*value) || self.is_reference(*value);
        if is_result(&call) {
            return vec![call];
        }
        if llvm.type_kind(llvm.type_of(call)) != type_kind::STRUCT {
            return Vec::new();
        }
        let behind = self.behind(call);
        let all = users(llvm, call).into_iter().filter(|user| llvm.opcode(*user) == opcode::EXTRACT_VALUE);
        all.filter(|user| is_result(user) && behind.contains(user)).collect()
    }

    /// True for what may have memory.
    fn is_value(&self, value: Ref) -> bool {
        match self.llvm.type_kind(self.llvm.type_of(value)) {
            type_kind::INTEGER | type_kind::FIRST_FLOAT..=type_kind::LAST_FLOAT => true,
            type_kind::POINTER => !self.of_rust,
            _ => false,
        }
    }

    /// True for a pointer of Rust. Where it leads to has the name of what it was made of, so it stays what it is; who uses it reads
    /// its variable beside.
    fn is_reference(&self, value: Ref) -> bool {
        self.of_rust && self.llvm.type_kind(self.llvm.type_of(value)) == type_kind::POINTER
    }

    /// What runs between a call and the next one, in its block.
    fn behind(&self, call: Ref) -> HashSet<Ref> {
        self.up_to_a_call(first_behind(self.llvm, self.blocks, call).unwrap_or(std::ptr::null_mut())).collect()
    }

    fn up_to_a_call(&self, first: Ref) -> impl Iterator<Item = Ref> + '_ {
        let there = |at: Ref| Some(at).filter(|at| !at.is_null() && !self.is_call(*at));
        std::iter::successors(there(first), move |at| there(self.llvm.next_instruction(*at)))
    }

    fn line(&self, instruction: Ref) -> u32 {
        let place = shown(self.llvm, self.llvm.debug_location(instruction));
        if place.is_null() {
            0
        } else {
            self.llvm.location_line(place)
        }
    }

    /// True if all that is made of a value ends right behind the call, on its line.
    fn ends_there(&self, call: Ref, value: Ref) -> bool {
        let llvm = self.llvm;
        let (mut behind, line) = (self.behind(call), self.line(call));
        let (mut open, mut seen) = (vec![value], HashSet::from([value]));
        while let Some(at) = open.pop() {
            for user in users(llvm, at) {
                if llvm.opcode(user) == opcode::PHI {
                    // A choice, on the same line.
                    behind.extend(self.up_to_a_call(llvm.first_instruction(llvm.block_of(user))));
                }
                if !behind.contains(&user) {
                    return false;
                }
                let goes_on = !matches!(llvm.opcode(user), opcode::STORE | opcode::BR | opcode::SWITCH | opcode::RET);
                if self.line(user) != line && (!goes_on || self.line(user) != 0) {
                    return false;
                }
                if goes_on && seen.insert(user) {
                    open.push(user);
                }
            }
        }
        true
    }

    /// Gives a value memory, if that says anything; the variable.
    fn keep(&self, call: Ref, value: Ref) -> Option<Ref> {
        let llvm = self.llvm;
        let all = users(llvm, value);
        if all.is_empty() || self.ends_there(call, value) {
            return None;
        }
        let first = if value == call { first_behind(llvm, self.blocks, call)? } else { llvm.next_instruction(value) };
        let variable = self.variable(value);
        self.store(value, variable, first, call);
        self.read(value, variable, &all, call);
        Some(variable)
    }

    fn variable(&self, value: Ref) -> Ref {
        let llvm = self.llvm;
        llvm.position_before(self.builder, llvm.first_instruction(self.entry));
        llvm.build_alloca(self.builder, llvm.type_of(value), c"".as_ptr())
    }

    /// Writes a value, at the place of another instruction.
    fn store(&self, value: Ref, variable: Ref, before: Ref, place: Ref) {
        let llvm = self.llvm;
        llvm.position_before(self.builder, before);
        let store = llvm.build_store(self.builder, value, variable);
        llvm.set_debug_location(store, llvm.debug_location(place));
    }

    /// Has those who use a value read its variable.
    fn read(&self, value: Ref, variable: Ref, all: &[Ref], call: Ref) {
        let llvm = self.llvm;
        let mut done = HashSet::new();
        for user in all.iter().copied().filter(|user| done.insert(*user)) {
            let count = u32::try_from(llvm.operands(user)).unwrap_or(0);
            for at in (0..count).filter(|at| llvm.operand(user, *at) == value) {
                let place = if llvm.opcode(user) == opcode::PHI {
                    llvm.terminator(llvm.incoming_block(user, at))
                } else {
                    user
                };
                // A call that ends the block has its result only behind it.
                if place == call {
                    continue;
                }
                let load = self.load(value, variable, place);
                if !self.is_reference(value) {
                    llvm.set_operand(user, at, load);
                }
                // A call that stands on another line than what is made of a value for it waits, too.
                for call in self.given_to(user) {
                    self.load(value, variable, call);
                }
            }
        }
    }

    /// Reads a variable, at the place of another instruction and before it.
    fn load(&self, value: Ref, variable: Ref, before: Ref) -> Ref {
        let llvm = self.llvm;
        llvm.position_before(self.builder, before);
        let load = llvm.build_load(self.builder, llvm.type_of(value), variable, c"".as_ptr());
        llvm.set_debug_location(load, llvm.debug_location(before));
        load
    }

    /// Calls on other lines that are given what is made of a value, without memory or a choice in between.
    fn given_to(&self, maker: Ref) -> Vec<Ref> {
        let llvm = self.llvm;
        let (mut open, mut seen, mut found) = (vec![maker], HashSet::from([maker]), Vec::new());
        if self.is_call(maker) || llvm.opcode(maker) == opcode::PHI {
            return found;
        }
        while let Some(at) = open.pop() {
            for user in users(llvm, at).into_iter().filter(|user| seen.insert(*user)) {
                match llvm.opcode(user) {
                    _ if self.is_call(user) => {
                        found.extend(Some(user).filter(|call| self.line(*call) != self.line(maker)))
                    }
                    opcode::PHI | opcode::LOAD | opcode::STORE => {}
                    _ => open.push(user),
                }
            }
        }
        found
    }

    /// What a condition chose for an argument, `g(c ? f(x) : 1)`: each way writes what it has at its own place, and the call reads it.
    fn keep_choices(&self, values: Option<&HashSet<Ref>>) {
        let llvm = self.llvm;
        let all = || self.blocks.iter().flat_map(|block| llvm.instructions(*block));
        let phis: Vec<Ref> = all().filter(|at| llvm.opcode(*at) == opcode::PHI).collect();
        let is_free = |phi: &Ref| values.is_none_or(|values| !values.contains(phi));
        let chosen =
            phis.into_iter().filter(|phi| self.is_value(*phi) && is_free(phi) && self.is_chosen_for_a_call(*phi));
        for phi in chosen.collect::<Vec<Ref>>() {
            let ways =
                (0..llvm.incoming_count(phi)).map(|at| (llvm.incoming_value(phi, at), llvm.incoming_block(phi, at)));
            let ways: Vec<(Ref, Ref)> = ways.map(|(value, block)| (value, llvm.terminator(block))).collect();
            // What a call that ends the block returns is there only behind it.
            if ways.iter().any(|(value, end)| value == end) {
                continue;
            }
            let variable = self.variable(phi);
            for (value, end) in ways {
                let has_place = !llvm.is_a_instruction(value).is_null() && !llvm.debug_location(value).is_null();
                self.store(value, variable, end, if has_place { value } else { end });
            }
            self.read(phi, variable, &users(llvm, phi), phi);
            llvm.erase(phi);
        }
    }

    /// True for a choice among values, one of which a call has returned, if another call is given what was chosen.
    fn is_chosen_for_a_call(&self, phi: Ref) -> bool {
        let llvm = self.llvm;
        let is_instruction = |value: &Ref| !llvm.is_a_instruction(*value).is_null();
        let operands = |of: Ref| {
            let count = u32::try_from(llvm.operands(of)).unwrap_or(0);
            (0..count).map(|at| llvm.operand(of, at)).filter(is_instruction).collect::<Vec<Ref>>()
        };
        self.leads_to_a_call(phi, operands) && self.leads_to_a_call(phi, |of| users(llvm, of))
    }

    /// True if steps from a value lead to a call, none of them through memory.
    fn leads_to_a_call(&self, from: Ref, step: impl Fn(Ref) -> Vec<Ref>) -> bool {
        let llvm = self.llvm;
        let (mut open, mut seen) = (vec![from], HashSet::from([from]));
        while let Some(at) = open.pop() {
            for next in step(at).into_iter().filter(|next| seen.insert(*next)) {
                match llvm.opcode(next) {
                    _ if self.is_call(next) => return true,
                    opcode::LOAD | opcode::STORE | opcode::ALLOCA => {}
                    _ => open.push(next),
                }
            }
        }
        false
    }
}
