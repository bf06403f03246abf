//! The plugin: what the emulator calls.
//!
//! [`api`] declares the emulator's functions; [`entry`] is what it calls first; [`processor`] is the hot path, and who runs
//! when; [`code`] describes blocks when they are translated, and [`sent`] sends them.

mod api;
mod code;
pub mod entry;
mod processor;
mod sent;
mod state;
