//! Instruction traces of any Linux program: a plugin of the emulator `qemu-user`, and the memory that it writes.
//!
//! [`ring`] is the shared memory: chunks of words ([`workspan_wire::trace`]) that the plugin fills and `workspan` empties
//! while the program runs; the plugin waits when none is free. With `--cfg emulator_plugin` this crate is the plugin itself,
//! a library that the emulator loads; its entry points are those of the emulator, so that it cannot be linked into anything
//! else. `workspan`'s `build.rs` compiles it so, and the command carries it along.
//!
//! **Hot path**: a block that runs stores one word, an access to memory stores one. No allocation, lock, system call or
//! hash lookup; once in a few thousand words a chunk is handed over.

#![expect(unsafe_code, reason = "collector: callbacks of C code, and memory that two processes share")]

#[cfg(emulator_plugin)]
pub mod plugin;
pub mod ring;
mod system;
