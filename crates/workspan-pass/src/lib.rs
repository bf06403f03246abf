//! The compiler pass: a library that `workspan build` has loaded into clang, flang and rustc, of LLVM 16 and newer.
//!
//! It defines `llvm::legacy::PassManager::run` ([`interpose`]), which these compilers call across a library's border just
//! before they emit an object, and instruments the module that is about to be emitted. It is linked with no LLVM: the
//! functions of LLVM's C interface are looked up in the compiler's process ([`llvm`]), so that one library serves all
//! versions, and no development files are needed.
//!
//! * [`mod@cfg`]: dominators and natural loops of a function; [`address`]: constant distances between addresses;
//!   [`atomics`], [`fences`]: what atomic operations order; [`allocators`]: those of Rust programs, whose inside does not count.
//! * [`locals`]: variables without an address; [`updates`], `choices` and `atomic_updates`: reductions; [`choosers`]: functions that
//!   return the greatest number; [`conditions`]: how loops end; [`names`], [`reached`],
//!   [`members`], [`typed`]: variables of the source and their types; [`fixed`]: addresses that loops do not change; [`library`]:
//!   all for modules that are instrumented before optimisation ([`early`]).
//! * [`pipeline`]: has flang leave optimisation to the pass; [`sections`]: arrays that Fortran's run-time reads and writes;
//!   [`streams`]: texts that C++'s streams write.
//! * [`rust`]: what modules of rustc need before that; [`variables`]: variables out of the values that loops carry,
//!   but for what [`iterators`] keep; [`nested`]: two loops that are one;
//!   [`loads`], [`stores`]: accesses where the source has them.
//! * [`repeats`]: loops of which one event says all; [`lines`]: addresses that grow by the same amount in each iteration.
//! * [`plan`]: what a function's segments and operations are; reads the module only.
//! * [`emit`]: the instructions that write events; [`debug`]: places in the source.
//! * [`instrument`]: a module from beginning to end.
//!
//! **Invariant:** a module is instrumented as a whole or not at all, and says so in a note of the object
//! (`.note.workspan.pass`), by which `workspan build` sees that a compiler did not run the pass.

#![expect(unsafe_code, reason = "calls LLVM's C interface, and is called by compilers")]

pub mod address;
mod alike;
pub mod allocators;
mod assembly;
mod atomic_updates;
pub mod atomics;
mod begun;
mod below;
pub mod bounded;
mod called;
pub mod cfg;
mod choices;
mod choosers;
mod conditional;
pub mod conditions;
mod conversions;
mod copies;
mod costs;
pub mod debug;
pub mod early;
pub mod emit;
mod failure;
pub mod fences;
pub mod fixed;
pub mod format;
pub mod instrument;
mod internal_files;
pub mod interpose;
mod iterators;
pub mod library;
pub mod lines;
pub mod llvm;
pub mod loads;
pub mod locals;
mod masked;
pub mod members;
pub mod names;
mod nested;
pub mod pipeline;
pub mod plan;
pub mod reached;
pub mod repeats;
pub mod results;
pub mod rust;
pub mod rust_sync;
mod scopes;
pub mod sections;
mod stand_ins;
mod steps;
mod stores;
mod streams;
mod typed;
mod unread;
pub mod updates;
pub mod variables;
pub mod ways;
