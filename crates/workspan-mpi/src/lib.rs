//! Stands in for the functions of MPI in a recorded program: a library that is loaded before the program's own.
//!
//! Each function is defined here under both of its names, `MPI_…` and `PMPI_…`, calls the library's own, and notes what the
//! program did: [`messages`], [`completion`] of non-blocking calls ([`requests`]), [`collectives`] and their non-blocking
//! forms ([`immediate`]), [`windows`]. Fortran's functions are defined in terms of these in both MPIs, so that they need none here.
//!
//! No MPI is linked, and no header read: [`library`] finds at run time which one is loaded, and knows what differs: handles
//! ([`handles`]), constants, the layout of a status. [`sink`] is where events go: the run-time of instrumented programs.
//!
//! **Invariant:** without a run-time that records, each function is the library's own. What the library does inside a call,
//! on its own threads, or in a call of its own, is not the program's, and not noted. A table that is full loses an event, which
//! is counted.

#![expect(unsafe_code, reason = "collector: interposed functions, memory of the program")]
#![expect(clippy::macro_metavars_in_unsafe, reason = "arguments of a call, which are names")]
#![cfg(all(target_os = "linux", target_env = "gnu", any(target_arch = "x86_64", target_arch = "aarch64")))]

pub mod collectives;
pub mod communicators;
pub mod completion;
pub mod groups;
pub mod handles;
pub mod immediate;
pub mod library;
pub mod memory;
pub mod messages;
pub mod requests;
pub mod sink;
pub mod start;
pub mod status;
pub mod table;
pub mod windows;
