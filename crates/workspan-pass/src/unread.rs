//! What Rust's library writes into objects, and nobody reads: how far an array by value has been gone through, once the optimiser has
//! made a variable of it.
//!
//! **Argument:** all that uses an object of the stack is looked at. If none of it reads some bytes, or gives the address to anybody, writes
//! of these bytes have no effect. Only the library's are taken away: a write of the program is a dependence, whoever reads it.

use std::ops::Range;

use crate::address::{constant_offset, offset_of_first};
use crate::debug::in_library;
use crate::llvm::{never_goes_back, opcode, Llvm, Ref};
use crate::locals::{is_call_of, users};

/// Takes these writes away.
pub(crate) fn take_away(llvm: &Llvm, module: Ref) {
    let layout = llvm.data_layout(module);
    for function in llvm.functions(module).into_iter().filter(|function| llvm.is_declaration(*function) == 0) {
        let all = llvm.instructions(llvm.first_block(function));
        for alloca in all.into_iter().filter(|each| llvm.opcode(*each) == opcode::ALLOCA) {
            let mut uses = Uses { llvm, layout, read: Vec::new(), written: Vec::new() };
            if uses.of(alloca, 0) {
                let is_read =
                    |bytes: &Range<i64>| uses.read.iter().any(|read| read.start < bytes.end && bytes.start < read.end);
                let unread = uses.written.iter().filter(|(_, bytes)| !is_read(bytes));
                unread.for_each(|(store, _)| llvm.erase(*store));
            }
        }
    }
}

/// What is done with an object.
struct Uses<'l> {
    llvm: &'l Llvm,
    layout: Ref,
    read: Vec<Range<i64>>,
    /// The library's stores.
    written: Vec<(Ref, Range<i64>)>,
}

impl Uses<'_> {
    /// Collects what is done through a pointer to a part of it; false: not all of it is known.
    fn of(&mut self, pointer: Ref, offset: i64) -> bool {
        users(self.llvm, pointer).into_iter().all(|user| self.user(user, pointer, offset).is_some())
    }

    fn user(&mut self, user: Ref, pointer: Ref, offset: i64) -> Option<()> {
        let llvm = self.llvm;
        let bytes = |ty: Ref| {
            let size = i64::try_from(llvm.store_size(self.layout, ty)).ok()?;
            Some(offset..offset.checked_add(size)?)
        };
        match llvm.opcode(user) {
            opcode::LOAD => self.read.push(bytes(llvm.type_of(user))?),
            opcode::STORE if llvm.operand(user, 0) != pointer => {
                let is_plain = llvm.volatile(user) == 0 && llvm.ordering(user) == 0;
                if is_plain && in_library(llvm, llvm.debug_location(user)) == Some(true) {
                    self.written.push((user, bytes(llvm.type_of(llvm.operand(user, 0)))?));
                }
            }
            opcode::GEP => match constant_offset(llvm, self.layout, user) {
                Some(step) => return self.of(user, offset.checked_add(step)?).then_some(()),
                None => {
                    let first = offset_of_first(llvm, self.layout, user).filter(|_| never_goes_back(user))?;
                    self.read.push(offset.checked_add(first)?..i64::MAX);
                    let mut within = Uses { llvm, layout: self.layout, read: Vec::new(), written: Vec::new() };
                    return within.of(user, 0).then_some(());
                }
            },
            opcode::CALL if is_call_of(llvm, user, "llvm.lifetime.") => {}
            _ => return None,
        }
        Some(())
    }
}
