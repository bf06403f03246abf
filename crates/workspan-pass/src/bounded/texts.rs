//! Texts that calls have printed: by functions of the C library, and by functions of the program that are given a format, as
//! `void log(const char *format, ...)`, which calls `vsnprintf`.
//!
//! What the C library reads for the latter is behind a `va_list`. Who calls has the format, mostly a constant, and the texts.

use crate::format::{self, Text};
use crate::llvm::{lookup, opcode, text, type_kind, Llvm, Ref};

/// What is seen of what a function prints.
pub(super) enum Seen {
    /// A text, as far as the format says.
    All(Text),
    /// The first byte behind an argument.
    First(u32),
}

/// Number of the argument that is a format, and of the first one that it names.
pub fn format_of(name: &str) -> Option<(u32, u32)> {
    match name {
        "sprintf" => Some((1, 2)),
        "snprintf" => Some((2, 3)),
        "__sprintf_chk" => Some((3, 4)),
        "__snprintf_chk" => Some((4, 5)),
        "asprintf" => Some((1, 2)),
        "__asprintf_chk" => Some((2, 3)),
        _ => None,
    }
}

/// The text of a constant.
pub fn constant(llvm: &Llvm, pointer: Ref) -> Option<String> {
    type AsString = unsafe extern "C" fn(Ref, *mut usize) -> *const core::ffi::c_char;
    type IsString = unsafe extern "C" fn(Ref) -> i32;
    let [is_string, as_string] = ["LLVMIsConstantString", "LLVMGetAsString"].map(lookup);
    if llvm.is_a_global_variable(pointer).is_null() || is_string.is_null() || as_string.is_null() {
        return None;
    }
    // SAFETY: LLVM's C interface is stable: a function of this name has this type.
    let is_string = unsafe { core::mem::transmute::<Ref, IsString>(is_string) };
    // SAFETY: as above.
    let as_string = unsafe { core::mem::transmute::<Ref, AsString>(as_string) };
    let value = llvm.initializer(pointer);
    // SAFETY: a value that LLVM gave out.
    if value.is_null() || llvm.global_constant(pointer) == 0 || unsafe { is_string(value) } == 0 {
        return None;
    }
    let mut length = 0;
    // SAFETY: a constant text, and a number that lives until LLVM returns.
    let found = unsafe { as_string(value, &raw mut length) };
    let found = text(found, length);
    Some(found.split('\0').next().unwrap_or_default().to_owned())
}

/// Texts that a call prints, if its format is known.
pub fn printed(llvm: &Llvm, call: Ref, name: &str) -> Option<Vec<Text>> {
    let (at, first) = format_of(name)?;
    let count = llvm.arguments(call);
    let format = (at < count).then(|| constant(llvm, llvm.operand(call, at)))??;
    let texts = format::texts(&format)?;
    let all = texts.into_iter().map(|text| text.behind(first));
    Some(all.filter(|text| text.last() < count).collect())
}

/// The texts that a call has printed by what it calls; of an unknown format, or function, the first bytes.
pub(super) fn wrapped(llvm: &Llvm, call: Ref, callee: Ref) -> Vec<Seen> {
    let (fixed, count) = (llvm.parameter_count(callee), llvm.arguments(call));
    let is_program = llvm.is_a_function(callee) == callee && format_of(&llvm.name(callee)).is_none();
    if !is_program || fixed == 0 || count <= fixed || llvm.is_variadic(llvm.global_value_type(callee)) == 0 {
        return Vec::new();
    }
    let format = constant(llvm, llvm.operand(call, fixed - 1));
    let texts = format.as_deref().and_then(format::texts);
    let is_pointer = |at: &u32| llvm.type_kind(llvm.type_of(llvm.operand(call, *at))) == type_kind::POINTER;
    match texts {
        _ if llvm.is_declaration(callee) == 0 && !prints(llvm, callee) => Vec::new(),
        None if llvm.is_declaration(callee) != 0 => Vec::new(),
        None => (fixed..count).filter(is_pointer).map(Seen::First).collect(),
        Some(texts) => {
            let all = texts.into_iter().map(|text| text.behind(fixed)).filter(|text| text.last() < count);
            let all = all.filter(|text| is_pointer(&text.argument));
            // What a function does that is not here is not certain.
            let of = |text: Text| match llvm.is_declaration(callee) {
                0 => Seen::All(text),
                _ => Seen::First(text.argument),
            };
            all.map(of).filter(|_| !llvm.name(callee).contains("scanf")).collect()
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
