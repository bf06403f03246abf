//! The variable that an address is reached by.

use crate::address::{constant_offset, distance, Distance};
use crate::library;
use crate::llvm::{opcode, type_kind, Llvm, Ref};
use crate::locals::users;
use crate::members::Types;
use crate::names::Declared;

/// How deep addresses are followed.
const DEEPEST: usize = 20;

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
    let mut passed_by = None;
    // Constant steps since the last load or variable step, and those before that load.
    let mut level = Level::default();
    for _ in 0..DEEPEST {
        if !llvm.is_a_global_variable(at).is_null() {
            let whole = direct && !steps && is_scalar(llvm, llvm.global_value_type(at));
            let symbol = llvm.name(at);
            let named = || {
                let name = global(&symbol)?;
                Some(level.name(llvm, declared, name, declared.global_type(llvm, at)))
            };
            let name = common_block(declared, &symbol).or_else(named);
            return Named { name, direct, whole };
        }
        if !llvm.is_a_constant_expr(at).is_null() {
            level.step(llvm, declared, at);
            (at, steps) = (llvm.operand(at, 0), true);
            continue;
        }
        if llvm.is_a_instruction(at).is_null() {
            let known = || declared.variable(llvm, at).map(|known| level.name(llvm, declared, known.name, known.ty));
            let name = added(llvm, at).map_or_else(known, |name| Some(name).filter(|name| !name.is_empty()));
            let captured = || passed_by.and_then(|member| captured(llvm, declared, at, member));
            return if name.is_some() { pointed(name) } else { captured().unwrap_or_default() };
        }
        match llvm.opcode(at) {
            opcode::ALLOCA => {
                let known = declared.variable(llvm, at);
                // The copy itself has no name, only what it describes.
                let copied = || copied_descriptor(llvm, at).filter(|_| !direct && declared.is_fortran);
                if let (None, Some(copied)) = (&known, copied()) {
                    (at, level) = (copied, Level::default());
                    continue;
                }
                let whole = direct && !steps && is_scalar(llvm, llvm.allocated_type(at));
                let whole = whole && llvm.constant(llvm.operand(at, 0)) == Some(1);
                let name = known.map(|known| level.name(llvm, declared, known.name, known.ty));
                return Named { name, direct, whole };
            }
            opcode::LOAD => {
                level = Level { offset: None, before: Some(level.offset), loads: level.loads + 1 };
                (at, direct) = (llvm.operand(at, 0), false);
                passed_by = member(llvm, at);
            }
            opcode::GEP | opcode::FIRST_CAST..=opcode::LAST_CAST => {
                level.step(llvm, declared, at);
                (at, steps) = (llvm.operand(at, 0), true);
            }
            opcode::CALL | opcode::INVOKE if chooses(llvm, at) => {
                let back = written_back(llvm, declared.layout, at);
                (at, direct) = (llvm.operand(at, back.unwrap_or(0)), direct && back.is_some());
            }
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

/// Constant steps on the way to a variable.
#[derive(Clone, Copy, Default)]
struct Level {
    /// Bytes since the last load; nothing: none, or an index that varies came after them.
    offset: Option<i64>,
    /// The same before that load.
    before: Option<Option<i64>>,
    loads: u32,
}

impl Level {
    fn step(&mut self, llvm: &Llvm, declared: &Declared, gep: Ref) {
        if declared.layout.is_null() || llvm.is_a_instruction(gep).is_null() && llvm.is_a_constant_expr(gep).is_null() {
            return;
        }
        let code = if llvm.is_a_instruction(gep).is_null() { llvm.const_opcode(gep) } else { llvm.opcode(gep) };
        if code == opcode::GEP {
            let step = constant_offset(llvm, declared.layout, gep);
            self.offset = step.map(|step| self.offset.unwrap_or(0) + step);
        }
    }

    /// A variable's name with that of the member.
    fn name(self, llvm: &Llvm, declared: &Declared, name: String, ty: Ref) -> String {
        if ty.is_null() {
            return name;
        }
        let types = Types { llvm, context: declared.context };
        // A parameter may be the pointer itself, or the first part of a slice.
        let target = types.target(ty);
        let object = if target.is_null() { ty } else { target };
        let mut path = match (self.offset, self.before) {
            (Some(offset), _) => types.path(object, offset),
            (None, Some(Some(offset))) => types.path(types.pointee(ty), offset),
            (None, _) => Vec::new(),
        };
        // What such a member points to is an object of its own.
        let most = if self.loads > 1 || self.loads == 1 && self.offset.is_some() { 1 } else { path.len() };
        path.truncate(most);
        if path.is_empty() {
            return name;
        }
        let path = path.join(if declared.is_fortran { "%" } else { "." });
        let is_reached = self.offset.is_none() && !declared.is_rust && types.is_pointer(ty);
        match () {
            () if name == "this" => path,
            () if declared.is_fortran => format!("{name}%{path}"),
            () if is_reached => format!("{name}->{path}"),
            () => format!("{name}.{path}"),
        }
    }
}

/// What the descriptor of an array was copied from, as flang does before every use.
pub fn copied_descriptor(llvm: &Llvm, alloca: Ref) -> Option<Ref> {
    let stores = users(llvm, alloca)
        .into_iter()
        .filter(|user| llvm.opcode(*user) == opcode::STORE && llvm.operand(*user, 1) == alloca);
    let value = stores.map(|store| llvm.operand(store, 0)).next()?;
    let is_load = !llvm.is_a_instruction(value).is_null() && llvm.opcode(value) == opcode::LOAD;
    let is_structure = || llvm.type_kind(llvm.type_of(value)) == type_kind::STRUCT;
    (is_load && is_structure()).then(|| llvm.operand(value, 0))
}

/// The variable that a function which the pass added goes through, which may have no name: compilers may drop the names of parameters.
fn added(llvm: &Llvm, argument: Ref) -> Option<String> {
    let argument = Some(argument).filter(|value| !llvm.is_a_argument(*value).is_null())?;
    let name = llvm.name(llvm.function_of_argument(argument));
    let (_, variable) = name.strip_prefix(library::ADDED)?.rsplit_once('.')?;
    Some(variable.to_owned())
}

/// A member of what an argument points to: the argument, and which member.
fn member(llvm: &Llvm, pointer: Ref) -> Option<u32> {
    if !llvm.is_a_argument(pointer).is_null() {
        return Some(0);
    }
    let is_member = !llvm.is_a_instruction(pointer).is_null()
        && llvm.opcode(pointer) == opcode::GEP
        && llvm.operands(pointer) == 3
        && llvm.constant(llvm.operand(pointer, 1)) == Some(0)
        && !llvm.is_a_argument(llvm.operand(pointer, 0)).is_null();
    let number = if is_member { llvm.constant(llvm.operand(pointer, 2)) } else { None };
    number.and_then(|number| u32::try_from(number).ok())
}

/// The variable of a procedure around, whose address flang passes to procedures within in a structure: as callers fill it.
fn captured(llvm: &Llvm, declared: &Declared, argument: Ref, number: u32) -> Option<Named> {
    let function = llvm.function_of_argument(argument);
    let at = (0..llvm.parameter_count(function)).find(|at| llvm.param(function, *at) == argument)?;
    let calls = users(llvm, function).into_iter().filter(|user| {
        matches!(llvm.opcode(*user), opcode::CALL | opcode::INVOKE) && llvm.callee(*user) == Some(function)
    });
    let structure = calls.map(|call| llvm.operand(call, at)).next()?;
    if llvm.is_a_instruction(structure).is_null() || llvm.opcode(structure) != opcode::ALLOCA {
        return None;
    }
    let is_number = |gep: &Ref| {
        llvm.opcode(*gep) == opcode::GEP
            && llvm.operands(*gep) == 3
            && llvm.constant(llvm.operand(*gep, 2)) == Some(i64::from(number))
    };
    let members = users(llvm, structure).into_iter().filter(is_number).flat_map(|gep| {
        users(llvm, gep)
            .into_iter()
            .filter(move |user| llvm.opcode(*user) == opcode::STORE && llvm.operand(*user, 1) == gep)
    });
    let stored = members.map(|store| llvm.operand(store, 0)).next()?;
    Some(variable(llvm, declared, stored)).filter(|named| named.name.is_some())
}

fn is_scalar(llvm: &Llvm, ty: Ref) -> bool {
    let kind = llvm.type_kind(ty);
    matches!(kind, type_kind::FIRST_FLOAT..=type_kind::LAST_FLOAT | type_kind::INTEGER | type_kind::POINTER)
}

fn chooses(llvm: &Llvm, call: Ref) -> bool {
    llvm.callee(call).is_some_and(|callee| library::chooses(&llvm.name(callee)))
}

/// Of two variables, the argument of a call that chooses one of them to which its value is given: `m` in `m = std::max(x, m)`.
fn written_back(llvm: &Llvm, layout: Ref, call: Ref) -> Option<u32> {
    if layout.is_null() {
        return None;
    }
    let place = |pointer: Ref| distance(llvm, layout, pointer);
    let loads = users(llvm, call).into_iter().filter(|user| llvm.opcode(*user) == opcode::LOAD);
    let stores = loads.flat_map(|load| users(llvm, load)).filter(|user| llvm.opcode(*user) == opcode::STORE);
    let written: Vec<Distance> = stores.map(|store| place(llvm.operand(store, 1))).collect();
    (0..2).find(|at| written.contains(&place(llvm.operand(call, *at))))
}

/// A common block of Fortran, as OpenMP writes it.
fn common_block(declared: &Declared, symbol: &str) -> Option<String> {
    let block = symbol.strip_suffix('_').filter(|_| declared.is_fortran && !symbol.starts_with("_Q"))?;
    Some(format!("/{block}/"))
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
