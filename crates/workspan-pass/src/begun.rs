//! Variables of Rust that begin anew in each iteration, and whose scope rustc's own optimisation has taken away.
//!
//! **Argument:** a call that returns an object, and a copy, write the whole of a variable. If the source declares it in the loop, and all that
//! uses it lies in the loop behind that write, then no iteration can find what an earlier one has left: its scope may begin there.

use std::collections::HashMap;

use crate::cfg::{graph, loops, Loops};
use crate::llvm::{opcode, Llvm, Ref};
use crate::locals::{is_call_of, users};
use crate::names::Declared;

/// What begins the scope of a variable, as LLVM calls it.
const START: &std::ffi::CStr = c"llvm.lifetime.start.p0";

/// Has the scopes of such variables begin.
pub(crate) fn scopes(llvm: &Llvm, module: Ref) {
    let start = llvm.named_function(module, START.as_ptr());
    if start.is_null() {
        return;
    }
    let declared = Declared::of(llvm, module);
    for function in llvm.functions(module).into_iter().filter(|function| llvm.is_declaration(*function) == 0) {
        let blocks = llvm.blocks(function);
        let (numbers, successors) = graph(llvm, &blocks);
        let body = Body { llvm, module, blocks: &blocks, numbers: &numbers, loops: loops(&successors) };
        if body.loops.loops.is_empty() {
            continue;
        }
        for alloca in llvm.instructions(blocks[0]).into_iter().filter(|each| llvm.opcode(*each) == opcode::ALLOCA) {
            let line = declared.variable(llvm, alloca).map_or(0, |variable| variable.line);
            if let Some(write) = body.begins_at(alloca, line) {
                begin(llvm, module, start, (alloca, write));
            }
        }
    }
}

/// The scope of a variable begins before an instruction.
fn begin(llvm: &Llvm, module: Ref, start: Ref, (alloca, before): (Ref, Ref)) {
    let context = llvm.context_of(module);
    let size = llvm.abi_size(llvm.data_layout(module), llvm.allocated_type(alloca));
    // Before LLVM 22 the size comes first.
    let mut arguments = vec![llvm.const_int(llvm.int_type(context, 64), size, 0), alloca];
    if llvm.parameter_count(start) == 1 {
        arguments.remove(0);
    }
    let count = llvm.parameter_count(start);
    let builder = llvm.create_builder(context);
    llvm.position_before(builder, before);
    let call =
        llvm.build_call(builder, llvm.global_value_type(start), start, arguments.as_mut_ptr(), count, c"".as_ptr());
    llvm.set_debug_location(call, llvm.debug_location(before));
    llvm.dispose_builder(builder);
}

/// A function with loops.
struct Body<'f> {
    llvm: &'f Llvm,
    module: Ref,
    blocks: &'f [Ref],
    numbers: &'f HashMap<Ref, usize>,
    loops: Loops,
}

impl Body<'_> {
    /// The write that a variable begins with in each iteration; `line`: where it is declared.
    fn begins_at(&self, alloca: Ref, line: u32) -> Option<Ref> {
        if line == 0 {
            return None;
        }
        let all = self.uses(alloca)?;
        let is_first = |each: &Ref| {
            let is_before = |other: &Ref| {
                let of_each = self.number(*each);
                of_each.is_some_and(|of| self.loops.is_before(self.llvm, self.blocks, (*each, of), *other))
            };
            all.iter().all(|other| other == each || is_before(other))
        };
        let write = all.iter().copied().find(|each| self.writes_all(*each, alloca) && is_first(each))?;
        let innermost = self.loops.innermost[self.number(write)?]?;
        let is_inside = |each: &Ref| self.number(*each).is_some_and(|block| self.loops.contains(innermost, block));
        (all.iter().all(is_inside) && self.is_declared_in(innermost, line)).then_some(write)
    }

    fn number(&self, instruction: Ref) -> Option<usize> {
        self.numbers.get(&self.llvm.block_of(instruction)).copied()
    }

    /// What reads or writes a variable, or passes it to a function; nothing: its address is kept somewhere, or its scope is known.
    fn uses(&self, pointer: Ref) -> Option<Vec<Ref>> {
        let llvm = self.llvm;
        let mut found = Vec::new();
        for user in users(llvm, pointer) {
            match llvm.opcode(user) {
                opcode::GEP => found.extend(self.uses(user)?),
                opcode::LOAD => found.push(user),
                opcode::STORE if llvm.operand(user, 0) != pointer => found.push(user),
                opcode::CALL | opcode::INVOKE if !is_call_of(llvm, user, "llvm.lifetime.") => found.push(user),
                _ => return None,
            }
        }
        Some(found)
    }

    /// True for a call that returns an object in a variable, and for a copy of the whole of it.
    fn writes_all(&self, user: Ref, alloca: Ref) -> bool {
        let llvm = self.llvm;
        if !matches!(llvm.opcode(user), opcode::CALL | opcode::INVOKE) || llvm.operand(user, 0) != alloca {
            return false;
        }
        let kind = llvm.attribute_kind(c"sret".as_ptr(), c"sret".count_bytes());
        let size = || llvm.abi_size(llvm.data_layout(self.module), llvm.allocated_type(alloca));
        let is_copy = || {
            is_call_of(llvm, user, "llvm.memcpy.")
                && llvm.constant(llvm.operand(user, 2)).and_then(|size| u64::try_from(size).ok()) == Some(size())
        };
        !llvm.call_attribute_at(user, 1, kind).is_null() || is_copy()
    }

    /// True if a line lies behind the first one of a loop, and not behind its last one.
    fn is_declared_in(&self, number: usize, line: u32) -> bool {
        let llvm = self.llvm;
        let inside = (0..self.blocks.len()).filter(|block| self.loops.contains(number, *block));
        let places =
            inside.flat_map(|block| llvm.instructions(self.blocks[block])).map(|each| llvm.debug_location(each));
        let own = places.filter(|place| !place.is_null() && llvm.location_inlined_at(*place).is_null());
        let lines: Vec<u32> = own.map(|place| llvm.location_line(place)).filter(|line| *line != 0).collect();
        lines.iter().min().is_some_and(|first| *first < line) && lines.iter().max().is_some_and(|last| line <= *last)
    }
}
