//! Where variables begin anew: their scope is entered, or memory for them is taken from the stack.

use workspan_trace::program::{operation, Access};

use crate::llvm::{opcode, Ref};
use crate::plan::{Length, Operation, Planner};

impl Planner<'_> {
    /// A variable's scope begins.
    pub(crate) fn scope(&self, call: Ref) -> Vec<Operation> {
        let llvm = self.llvm;
        let count = llvm.arguments(call);
        let pointer = llvm.operand(call, count.saturating_sub(1));
        if self.locals.is_none() || llvm.is_a_instruction(pointer).is_null() || llvm.opcode(pointer) != opcode::ALLOCA {
            return Vec::new();
        }
        let size = u32::try_from(llvm.abi_size(self.layout, llvm.allocated_type(pointer))).unwrap_or(0);
        self.plain(call, Access::Store, operation::SCOPE, size, pointer)
    }

    /// An array whose length is known at run time only, or `alloca`: the stack held something else there before.
    pub(crate) fn allocated(&self, alloca: Ref) -> Vec<Operation> {
        let llvm = self.llvm;
        if self.locals.is_none() || self.is_static(alloca) {
            return Vec::new();
        }
        let size = u32::try_from(llvm.abi_size(self.layout, llvm.allocated_type(alloca))).unwrap_or(0);
        let count = llvm.operand(alloca, 0);
        let mut found = self.plain(alloca, Access::Store, operation::SCOPE | operation::SIZE_SLOT, 0, alloca);
        found.iter_mut().for_each(|operation| operation.length = Some(Length::Elements(count, size)));
        found
    }
}
