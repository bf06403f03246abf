//! Modules of rustc: their code in the form that the other parts expect of a front end.
//!
//! A loop over an iterator is many small functions of Rust's library, and its counter a member of an object. So what is of the library
//! is inlined, with the closures that it calls; objects are taken apart; then the variables that loops carry become variables
//! again ([`crate::variables`]).

use std::collections::{HashMap, HashSet};

use workspan_trace::rust_names::is_library_file;

use crate::debug;
use crate::llvm::{is_disjoint, opcode, type_kind, Llvm, Ref, FUNCTION};
use crate::locals::users;
use crate::names::{Valued, Variable};
use crate::variables;

/// Instructions that an inlined function has at most, with all that is inlined into it.
const MOST: usize = 500;
/// What is left of objects that were taken apart.
pub const TAKE_APART: &std::ffi::CStr = c"function(instcombine<no-verify-fixpoint>,early-cse,jump-threading,early-cse)";
/// What leaves conditions as the source has them: an `Option` that the head of a loop makes is no condition of its own.
pub const STRAIGHTEN: &std::ffi::CStr = c"function(instcombine<no-verify-fixpoint>,early-cse,jump-threading,simplifycfg,early-cse,jump-threading,simplifycfg,\
instsimplify)";
/// What gives each loop one way back, and each way from a choice to a meeting a block of its own.
const SIMPLIFY: &std::ffi::CStr = c"function(loop-simplify,break-crit-edges)";

/// True if rustc has made a module.
pub fn is_rust(llvm: &Llvm, module: Ref) -> bool {
    llvm.functions(module).into_iter().any(|function| debug::file_of(llvm, function).ends_with(".rs"))
}

/// Gives each loop one way back. Of a loop that leaves a variable as it was on one of several ways back LLVM would make two, one in the
/// other: so there, what it leaves looks like a copy meanwhile.
pub fn simplify_loops(
    llvm: &Llvm,
    module: Ref,
    run: impl Fn(&std::ffi::CStr) -> Result<(), String>,
) -> Result<(), String> {
    let builder = llvm.create_builder(llvm.context_of(module));
    let mut copies = HashSet::new();
    for block in llvm.functions(module).into_iter().flat_map(|function| llvm.blocks(function)) {
        let phis = llvm.instructions(block).into_iter().take_while(|at| llvm.opcode(*at) == opcode::PHI);
        for phi in phis {
            for at in (0..llvm.incoming_count(phi)).filter(|at| llvm.incoming_value(phi, *at) == phi) {
                llvm.position_before(builder, llvm.terminator(llvm.incoming_block(phi, at)));
                let copy = llvm.build_freeze(builder, phi, c"".as_ptr());
                llvm.set_operand(phi, at, copy);
                copies.insert(copy);
            }
        }
    }
    llvm.dispose_builder(builder);
    run(SIMPLIFY)?;
    // LLVM may have taken some away.
    for copy in llvm.functions(module).into_iter().flat_map(|function| all_of(llvm, function)) {
        if llvm.opcode(copy) == opcode::FREEZE && copies.contains(&copy) {
            llvm.replace_uses(copy, llvm.operand(copy, 0));
            llvm.erase(copy);
        }
    }
    Ok(())
}

fn all_of(llvm: &Llvm, function: Ref) -> Vec<Ref> {
    llvm.blocks(function).into_iter().flat_map(|block| llvm.instructions(block)).collect()
}

/// Has functions of Rust's library inlined, and closures.
pub fn inline_library(llvm: &Llvm, module: Ref) {
    let kind = |name: &std::ffi::CStr| llvm.attribute_kind(name.as_ptr(), name.count_bytes());
    let always = llvm.create_attribute(llvm.context_of(module), kind(c"alwaysinline"), 0);
    let mut sizes = Sizes { llvm, context: llvm.context_of(module), known: HashMap::new() };
    for function in llvm.functions(module) {
        if sizes.of(function).is_some() {
            llvm.add_attribute(function, FUNCTION, always);
        }
    }
}

/// Takes away questions to the optimiser whether a value is constant: the answer is no.
pub fn answer_questions(llvm: &Llvm, module: Ref) {
    let no = llvm.const_null(llvm.int_type(llvm.context_of(module), 1));
    for function in llvm.functions(module) {
        for call in all_of(llvm, function) {
            let asks = llvm.opcode(call) == opcode::CALL
                && llvm.callee(call).is_some_and(|callee| llvm.name(callee).starts_with("llvm.is.constant."));
            if asks {
                llvm.replace_uses(call, no);
                llvm.erase(call);
            }
        }
    }
}

/// Makes plain sums of those of which the library assumes that they do not overflow, as the counters of its ranges.
pub fn add_plainly(llvm: &Llvm, module: Ref) {
    let builder = llvm.create_builder(llvm.context_of(module));
    for function in llvm.functions(module) {
        let calls = all_of(llvm, function).into_iter().filter(|at| llvm.opcode(*at) == opcode::CALL);
        for call in calls.collect::<Vec<Ref>>() {
            let name = llvm.callee(call).map(|callee| llvm.name(callee)).unwrap_or_default();
            let is = |kinds: [&str; 2]| kinds.into_iter().any(|kind| name.starts_with(kind));
            let adds = is(["llvm.sadd.with.overflow.", "llvm.uadd.with.overflow."]);
            if !adds && !is(["llvm.ssub.with.overflow.", "llvm.usub.with.overflow."]) {
                continue;
            }
            let parts = users(llvm, call);
            if parts.iter().any(|part| llvm.opcode(*part) != opcode::EXTRACT_VALUE) {
                continue;
            }
            let (sums, flags): (Vec<Ref>, Vec<Ref>) =
                parts.into_iter().partition(|part| llvm.first_index(*part) == Some(0));
            let Some(unneeded) = only_assumed(llvm, flags) else { continue };
            llvm.position_before(builder, call);
            let (left, right) = (llvm.operand(call, 0), llvm.operand(call, 1));
            let sum = match adds {
                true => llvm.build_add(builder, left, right, c"".as_ptr()),
                false => llvm.build_sub(builder, left, right, c"".as_ptr()),
            };
            llvm.set_debug_location(sum, llvm.debug_location(call));
            for part in sums {
                llvm.replace_uses(part, sum);
                llvm.erase(part);
            }
            unneeded.into_iter().rev().for_each(|instruction| llvm.erase(instruction));
            llvm.erase(call);
        }
    }
    llvm.dispose_builder(builder);
}

/// What is made of truth values, users behind what they use, if it all ends in assumptions.
fn only_assumed(llvm: &Llvm, truths: Vec<Ref>) -> Option<Vec<Ref>> {
    let (mut found, mut at) = (truths, 0);
    while let Some(truth) = found.get(at).copied() {
        at += 1;
        for user in users(llvm, truth) {
            let name = || llvm.callee(user).map(|callee| llvm.name(callee)).unwrap_or_default();
            match llvm.opcode(user) {
                opcode::XOR => {}
                opcode::CALL if name().starts_with("llvm.expect.") || name() == "llvm.assume" => {}
                _ => return None,
            }
            // Once, behind all that it uses.
            if let Some(earlier) = found.iter().position(|other| *other == user) {
                found.remove(earlier);
                at -= usize::from(earlier < at);
            }
            found.push(user);
        }
    }
    Some(found)
}

/// Takes away comparisons of references with null, which they never are.
pub fn compare_references(llvm: &Llvm, module: Ref) {
    /// LLVM's predicate of equal values.
    const EQUAL: i32 = 32;
    let context = llvm.context_of(module);
    let bit = llvm.int_type(context, 1);
    let references = References { llvm, nonnull: llvm.metadata_kind_id(context, c"nonnull".as_ptr(), 7) };
    for function in llvm.functions(module) {
        for compare in all_of(llvm, function) {
            let asks = llvm.opcode(compare) == opcode::ICMP
                && llvm.type_kind(llvm.type_of(llvm.operand(compare, 0))) == type_kind::POINTER
                && llvm.is_null(llvm.operand(compare, 1)) != 0
                && matches!(llvm.predicate(compare), EQUAL | 33);
            if asks && references.is_one(llvm.operand(compare, 0), &mut HashSet::new()) {
                let differs = llvm.predicate(compare) != EQUAL;
                llvm.replace_uses(compare, llvm.const_int(bit, differs.into(), 0));
                llvm.erase(compare);
            }
        }
    }
}

struct References<'l> {
    llvm: &'l Llvm,
    /// LLVM's kind of metadata of a load that never gives null.
    nonnull: u32,
}

impl References<'_> {
    /// True if a pointer is never null. What goes round a loop is as what it began with.
    fn is_one(&self, value: Ref, seen: &mut HashSet<Ref>) -> bool {
        let llvm = self.llvm;
        if !llvm.is_a_global_variable(value).is_null() {
            return true;
        }
        if llvm.is_a_instruction(value).is_null() || !seen.insert(value) {
            return seen.contains(&value);
        }
        match llvm.opcode(value) {
            opcode::ALLOCA => true,
            opcode::LOAD => !llvm.metadata(value, self.nonnull).is_null(),
            opcode::GEP => self.is_one(llvm.operand(value, 0), seen),
            opcode::PHI => (0..llvm.incoming_count(value)).all(|at| self.is_one(llvm.incoming_value(value, at), seen)),
            opcode::SELECT => self.is_one(llvm.operand(value, 1), seen) && self.is_one(llvm.operand(value, 2), seen),
            _ => false,
        }
    }
}

/// How large functions are with all that is inlined into them.
struct Sizes<'l> {
    llvm: &'l Llvm,
    context: Ref,
    /// Nothing: not to be inlined, or being looked at.
    known: HashMap<Ref, Option<usize>>,
}

impl Sizes<'_> {
    /// Nothing if a function is not to be inlined.
    fn of(&mut self, function: Ref) -> Option<usize> {
        if let Some(known) = self.known.get(&function) {
            return *known;
        }
        // Of functions that call each other, one stays.
        self.known.insert(function, None);
        let found = self.measure(function);
        self.known.insert(function, found);
        found
    }

    /// True if all who call a function may use of the processor what it may: LLVM could not select instructions elsewhere.
    fn fits_callers(&self, function: Ref) -> bool {
        let llvm = self.llvm;
        let own = llvm.features(function);
        let calls = users(llvm, function).into_iter().filter(|user| !llvm.is_a_instruction(*user).is_null());
        let callers: HashSet<Ref> = calls.map(|call| llvm.function_of_block(llvm.block_of(call))).collect();
        callers.into_iter().all(|caller| llvm.features(caller) == own)
    }

    fn measure(&mut self, function: Ref) -> Option<usize> {
        let llvm = self.llvm;
        if llvm.is_declaration(function) != 0 {
            return None;
        }
        let of_library = is_library_file(&debug::file_of(llvm, function));
        let is_closure = debug::name_of(llvm, self.context, function).starts_with("{closure");
        let has = |name: &std::ffi::CStr| {
            let kind = llvm.attribute_kind(name.as_ptr(), name.count_bytes());
            !llvm.attribute_at(function, FUNCTION, kind).is_null()
        };
        if !(of_library || is_closure) || has(c"noinline") || has(c"cold") || !self.fits_callers(function) {
            return None;
        }
        let all = all_of(llvm, function);
        let mut size = all.len();
        for call in all.iter().filter(|i| matches!(llvm.opcode(**i), opcode::CALL | opcode::INVOKE)) {
            let Some(callee) = llvm.callee(*call) else {
                continue;
            };
            if callee == function {
                return None;
            }
            size += self.of(callee).unwrap_or(0);
            if size > MOST {
                return None;
            }
        }
        Some(size).filter(|size| *size <= MOST)
    }
}

/// Has steps of counters be sums: LLVM adds one to an even number by `or`.
fn make_sums(llvm: &Llvm, context: Ref, function: Ref) {
    let is_phi = |value: Ref| !llvm.is_a_instruction(value).is_null() && llvm.opcode(value) == opcode::PHI;
    let steps = all_of(llvm, function).into_iter().filter(|at| {
        llvm.opcode(*at) == opcode::OR
            && is_phi(llvm.operand(*at, 0))
            && llvm.constant(llvm.operand(*at, 1)).is_some()
            && is_disjoint(*at)
    });
    for or in steps.collect::<Vec<Ref>>() {
        let builder = llvm.create_builder(context);
        llvm.position_before(builder, or);
        let sum = llvm.build_add(builder, llvm.operand(or, 0), llvm.operand(or, 1), c"".as_ptr());
        llvm.set_debug_location(sum, llvm.debug_location(or));
        llvm.replace_uses(or, sum);
        llvm.erase(or);
        llvm.dispose_builder(builder);
    }
}

/// Gives variables that loops carry their memory back; their names.
pub fn variables(llvm: &Llvm, module: Ref) -> HashMap<Ref, Variable> {
    let mut names = HashMap::new();
    let valued = Valued::of(llvm, module);
    let mut kept = HashSet::new();
    for function in llvm.functions(module) {
        if llvm.is_declaration(function) == 0 {
            make_sums(llvm, llvm.context_of(module), function);
            variables::gather_steps(llvm, function);
            kept.extend(variables::demote(llvm, function, &valued, &mut names));
        }
    }
    crate::results::keep(llvm, module, Some((&valued, &kept)), &mut names);
    names.extend(valued.arguments(llvm));
    names
}
