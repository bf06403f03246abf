//! Modules that are instrumented before optimisation: what the dependence profile needs of them.
//!
//! The compiler leaves all optimisation to this library (`workspan build` asks it to): events are put in while the code still has
//! every access and every loop of the source, and the passes of `-O1` run afterwards. Functions are not inlined, since their frames
//! separate one call from the next.

use std::collections::{HashMap, HashSet};

use workspan_trace::cpp_library::is_algorithm;
use workspan_trace::facts::{Induction, Local, LoopFacts, Meaning, Touch};
use workspan_trace::program::{Module, NONE};

use crate::cfg::{graph, loops};
use crate::conditions::Conditions;
use crate::debug::{file_of, name_of, Places};
use crate::fixed::Written;
use crate::library;
use crate::llvm::{opcode, type_kind, Llvm, Ref, AVAILABLE_EXTERNALLY, FUNCTION};
use crate::locals::{is_call_of, users, Locals};
use crate::names::Declared;
use crate::plan::{Plan, Segment};
use crate::reached::{variable, Named};
use crate::updates::Applied;

/// Set by `workspan build` for a compilation that leaves optimisation to the pass.
const VARIABLE: &str = "WORKSPAN_PASS_EARLY";
/// Parts of flang's description of an array, before what it says of derived types.
const DESCRIPTION: u32 = 8;

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

/// Small functions of C++'s library, which are read as if they stood in the loop: iterators, references, accessors.
const ACCESSORS: [&str; 6] = ["_ZNSt", "_ZNKSt", "_ZSt", "_ZN9__gnu_cxx", "_ZNK9__gnu_cxx", "_ZN6__pstl"];
/// Instructions that such a function has at most.
const SMALL: usize = 40;
/// The same of algorithms, whose loops are the caller's.
const ALGORITHM: usize = 120;

/// Leaves functions of the program that want to be inlined (`always_inline`) functions of their own, if they have loops or are not small:
/// inlined, all of their lines would be the line of the call. Those of system headers, and those without a place in the source, such as the
/// compiler's own, are inlined as they want; so are those that could not do without: what they allocate on the stack is their
/// caller's, and assembly may need to know their arguments.
pub fn keep_functions(llvm: &Llvm, module: Ref) {
    let kind = llvm.attribute_kind(c"alwaysinline".as_ptr(), c"alwaysinline".count_bytes());
    for function in llvm.functions(module) {
        if llvm.is_declaration(function) == 0
            && llvm.linkage(function) != AVAILABLE_EXTERNALLY
            && is_worth_keeping(llvm, function)
        {
            llvm.remove_attribute(function, FUNCTION, kind);
        }
    }
}

/// What the paths of headers contain that are not the program's.
const SYSTEM: [&str; 3] = ["/usr/", "/lib/clang/", "/lib/gcc/"];

fn is_worth_keeping(llvm: &Llvm, function: Ref) -> bool {
    let file = file_of(llvm, function);
    if file.is_empty() || SYSTEM.iter().any(|part| file.contains(part)) {
        return false;
    }
    let blocks = llvm.blocks(function);
    let instructions: Vec<Vec<Ref>> = blocks.iter().map(|block| llvm.instructions(*block)).collect();
    let needs_caller = |block: usize, instruction: Ref| match llvm.opcode(instruction) {
        opcode::ALLOCA => block != 0,
        opcode::CALL => !llvm.is_a_inline_asm(llvm.called_value(instruction)).is_null(),
        _ => false,
    };
    let of_blocks = || instructions.iter().enumerate();
    if of_blocks().any(|(block, all)| all.iter().any(|instruction| needs_caller(block, *instruction))) {
        return false;
    }
    let count: usize = instructions.iter().map(Vec::len).sum();
    count > SMALL || !loops(&graph(llvm, &blocks).1).loops.is_empty()
}

/// Has the small functions of C++'s library inlined, and those that are loops through what they are given.
pub fn inline_accessors(llvm: &Llvm, module: Ref) {
    let kind = |name: &std::ffi::CStr| llvm.attribute_kind(name.as_ptr(), name.count_bytes());
    let attribute = llvm.create_attribute(llvm.context_of(module), kind(c"alwaysinline"), 0);
    for function in llvm.functions(module) {
        let name = llvm.name(function);
        let is_accessor = llvm.is_declaration(function) == 0
            // Those of types that a function declares are the module's own.
            && matches!(llvm.linkage(function), 2 | 3 | 5 | 6 | 8)
            && ACCESSORS.iter().any(|start| name.starts_with(start))
            && !library::is_whole(&name);
        if !is_accessor {
            continue;
        }
        let all: Vec<Ref> = llvm.blocks(function).into_iter().flat_map(|block| llvm.instructions(block)).collect();
        let calls_itself = all.iter().any(|i| llvm.opcode(*i) == opcode::CALL && llvm.callee(*i) == Some(function));
        let name = || name_of(llvm, llvm.context_of(module), function);
        let fits = all.len() <= SMALL || all.len() <= ALGORITHM && is_algorithm(&file_of(llvm, function), &name());
        if fits && !calls_itself {
            llvm.remove_attribute(function, FUNCTION, kind(c"noinline"));
            llvm.remove_attribute(function, FUNCTION, kind(c"optnone"));
            llvm.add_attribute(function, FUNCTION, attribute);
        }
    }
}

/// Parameters of inlined functions, and where they leave their results, which are written once: what was passed takes their place.
pub fn forward_parameters(llvm: &Llvm, module: Ref) {
    for function in llvm.functions(module) {
        if llvm.is_declaration(function) != 0 {
            continue;
        }
        for alloca in llvm.instructions(llvm.first_block(function)) {
            let name = || llvm.name(alloca);
            if llvm.opcode(alloca) == opcode::ALLOCA
                && (name().contains(".addr.i") || name().starts_with("result.ptr.i"))
            {
                forward(llvm, alloca);
            }
        }
    }
}

fn forward(llvm: &Llvm, alloca: Ref) {
    let all = users(llvm, alloca);
    let stores: Vec<Ref> = all.iter().copied().filter(|user| llvm.opcode(*user) == opcode::STORE).collect();
    let [store] = stores.as_slice() else {
        return;
    };
    let value = llvm.operand(*store, 0);
    let same = |load: Ref| llvm.opcode(load) == opcode::LOAD && llvm.type_of(load) == llvm.type_of(value);
    let ends = |user: Ref| llvm.opcode(user) == opcode::CALL && is_call_of(llvm, user, "llvm.lifetime.");
    if value == alloca || !all.iter().all(|user| *user == *store || same(*user) || ends(*user)) {
        return;
    }
    for load in all.into_iter().filter(|user| llvm.opcode(*user) == opcode::LOAD) {
        llvm.replace_uses(load, value);
        llvm.erase(load);
    }
    llvm.erase(*store);
}

/// What is known of a function.
#[derive(Debug)]
pub struct Extra<'l> {
    /// Locals without an address.
    pub locals: &'l Locals,
    /// Number of the first one in the module.
    pub first: usize,
    /// Updates.
    pub updates: HashMap<(Ref, usize), Applied>,
    /// Names.
    pub declared: &'l Declared,
    /// What loops write.
    pub written: Written,
    /// As [`Conditions::all_conditions`].
    pub all_conditions: bool,
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

impl<'s> Sink<'s> {
    fn text(&mut self, name: Option<String>) -> u32 {
        name.map_or(NONE, |name| self.places.text(self.described, &name))
    }

    /// Locals and loops of a function. Returns its dead ends ([`Conditions::dead_ends`]).
    pub fn function(&mut self, number: u32, plan: &Plan, extra: &Extra<'_>) -> HashSet<usize> {
        for alloca in extra.locals.counters() {
            let variable = extra.declared.variable(self.llvm, alloca);
            let line = variable.as_ref().map_or(0, |variable| variable.line);
            let name = self.text(variable.map(|variable| variable.name));
            self.described.facts.locals.push(Local { function: number, name, line });
        }
        let conditions = self.conditions(plan, extra);
        for at in 0..plan.loops.loops.len() {
            let shape = conditions.shape(at);
            let place =
                shape.begin.map(|begin| self.places.of_location(self.llvm, self.context, self.described, begin, 0));
            let inductions = shape.inductions.iter().filter_map(|(alloca, step, control)| {
                let local = small(extra.first + extra.locals.any_number(self.llvm, *alloca)?);
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
        conditions.dead_ends()
    }

    fn conditions<'p>(&self, plan: &'p Plan, extra: &Extra<'p>) -> Conditions<'p>
    where
        's: 'p,
    {
        Conditions {
            llvm: self.llvm,
            context: self.context,
            loops: &plan.loops,
            blocks: &plan.handles,
            locals: extra.locals,
            all_conditions: extra.all_conditions,
        }
    }

    /// Lines, touches and meanings of a segment.
    pub fn segment(&mut self, segment: &Segment, plan: &Plan, extra: &Extra<'_>) {
        let conditions = self.conditions(plan, extra);
        let of = |instruction, number| extra.updates.get(&(instruction, number));
        let update = |instruction, number| of(instruction, number).map_or(0, |applied| applied.update as u8);
        let mut last = (std::ptr::null_mut(), 0);
        for operation in &segment.operations {
            last = (operation.instruction, if last.0 == operation.instruction { last.1 + 1 } else { 0 });
            let Named { name, direct, whole } = self.pointer(operation.instruction, operation.address, extra.declared);
            let variable = self.text(name);
            let alone = of(last.0, last.1).is_some_and(|applied| applied.alone);
            let update = update(last.0, last.1);
            let local = self.with_address(operation.instruction, extra);
            let always = segment.always;
            let (fixed, moves) =
                conditions.levels(&extra.written, segment.block, operation.instruction, operation.address);
            let pointer = self.takes_pointer(operation.instruction, extra.declared);
            let meaning = Meaning { variable, update, direct, whole, local, always, alone, fixed, moves, pointer };
            self.described.facts.operations.push(meaning);
        }
        for touch in &segment.touches {
            let place = self.places.of_instruction(self.llvm, self.context, self.described, touch.instruction);
            let local = small(extra.first + extra.locals.number(self.llvm, touch.local).unwrap_or(0));
            let update = update(touch.instruction, 0);
            let always = segment.always;
            self.described.facts.touches.push(Touch { local, deed: touch.deed, update, place, always });
        }
        self.described.facts.runs.extend(&segment.runs);
        self.described.facts.segments.push(small(segment.runs.len()));
    }

    /// True if a pointer is read or a part of Fortran's description of an array, or such a description is written, all of it.
    fn takes_pointer(&self, instruction: Ref, declared: &Declared) -> bool {
        let llvm = self.llvm;
        let is_pointer = |ty: Ref| llvm.type_kind(ty) == type_kind::POINTER;
        match llvm.opcode(instruction) {
            opcode::LOAD => {
                let pointer = llvm.operand(instruction, 0);
                is_pointer(llvm.type_of(instruction)) || declared.is_fortran && self.is_of_description(pointer)
            }
            opcode::STORE => {
                let (ty, at) = (llvm.type_of(llvm.operand(instruction, 0)), llvm.operand(instruction, 1));
                let is_local = !llvm.is_a_instruction(at).is_null() && llvm.opcode(at) == opcode::ALLOCA;
                let is_whole = is_local && llvm.allocated_type(at) == ty
                    || !llvm.is_a_global_variable(at).is_null() && llvm.global_value_type(at) == ty;
                is_whole && llvm.type_kind(ty) == type_kind::STRUCT && is_pointer(llvm.struct_element(ty, 0))
            }
            _ => false,
        }
    }

    /// True for the address of a part of Fortran's description of an array: what it is a part of begins with an address and a length, and
    /// ends with the dimensions.
    fn is_of_description(&self, pointer: Ref) -> bool {
        const PARTS: [i32; 3] = [type_kind::POINTER, type_kind::INTEGER, type_kind::INTEGER];
        let llvm = self.llvm;
        if llvm.is_a_instruction(pointer).is_null() || llvm.opcode(pointer) != opcode::GEP {
            return false;
        }
        let ty = llvm.gep_source_type(pointer);
        let count = if llvm.type_kind(ty) == type_kind::STRUCT { llvm.struct_elements(ty) } else { 0 };
        let kind = |element: u32| llvm.type_kind(llvm.struct_element(ty, element));
        count >= DESCRIPTION
            && (0..).zip(PARTS).all(|(element, part)| kind(element) == part)
            && kind(DESCRIPTION - 1) == type_kind::ARRAY
    }

    /// The number or pointer with an address that an instruction reads or writes, + 1.
    fn with_address(&self, instruction: Ref, extra: &Extra<'_>) -> u32 {
        let llvm = self.llvm;
        let pointer = match llvm.opcode(instruction) {
            opcode::LOAD => llvm.operand(instruction, 0),
            opcode::STORE => llvm.operand(instruction, 1),
            _ => return 0,
        };
        extra.locals.any_number(llvm, pointer).map_or(0, |number| small(extra.first + number) + 1)
    }

    fn pointer(&self, instruction: Ref, address: crate::plan::Address, declared: &Declared) -> Named {
        use crate::plan::Address;
        let llvm = self.llvm;
        let pointer = match (llvm.opcode(instruction), address) {
            (opcode::LOAD | opcode::RMW | opcode::CMPXCHG, _) => llvm.operand(instruction, 0),
            (opcode::STORE, _) => llvm.operand(instruction, 1),
            (_, Address::Symbol(symbol, _)) => symbol,
            (_, Address::Pointer(pointer)) => pointer,
            _ => return Named::default(),
        };
        variable(llvm, declared, pointer)
    }
}

fn small(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(NONE)
}
