//! The collector for C, C++ and Fortran programs: one library that `workspan record` has loaded into them.
//!
//! [`ompt`] speaks with the OpenMP runtime; [`dag`] composes what it reports into work and span; the clock, the tables and
//! the critical paths are those of [`workspan_collect`]. [`marks`] is what a program may call itself.
//!
//! The rules of `workspan_collect` hold here, too.
//!
//! [`dag`] needs no runtime: its tests drive it themselves. To Miri and ThreadSanitizer (feature `alone`) there is nothing else
//! here: they have functions of their own in the place of the C library's.
//!
//! With `--cfg idle_only` it is a library for idle accounting alone ([`ompt::idle`]), which stands in the way of no entry
//! point but one ([`ompt::copying`]).

#![expect(unsafe_code, reason = "collector: callbacks of C code, its own memory, interposed functions")]
#![expect(clippy::cast_possible_truncation, reason = "ids and bit fields narrower than the arithmetic around them")]

#[cfg(not(any(miri, feature = "alone")))]
pub mod ompt;

#[cfg(not(any(idle_only, miri, feature = "alone")))]
pub mod calibrate;
#[cfg(not(any(idle_only, miri, feature = "alone")))]
pub mod cost;
#[cfg(not(idle_only))]
pub mod dag;
#[cfg(all(target_arch = "x86_64", not(any(idle_only, miri, feature = "alone"))))]
pub mod lingering;
#[cfg(not(any(idle_only, miri, feature = "alone")))]
pub mod marks;
#[cfg(not(any(idle_only, miri, feature = "alone")))]
pub mod modules;
#[cfg(all(target_arch = "x86_64", not(any(idle_only, miri, feature = "alone"))))]
pub mod queues;
#[cfg(not(any(miri, feature = "alone")))]
pub mod samples;
#[cfg(all(target_arch = "x86_64", not(any(idle_only, miri, feature = "alone"))))]
pub mod sync;
#[cfg(all(target_arch = "x86_64", not(any(idle_only, miri, feature = "alone"))))]
pub mod tbb;
#[cfg(not(any(idle_only, miri, feature = "alone")))]
pub mod threads;
#[cfg(all(target_arch = "x86_64", not(any(idle_only, miri, feature = "alone"))))]
pub mod trampoline;
