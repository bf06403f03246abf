//! What is to be recorded of a function: its segments, and their operations.
//!
//! A segment ends at a call that is no intrinsic: what the called function does stands between. The part after a call has a
//! segment of its own only if it says something: an access, another call, a return.

use workspan_trace::program::{flag, operation, Access};
use workspan_trace::MOST_SLOTS;

use crate::address::{distance, is_linked_variable, Distance};
use crate::atomics::Order;
use crate::below;
use crate::cfg::{graph, loops, Loops};
use crate::debug::is_private_to_library;
use crate::fences::Fences;
use crate::lines::{Growth, Lines, Repeat, Repeats};
use crate::llvm::{opcode, type_kind, Llvm, Ref};
use crate::locals::{Locals, Touch};
use crate::rust_sync::{self, Rule};
use crate::sections;

/// Stands for the first lane of a vector until it has its number.
pub(crate) const LANES: usize = usize::MAX;

/// Segments of a function.
#[derive(Debug, Default)]
pub struct Plan {
    /// In the order of blocks.
    pub segments: Vec<Segment>,
    /// Blocks.
    pub blocks: usize,
    /// Loops; indices are of blocks.
    pub loops: Loops,
    /// First instruction of each block.
    pub first_instructions: Vec<Ref>,
    /// Blocks, as LLVM has them.
    pub handles: Vec<Ref>,
    /// Atomic operations that order.
    pub atomics: Vec<Atomic>,
    /// Pointers that are acquired at fences, and must be kept until then.
    pub kept: Vec<Kept>,
    /// Calls that order.
    pub ordering_calls: Vec<OrderingCall>,
}

/// A call of a function that orders, and is compiled elsewhere.
#[derive(Clone, Copy, Debug)]
pub struct OrderingCall {
    /// The call.
    pub call: Ref,
    /// The instruction after it.
    pub next: Ref,
    /// What it orders.
    pub rule: Rule,
}

/// An atomic operation that orders; it is a segment of its own.
#[derive(Clone, Copy, Debug)]
pub struct Atomic {
    /// The instruction.
    pub instruction: Ref,
    /// The instruction after it.
    pub next: Ref,
    /// What it operates on.
    pub pointer: Ref,
    /// What it does to the order.
    pub order: Order,
}

/// An atomic operation whose pointer is acquired at a fence, and is not known there.
#[derive(Clone, Copy, Debug)]
pub struct Kept {
    /// The operation.
    pub operation: Ref,
    /// What it operates on.
    pub pointer: Ref,
    /// The fence.
    pub fence: Ref,
}

/// A segment.
#[derive(Debug)]
pub struct Segment {
    /// Block.
    pub block: usize,
    /// Its event is written before this instruction.
    pub before: Ref,
    /// [`flag`].
    pub flags: u32,
    /// The call at its end.
    pub call: Option<Ref>,
    /// The call is of a function of streams or files, with one that is a text of the program.
    pub of_text: bool,
    /// Operations.
    pub operations: Vec<Operation>,
    /// Reads and writes of locals without an address.
    pub touches: Vec<Touch>,
    /// Lines.
    pub runs: Vec<Run>,
    /// Every iteration of the innermost loop around it goes through it.
    pub always: bool,
    /// All iterations of its loop are one event.
    pub repeat: Option<Repeat>,
    slots: usize,
}

pub use workspan_trace::facts::Run;

/// An access.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    /// The instruction that accesses.
    pub instruction: Ref,
    /// Kind.
    pub access: Access,
    /// [`operation`].
    pub flags: u32,
    /// Bytes.
    pub size: u32,
    /// Where.
    pub address: Address,
    /// The size, where it is known at run time only.
    pub length: Option<Length>,
    /// Of a masked vector: mask and lane.
    pub mask: Option<(Ref, u32)>,
    /// What the address grows by in each iteration, where the segment repeats.
    pub step: i64,
}

/// Where an address comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Address {
    /// A pointer.
    Pointer(Ref),
    /// A lane of a vector of pointers.
    Lane(Ref, u32),
    /// At a distance from an earlier operation.
    Near(usize, i64),
    /// In a global variable.
    Symbol(Ref, i64),
}

/// A size at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// A value.
    Value(Ref),
    /// As many elements of some size as a value says.
    Elements(Ref, u32),
    /// As many elements of some size as lanes of a mask are set.
    Lanes(Ref, u32),
}

/// Looks at one function.
#[derive(Clone, Copy)]
#[expect(missing_debug_implementations, reason = "handles")]
pub struct Planner<'l> {
    /// LLVM.
    pub llvm: &'l Llvm,
    /// Layout of types.
    pub layout: Ref,
    /// Locals without an address, if the module is instrumented before optimisation.
    pub locals: Option<&'l Locals>,
    /// A function of [`sections`]: nothing but what stands for an access counts.
    pub is_ours: bool,
}

impl Planner<'_> {
    /// The plan of a function.
    pub fn plan(&self, function: Ref, repeats: &Repeats) -> Plan {
        let llvm = self.llvm;
        let mut blocks = llvm.blocks(function);
        let (_, successors) = graph(llvm, &blocks);
        let loops = loops(&successors);
        // The ways out of loops that repeat come last, and are no blocks of the program.
        blocks.truncate(blocks.len() - repeats.len());
        let mut plan = Plan { blocks: blocks.len(), loops, handles: blocks.clone(), ..Plan::default() };
        let fences = if self.locals.is_none() { Fences::of(llvm, &blocks, &plan.loops) } else { Fences::default() };
        for (at, block) in blocks.iter().enumerate() {
            let instructions = llvm.instructions(*block);
            plan.first_instructions.extend(instructions.first());
            let mut flags = flag::BLOCK;
            if at == 0 {
                flags |= flag::ENTRY | flag::FRAME;
            }
            if plan.loops.loops.iter().any(|each| each.header == at) {
                flags |= flag::HEADER;
            }
            let first = plan.segments.len();
            self.block(at, &instructions, flags, &fences, &mut plan);
            if let (Some(repeat), [segment]) = (repeats.get(block), &mut plan.segments[first..]) {
                self.repeat(segment, *repeat);
            }
        }
        let Plan { segments, loops, .. } = &mut plan;
        for segment in segments {
            segment.always = loops.innermost[segment.block]
                .is_some_and(|number| loops.latches(number).all(|latch| loops.dominates(segment.block, latch)));
        }
        plan
    }

    /// Has a segment stand for all iterations of its loop.
    fn repeat(&self, segment: &mut Segment, repeat: Repeat) {
        let lines = Lines { llvm: self.llvm, layout: self.layout, block: repeat.block };
        for at in 0..segment.operations.len() {
            if let Address::Near(other, _) = segment.operations[at].address {
                segment.operations[at].step = segment.operations[other].step;
            } else if let Some(Growth::By(step)) = segment.operations[at].growth(&lines) {
                segment.operations[at].step = step;
            } else if let Address::Pointer(_) = segment.operations[at].address {
                segment.operations[at].flags |= operation::STEP_SLOT;
                segment.slots += 1;
            }
        }
        segment.flags |= flag::REPEATED;
        segment.slots += 1;
        segment.repeat = Some(repeat);
    }

    fn block(&self, block: usize, instructions: &[Ref], mut flags: u32, fences: &Fences, plan: &mut Plan) {
        let llvm = self.llvm;
        let Plan { segments, atomics, kept: all_kept, ordering_calls, .. } = plan;
        let mut rest = instructions;
        while let Some((first, later)) = rest.split_first() {
            match llvm.opcode(*first) {
                opcode::PHI => {}
                opcode::LANDING_PAD => flags |= flag::LANDING | flag::FRAME,
                opcode::ALLOCA if block == 0 && self.is_static(*first) => {}
                opcode::CLEANUP_PAD | opcode::CATCH_PAD | opcode::CATCH_SWITCH => return,
                _ => break,
            }
            rest = later;
        }
        let Some(first) = rest.first() else {
            return;
        };
        let mut open = Segment::new(block, *first, flags);
        for (at, instruction) in rest.iter().enumerate() {
            let code = llvm.opcode(*instruction);
            self.count(&mut open, *instruction);
            if matches!(code, opcode::CALL | opcode::INVOKE | opcode::CALL_BR) && self.is_call(*instruction) {
                open.call = Some(*instruction);
                open.of_text = self.locals.is_some()
                    && (self.is_of_text_stream(*instruction) || self.is_of_internal_file(*instruction));
                open.flags |= flag::CALL;
                for operation in self.of_called(*instruction) {
                    if open.slots + operation.slots() <= MOST_SLOTS {
                        self.add(&mut open, operation);
                    }
                }
                let next = rest.get(at + 1);
                ordering_calls.extend(self.ordering_call(*instruction, next.copied()));
                let returns = next.is_some_and(|next| llvm.opcode(*next) == opcode::RET);
                if returns && code == opcode::CALL && llvm.is_tail_call(*instruction) != 0 {
                    open.flags |= flag::RETURN;
                    open.keep(segments);
                    return;
                }
                open.keep(segments);
                let Some(next) = next else {
                    return;
                };
                let twice = if self.returns_twice(*instruction) { flag::FRAME } else { 0 };
                open = Segment::new(block, *next, flag::AFTER_CALL | twice);
                continue;
            }
            if code == opcode::SWITCH
                || code == opcode::BR && self.locals.is_some() && llvm.is_conditional(*instruction) != 0
            {
                open.flags |= flag::BRANCH;
            }
            if code == opcode::RET {
                open.flags |= flag::RETURN;
            }
            if let Some(touch) = self.locals.and_then(|locals| locals.touch(llvm, *instruction)) {
                open.touches.push(touch);
                if let Some(run) = open.runs.last_mut() {
                    run.touches += 1;
                }
                continue;
            }
            let mut operations = self.operations(*instruction);
            if self.locals.is_some() && !operations.is_empty() && is_private_to_library(llvm, *instruction) {
                operations.clear();
            }
            let orders = if self.locals.is_none() { fences.order(llvm, *instruction) } else { None };
            if let (Some((pointer, order)), Some(next)) = (orders, rest.get(at + 1).copied()) {
                if order.releases {
                    std::mem::replace(&mut open, Segment::new(block, *instruction, 0)).keep(segments);
                }
                operations.into_iter().for_each(|operation| self.add(&mut open, operation));
                if order.acquires {
                    std::mem::replace(&mut open, Segment::new(block, next, 0)).keep(segments);
                }
                atomics.push(Atomic { instruction: *instruction, next, pointer, order });
                continue;
            }
            let (pointers, kept) = (fences.pointers(*instruction), fences.kept(*instruction));
            if let Some(next) = rest.get(at + 1).copied().filter(|_| pointers.len() + kept.len() > 0) {
                std::mem::replace(&mut open, Segment::new(block, next, 0)).keep(segments);
                let order = Order { releases: false, acquires: true };
                let acquired =
                    pointers.iter().map(|pointer| Atomic { instruction: *instruction, next, pointer: *pointer, order });
                atomics.extend(acquired);
                all_kept.extend(kept.iter().map(|(operation, pointer)| Kept {
                    operation: *operation,
                    pointer: *pointer,
                    fence: *instruction,
                }));
                continue;
            }
            // The lanes of a vector stay together.
            if open.slots + operations.iter().map(Operation::slots).sum::<usize>() > MOST_SLOTS {
                let next = Segment::new(block, *instruction, 0);
                std::mem::replace(&mut open, next).keep(segments);
                self.count(&mut open, *instruction);
            }
            operations.into_iter().for_each(|operation| self.add(&mut open, operation));
        }
        open.keep(segments);
    }

    fn ordering_call(&self, call: Ref, next: Option<Ref>) -> Option<OrderingCall> {
        let llvm = self.llvm;
        let rule = self.locals.is_none().then(|| rust_sync::of(llvm, call)).flatten()?;
        let is_behind = |instruction: &Ref| llvm.opcode(*instruction) != opcode::PHI;
        let first = || llvm.instructions(llvm.successor(call, 0)).into_iter().find(is_behind);
        let next = if llvm.opcode(call) == opcode::INVOKE { first() } else { next };
        Some(OrderingCall { call, next: next?, rule })
    }

    /// Adds an operation, whose address may be known from the linker or from an earlier one.
    fn add(&self, segment: &mut Segment, mut operation: Operation) {
        if let Address::Near(LANES, offset) = operation.address {
            let first = segment.operations.iter().position(|other| other.instruction == operation.instruction);
            let first = first.unwrap_or_default();
            operation.address = match segment.operations.get(first).map(|first| first.address) {
                Some(Address::Near(other, before)) => Address::Near(other, before.wrapping_add(offset)),
                Some(Address::Symbol(symbol, before)) => Address::Symbol(symbol, before.wrapping_add(offset)),
                _ => Address::Near(first, offset),
            };
        }
        if let Address::Pointer(pointer) = operation.address {
            let Distance { base, offset } = distance(self.llvm, self.layout, pointer);
            let near = segment.operations.iter().enumerate().rev().find_map(|(number, other)| {
                let Address::Pointer(other) = other.address else {
                    return None;
                };
                let there = distance(self.llvm, self.layout, other);
                (there.base == base).then(|| Some(Address::Near(number, offset.checked_sub(there.offset)?)))?
            });
            if is_linked_variable(self.llvm, base) {
                operation.address = Address::Symbol(base, offset);
            } else if let Some(near) = near {
                operation.address = near;
            }
        }
        segment.slots += operation.slots();
        segment.operations.push(operation);
        if let Some(run) = segment.runs.last_mut() {
            run.operations += 1;
        }
    }

    /// Counts an instruction for its line.
    fn count(&self, segment: &mut Segment, instruction: Ref) {
        let Some(locals) = self.locals else {
            return;
        };
        let location = crate::debug::shown(self.llvm, self.llvm.debug_location(instruction));
        let line = if location.is_null() { 0 } else { self.llvm.location_line(location) };
        let cost = crate::costs::of(locals, self.llvm, instruction);
        match segment.runs.last_mut() {
            Some(run) if line == 0 || run.line == line => run.cost += cost,
            Some(run) if run.line == 0 && run.operations + run.touches == 0 => {
                (run.line, run.cost) = (line, run.cost + cost)
            }
            _ => segment.runs.push(Run { line, cost, ..Run::default() }),
        }
    }

    pub(crate) fn operations(&self, instruction: Ref) -> Vec<Operation> {
        let llvm = self.llvm;
        if self.is_ours && llvm.opcode(instruction) != opcode::CALL && !self.is_deep(instruction) {
            return Vec::new();
        }
        let volatile = |atomic: bool| {
            let volatile = if llvm.volatile(instruction) != 0 { operation::VOLATILE } else { 0 };
            volatile | if atomic { operation::ATOMIC } else { 0 }
        };
        let one = |access, flags, ty: Ref, pointer| {
            let vector = matches!(llvm.type_kind(ty), type_kind::VECTOR | type_kind::SCALABLE_VECTOR);
            let flags = flags | if vector { operation::VECTOR } else { 0 };
            let size = u32::try_from(llvm.store_size(self.layout, ty)).unwrap_or(u32::MAX);
            self.plain(instruction, access, flags, size, pointer)
        };
        match llvm.opcode(instruction) {
            opcode::LOAD => {
                let flags = volatile(llvm.ordering(instruction) != 0);
                one(Access::Load, flags, llvm.type_of(instruction), llvm.operand(instruction, 0))
            }
            opcode::STORE => {
                let flags = volatile(llvm.ordering(instruction) != 0);
                let value = llvm.type_of(llvm.operand(instruction, 0));
                one(Access::Store, flags, value, llvm.operand(instruction, 1))
            }
            opcode::RMW | opcode::CMPXCHG => {
                let value = llvm.type_of(llvm.operand(instruction, 1));
                one(Access::Update, volatile(true), value, llvm.operand(instruction, 0))
            }
            opcode::CALL | opcode::CALL_BR if self.is_assembly(instruction) => self.of_assembly(instruction),
            opcode::CALL => self.intrinsic(instruction),
            opcode::ALLOCA => self.allocated(instruction),
            _ => Vec::new(),
        }
    }

    pub(crate) fn plain(
        &self,
        instruction: Ref,
        access: Access,
        flags: u32,
        size: u32,
        pointer: Ref,
    ) -> Vec<Operation> {
        // Other address spaces are segments of the processor, not memory at that address.
        if self.llvm.address_space(self.llvm.type_of(pointer)) != 0 {
            return Vec::new();
        }
        let base = distance(self.llvm, self.layout, pointer).base;
        let flags = flags | if self.is_thread_local(base) { operation::THREAD_LOCAL } else { 0 };
        let address = Address::Pointer(pointer);
        vec![Operation { instruction, access, flags, size, address, length: None, mask: None, step: 0 }]
    }

    fn is_thread_local(&self, base: Ref) -> bool {
        let llvm = self.llvm;
        if !llvm.is_a_global_variable(base).is_null() {
            return llvm.is_thread_local(base) != 0;
        }
        let is_call = !llvm.is_a_instruction(base).is_null() && llvm.opcode(base) == opcode::CALL;
        let callee = if is_call { llvm.callee(base) } else { None };
        let name = callee.map(|callee| llvm.name(callee));
        name.is_some_and(|name| name.starts_with("llvm.threadlocal.address") || name == "__errno_location")
    }

    fn intrinsic(&self, call: Ref) -> Vec<Operation> {
        let llvm = self.llvm;
        let Some(name) = llvm.callee(call).map(|callee| llvm.name(callee)) else {
            return Vec::new();
        };
        let bulk = |access, pointer: u32| {
            let length = llvm.operand(call, 2);
            let constant = llvm.constant(length).and_then(|length| u32::try_from(length).ok());
            let slot = if constant.is_none() { operation::SIZE_SLOT } else { 0 };
            let mut found =
                self.plain(call, access, operation::BULK | slot, constant.unwrap_or(0), llvm.operand(call, pointer));
            for operation in &mut found {
                operation.length = constant.is_none().then_some(Length::Value(length));
            }
            found
        };
        if let Some(writes) = sections::stands_for(&name) {
            let access = if writes { Access::Store } else { Access::Load };
            let flags = operation::BULK | operation::SIZE_SLOT;
            let mut found = self.plain(call, access, flags, 0, llvm.operand(call, 0));
            found.iter_mut().for_each(|operation| operation.length = Some(Length::Value(llvm.operand(call, 1))));
            found
        } else if name.starts_with("llvm.memset.") {
            bulk(Access::Store, 0)
        } else if name.starts_with("llvm.memcpy.") || name.starts_with("llvm.memmove.") {
            let mut both = bulk(Access::Load, 1);
            both.extend(bulk(Access::Store, 0));
            both
        } else if name.starts_with("llvm.lifetime.start") {
            self.scope(call)
        } else if name == below::BEGINS {
            self.plain(call, Access::Store, operation::SCOPE, below::BYTES, llvm.operand(call, 0))
        } else if name.starts_with("llvm.masked.") {
            self.masked(call, &name)
        } else {
            Vec::new()
        }
    }

    /// True for a call that the compiler replaces by code of its own.
    pub fn is_intrinsic(&self, call: Ref) -> bool {
        let name = self.llvm.callee(call).map(|callee| self.llvm.name(callee));
        name.is_some_and(|name| {
            let asks = name.starts_with(crate::bounded::EXTENT);
            name.starts_with("llvm.") || asks || name == below::BEGINS || sections::stands_for(&name).is_some()
        })
    }

    /// True for an access to a variable of the module.
    fn is_deep(&self, instruction: Ref) -> bool {
        let at = match self.llvm.opcode(instruction) {
            opcode::LOAD => 0,
            opcode::STORE => 1,
            _ => return false,
        };
        !self.llvm.is_a_global_variable(self.llvm.operand(instruction, at)).is_null()
    }

    fn returns_twice(&self, call: Ref) -> bool {
        const NAMES: [&str; 6] = ["setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp", "vfork", "savectx"];
        let name = self.llvm.callee(call).map(|callee| self.llvm.name(callee));
        name.is_some_and(|name| NAMES.contains(&name.as_str()))
    }

    /// True for an `alloca` of constant size.
    pub fn is_static(&self, alloca: Ref) -> bool {
        self.llvm.constant(self.llvm.operand(alloca, 0)).is_some()
    }
}

impl Segment {
    fn new(block: usize, before: Ref, flags: u32) -> Segment {
        let slots = usize::from(flags & flag::FRAME != 0);
        Segment {
            block,
            before,
            flags,
            call: None,
            of_text: false,
            operations: Vec::new(),
            touches: Vec::new(),
            runs: Vec::new(),
            repeat: None,
            always: false,
            slots,
        }
    }

    /// Bytes of its event.
    pub fn bytes(&self) -> usize {
        workspan_trace::ID_BYTES + self.slots * workspan_trace::SLOT_BYTES
    }

    fn keep(self, segments: &mut Vec<Segment>) {
        let says = flag::BLOCK | flag::RETURN | flag::CALL | flag::FRAME;
        let has_lines = self.runs.iter().any(|run| run.cost + run.touches > 0);
        if self.flags & says != 0 || !self.operations.is_empty() || has_lines {
            segments.push(self);
        }
    }
}

impl Operation {
    /// How its address grows in the loop of a block; nothing if it is no line, or not all of the operation is static.
    pub(crate) fn growth(&self, lines: &Lines<'_>) -> Option<Growth> {
        let is_static = self.length.is_none() && self.mask.is_none() && self.flags & operation::ATOMIC == 0;
        match self.address {
            Address::Pointer(pointer) if is_static => lines.growth_of(pointer),
            _ => None,
        }
    }

    /// Slots of the event that belong to it.
    pub fn slots(&self) -> usize {
        let is_there = matches!(self.address, Address::Pointer(_) | Address::Lane(..));
        let has_step = self.flags & operation::STEP_SLOT != 0;
        [is_there, self.length.is_some(), self.mask.is_some(), has_step].map(usize::from).iter().sum()
    }
}
