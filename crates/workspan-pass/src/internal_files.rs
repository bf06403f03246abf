//! Fortran's reads and writes of texts (`write (text, …) x`), which the standard calls internal files: nothing of them leaves the program.
//!
//! Each statement is a call that begins it, calls for its items, and one that ends it; all are given what the first returned, which no other
//! statement is. So the first shows what kind of file it is.

use crate::llvm::{opcode, Ref};
use crate::plan::Planner;

const IO: &str = "_FortranAio";
const BEGINS: &str = "_FortranAioBeginInternal";

impl Planner<'_> {
    /// True for a call of such a statement.
    pub(crate) fn is_of_internal_file(&self, call: Ref) -> bool {
        let name = self.name_of_callee(call);
        name.starts_with(BEGINS)
            || name.starts_with(IO)
                && self.llvm.arguments(call) > 0
                && self.begins(self.llvm.operand(call, 0)).is_some_and(|name| name.starts_with(BEGINS))
    }

    /// The name of the function that has returned what a statement's calls are given.
    fn begins(&self, statement: Ref) -> Option<String> {
        let llvm = self.llvm;
        let is_kept = !llvm.is_a_instruction(statement).is_null() && llvm.opcode(statement) == opcode::LOAD;
        let begun = if is_kept { self.only_value(llvm.operand(statement, 0))? } else { statement };
        Some(self.name_of_callee(begun))
    }

    fn name_of_callee(&self, value: Ref) -> String {
        let llvm = self.llvm;
        let is_call = !llvm.is_a_instruction(value).is_null() && llvm.opcode(value) == opcode::CALL;
        let callee = if is_call { llvm.callee(value) } else { None };
        callee.map(|callee| llvm.name(callee)).unwrap_or_default()
    }
}
