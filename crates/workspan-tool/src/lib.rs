//! Profilers of your own on Workspan's collectors: called at every task event of a program that uses rayon or OpenMP, without a
//! change to the program or to its runtime.
//!
//! A tool is a shared library (`crate-type = ["cdylib"]`) with a type that implements [`Tool`]:
//!
//! ```
//! use std::sync::atomic::{AtomicU64, Ordering};
//! use workspan_tool::{Api, Task, Tool};
//!
//! struct Count(AtomicU64);
//!
//! impl Tool for Count {
//!     fn start(_: &'static Api) -> Option<Count> {
//!         Some(Count(AtomicU64::new(0)))
//!     }
//!
//!     fn after_enter(&self, _: &Task, _now: u64) {
//!         self.0.fetch_add(1, Ordering::Relaxed);
//!     }
//!
//!     fn finish(&self) {
//!         eprintln!("{} tasks", self.0.load(Ordering::Relaxed));
//!     }
//! }
//!
//! workspan_tool::export!(Count);
//! # fn main() {}
//! ```
//!
//! ```text
//! workspan record --tool target/release/libcount.so -- ./prog
//! ```
//!
//! What a task is, and when which call comes, is described in `include/workspan_tool.h`, of which this is the Rust form. Calls come
//! on any thread, several at a time. A tool must not call the runtime that is watched, nor panic: a panic ends the program.

#![expect(unsafe_code, reason = "the interface between a tool and the collector is C's")]

use std::cell::Cell;
use std::ffi::{c_char, c_int, c_void};
use std::mem::MaybeUninit;

/// Version of the interface.
pub const VERSION: u32 = 2;

/// A tool.
pub trait Tool: Send + Sync + Sized + 'static {
    /// Before `main`. `None`: the program is left alone.
    fn start(api: &'static Api) -> Option<Self>;

    /// `task` begins at tick `now`.
    fn after_enter(&self, task: &Task, now: u64) {
        let _ = (task, now);
    }

    /// `task` is about to wait for what it has created.
    fn before_sync(&self, task: &Task, now: u64) {
        let _ = (task, now);
    }

    /// `task` ends at tick `now`.
    fn before_exit(&self, task: &Task, now: u64) {
        let _ = (task, now);
    }

    /// The program ends; threads may still run.
    fn finish(&self) {}
}

/// What a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// The program's first strand, or a thread that it has started.
    Thread,
    /// The second branch of a join.
    Branch,
    /// A task that was created: `spawn`, `task`, `taskloop`.
    Spawn,
    /// A member of a team.
    Member,
    /// One that this version of the crate does not know.
    Other,
}

/// A task, from its begin to its end.
#[derive(Debug)]
#[repr(C)]
pub struct Task {
    id: u64,
    parent: u64,
    parent_data: *mut c_void,
    data: Cell<*mut c_void>,
    kind: u32,
    site: u32,
    strand: Cell<u64>,
}

impl Task {
    /// Its number in this run, from 1.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The task that created it, as far as that is known.
    pub fn parent(&self) -> Option<u64> {
        Some(self.parent).filter(|id| *id != 0)
    }

    /// What the creator's [`Task::data`] was when it created this one.
    pub fn parent_data(&self) -> *mut c_void {
        self.parent_data
    }

    /// What was put here by [`Task::set_data`]; null at first.
    pub fn data(&self) -> *mut c_void {
        self.data.get()
    }

    /// Keeps a pointer, or a number in the form of one, until the task ends.
    pub fn set_data(&self, data: *mut c_void) {
        self.data.set(data);
    }

    /// What it is.
    pub fn kind(&self) -> Kind {
        match self.kind {
            0 => Kind::Thread,
            1 => Kind::Branch,
            2 => Kind::Spawn,
            3 => Kind::Member,
            _ => Kind::Other,
        }
    }

    /// The strand that this call is about: of [`Tool::after_enter`] the one that begins, otherwise the one that ends. No two
    /// strands of a run have the same number; a recording with `--strands` has it as `tool_number`.
    pub fn strand(&self) -> u64 {
        self.strand.get()
    }

    /// Where it was created.
    pub fn site(&self) -> Site {
        Site(self.site)
    }
}

/// Number of a place that creates tasks; small.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Site(pub u32);

/// A place in the source, as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// The compiler reported it.
    Line {
        /// File name, as the compiler saw it.
        file: String,
        /// Line, from 1.
        line: u32,
        /// Column, from 1; 0 if it is not known.
        column: u32,
    },
    /// An address in the code that called.
    Address(u64),
}

/// What the collector offers.
#[derive(Debug)]
#[repr(C)]
pub struct Api {
    version: u32,
    ticks_per_second: u64,
    place: unsafe extern "C" fn(u32, *mut RawPlace) -> c_int,
}

/// A place, as C has it.
#[derive(Debug)]
#[repr(C)]
#[doc(hidden)]
pub struct RawPlace {
    file: *const c_char,
    file_length: u64,
    line: u32,
    column: u32,
    address: u64,
}

impl Api {
    /// Ticks of `now` in a second.
    pub fn ticks_per_second(&self) -> u64 {
        self.ticks_per_second
    }

    /// Where tasks of this site are created, as far as that is known.
    pub fn place(&self, site: Site) -> Option<Place> {
        let mut raw = MaybeUninit::<RawPlace>::uninit();
        // SAFETY: the interface says that this writes all of it, if it returns something else than 0.
        let known = unsafe { (self.place)(site.0, raw.as_mut_ptr()) };
        if known == 0 {
            return None;
        }
        // SAFETY: written.
        let raw = unsafe { raw.assume_init() };
        let length = usize::try_from(raw.file_length).ok()?;
        if length == 0 {
            return Some(Place::Address(raw.address));
        }
        // SAFETY: the interface says that this number of bytes are there, and stay.
        let file = unsafe { std::slice::from_raw_parts(raw.file.cast::<u8>(), length) };
        let file = String::from_utf8_lossy(file).into_owned();
        Some(Place::Line { file, line: raw.line, column: raw.column })
    }
}

/// Defines what the collector looks up in the library: once, with the type of the tool.
#[macro_export]
macro_rules! export {
    ($tool:ty) => {
        #[no_mangle]
        pub unsafe extern "C" fn workspan_tool_start(
            api: &'static $crate::Api,
            callbacks: *mut $crate::Callbacks,
        ) -> ::std::ffi::c_int {
            static TOOL: ::std::sync::OnceLock<$tool> = ::std::sync::OnceLock::new();
            extern "C" fn after_enter(task: &$crate::Task, now: u64) {
                if let Some(tool) = TOOL.get() {
                    $crate::Tool::after_enter(tool, task, now);
                }
            }
            extern "C" fn before_sync(task: &$crate::Task, now: u64) {
                if let Some(tool) = TOOL.get() {
                    $crate::Tool::before_sync(tool, task, now);
                }
            }
            extern "C" fn before_exit(task: &$crate::Task, now: u64) {
                if let Some(tool) = TOOL.get() {
                    $crate::Tool::before_exit(tool, task, now);
                }
            }
            extern "C" fn finish() {
                if let Some(tool) = TOOL.get() {
                    $crate::Tool::finish(tool);
                }
            }
            let tool = $crate::start::<$tool>(api);
            let Some(tool) = tool else { return 0 };
            let _ = TOOL.set(tool);
            let told = $crate::Callbacks::new(after_enter, before_sync, before_exit, finish);
            // SAFETY: the collector gives it to be written.
            unsafe { callbacks.write(told) };
            1
        }
    };
}

type Told = extern "C" fn(&Task, u64);

/// What the collector is to call; for [`export`].
#[derive(Debug)]
#[repr(C)]
#[doc(hidden)]
pub struct Callbacks {
    after_enter: Told,
    before_sync: Told,
    before_exit: Told,
    finish: extern "C" fn(),
}

impl Callbacks {
    /// All of them.
    pub fn new(after_enter: Told, before_sync: Told, before_exit: Told, finish: extern "C" fn()) -> Callbacks {
        Callbacks { after_enter, before_sync, before_exit, finish }
    }
}

/// Starts a tool, if the collector is not older than this crate; for [`export`].
#[doc(hidden)]
pub fn start<T: Tool>(api: &'static Api) -> Option<T> {
    if api.version < VERSION {
        return None;
    }
    T::start(api)
}
