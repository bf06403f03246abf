//! Modules that are instrumented before optimisation: what the dependence profile needs of them.
//!
//! The compiler leaves all optimisation to this library (`workspan build` asks it to): events are put in while the code still has
//! every access and every loop of the source, and the passes of `-O1` run afterwards. Functions are not inlined, since their frames
//! separate one call from the next.

use std::collections::HashMap;

use workspan_trace::facts::{Induction, Local, LoopFacts, Meaning, Touch, Update};
use workspan_trace::program::{Module, NONE};

use crate::conditions::Conditions;
use crate::debug::Places;
use crate::llvm::{Llvm, Ref};
use crate::locals::Locals;
use crate::names;
use crate::plan::{Plan, Segment};

/// Set by `workspan build` for a compilation that leaves optimisation to the pass.
const VARIABLE: &str = "WORKSPAN_PASS_EARLY";
/// Index of a function among its attributes.
const FUNCTION: u32 = u32::MAX;
const AVAILABLE_EXTERNALLY: i32 = 1;

/// True if this compilation leaves optimisation to the pass.
pub fn wanted() -> bool {
    std::env::var_os(VARIABLE).is_some()
}

/// Forbids inlining.
pub fn prepare(llvm: &Llvm, module: Ref) {
    let kind = |name: &std::ffi::CStr| llvm.attribute_kind(name.as_ptr(), name.count_bytes());
    let attribute = llvm.create_attribute(llvm.context_of(module), kind(c"noinline"), 0);
    for function in llvm.functions(module) {
        if llvm.is_declaration(function) != 0 || llvm.linkage(function) == AVAILABLE_EXTERNALLY {
            continue;
        }
        for name in [c"alwaysinline", c"optnone"] {
            llvm.remove_attribute(function, FUNCTION, kind(name));
        }
        llvm.add_attribute(function, FUNCTION, attribute);
    }
}

/// What is known of a function.
#[derive(Debug)]
pub struct Extra<'l> {
    /// Locals without an address.
    pub locals: &'l Locals,
    /// Number of the first one in the module.
    pub first: usize,
    /// Updates.
    pub updates: HashMap<Ref, Update>,
}

/// Where facts go.
#[expect(missing_debug_implementations, reason = "handles")]
pub struct Sink<'s> {
    /// LLVM.
    pub llvm: &'s Llvm,
    /// Its context.
    pub context: Ref,
    /// The module.
    pub described: &'s mut Module,
    /// Its places.
    pub places: &'s mut Places,
}

impl Sink<'_> {
    fn text(&mut self, name: Option<String>) -> u32 {
        name.map_or(NONE, |name| self.places.text(self.described, &name))
    }

    /// Locals and loops of a function.
    pub fn function(&mut self, number: u32, plan: &Plan, extra: &Extra<'_>) {
        for alloca in &extra.locals.all {
            let name = names::source(&self.llvm.name(*alloca));
            let name = self.text(name);
            self.described.facts.locals.push(Local { function: number, name });
        }
        let conditions = Conditions {
            llvm: self.llvm,
            context: self.context,
            loops: &plan.loops,
            blocks: &plan.handles,
            locals: extra.locals,
        };
        for at in 0..plan.loops.loops.len() {
            let shape = conditions.shape(at);
            let place = shape.begin.map(|begin| {
                self.places.of_location(self.llvm, self.context, self.described, begin, 0)
            });
            let inductions = shape.inductions.iter().filter_map(|(alloca, step, control)| {
                let local = small(extra.first + extra.locals.number(*alloca)?);
                Some(Induction { local, step: *step, control: *control })
            });
            self.described.facts.loops.push(LoopFacts {
                flags: shape.flags,
                place: place.unwrap_or(NONE),
                last_line: shape.last_line,
                body: small(shape.body),
                inductions: inductions.collect(),
            });
        }
    }

    /// Lines, touches and meanings of a segment.
    pub fn segment(&mut self, segment: &Segment, extra: &Extra<'_>) {
        let update = |instruction| extra.updates.get(&instruction).map_or(0, |update| *update as u8);
        for operation in &segment.operations {
            let (name, direct) = self.pointer(operation.instruction, operation.address);
            let variable = self.text(name);
            let update = update(operation.instruction);
            self.described.facts.operations.push(Meaning { variable, update, direct });
        }
        for touch in &segment.touches {
            let place = self.places.of_instruction(self.llvm, self.context, self.described, touch.instruction);
            let local = small(extra.first + extra.locals.number(touch.local).unwrap_or(0));
            let update = update(touch.instruction);
            self.described.facts.touches.push(Touch { local, deed: touch.deed, update, place });
        }
        self.described.facts.runs.extend(&segment.runs);
        self.described.facts.segments.push(small(segment.runs.len()));
    }

    fn pointer(&self, instruction: Ref, address: crate::plan::Address) -> (Option<String>, bool) {
        use crate::llvm::opcode;
        use crate::plan::Address;
        let llvm = self.llvm;
        let pointer = match (llvm.opcode(instruction), address) {
            (_, Address::Symbol(symbol, _)) => symbol,
            (opcode::LOAD | opcode::RMW | opcode::CMPXCHG, _) => llvm.operand(instruction, 0),
            (opcode::STORE, _) => llvm.operand(instruction, 1),
            (_, Address::Pointer(pointer)) => pointer,
            _ => return (None, false),
        };
        names::variable(llvm, pointer)
    }
}

fn small(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(NONE)
}
