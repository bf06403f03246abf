//! Functions that stand for what code without events does: they do nothing, and their calls have the events.

use std::ffi::CString;

use crate::llvm::{Llvm, Ref, INTERNAL};

/// The function of that name, which returns nothing, and its type; it is added if the module has none.
pub(crate) fn stand_in(llvm: &Llvm, module: Ref, name: &str, parameters: &mut [Ref]) -> (Ref, Ref) {
    let context = llvm.context_of(module);
    let count = u32::try_from(parameters.len()).unwrap_or(0);
    let ty = llvm.function_type(llvm.void_type(context), parameters.as_mut_ptr(), count, 0);
    let symbol = CString::new(name).unwrap_or_default();
    let mut function = llvm.named_function(module, symbol.as_ptr());
    if function.is_null() {
        function = llvm.add_function(module, symbol.as_ptr(), ty);
        llvm.set_linkage(function, INTERNAL);
        let builder = llvm.create_builder(context);
        llvm.position_at_end(builder, llvm.append_block(context, function, c"entry".as_ptr()));
        llvm.build_ret_void(builder);
        llvm.dispose_builder(builder);
    }
    (function, ty)
}
