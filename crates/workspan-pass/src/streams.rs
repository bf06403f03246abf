//! Streams of C++ that write to a text and read from one: what is done with them stays in the object.
//!
//! Functions of streams are given any of them. That one is a local variable of such a type shows in the function that calls them, also where
//! one call is given what another returns, as in `o << a << b`: each returns the stream that it was given.

use workspan_trace::program::{operation, Access};

use crate::llvm::{opcode, Ref};
use crate::locals::users;
use crate::plan::{Operation, Planner};

/// What the names of functions begin with that are given a stream, and may return it.
const OF_STREAMS: [&str; 10] = [
    "_ZNSo",
    "_ZNSi",
    "_ZStls",
    "_ZStrs",
    "_ZSt4endl",
    "_ZSt4ends",
    "_ZSt2ws",
    "_ZSt16__ostream_insert",
    "_ZSt7getline",
    "_ZNSt9basic_ios",
];
/// Types of such variables.
const TYPES: [&str; 3] = ["basic_ostringstream", "basic_istringstream", "basic_stringstream"];
/// Calls in each other that are followed.
const DEEPEST: usize = 100;

impl Planner<'_> {
    /// True for a call that is given a local stream of a text.
    pub(crate) fn is_of_text_stream(&self, call: Ref) -> bool {
        let name = self.llvm.callee(call).map(|callee| self.llvm.name(callee)).unwrap_or_default();
        is_of_stream(&name) && self.text_stream(call).is_some()
    }

    /// What calls do with such a stream: each changes it, and what makes it writes it anew.
    pub(crate) fn of_text_stream(&self, call: Ref, name: &str) -> Vec<Operation> {
        let llvm = self.llvm;
        let makes = name.starts_with("_ZNSt7__cxx11") && ["C1E", "C2E"].iter().any(|part| name.contains(part));
        if !makes && !is_of_stream(name) || llvm.arguments(call) == 0 {
            return Vec::new();
        }
        let Some(stream) = self.text_stream(call) else { return Vec::new() };
        let size = u32::try_from(llvm.abi_size(self.layout, llvm.allocated_type(stream))).unwrap_or(1);
        let access = if makes { Access::Store } else { Access::Update };
        self.plain(call, access, operation::LIBRARY, size, stream)
    }

    /// The variable that a call is given first.
    fn text_stream(&self, call: Ref) -> Option<Ref> {
        let llvm = self.llvm;
        let mut at = call;
        for _ in 0..DEEPEST {
            let is_call = matches!(llvm.opcode(at), opcode::CALL | opcode::INVOKE);
            let next = match llvm.opcode(at) {
                opcode::ALLOCA => {
                    let name = llvm.type_name(llvm.allocated_type(at));
                    return TYPES.iter().any(|ty| name.contains(ty)).then_some(at);
                }
                opcode::GEP => llvm.operand(at, 0),
                opcode::LOAD => self.only_value(llvm.operand(at, 0))?,
                _ if is_call && llvm.arguments(at) > 0 => {
                    let name = llvm.callee(at).map(|callee| llvm.name(callee)).unwrap_or_default();
                    Some(llvm.operand(at, 0)).filter(|_| at == call || is_of_stream(&name))?
                }
                _ => return None,
            };
            at = Some(next).filter(|next| !llvm.is_a_instruction(*next).is_null())?;
        }
        None
    }

    /// What a variable holds that is written once.
    pub(crate) fn only_value(&self, variable: Ref) -> Option<Ref> {
        let llvm = self.llvm;
        let is_own = !llvm.is_a_instruction(variable).is_null() && llvm.opcode(variable) == opcode::ALLOCA;
        let users = if is_own { users(llvm, variable) } else { Vec::new() };
        let mut stores = users.into_iter().filter(|user| llvm.opcode(*user) == opcode::STORE);
        let store = stores.next().filter(|store| llvm.operand(*store, 1) == variable)?;
        stores.next().is_none().then(|| llvm.operand(store, 0))
    }
}

fn is_of_stream(name: &str) -> bool {
    OF_STREAMS.iter().any(|start| name.starts_with(start))
}
