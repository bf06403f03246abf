//! Allocators that a program brings with it.
//!
//! Of an allocator nothing counts but what it gives and takes back: its own accesses order nothing that the program relies on, and
//! memory that it gives again is other memory. The C library's is not instrumented, and the run-time sees its functions. So that others
//! look the same, the libraries of C that Rust's crates compile are not instrumented, nor are Rust's implementations of `GlobalAlloc` and
//! what they alone call; and the functions by which all of Rust allocates note what they give.

use std::collections::{HashMap, HashSet};

use crate::debug;
use crate::llvm::{opcode, Llvm, Ref, INTERNAL, PRIVATE};
use crate::locals::users;

/// Parts of the names of crates that compile an allocator in C or C++, whose folder, or that of what they build, is named after them.
const CRATES: [&str; 4] = ["jemalloc-sys", "mimalloc-sys", "snmalloc-sys", "rpmalloc-sys"];
/// Parts of names of implementations of `GlobalAlloc`, in either way of the compiler to write them.
const IMPLEMENTATIONS: [&str; 2] = ["core..alloc..global..GlobalAlloc$GT$", "4core5alloc6global11GlobalAlloc"];
/// Beginnings of names of the functions that call an implementation; older compilers have the second one.
const OF_PROGRAMS: [&str; 2] = ["__rust_", "__rg_"];
/// The same of Rust's own allocator, which is the C library's.
const OF_RUST: &str = "__rdl_";

/// What a function does with memory; numbers are of parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// Gives as many bytes as a parameter says.
    Gives(u32),
    /// Takes back what a parameter points to.
    Takes(u32),
    /// Takes back what the first points to, and gives as many bytes as the second says.
    Changes(u32, u32),
}

/// By the end of a function's name.
const DEEDS: [(&str, Deed); 4] = [
    ("dealloc", Deed::Takes(0)),
    ("realloc", Deed::Changes(0, 3)),
    ("alloc_zeroed", Deed::Gives(0)),
    ("alloc", Deed::Gives(0)),
];

/// The functions of a module that are parts of allocators.
#[derive(Debug, Default)]
pub struct Allocators {
    /// Those by which all of Rust allocates, if that is in a way of the program.
    pub deeds: HashMap<Ref, Deed>,
    /// All of them.
    pub all: HashSet<Ref>,
}

impl Allocators {
    /// Of a module.
    pub fn of(llvm: &Llvm, module: Ref) -> Allocators {
        let is_whole = |function: &Ref| llvm.is_declaration(*function) == 0;
        let defined: Vec<Ref> = llvm.functions(module).into_iter().filter(is_whole).collect();
        if is_library(llvm, &defined) {
            return Allocators { all: defined.into_iter().collect(), ..Allocators::default() };
        }
        let deeds: HashMap<Ref, Deed> =
            defined.iter().filter_map(|function| Some((*function, deed(llvm, *function)?))).collect();
        let mut all: HashSet<Ref> = deeds.keys().copied().collect();
        all.extend(defined.iter().filter(|function| implements(&llvm.name(**function))));
        // And what nobody else calls.
        while !all.is_empty() {
            let is_theirs = |function: &&Ref| !all.contains(*function) && is_called_by(llvm, **function, &all);
            let more: Vec<Ref> = defined.iter().filter(is_theirs).copied().collect();
            if more.is_empty() {
                break;
            }
            all.extend(more);
        }
        Allocators { deeds, all }
    }
}

/// True if functions are those of a library of C that such a crate compiles: in its folder, or from there.
fn is_library(llvm: &Llvm, functions: &[Ref]) -> bool {
    let files = || functions.iter().map(|function| debug::file_of(llvm, *function)).filter(|file| !file.is_empty());
    let is_theirs = |path: &str| CRATES.iter().any(|name| path.contains(name));
    let here = std::env::current_dir().unwrap_or_default();
    (is_theirs(&here.to_string_lossy()) || files().any(|file| is_theirs(&file)))
        && !files().any(|file| file.ends_with(".rs"))
}

/// True if a function is called by some only, and no other module knows it.
fn is_called_by(llvm: &Llvm, function: Ref, callers: &HashSet<Ref>) -> bool {
    let users = users(llvm, function);
    let is_call = |user: &Ref| {
        !llvm.is_a_instruction(*user).is_null()
            && llvm.callee(*user) == Some(function)
            && callers.contains(&llvm.function_of(llvm.block_of(*user)))
    };
    matches!(llvm.linkage(function), INTERNAL | PRIVATE) && !users.is_empty() && users.iter().all(is_call)
}

/// True if a function allocates for all of Rust, in a way of the program.
fn implements(name: &str) -> bool {
    IMPLEMENTATIONS.iter().any(|part| name.contains(part))
}

/// What a function by which all of Rust allocates does, if that is in a way of the program.
fn deed(llvm: &Llvm, function: Ref) -> Option<Deed> {
    let name = llvm.name(function);
    let deed = deed_by_name(&name)?;
    let instructions = llvm.blocks(function).into_iter().flat_map(|block| llvm.instructions(block));
    let mut calls = instructions.filter(|at| matches!(llvm.opcode(*at), opcode::CALL | opcode::INVOKE));
    let passes_on = |callee: &str| callee.contains(OF_RUST) || deed_by_name(callee).is_some();
    let is_rusts = calls.any(|call| llvm.callee(call).is_some_and(|callee| passes_on(&llvm.name(callee))));
    (!is_rusts).then_some(deed)
}

fn deed_by_name(name: &str) -> Option<Deed> {
    let (_, what) = OF_PROGRAMS.iter().find_map(|prefix| name.rsplit_once(prefix))?;
    DEEDS.iter().find(|(end, _)| what == *end).map(|(_, deed)| *deed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_known_by_their_names() {
        let check = |name: &str, expected: Option<Deed>| assert_eq!(deed_by_name(name), expected, "{name}");
        check("_RNvCsfLfy6EI15iL_7___rustc12___rust_alloc", Some(Deed::Gives(0)));
        check("_RNvCsfLfy6EI15iL_7___rustc19___rust_alloc_zeroed", Some(Deed::Gives(0)));
        check("__rg_realloc", Some(Deed::Changes(0, 3)));
        check("__rust_dealloc", Some(Deed::Takes(0)));
        check("_RNvCsfLfy6EI15iL_7___rustc11___rdl_alloc", None);
        check("_RNvCsfLfy6EI15iL_7___rustc35___rust_no_alloc_shim_is_unstable_v2", None);
        check("_RNvCsfLfy6EI15iL_7___rustc26___rust_alloc_error_handler", None);
        check("alloc", None);
    }
}
