//! Names of variables: by debug information, else as the front end left them in the names of values.

use std::collections::HashMap;

use workspan_trace::rust_names::is_library_file;

use crate::llvm::{lookup, opcode, Llvm, Ref};
use crate::members::Types;

/// A variable of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Line of its declaration; 0: unknown.
    pub line: u32,
    /// Its type in debug information; null: unknown.
    pub ty: Ref,
}

/// Variables of a module that debug information declares, by where they are.
#[derive(Debug)]
pub struct Declared {
    all: HashMap<Ref, Variable>,
    /// All of them are declared: whatever else there is, the front end made up.
    is_complete: bool,
    /// The module is Fortran's.
    pub is_fortran: bool,
    /// The module is Rust's.
    pub is_rust: bool,
    /// Layout of its types, and context; null: no module was read.
    pub layout: Ref,
    /// Context.
    pub context: Ref,
}

impl Default for Declared {
    fn default() -> Declared {
        let none = std::ptr::null_mut();
        Declared {
            all: HashMap::new(),
            is_complete: false,
            is_fortran: false,
            is_rust: false,
            layout: none,
            context: none,
        }
    }
}

/// True if flang has made a module: it calls the source of all of them the same.
pub fn is_fortran(llvm: &Llvm, module: Ref) -> bool {
    let mut length = 0;
    let source = llvm.source_file_name(module, &raw mut length);
    crate::llvm::text(source, length) == "FIRModule"
}

impl Declared {
    /// Reads the debug information of a module.
    pub fn of(llvm: &Llvm, module: Ref) -> Declared {
        let context = llvm.context_of(module);
        let is_fortran = is_fortran(llvm, module);
        let mut found = Declared { is_fortran, layout: llvm.data_layout(module), context, ..Declared::default() };
        let records = Records::load();
        // Versions in between keep declarations beside the instructions, and have no function to read them there.
        let switch = records.is_none() && switch(module, false);
        for function in llvm.functions(module) {
            for instruction in llvm.blocks(function).into_iter().flat_map(|block| llvm.instructions(block)) {
                if let Some(records) = &records {
                    records.declared(llvm, context, instruction, &mut found.all);
                } else {
                    found.by_call(llvm, instruction);
                }
            }
        }
        if switch {
            self::switch(module, true);
        }
        // Those of flang keep variables of procedures around without a declaration.
        found.is_complete = !found.all.is_empty() && !is_fortran;
        found
    }

    fn by_call(&mut self, llvm: &Llvm, call: Ref) {
        let is = |callee: Ref| llvm.name(callee) == "llvm.dbg.declare";
        if llvm.opcode(call) != opcode::CALL || !llvm.callee(call).is_some_and(is) {
            return;
        }
        let place = operands(llvm, llvm.operand(call, 0));
        if let ([place], Some(variable)) = (place.as_slice(), described(llvm, llvm.operand(call, 1))) {
            self.all.insert(*place, variable);
        }
    }

    /// Variables that have been given memory since.
    pub fn extend(&mut self, names: HashMap<Ref, Variable>) {
        self.all.extend(names);
    }

    /// The variable of the source that an `alloca` or an argument is, if the compiler did not make it up.
    pub fn source(&self, llvm: &Llvm, place: Ref) -> Option<String> {
        self.variable(llvm, place).map(|variable| variable.name)
    }

    /// The same, with the line of its declaration.
    pub fn variable(&self, llvm: &Llvm, place: Ref) -> Option<Variable> {
        let by_name = || source(&llvm.name(place)).map(|name| Variable { name, line: 0, ty: std::ptr::null_mut() });
        self.all.get(&place).cloned().or_else(|| by_name().filter(|_| !self.is_complete))
    }

    /// The type of a global variable in debug information; null: unknown.
    pub(crate) fn global_type(&self, llvm: &Llvm, global: Ref) -> Ref {
        if self.context.is_null() {
            return std::ptr::null_mut();
        }
        let types = Types { llvm, context: self.context };
        let mut count = 0;
        let entries = llvm.global_metadata(global, &raw mut count);
        let all = (0..u32::try_from(count).unwrap_or(0)).map(|at| llvm.entry_metadata(entries, at));
        let found = all.map(|node| types.of_global(node)).find(|ty| !ty.is_null());
        if !entries.is_null() {
            llvm.dispose_entries(entries);
        }
        found.unwrap_or(std::ptr::null_mut())
    }

    /// The variable that lies at a place, as debug information has it.
    pub(crate) fn declared(&self, place: Ref) -> Option<&Variable> {
        self.all.get(&place)
    }
}

/// Values that debug information says are what a variable holds.
#[derive(Debug, Default)]
pub struct Valued(HashMap<Ref, Variable>);

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
        found.0.retain(|_, variable| variable.name != "iter");
        found
    }

    /// Those that are arguments.
    pub fn arguments(&self, llvm: &Llvm) -> impl Iterator<Item = (Ref, Variable)> + '_ {
        let is_argument = move |value: &Ref| !llvm.is_a_argument(*value).is_null();
        let all: Vec<Ref> = self.0.keys().copied().filter(is_argument).collect();
        all.into_iter().filter_map(|value| Some((value, self.0.get(&value)?.clone())))
    }

    /// The variable of the source that a value belongs to.
    pub fn variable(&self, value: Ref) -> Option<Variable> {
        self.0.get(&value).cloned()
    }
}

/// True for a variable of Rust's library.
fn of_library(llvm: &Llvm, variable: Ref) -> bool {
    let file = operands(llvm, variable).get(2).copied().filter(|file| !file.is_null());
    let parts = file.map(|file| operands(llvm, file)).unwrap_or_default();
    let part = |at: usize| {
        let mut length = 0;
        let part = parts.get(at).copied().filter(|part| !part.is_null());
        part.map_or_else(String::new, |part| {
            let text = llvm.metadata_string(part, &raw mut length);
            crate::llvm::text(text, length as usize)
        })
    };
    is_library_file(&crate::debug::whole(part(0), &part(1)))
}

fn operands(llvm: &Llvm, node: Ref) -> Vec<Ref> {
    let mut list = vec![std::ptr::null_mut(); llvm.metadata_operands(node) as usize];
    if !list.is_empty() {
        llvm.metadata_operand_list(node, list.as_mut_ptr());
    }
    list
}

/// What a variable's description says; the name is its second operand.
fn described(llvm: &Llvm, variable: Ref) -> Option<Variable> {
    let name = operands(llvm, variable).get(1).copied().filter(|name| !name.is_null())?;
    let mut length = 0;
    let text = llvm.metadata_string(name, &raw mut length);
    let name = crate::llvm::text(text, length as usize);
    let node = llvm.value_as_metadata(variable);
    let ty = Types { llvm, context: llvm.context_of_value(variable) }.of_variable(node);
    (!name.is_empty() && !is_length(&name)).then(|| Variable { name, line: llvm.variable_line(node), ty })
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

    fn declared(&self, llvm: &Llvm, context: Ref, instruction: Ref, found: &mut HashMap<Ref, Variable>) {
        self.named(llvm, context, instruction, DECLARE, found);
    }

    /// What records of a kind before an instruction name.
    fn named(&self, llvm: &Llvm, context: Ref, instruction: Ref, kind: i32, found: &mut HashMap<Ref, Variable>) {
        // SAFETY: an instruction of a module that this thread may read.
        let mut record = unsafe { (self.first)(instruction) };
        while !record.is_null() {
            // SAFETY: a record that LLVM gave out.
            if unsafe { (self.kind)(record) } == kind {
                // SAFETY: as above; a declaration has a value.
                let value = unsafe { (self.value)(record, 0) };
                // SAFETY: as above; a declaration has a variable.
                let variable = unsafe { (self.variable)(record) };
                // A constant is no variable's own.
                if !value.is_null() && !variable.is_null() && llvm.is_a_constant(value).is_null() {
                    let variable = llvm.metadata_as_value(context, variable);
                    let inner = of_library(llvm, variable);
                    if !inner || kind == DECLARE && !found.contains_key(&value) {
                        found.extend(described(llvm, variable).map(|variable| (value, variable)));
                    }
                }
            }
            // SAFETY: as above.
            record = unsafe { (self.next)(record) };
        }
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
