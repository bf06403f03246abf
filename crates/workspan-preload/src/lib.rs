//! The collector for C, C++ and Fortran programs: one library that `workspan record` has loaded into them.
//!
//! [`ompt`] speaks with the OpenMP runtime; [`dag`] composes what it tells into work and span; the clock, the tables and
//! the critical paths are those of [`workspan_collect`]. [`marks`] is what a program may call itself.
//!
//! The rules of `workspan_collect` hold here, too.

#![expect(unsafe_code, reason = "collector: callbacks of C code, its own memory, interposed functions")]
#![expect(clippy::cast_possible_truncation, reason = "ids and bit fields narrower than the arithmetic around them")]

pub mod calibrate;
pub mod dag;
pub mod marks;
pub mod ompt;
pub mod original;
pub mod threads;
