//! Names places in the source and the functions around them, from the debug information of executables and libraries.
//!
//! A collector within a Rust program knows exactly where the program called it, for the compiler reports it: file, line and
//! column. It does not know in which function. That stands in the executable's debug information, which this crate reads
//! in the opposite direction from a debugger: from the place to the instructions, and from those to the function
//! ([`Executable::functions`]). Where there is none, the name of a closure's type reports as much
//! ([`function_from_type_name`]).
//!
//! A collector that is loaded into a program of another language often knows no more than an address in an executable or
//! a library, from which place and function follow as in a debugger ([`Executable::lookup`]), through calls that were
//! inlined; or at least the symbol. Names are those of the program's language: C++ and Rust without generic arguments,
//! Fortran without what the compilers add. [`symbolise()`] does all of this for the sites of a recording.
//!
//! **Invariants.** Pure functions over bytes: no file is opened ([`debug_file_candidates`] only reports which should be),
//! nothing is printed or kept. No input makes them panic, recur without bound, or take more than a fixed number of steps
//! per byte.
//!
//! **Cost.** No less than the heads of all line programs, where the names of files stand, must be read; beyond that only
//! units that mention a wanted file are. For 50 places in an executable of 42 MB, with 13 MB of entries, that is 12 ms
//! (the heads alone 8, reading the file 20); if every unit mentions the file, 70. Nothing is kept between calls.
//!
//! **Why not addr2line**: it answers only the one of the two questions; it recurs as deep as the entries nest, so that a damaged
//! file overflows the stack; and it gives up on a file of which one unit is damaged.

mod budget;
mod call_sites;
mod code_map;
mod cpp;
mod debug_file;
mod demangle;
mod error;
mod executable;
mod files;
mod fortran;
mod frames;
mod header_waits;
mod locks;
mod lookup;
mod names;
mod path;
mod places;
mod rows;
mod scopes;
mod symbolise;
mod symbols;
mod units;
mod unwind;

#[cfg(test)]
mod hostile_tests;

pub use debug_file::{debug_file_candidates, is_debug_file_of};
/// The function that a symbol stands for.
pub use demangle::function as function_of_symbol;
pub use error::Error;
pub use executable::Executable;
pub use frames::Frames;
pub use locks::unseen_locks;
pub use lookup::{Called, Found, Lookup, SourcePlace};
pub use path::function_from_type_name;
pub use places::{Functions, Place};
pub use symbolise::{symbolise, Module, Symbolised};
pub use unwind::{chain, Callers, Chain, Layout, Stopped};
