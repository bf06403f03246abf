//! Names of variables: by debug information, else as the front end left them in the names of values.

use std::collections::HashMap;

use workspan_trace::rust_names::is_library_file;

use crate::library;
use crate::llvm::{lookup, opcode, type_kind, Llvm, Ref};

/// How deep addresses are followed.
const DEEPEST: usize = 20;

/// Variables of a module that debug information declares: name by where they are.
#[derive(Debug, Default)]
pub struct Declared(HashMap<Ref, String>);

impl Declared {
    /// Reads the debug information of a module.
    pub fn of(llvm: &Llvm, module: Ref) -> Declared {
        let mut found = Declared::default();
        let context = llvm.context_of(module);
        let records = Records::load();
        // Versions in between keep declarations beside the instructions, and have no function to read them there.
        let switch = records.is_none() && switch(module, false);
        for function in llvm.functions(module) {
            for instruction in llvm.blocks(function).into_iter().flat_map(|block| llvm.instructions(block)) {
                if let Some(records) = &records {
                    records.declared(llvm, context, instruction, &mut found.0);
                } else {
                    found.by_call(llvm, instruction);
                }
            }
        }
        if switch {
            self::switch(module, true);
        }
        found
    }

    fn by_call(&mut self, llvm: &Llvm, call: Ref) {
        let is = |callee: Ref| llvm.name(callee) == "llvm.dbg.declare";
        if llvm.opcode(call) != opcode::CALL || !llvm.callee(call).is_some_and(is) {
            return;
        }
        let place = operands(llvm, llvm.operand(call, 0));
        if let ([place], Some(name)) = (place.as_slice(), name_of(llvm, llvm.operand(call, 1))) {
            self.0.insert(*place, name);
        }
    }

    /// Variables that have been given memory since.
    pub fn extend(&mut self, names: HashMap<Ref, String>) {
        self.0.extend(names);
    }

    fn get(&self, place: Ref) -> Option<String> {
        self.0.get(&place).cloned()
    }

    /// The variable of the source that an `alloca` or an argument is, if the compiler did not make it up.
    pub fn source(&self, llvm: &Llvm, place: Ref) -> Option<String> {
        self.get(place).or_else(|| source(&llvm.name(place)))
    }
}

/// Values that debug information says are what a variable holds.
#[derive(Debug, Default)]
pub struct Valued(HashMap<Ref, String>);

impl Valued {
    /// Reads the debug information of a module.
    pub fn of(llvm: &Llvm, module: Ref) -> Valued {
        let mut found = Valued::default();
        let context = llvm.context_of(module);
        if let Some(records) = Records::load() {
            for function in llvm.functions(module) {
                for instruction in llvm.blocks(function).into_iter().flat_map(|block| llvm.instructions(block)) {
                    records.named(llvm, context, instruction, VALUE, &mut found.0);
                }
            }
        }
        // The variable behind a `for` of Rust.
        found.0.retain(|_, name| name != "iter");
        found
    }

    /// The variable of the source that a value belongs to.
    pub fn name(&self, value: Ref) -> Option<String> {
        self.0.get(&value).cloned()
    }
}

/// True for a variable of Rust's library.
fn of_library(llvm: &Llvm, variable: Ref) -> bool {
    let file = operands(llvm, variable).get(2).copied().filter(|file| !file.is_null());
    let name = file.and_then(|file| operands(llvm, file).first().copied()).filter(|name| !name.is_null());
    let mut length = 0;
    name.is_some_and(|name| {
        let text = llvm.metadata_string(name, &raw mut length);
        is_library_file(&crate::llvm::text(text, length as usize))
    })
}

fn operands(llvm: &Llvm, node: Ref) -> Vec<Ref> {
    let mut list = vec![std::ptr::null_mut(); llvm.metadata_operands(node) as usize];
    if !list.is_empty() {
        llvm.metadata_operand_list(node, list.as_mut_ptr());
    }
    list
}

/// The name of a variable's description, which is its second operand.
fn name_of(llvm: &Llvm, variable: Ref) -> Option<String> {
    let name = operands(llvm, variable).get(1).copied().filter(|name| !name.is_null())?;
    let mut length = 0;
    let text = llvm.metadata_string(name, &raw mut length);
    let text = crate::llvm::text(text, length as usize);
    (!text.is_empty() && !is_length(&text)).then_some(text)
}

/// Has LLVM keep declarations as calls, or not. False if it has no such choice.
fn switch(module: Ref, beside: bool) -> bool {
    let function = lookup("LLVMSetIsNewDbgInfoFormat");
    if function.is_null() {
        return false;
    }
    // SAFETY: LLVM's function of this name takes a module and a truth value.
    let function = unsafe { core::mem::transmute::<Ref, unsafe extern "C" fn(Ref, i32)>(function) };
    // SAFETY: a module that this thread may change.
    unsafe { function(module, i32::from(beside)) };
    true
}

/// LLVM's kind of a record that declares.
const DECLARE: i32 = 1;
/// Of one that says what a variable holds.
const VALUE: i32 = 2;

/// Functions of newer versions that read declarations beside instructions.
struct Records {
    first: unsafe extern "C" fn(Ref) -> Ref,
    next: unsafe extern "C" fn(Ref) -> Ref,
    kind: unsafe extern "C" fn(Ref) -> i32,
    value: unsafe extern "C" fn(Ref, u32) -> Ref,
    variable: unsafe extern "C" fn(Ref) -> Ref,
}

impl Records {
    fn load() -> Option<Records> {
        let names = [
            "LLVMGetFirstDbgRecord",
            "LLVMGetNextDbgRecord",
            "LLVMDbgRecordGetKind",
            "LLVMDbgVariableRecordGetValue",
            "LLVMDbgVariableRecordGetVariable",
        ];
        let [first, next, kind, value, variable] = names.map(lookup);
        if [first, next, kind, value, variable].iter().any(|function| function.is_null()) {
            return None;
        }
        type One = unsafe extern "C" fn(Ref) -> Ref;
        Some(Records {
            // SAFETY: LLVM's C interface is stable: a function of this name has this type.
            first: unsafe { core::mem::transmute::<Ref, One>(first) },
            // SAFETY: as above.
            next: unsafe { core::mem::transmute::<Ref, One>(next) },
            // SAFETY: as above.
            kind: unsafe { core::mem::transmute::<Ref, unsafe extern "C" fn(Ref) -> i32>(kind) },
            // SAFETY: as above.
            value: unsafe { core::mem::transmute::<Ref, unsafe extern "C" fn(Ref, u32) -> Ref>(value) },
            // SAFETY: as above.
            variable: unsafe { core::mem::transmute::<Ref, One>(variable) },
        })
    }

    fn declared(&self, llvm: &Llvm, context: Ref, instruction: Ref, found: &mut HashMap<Ref, String>) {
        self.named(llvm, context, instruction, DECLARE, found);
    }

    /// What records of a kind before an instruction name.
    fn named(&self, llvm: &Llvm, context: Ref, instruction: Ref, kind: i32, found: &mut HashMap<Ref, String>) {
        // SAFETY: an instruction of a module that this thread may read.
        let mut record = unsafe { (self.first)(instruction) };
        while !record.is_null() {
            // SAFETY: a record that LLVM gave out.
            if unsafe { (self.kind)(record) } == kind {
                // SAFETY: as above; a declaration has a value.
                let value = unsafe { (self.value)(record, 0) };
                // SAFETY: as above; a declaration has a variable.
                let variable = unsafe { (self.variable)(record) };
                if !value.is_null() && !variable.is_null() {
                    let variable = llvm.metadata_as_value(context, variable);
                    let inner = of_library(llvm, variable);
                    if !inner {
                        found.extend(name_of(llvm, variable).map(|name| (value, name)));
                    } else if kind == DECLARE && !found.contains_key(&value) {
                        found.extend(name_of(llvm, variable).map(|name| (value, name)));
                    }
                }
            }
            // SAFETY: as above.
            record = unsafe { (self.next)(record) };
        }
    }
}

/// The variable that an address is reached by.
#[derive(Clone, Debug, Default)]
pub struct Named {
    /// Its name in the source, if it has one.
    pub name: Option<String>,
    /// The address lies in its own memory, not in what it points to.
    pub direct: bool,
    /// It is a number or a pointer by itself, and the address is its beginning.
    pub whole: bool,
}

/// Finds it.
pub fn variable(llvm: &Llvm, declared: &Declared, pointer: Ref) -> Named {
    let pointed = |name| Named { name, ..Named::default() };
    let (mut at, mut direct, mut steps) = (pointer, true, false);
    for _ in 0..DEEPEST {
        if !llvm.is_a_global_variable(at).is_null() {
            let whole = direct && !steps && is_scalar(llvm, llvm.global_value_type(at));
            return Named { name: global(&llvm.name(at)), direct, whole };
        }
        if !llvm.is_a_constant_expr(at).is_null() {
            (at, steps) = (llvm.operand(at, 0), true);
            continue;
        }
        if llvm.is_a_instruction(at).is_null() {
            return pointed(declared.source(llvm, at));
        }
        match llvm.opcode(at) {
            opcode::ALLOCA => {
                let whole = direct && !steps && is_scalar(llvm, llvm.allocated_type(at));
                let whole = whole && llvm.constant(llvm.operand(at, 0)) == Some(1);
                return Named { name: declared.source(llvm, at), direct, whole };
            }
            opcode::LOAD => (at, direct) = (llvm.operand(at, 0), false),
            opcode::GEP | opcode::FIRST_CAST..=opcode::LAST_CAST => (at, steps) = (llvm.operand(at, 0), true),
            opcode::CALL | opcode::INVOKE if chooses(llvm, at) => (at, direct) = (llvm.operand(at, 0), false),
            opcode::CALL | opcode::INVOKE => {
                return pointed(llvm.callee(at).map(|callee| format!("{}()", llvm.name(callee))))
            }
            opcode::PHI => (at, direct) = (llvm.incoming_value(at, 0), false),
            opcode::SELECT => (at, direct) = (llvm.operand(at, 1), false),
            _ => break,
        }
    }
    Named::default()
}

fn is_scalar(llvm: &Llvm, ty: Ref) -> bool {
    let kind = llvm.type_kind(ty);
    matches!(kind, type_kind::FIRST_FLOAT..=type_kind::LAST_FLOAT | type_kind::INTEGER | type_kind::POINTER)
}

fn chooses(llvm: &Llvm, call: Ref) -> bool {
    llvm.callee(call).is_some_and(|callee| library::chooses(&llvm.name(callee)))
}

/// A static variable of a function is named after both.
fn global(name: &str) -> Option<String> {
    // Of Fortran: scopes in capitals before the name.
    if let Some((_, rest)) = name.strip_prefix("_Q").and_then(|rest| rest.rsplit_once('E')) {
        return Some(rest.to_owned());
    }
    match name.rsplit_once('.') {
        Some((_, rest)) if !rest.is_empty() && !rest.chars().all(|c| c.is_ascii_digit()) => Some(rest.to_owned()),
        Some((before, _)) if !before.is_empty() => global(before),
        _ => Some(name.to_owned()).filter(|name| !name.is_empty()),
    }
}

/// The variable of the source that an `alloca` or an argument is, if the compiler did not make it up.
fn source(name: &str) -> Option<String> {
    let name = name.strip_suffix(".addr").unwrap_or(name);
    let made_up = ["retval", "cleanup.dest.slot", "exn.slot", "ehselector.slot", "result.ptr"];
    // Of two with one name, the second has a number at its end, which is the name's own or the compiler's.
    let is_made_up = made_up.contains(&name) || is_length(name) || name.starts_with("saved_stack");
    (!name.is_empty() && !is_made_up && !name.contains('.')).then(|| name.to_owned())
}

/// True for the length of an array, which clang notes for debuggers.
fn is_length(name: &str) -> bool {
    name.starts_with("__vla_expr")
}
