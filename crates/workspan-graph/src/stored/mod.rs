//! A recording on disk: chunks, their encoding, the descriptions of modules, and one recording made of several.

pub mod bounds;
pub mod codec;
pub mod cut;
pub mod events;
pub mod file;
pub mod merge;
pub mod missing;
pub mod program;
pub mod sample;
pub mod thin;
