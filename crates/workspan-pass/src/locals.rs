//! Local variables without an address: the optimiser will keep them in registers, so that they have no events.
//!
//! **Argument:** a variable counts as one only if every use of its `alloca` is a whole load, a whole store to it, or the
//! beginning or end of its scope. Nothing else can reach it.

use std::collections::HashMap;

use workspan_trace::facts::Deed;

use crate::llvm::{opcode, type_kind, Llvm, Ref};

/// A read or write of a local without an address.
#[derive(Clone, Copy, Debug)]
pub struct Touch {
    /// The instruction.
    pub instruction: Ref,
    /// Its `alloca`.
    pub local: Ref,
    /// What it does.
    pub deed: Deed,
}

/// Those of a function.
#[derive(Debug, Default)]
pub struct Locals {
    numbers: HashMap<Ref, usize>,
    /// In the order of the function.
    pub all: Vec<Ref>,
    /// Numbers and pointers whose address is used: they have events as other memory has, and may be counters all the same.
    pub with_address: Vec<Ref>,
}

impl Locals {
    /// Finds them.
    pub fn of(llvm: &Llvm, layout: Ref, function: Ref) -> Locals {
        let mut found = Locals::default();
        let first = llvm.first_block(function);
        for alloca in llvm.instructions(first).into_iter().filter(|i| llvm.opcode(*i) == opcode::ALLOCA) {
            if is_local(llvm, layout, alloca) {
                found.numbers.insert(alloca, found.all.len());
                found.all.push(alloca);
            } else if is_number(llvm, layout, alloca) {
                found.with_address.push(alloca);
            }
        }
        found
    }

    /// Variables that may be counters: numbers of those with an address follow the others.
    pub fn counters(&self) -> impl Iterator<Item = Ref> + '_ {
        self.all.iter().chain(&self.with_address).copied()
    }

    /// Number of any variable.
    pub fn any_number(&self, llvm: &Llvm, pointer: Ref) -> Option<usize> {
        let with_address = || self.with_address.iter().position(|each| *each == base(llvm, pointer));
        self.number(llvm, pointer).or_else(|| with_address().map(|at| at + self.all.len()))
    }

    /// Which one a pointer is the address of.
    pub fn number(&self, llvm: &Llvm, pointer: Ref) -> Option<usize> {
        self.numbers.get(&base(llvm, pointer)).copied()
    }

    /// What an instruction does with one.
    pub fn touch(&self, llvm: &Llvm, instruction: Ref) -> Option<Touch> {
        let (pointer, deed) = match llvm.opcode(instruction) {
            opcode::LOAD => (llvm.operand(instruction, 0), Deed::Read),
            opcode::STORE => (llvm.operand(instruction, 1), Deed::Write),
            opcode::CALL if is_call_of(llvm, instruction, "llvm.lifetime.start") => {
                (llvm.operand(instruction, llvm.arguments(instruction).checked_sub(1)?), Deed::Begin)
            }
            _ => return None,
        };
        self.number(llvm, pointer).map(|_| Touch { instruction, local: base(llvm, pointer), deed })
    }
}

/// True for a call of an intrinsic function whose name begins so.
pub fn is_call_of(llvm: &Llvm, call: Ref, prefix: &str) -> bool {
    llvm.callee(call).is_some_and(|callee| llvm.name(callee).starts_with(prefix))
}

/// Takes off steps to a first member, which change no address.
pub fn base(llvm: &Llvm, pointer: Ref) -> Ref {
    let mut at = pointer;
    while !llvm.is_a_instruction(at).is_null() && llvm.opcode(at) == opcode::GEP {
        let count = u32::try_from(llvm.operands(at)).unwrap_or(0);
        if !(1..count).all(|index| llvm.constant(llvm.operand(at, index)) == Some(0)) {
            break;
        }
        at = llvm.operand(at, 0);
    }
    at
}

/// Users of a variable's address, also as that of its first member.
pub fn users_through(llvm: &Llvm, alloca: Ref) -> Vec<Ref> {
    let mut found = Vec::new();
    for user in users(llvm, alloca) {
        if llvm.opcode(user) == opcode::GEP && base(llvm, user) == base(llvm, alloca) {
            found.extend(users_through(llvm, user));
        } else {
            found.push(user);
        }
    }
    found
}

/// Users of a value.
pub fn users(llvm: &Llvm, value: Ref) -> Vec<Ref> {
    let mut found = Vec::new();
    let mut at = llvm.first_use(value);
    while !at.is_null() {
        found.push(llvm.user(at));
        at = llvm.next_use(at);
    }
    found
}

/// True for a number or pointer, also one that rustc declares as that many bytes.
fn is_number(llvm: &Llvm, layout: Ref, alloca: Ref) -> bool {
    let is_one = |ty: Ref| matches!(llvm.type_kind(ty), type_kind::INTEGER | type_kind::POINTER);
    let ty = llvm.allocated_type(alloca);
    if llvm.constant(llvm.operand(alloca, 0)) != Some(1) {
        return false;
    }
    let size = llvm.store_size(layout, ty);
    let whole = |ty: Ref| is_one(ty) && llvm.store_size(layout, ty) == size;
    let accesses = || {
        users_through(llvm, alloca).into_iter().filter_map(|user| match llvm.opcode(user) {
            opcode::LOAD => Some(llvm.type_of(user)),
            opcode::STORE if llvm.operand(user, 0) != alloca => Some(llvm.type_of(llvm.operand(user, 0))),
            _ => None,
        })
    };
    is_one(ty)
        || llvm.type_kind(ty) == type_kind::ARRAY && size <= 8 && accesses().next().is_some() && accesses().all(whole)
}

fn is_local(llvm: &Llvm, layout: Ref, alloca: Ref) -> bool {
    if llvm.constant(llvm.operand(alloca, 0)) != Some(1) {
        return false;
    }
    let ty = llvm.allocated_type(alloca);
    if matches!(llvm.type_kind(ty), type_kind::ARRAY | type_kind::SCALABLE_VECTOR) {
        return false;
    }
    let size = llvm.store_size(layout, ty);
    let whole = |ty: Ref| llvm.store_size(layout, ty) == size;
    users_through(llvm, alloca).into_iter().all(|user| match llvm.opcode(user) {
        opcode::LOAD => llvm.volatile(user) == 0 && llvm.ordering(user) == 0 && whole(llvm.type_of(user)),
        opcode::STORE => {
            let value = llvm.operand(user, 0);
            base(llvm, value) != alloca
                && llvm.volatile(user) == 0
                && llvm.ordering(user) == 0
                && whole(llvm.type_of(value))
        }
        opcode::CALL => is_call_of(llvm, user, "llvm.lifetime."),
        _ => false,
    })
}
