//! What functions that are not instrumented do with the memory that they are given.

use workspan_trace::program::{operation, Access};
use workspan_trace::rust_names;

use crate::address::distance;
use crate::bounded;
use crate::library;
use crate::llvm::{opcode, type_kind, Ref, AVAILABLE_EXTERNALLY};
use crate::plan::{Operation, Planner};

impl Planner<'_> {
    /// What functions of the C library do with the memory that they are given, and assembly.
    pub(crate) fn of_called(&self, call: Ref) -> Vec<Operation> {
        if self.is_assembly(call) {
            self.of_assembly(call)
        } else {
            self.of_library(call)
        }
    }

    fn of_library(&self, call: Ref) -> Vec<Operation> {
        let llvm = self.llvm;
        let Some(callee) = self.locals.and(llvm.callee(call)) else {
            return Vec::new();
        };
        let name = llvm.name(callee);
        // One of the module has events of its own.
        if llvm.is_declaration(callee) == 0 && llvm.linkage(callee) != AVAILABLE_EXTERNALLY && !library::is_whole(&name)
        {
            return Vec::new();
        }
        let count = llvm.arguments(call);
        let mut touched = library::touched(&name, count);
        if let Some((_, first)) = bounded::format_of(&name).filter(|_| bounded::printed(llvm, call, &name).is_none()) {
            // Any of what is printed may be a text.
            touched.extend((first..count).map(|at| (at, Access::Load)));
        }
        if name.starts_with("_R") || name.starts_with("_ZN") {
            touched.extend(self.of_rust(call, &name, count));
        }
        let is_pointer = |at: &u32| {
            let pointer = llvm.operand(call, *at);
            llvm.type_kind(llvm.type_of(pointer)) == type_kind::POINTER && !self.is_empty(pointer)
        };
        let wanted = touched.into_iter().filter(|(at, _)| *at < count && is_pointer(at));
        let all =
            wanted.flat_map(|(at, access)| self.plain(call, access, operation::LIBRARY, 1, llvm.operand(call, at)));
        all.chain(self.of_text_stream(call, &name)).collect()
    }

    /// True for the address of nothing: none, or one as Rust's closures that capture nothing have it, and empty slices.
    fn is_empty(&self, pointer: Ref) -> bool {
        let llvm = self.llvm;
        let is_object = !llvm.is_a_instruction(pointer).is_null() && llvm.opcode(pointer) == opcode::ALLOCA;
        let is_number = !llvm.is_a_constant_expr(pointer).is_null() && llvm.const_opcode(pointer) == opcode::INT_TO_PTR;
        let is_none = llvm.is_null(pointer) != 0;
        is_object && llvm.abi_size(self.layout, llvm.allocated_type(pointer)) == 0 || is_number || is_none
    }

    /// True for the address of what nobody may write, as the texts of a format.
    fn is_constant(&self, pointer: Ref) -> bool {
        let llvm = self.llvm;
        llvm.type_kind(llvm.type_of(pointer)) == type_kind::POINTER && {
            let base = distance(llvm, self.layout, pointer).base;
            !llvm.is_a_global_variable(base).is_null() && llvm.global_constant(base) != 0
        }
    }

    /// What functions of Rust's library do: the type of a reference says whether they may write.
    fn of_rust(&self, call: Ref, name: &str, count: u32) -> Vec<(u32, Access)> {
        let llvm = self.llvm;
        let is_allocator = |path: &[&str]| path[0] == "__rustc" || path.get(1) == Some(&"panicking");
        let (Some(callee), Some(_)) = (llvm.callee(call), rust_names::path(name).filter(|path| !is_allocator(path)))
        else {
            return Vec::new();
        };
        let has = |at: u32, kind: &std::ffi::CStr| {
            let kind = llvm.attribute_kind(kind.as_ptr(), kind.count_bytes());
            !llvm.attribute_at(callee, at + 1, kind).is_null()
        };
        let access = |at: u32| match () {
            () if has(at, c"readonly") || has(at, c"readnone") || self.is_constant(llvm.operand(call, at)) => {
                Access::Load
            }
            () if has(at, c"sret") => Access::Store,
            () => Access::Update,
        };
        (0..count).map(|at| (at, access(at))).collect()
    }
}
