//! What became of a tool that the program was to load.

use std::io;
use std::mem::{offset_of, size_of};

use crate::snapshot::Snapshot;
use workspan_wire::shm::Header;

/// What the header says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// Whether it was loaded.
    pub loaded: Loaded,
    /// Tasks that were not reported to it, for want of room.
    pub dropped: u64,
}

/// Whether it was loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loaded {
    /// Nobody requested one.
    No,
    /// It was.
    Yes,
    /// It cannot be loaded, or is no tool.
    Unfit,
    /// There was no memory for its tasks.
    NoMemory,
    /// It declined to be called.
    Declined,
}

/// Reads it.
pub fn state(snapshot: &(impl Snapshot + ?Sized)) -> io::Result<State> {
    let header = snapshot.read(0, size_of::<Header>())?;
    let bytes = |at: usize| header.get(at..at + 4).and_then(|b| b.try_into().ok()).map_or(0, u32::from_ne_bytes);
    let dropped = offset_of!(Header, dropped_tool_tasks);
    let loaded = match bytes(offset_of!(Header, tool)) {
        0 => Loaded::No,
        1 => Loaded::Yes,
        3 => Loaded::NoMemory,
        4 => Loaded::Declined,
        _ => Loaded::Unfit,
    };
    let dropped = header.get(dropped..dropped + 8).and_then(|b| b.try_into().ok()).map_or(0, u64::from_ne_bytes);
    Ok(State { loaded, dropped })
}
