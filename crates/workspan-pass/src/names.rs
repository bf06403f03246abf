//! Names of variables, as the front end left them in the names of values.

use crate::llvm::{opcode, Llvm, Ref};

/// How deep addresses are followed.
const DEEPEST: usize = 20;

/// The variable that an address is reached by, and whether it is its own memory.
pub fn variable(llvm: &Llvm, pointer: Ref) -> (Option<String>, bool) {
    let (mut at, mut direct) = (pointer, true);
    for _ in 0..DEEPEST {
        if !llvm.is_a_global_variable(at).is_null() {
            return (global(&llvm.name(at)), direct);
        }
        if !llvm.is_a_constant_expr(at).is_null() {
            at = llvm.operand(at, 0);
            continue;
        }
        if llvm.is_a_instruction(at).is_null() {
            return (source(&llvm.name(at)), false);
        }
        match llvm.opcode(at) {
            opcode::ALLOCA => return (source(&llvm.name(at)), direct),
            opcode::LOAD => (at, direct) = (llvm.operand(at, 0), false),
            opcode::GEP | opcode::FIRST_CAST..=opcode::LAST_CAST => at = llvm.operand(at, 0),
            opcode::CALL | opcode::INVOKE => {
                return (llvm.callee(at).map(|callee| format!("{}()", llvm.name(callee))), false)
            }
            opcode::PHI => (at, direct) = (llvm.incoming_value(at, 0), false),
            opcode::SELECT => (at, direct) = (llvm.operand(at, 1), false),
            _ => return (None, false),
        }
    }
    (None, false)
}

/// A static variable of a function is named after both.
fn global(name: &str) -> Option<String> {
    match name.rsplit_once('.') {
        Some((_, rest)) if !rest.is_empty() && !rest.chars().all(|c| c.is_ascii_digit()) => Some(rest.to_owned()),
        Some((before, _)) if !before.is_empty() => global(before),
        _ => Some(name.to_owned()).filter(|name| !name.is_empty()),
    }
}

/// The variable of the source that an `alloca` or an argument is, if the compiler did not make it up.
pub fn source(name: &str) -> Option<String> {
    let name = name.strip_suffix(".addr").unwrap_or(name);
    let made_up = ["retval", "saved_stack", "cleanup.dest.slot", "exn.slot", "ehselector.slot", "result.ptr"];
    // Of two with one name, the second has a number at its end, which is the name's own or the compiler's.
    (!name.is_empty() && !made_up.contains(&name) && !name.contains('.')).then(|| name.to_owned())
}
