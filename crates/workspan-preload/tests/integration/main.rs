//! The rules for tasks as objects, without an OpenMP runtime: a small one drives them, on private memory and the
//! virtual clock. Runs under Miri, which watches every access of its threads, and with ThreadSanitizer.

#![expect(unsafe_code, reason = "reads the private memory as bytes")]

#[path = "../../../workspan-collect/tests/integration/machine.rs"]
#[expect(dead_code, reason = "that of another crate's tests, which use more of it")]
mod machine;
mod program;
mod runtime;
mod threads;
#[cfg(all(target_arch = "x86_64", not(any(miri, feature = "alone"))))]
mod waiters;
