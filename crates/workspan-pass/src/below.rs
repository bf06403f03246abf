//! What calls of Rust's library find on the stack.
//!
//! The library's functions have no events. But some call back what has: `format!` calls `fmt`, which writes through a formatter that lies in
//! the library's frame. The next call has its frame at the same place, and its formatter is another one.
//!
//! **Argument:** below the stack pointer nothing is alive when a function is called. So what lies there begins anew with each call, as
//! variables do whose scope begins.
//!
//! **Error:** frames of the library that lie deeper than [`BYTES`] keep what an earlier call has left.

use workspan_trace::rust_names;

use crate::llvm::{opcode, Llvm, Ref, FUNCTION};
use crate::stand_ins::stand_in;

/// What the function is called that stands for the beginning: address.
pub(crate) const BEGINS: &str = "__workspan_begins_below";
/// The library writes an object with less than half of it: 912 bytes at most, measured with `{:#?}` of an `Option` in a vector.
pub(crate) const BYTES: u32 = 2048;

/// Has what lies below begin anew before each call of the library.
pub(crate) fn begin(llvm: &Llvm, module: Ref) {
    let all = llvm.functions(module).into_iter().flat_map(|function| llvm.blocks(function));
    let calls: Vec<Ref> =
        all.flat_map(|block| llvm.instructions(block)).filter(|each| is_of_library(llvm, *each)).collect();
    if calls.is_empty() {
        return;
    }
    let context = llvm.context_of(module);
    let (pointer, none) = (llvm.pointer_type(context, 0), c"".as_ptr());
    let id = llvm.intrinsic_id(c"llvm.stacksave".as_ptr(), c"llvm.stacksave".count_bytes());
    let save = llvm.intrinsic(module, id, [pointer].as_mut_ptr(), 1);
    let save_type = llvm.function_type(pointer, std::ptr::null_mut(), 0, 0);
    let (begins, ty) = stand_in(llvm, module, BEGINS, &mut [pointer]);
    let builder = llvm.create_builder(context);
    let mut down = llvm.const_int(llvm.int_type(context, 64), u64::from(BYTES).wrapping_neg(), 1);
    for call in calls {
        llvm.position_before(builder, call);
        let top = llvm.build_call(builder, save_type, save, std::ptr::null_mut(), 0, none);
        let low = llvm.build_gep(builder, llvm.int_type(context, 8), top, &raw mut down, 1, none);
        let added = llvm.build_call(builder, ty, begins, [low].as_mut_ptr(), 1, none);
        for each in [top, low, added] {
            llvm.set_debug_location(each, llvm.debug_location(call));
        }
    }
    llvm.dispose_builder(builder);
}

/// True for a call of a function of Rust's library that this module does not have, and that returns. Memory is given out without calling
/// back.
fn is_of_library(llvm: &Llvm, call: Ref) -> bool {
    let kind = llvm.attribute_kind(c"noreturn".as_ptr(), c"noreturn".count_bytes());
    let returns = |callee: Ref| llvm.attribute_at(callee, FUNCTION, kind).is_null();
    let callee = || llvm.callee(call).filter(|callee| llvm.is_declaration(*callee) != 0 && returns(*callee));
    let is_call = matches!(llvm.opcode(call), opcode::CALL | opcode::INVOKE);
    is_call
        && callee().is_some_and(|callee| {
            rust_names::path(&llvm.name(callee)).is_some_and(|path| path.first() != Some(&"__rustc"))
        })
}
