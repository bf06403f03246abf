//! Functions of the program that print what they are given: `void log(const char *format, ...)`, which calls `vsnprintf`.
//!
//! What the C library reads then is behind a `va_list`. Who calls has the format, mostly a constant, and the texts: there it is known.

use super::{constant, of_text, read, Bytes, Touch};
use crate::format;
use crate::llvm::{opcode, type_kind, Llvm, Ref};

/// The texts that a call has printed by what it calls; of an unknown format, or function, the first bytes.
pub(super) fn touches(llvm: &Llvm, call: Ref, callee: Ref) -> Vec<Touch> {
    let (fixed, count) = (llvm.parameter_count(callee), llvm.arguments(call));
    let is_program = llvm.is_a_function(callee) == callee && super::format_of(&llvm.name(callee)).is_none();
    if !is_program || fixed == 0 || count <= fixed || llvm.is_variadic(llvm.global_value_type(callee)) == 0 {
        return Vec::new();
    }
    let format = constant(llvm, llvm.operand(call, fixed - 1));
    let texts = format.as_deref().and_then(format::texts);
    let is_pointer = |at: &u32| llvm.type_kind(llvm.type_of(llvm.operand(call, *at))) == type_kind::POINTER;
    let first = |at: u32| read(at, Bytes::Number(1));
    match texts {
        _ if llvm.is_declaration(callee) == 0 && !prints(llvm, callee) => Vec::new(),
        None if llvm.is_declaration(callee) != 0 => Vec::new(),
        None => (fixed..count).filter(is_pointer).map(first).collect(),
        Some(texts) => {
            let all = texts.into_iter().map(|text| text.behind(fixed)).filter(|text| text.last() < count);
            let all = all.filter(|text| is_pointer(&text.argument));
            // What a function does that is not here is not certain.
            let of = |text: &format::Text| match llvm.is_declaration(callee) {
                0 => of_text(text),
                _ => first(text.argument),
            };
            all.map(|text| of(&text)).filter(|_| !llvm.name(callee).contains("scanf")).collect()
        }
    }
}

/// True for a function that has a `va_list` printed, and read by nobody else.
fn prints(llvm: &Llvm, function: Ref) -> bool {
    let all = llvm.blocks(function).into_iter().flat_map(|block| llvm.instructions(block));
    let calls = all.filter(|at| matches!(llvm.opcode(*at), opcode::CALL | opcode::INVOKE));
    let names: Vec<String> = calls.filter_map(|call| llvm.callee(call)).map(|callee| llvm.name(callee)).collect();
    let base = |name: &String| name.trim_start_matches('_').trim_end_matches("_chk").to_owned();
    let is_printf = |name: &String| name.starts_with('v') && name.ends_with("printf");
    names.iter().map(base).any(|name| is_printf(&name)) && !names.iter().any(|name| name.contains("scanf"))
}
