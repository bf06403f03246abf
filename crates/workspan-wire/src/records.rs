//! What is known of places and files of code, as it lies in the shared memory: records that are written once.

use core::cell::Cell;
use core::sync::atomic::AtomicU32;

/// Bytes of a file name kept in a [`SiteRecord`]; of a longer one, the end.
pub const FILE_BYTES: usize = 248;
/// Bytes of a type name kept in a [`SiteRecord`].
pub const TYPE_BYTES: usize = 360;
/// Return addresses kept in a [`SiteRecord`].
pub const STACK_DEPTH: usize = 24;

/// A place in the source: known by file and line, or else by an address in the code.
#[derive(Debug)]
#[repr(C)]
pub struct SiteRecord {
    /// 1 once the record is complete.
    pub ready: AtomicU32,
    /// A [`super::site::SiteKind`].
    pub kind: Cell<u32>,
    /// Line, from 1.
    pub line: Cell<u32>,
    /// Column, from 1.
    pub column: Cell<u32>,
    /// For serial code: the region before it (site + 1; 0: program start). Of other kinds, this and the next mean nothing to readers.
    pub serial_from: Cell<u32>,
    /// For serial code: the region after it (site + 1; 0: program end).
    pub serial_to: Cell<u32>,
    /// Bytes of `file` in use.
    pub file_len: Cell<u32>,
    /// Bytes of `type_name` in use.
    pub type_len: Cell<u32>,
    /// The module (+ 1) in which `address` lies; 0 if unknown.
    pub module: Cell<u32>,
    _pad: Cell<u32>,
    /// Address in the code that called, 0 if unknown. Never that of the instruction after the call.
    pub address: Cell<u64>,
    /// Return addresses up to the task's first frame; 0 ends the list.
    pub stack: [Cell<u64>; STACK_DEPTH],
    /// File name as the compiler saw it.
    pub file: [Cell<u8>; FILE_BYTES],
    /// Name of the closure type, from which the function follows where there is no debug information; where a compiler
    /// reports it, the name of the function itself.
    pub type_name: [Cell<u8>; TYPE_BYTES],
}

/// A site below a path of sites. Recursion is folded: a site that is already on the path leads to a *recursive* context,
/// a leaf below the path whose sites are the active ones. Context 0 is the root.
#[derive(Debug)]
#[repr(C)]
pub struct ContextRecord {
    /// 1 once the record is complete.
    pub ready: AtomicU32,
    /// The context around it.
    pub parent: Cell<u32>,
    /// The site.
    pub site: Cell<u32>,
    /// 1 if the site is on the path already.
    pub recursive: Cell<u32>,
}

/// A file of code in the program's memory.
#[derive(Debug)]
#[repr(C)]
pub struct ModuleRecord {
    /// 1 once the record is complete.
    pub ready: AtomicU32,
    /// Bytes of `path` in use; 0 for the executable.
    pub path_len: Cell<u32>,
    /// Load address: what is to be taken from an address for the file's own.
    pub base: Cell<u64>,
    /// Path of the file.
    pub path: [Cell<u8>; FILE_BYTES],
}
