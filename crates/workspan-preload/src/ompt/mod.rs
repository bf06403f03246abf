//! A tool of OpenMP runtimes, by OMPT: LLVM's libomp, also in place of gcc's libgomp.

pub mod abi;
pub mod events;
pub mod interpose;
pub mod locks;
pub mod parts;
pub mod site;
pub mod start;
pub mod waits;
pub mod worksharing;
