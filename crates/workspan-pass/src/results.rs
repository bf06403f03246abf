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

/// Gives results memory; `names`: of those that have one in the source.
pub fn keep(llvm: &Llvm, module: Ref, valued: Option<&Valued>, names: &mut HashMap<Ref, Variable>) {
    let builder = llvm.create_builder(llvm.context_of(module));
    for function in llvm.functions(module) {
        if llvm.is_declaration(function) != 0 || llvm.name(function).starts_with("__workspan_") {
            continue;
        }
        let blocks = llvm.blocks(function);
        let keeper = Keeper { llvm, builder, entry: blocks[0], blocks: &blocks, of_rust: valued.is_some() };
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
        // Where pointers lead to has the name of what they are: those of Rust have no memory but this.
        let is_value = |value: &Ref| match llvm.type_kind(llvm.type_of(*value)) {
            type_kind::INTEGER | type_kind::FIRST_FLOAT..=type_kind::LAST_FLOAT => true,
            type_kind::POINTER => !self.of_rust,
            _ => false,
        };
        if is_value(&call) {
            return vec![call];
        }
        if llvm.type_kind(llvm.type_of(call)) != type_kind::STRUCT {
            return Vec::new();
        }
        let behind = self.behind(call);
        let all = users(llvm, call).into_iter().filter(|user| llvm.opcode(*user) == opcode::EXTRACT_VALUE);
        all.filter(|user| is_value(user) && behind.contains(user)).collect()
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
        let (b, none) = (self.builder, c"".as_ptr());
        let first = if value == call { first_behind(llvm, self.blocks, call)? } else { llvm.next_instruction(value) };
        llvm.position_before(b, llvm.first_instruction(self.entry));
        let variable = llvm.build_alloca(b, llvm.type_of(value), none);
        llvm.position_before(b, first);
        let store = llvm.build_store(b, value, variable);
        llvm.set_debug_location(store, llvm.debug_location(call));
        let mut done = HashSet::new();
        for user in all.into_iter().filter(|user| done.insert(*user)) {
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
                llvm.position_before(b, place);
                let load = llvm.build_load(b, llvm.type_of(value), variable, none);
                llvm.set_debug_location(load, llvm.debug_location(place));
                llvm.set_operand(user, at, load);
            }
        }
        Some(variable)
    }
}
