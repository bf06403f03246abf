//! LLVM's optimisation of modules from flang, left to the pass.
//!
//! flang optimises Fortran twice: first its own form, in which array expressions become loops without temporary arrays, then LLVM's.
//! Before instrumentation ([`early`]) the first is wanted, since `a = a + b` is an update of each element only then, and the second is not,
//! since it keeps variables in registers. No option has one without the other. So flang gets the list of LLVM's passes for `-O0`,
//! whatever the level. clang is stopped by an option, and rustc calls none of these functions.

use core::cell::Cell;
use core::ffi::c_void;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::early;
use crate::failure::fail;
use crate::llvm::lookup;

/// flang has been given the list of `-O0`.
static LEFT_TO_THE_PASS: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// LLVM lists passes for us, not for the compiler.
    static OWN: Cell<bool> = const { Cell::new(false) };
}

/// `llvm::ModulePassManager`: a vector.
#[derive(Debug)]
#[repr(C)]
pub struct Passes([usize; 3]);

/// A member function of `llvm::PassBuilder` that lists passes.
type List = unsafe extern "C" fn(*mut c_void, u64, u32) -> Passes;

/// `llvm::OptimizationLevel`, two numbers of 32 bits: for speed, and for size.
const NO_OPTIMISATION: u64 = 0;

/// True if LLVM has not optimised what flang emits.
pub(crate) fn is_left_to_the_pass() -> bool {
    LEFT_TO_THE_PASS.load(Relaxed)
}

/// Does what requests passes of LLVM by itself, and gets them.
pub(crate) fn unchanged<R>(work: impl FnOnce() -> R) -> R {
    OWN.set(true);
    let result = work();
    OWN.set(false);
    result
}

macro_rules! interposed {
    ($function:ident, $name:literal, $for_none:literal) => {
        /// `llvm::PassBuilder::buildPerModuleDefaultPipeline`.
        ///
        /// # Safety
        /// flang calls it with a pass builder.
        #[export_name = $name]
        pub unsafe extern "C" fn $function(builder: *mut c_void, level: u64, phase: u32) -> Passes {
            let (next, level) = if early::wanted() && !OWN.get() {
                LEFT_TO_THE_PASS.store(true, Relaxed);
                (lookup($for_none), NO_OPTIMISATION)
            } else {
                (lookup($name), level)
            };
            if next.is_null() {
                fail("this compiler's LLVM has no list of passes for -O0");
            }
            // SAFETY: both functions of LLVM have this type.
            let next = unsafe { core::mem::transmute::<*mut c_void, List>(next) };
            // SAFETY: with the compiler's own arguments, but for the level, which both take.
            unsafe { next(builder, level, phase) }
        }
    };
}

interposed!(
    of_module,
    "_ZN4llvm11PassBuilder29buildPerModuleDefaultPipelineENS_17OptimizationLevelEb",
    "_ZN4llvm11PassBuilder22buildO0DefaultPipelineENS_17OptimizationLevelEb"
);
interposed!(
    of_module_since_20,
    "_ZN4llvm11PassBuilder29buildPerModuleDefaultPipelineENS_17OptimizationLevelENS_18ThinOrFullLTOPhaseE",
    "_ZN4llvm11PassBuilder22buildO0DefaultPipelineENS_17OptimizationLevelENS_18ThinOrFullLTOPhaseE"
);
