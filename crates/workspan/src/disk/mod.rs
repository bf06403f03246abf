//! Files: what is read, written, kept, exported, and what must not be overwritten or shown.

pub mod cache;
pub mod export;
pub mod files;
pub mod known;
pub mod overwrite;
pub mod source;
