//! Programs that use OpenMP: they are run as they are, with a collector loaded into them.
//!
//! The collector is a tool of the OpenMP runtime, by the interface that LLVM's and Intel's have (OMPT). gcc's libgomp has
//! none; LLVM's runtime has its entry points, and stands in for it.

pub mod collector;
mod doctor;
pub mod elf;
pub mod environment;
mod hwcaps;
pub mod ld_cache;
pub mod leftover;
pub mod libomp;
pub mod loader;
pub mod loading;
pub mod program;
mod runtime;

pub use program::Program;
pub use runtime::FAMILY;
