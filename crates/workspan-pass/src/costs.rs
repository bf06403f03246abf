//! What instructions cost, in instructions: one each, but for calls of functions that are not instrumented.
//!
//! Those are counted as glibc 2.36 takes them on x86-64 on the average, as valgrind counts (`sin` 75, `snprintf` of a number and a word 940).
//! **Error:** what depends on an argument, as on the length of a copy, is not known here. A function that is in no table counts as one
//! instruction.

use crate::llvm::{opcode, Llvm, Ref};
use crate::locals::{is_call_of, Locals};

/// What an instruction costs; 0 for what only moves locals, or is none in the machine's code.
pub(crate) fn of(locals: &Locals, llvm: &Llvm, instruction: Ref) -> u32 {
    let code = llvm.opcode(instruction);
    match code {
        opcode::PHI | opcode::ALLOCA | opcode::FREEZE => 0,
        opcode::FIRST_CAST..=opcode::LAST_CAST => 0,
        opcode::BR => u32::from(llvm.is_conditional(instruction) != 0),
        opcode::LOAD | opcode::STORE => u32::from(locals.touch(llvm, instruction).is_none()),
        opcode::CALL | opcode::INVOKE => of_call(llvm, instruction),
        _ => 1,
    }
}

fn of_call(llvm: &Llvm, call: Ref) -> u32 {
    if ["llvm.lifetime.", "llvm.dbg.", "llvm.stacksave"].iter().any(|name| is_call_of(llvm, call, name)) {
        return 0;
    }
    if llvm.callee(call).is_some_and(|callee| llvm.name(callee).starts_with("__workspan_")) {
        return 0;
    }
    let callee = llvm.callee(call).filter(|callee| llvm.is_declaration(*callee) != 0);
    1 + callee.map_or(0, |callee| inside(&llvm.name(callee)))
}

/// Functions, and the instructions within.
const TABLE: &[(&str, u32)] = &[
    ("sin", 75),
    ("cos", 71),
    ("sincos", 95),
    ("tan", 80),
    ("asin", 69),
    ("acos", 75),
    ("atan", 62),
    ("atan2", 149),
    ("sinh", 105),
    ("cosh", 70),
    ("tanh", 100),
    ("exp", 54),
    ("exp2", 44),
    ("exp10", 60),
    ("expm1", 57),
    ("log", 54),
    ("log2", 56),
    ("log10", 91),
    ("log1p", 69),
    ("pow", 129),
    ("powi", 20),
    ("cbrt", 139),
    ("hypot", 58),
    ("fmod", 44),
    ("erf", 55),
    ("erfc", 60),
    ("lgamma", 155),
    ("tgamma", 296),
    ("malloc", 70),
    ("calloc", 100),
    ("realloc", 120),
    ("free", 70),
    ("_Znwm", 75),
    ("_Znam", 80),
    ("_ZdlPv", 72),
    ("_ZdlPvm", 72),
    ("_ZdaPv", 72),
    ("__rust_alloc", 75),
    ("__rust_dealloc", 75),
    ("__rust_realloc", 125),
    ("rand", 53),
    ("random", 50),
    ("strtol", 185),
    ("atoi", 185),
    ("atol", 185),
    ("strtod", 485),
    ("atof", 485),
    ("printf", 600),
    ("fprintf", 600),
    ("sprintf", 900),
    ("snprintf", 900),
    ("puts", 130),
    ("fputs", 130),
    ("putchar", 20),
    ("putc", 20),
    ("fputc", 20),
    ("getc", 20),
    ("fgetc", 20),
    ("fgets", 100),
    ("scanf", 700),
    ("fscanf", 700),
    ("sscanf", 900),
];

/// The same by how names begin: of C++'s streams, Fortran's and Rust's output.
const STARTS: &[(&str, u32)] =
    &[("_ZNSo", 150), ("_ZStlsI", 150), ("_FortranAioOutput", 500), ("_ZN3std2io5stdio6_print", 600)];

fn inside(name: &str) -> u32 {
    // `llvm.sin.f64`; others of the kind, as `llvm.sqrt`, are one instruction.
    let intrinsic = name.strip_prefix("llvm.").map(|rest| rest.split('.').next().unwrap_or(rest));
    let name = intrinsic.unwrap_or(name);
    let known = |name: &str| TABLE.iter().find(|(known, _)| *known == name).map(|(_, cost)| *cost);
    // Of `float` and `long double`.
    let wide = || known(name.strip_suffix(['f', 'l'])?);
    let start = || STARTS.iter().find(|(start, _)| name.starts_with(start)).map(|(_, cost)| *cost);
    known(name).or_else(wide).or_else(start).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::inside;

    #[track_caller]
    fn check(names: &[&str], cost: u32) {
        for name in names {
            assert_eq!(inside(name), cost, "{name}");
        }
    }

    #[test]
    fn functions_are_known_in_all_their_forms() {
        check(&["sin", "sinf", "sinl", "llvm.sin.f64", "llvm.sin.v4f32"], 75);
        check(&["printf"], 600);
        check(&["_ZNSolsEi"], 150);
        check(&["llvm.sqrt.f64", "llvm.memcpy.p0.p0.i64", "own", "f", ""], 0);
    }
}
