//! Where the compiler calls the pass.
//!
//! clang (libclang-cpp), flang and rustc (librustc_driver) call `llvm::legacy::PassManager::run(Module&)` of libLLVM across
//! the border of a library. A definition that is loaded earlier comes first; `Module&` is an `LLVMModuleRef`. In any other
//! process (the linker, a shell) this library does nothing: it looks LLVM up only when it is called.

use core::ffi::c_void;
use std::sync::OnceLock;

use crate::failure::fail;
use crate::instrument;
use crate::llvm::{lookup, Ref};

const RUN: &str = "_ZN4llvm6legacy11PassManager3runERNS_6ModuleE";

/// `llvm::legacy::PassManager::run(llvm::Module&)`.
///
/// # Safety
/// LLVM calls it with a pass manager and a module that this thread may change.
#[export_name = "_ZN4llvm6legacy11PassManager3runERNS_6ModuleE"]
pub unsafe extern "C" fn run(this: *mut c_void, module: Ref) -> bool {
    static NEXT: OnceLock<usize> = OnceLock::new();
    let changed = match instrument::module(module) {
        Ok(changed) => changed,
        Err(message) => fail(&message),
    };
    let next = *NEXT.get_or_init(|| lookup(RUN) as usize);
    if next == 0 {
        fail("the compiler has no llvm::legacy::PassManager::run of its own");
    }
    // SAFETY: the next definition of the function that this one stands in for, of the same type.
    let next = unsafe { core::mem::transmute::<usize, unsafe extern "C" fn(*mut c_void, Ref) -> bool>(next) };
    // SAFETY: with the compiler's own arguments.
    let result = unsafe { next(this, module) };
    result || changed
}
