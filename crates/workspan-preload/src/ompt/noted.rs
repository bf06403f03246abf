//! What entry points of the runtime note for the callbacks that follow: of the calling thread, in a variable of its own.

use core::cell::Cell;
use core::ffi::{c_char, c_void};
use core::mem::offset_of;
use core::ptr;

use workspan_collect::platform;

use crate::dag::clock::is_virtual;
use crate::dag::frame::Frame;
use crate::dag::rare;
use crate::dag::team::Team;
use crate::dag::token;
use crate::samples;

/// `ident_t` of LLVM's OpenMP: what the compiler says of a construct.
#[repr(C)]
#[derive(Debug)]
pub struct Ident {
    reserved: [i32; 4],
    /// ";file;function;line;column;;"
    pub(super) source: *const c_char,
}

/// What was passed to the entry point that the program is in.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Entry {
    /// What the compiler says, or null.
    pub ident: *const Ident,
    /// Code of the construct's body, or null.
    pub body: *const c_void,
    /// Tick at which the entry point was called; 0 if this one is not sampled.
    pub since: u64,
    /// How many creations the sample stands for; of a loop, the chunk size that the program requests, 0 for none, and [`IN_ORDER`].
    pub weight: u32,
    /// The task is to run at once because the program says so.
    pub at_once: bool,
    /// The taskloop has a taskgroup of its own, which ends with it.
    pub grouped: bool,
    /// One of the thread's first creations.
    pub first: bool,
    /// The region is the sections of one construct: libomp calls them a loop.
    pub sections: bool,
}

/// Iterations of the loop do something in their order.
pub const IN_ORDER: u32 = 1 << 31;

impl Entry {
    /// Nothing was passed.
    pub const NONE: Entry = Entry {
        ident: ptr::null(),
        body: ptr::null(),
        since: 0,
        weight: 0,
        at_once: false,
        grouped: false,
        first: false,
        sections: false,
    };

    /// The place of a call that returns to this address, for want of another.
    pub fn called_from(return_address: u64) -> Entry {
        Entry { body: return_address.wrapping_sub(1) as *const c_void, ..Entry::NONE }
    }

    /// True if nothing was passed.
    pub fn is_none(&self) -> bool {
        self.ident.is_null() && self.body.is_null()
    }

    /// The same if the creation had begun `ticks` later.
    pub fn later(self, ticks: i64) -> Entry {
        let since = if self.since == 0 { 0 } else { self.since.wrapping_add(ticks as u64) };
        Entry { since, ..self }
    }

    /// Ticks that the creation has taken so far, on behalf of all that are not sampled. None if the thread was, by the
    /// looks of it, interrupted: `longest` is more than a creation takes.
    pub fn cost(&self, longest: i64) -> Option<i64> {
        if self.since == 0 {
            return None;
        }
        let ticks = platform::ticks().wrapping_sub(self.since) as i64;
        (ticks < longest).then(|| ticks * i64::from(self.weight))
    }
}

/// Creations of a thread that are all measured, before some are ([`samples`]).
pub const FIRST_ONES: u32 = 64;

// Thread-local variables that are found by one addition (initial-exec model): the library is loaded when the program
// starts, and they are small enough for the room that the loader keeps otherwise. Rust's own would be a call in a
// library.
#[cfg(target_arch = "x86_64")]
core::arch::global_asm!(
    ".pushsection .tbss,\"awT\",@nobits",
    ".p2align 3",
    ".hidden workspan_entry",
    ".globl workspan_entry",
    ".type workspan_entry, @object",
    ".size workspan_entry, 88",
    "workspan_entry:",
    ".zero 88",
    ".popsection",
);

/// Where the number of creations is until the next sample, behind what is noted: the place, the body, and two words of zeros of a
/// creation that is not measured.
pub const LEFT: usize = 32;
/// Where the word is that is 1 while the entry is one of the thread's first creations: entry points look at that alone.
pub const FIRST: usize = 56;
/// Where the bits are of entry points that the thread has called.
pub const MET: usize = 72;

/// The number of gcc's barrier, which [`super::inlined`] defines.
pub const BARRIER: u32 = 63;

/// What the calling thread has noted, creations until the next sample, where its last taskgroup began, the league that it has
/// forked, and how far into the runtime it is.
#[repr(C)]
#[derive(Debug)]
struct Noted {
    entry: Cell<Entry>,
    left: Cell<u32>,
    measured: Cell<u32>,
    group: Cell<*const Ident>,
    league: Cell<*const Team>,
    first: Cell<u32>,
    inside: Cell<Inside>,
    after: Cell<u64>,
    met: Cell<u64>,
    watched: Cell<*const Frame>,
}

/// Whether a thread is in the runtime, where time is not the program's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Inside {
    /// It is not, as far as anybody wants to know.
    No,
    /// With virtual cores ([`super::boundary`]).
    Always,
    /// By one of the thread's first calls, which has not called back ([`super::first_calls`]).
    Called,
    /// It has, and is about to return.
    CalledBack,
}

const _: () = assert!(offset_of!(Noted, entry) == 0 && offset_of!(Noted, left) == LEFT && size_of::<Entry>() == LEFT);
const _: () = assert!(offset_of!(Entry, ident) == 0 && offset_of!(Entry, body) == 8 && offset_of!(Entry, since) == 16);
const _: () = assert!(size_of::<Noted>() == 88 && offset_of!(Noted, first) == FIRST && offset_of!(Noted, met) == MET);

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn with_noted<R>(work: impl FnOnce(&Noted) -> R) -> R {
    let at: *const Noted;
    // SAFETY: reads the thread pointer and a constant that the loader fills in.
    unsafe {
        core::arch::asm!(
            "mov {at}, qword ptr [rip + workspan_entry@GOTTPOFF]",
            "add {at}, qword ptr fs:[0]",
            at = out(reg) at,
            options(nostack, pure, readonly)
        );
    }
    // SAFETY: this thread's own variable, valid when all zero.
    work(unsafe { &*at })
}

#[cfg(not(target_arch = "x86_64"))]
fn with_noted<R>(work: impl FnOnce(&Noted) -> R) -> R {
    std::thread_local! {
        static NOTED: Noted =
            const {
                Noted {
                    entry: Cell::new(Entry::NONE),
                    left: Cell::new(0),
                    measured: Cell::new(0),
                    group: Cell::new(ptr::null()),
                    league: Cell::new(ptr::null()),
                    first: Cell::new(0),
                    inside: Cell::new(Inside::No),
                    after: Cell::new(0),
                    met: Cell::new(0),
                    watched: Cell::new(ptr::null()),
                }
            };
    }
    NOTED.with(work)
}

/// Notes what is passed to the runtime.
pub fn note(entry: Entry) {
    with_noted(|noted| noted.entry.set(entry));
}

/// Notes what is passed when a task is created; now and then, also the time.
#[inline(always)]
pub fn note_task(entry: Entry) {
    with_noted(|noted| {
        let left = noted.left.get();
        if left != 0 {
            noted.left.set(left - 1);
            return noted.entry.set(entry);
        }
        let measured = noted.measured.get();
        // With virtual cores the runtime's part of each is seen: others who look for tasks keep its locks.
        let each = measured < FIRST_ONES || (token::enabled() && !is_virtual());
        let weight = if each { 1 } else { samples::distance(measured) };
        noted.measured.set(measured.saturating_add(1));
        noted.left.set(weight - 1);
        noted.first.set(u32::from(weight == 1));
        noted.entry.set(Entry { since: platform::ticks(), weight, first: weight == 1, ..entry });
    });
}

/// `task` has called the runtime, which returns to the collector, which goes on to `after`.
pub fn watch(task: &Frame, after: u64) {
    with_noted(|noted| {
        noted.after.set(after);
        rare::changes(!noted.watched.replace(task).is_null(), true);
    });
}

/// The runtime has returned.
pub fn watch_no_more() {
    with_noted(|noted| rare::changes(!noted.watched.replace(ptr::null()).is_null(), false));
}

/// True if the runtime, which `task` has called, returns to the collector.
#[inline(always)]
pub fn is_watched(task: &Frame) -> bool {
    rare::any() && with_noted(|noted| ptr::eq(noted.watched.get(), task))
}

/// True if that holds of any task.
#[inline(always)]
pub fn watches() -> bool {
    rare::any() && with_noted(|noted| !noted.watched.get().is_null())
}

/// True the first time that the thread calls the entry point of this number, below 64.
pub fn meets(number: u32) -> bool {
    with_noted(|noted| {
        let met = noted.met.get();
        noted.met.set(met | 1 << number);
        met & 1 << number == 0
    })
}

/// Of what is noted, these ticks were not the creation's.
pub fn note_later(ticks: i64) {
    with_noted(|noted| noted.entry.set(noted.entry.get().later(ticks)));
}

/// True after the thread's first creation, before its second.
pub fn is_very_first() -> bool {
    with_noted(|noted| noted.measured.get() == 1)
}

/// Where the program has called the runtime for `task`, which says that it returns to `after`: that may be the collector.
#[inline(always)]
pub fn called_from(task: &Frame, after: *const c_void) -> *const c_void {
    if !is_watched(task) {
        return after;
    }
    with_noted(|noted| noted.after.get() as *const c_void)
}

/// Whether the calling thread is in the runtime.
#[inline(always)]
pub fn inside() -> Inside {
    if !rare::any() {
        return Inside::No;
    }
    with_noted(|noted| noted.inside.get())
}

/// It enters or leaves.
#[inline(always)]
pub fn set_inside(inside: Inside) {
    with_noted(|noted| rare::changes(noted.inside.replace(inside) != Inside::No, inside != Inside::No));
}

/// What was noted last; it is used up.
#[inline(always)]
pub fn noted() -> Entry {
    with_noted(|noted| {
        let entry = noted.entry.get();
        noted.entry.set(Entry::NONE);
        noted.first.set(0);
        noted.group.set(ptr::null());
        entry
    })
}

/// Notes where a taskgroup begins.
pub fn note_group(ident: *const Ident) {
    with_noted(|noted| noted.group.set(ident));
}

/// Where the thread's last taskgroup began; null if anything was created since.
pub fn noted_group() -> *const Ident {
    with_noted(|noted| noted.group.get())
}

/// Notes the league that this thread forks: it runs one of the initial tasks itself, next.
pub fn note_league(team: &'static Team) {
    with_noted(|noted| noted.league.set(team));
}

/// The league whose initial task is to begin next; it is used up.
pub fn noted_league() -> Option<&'static Team> {
    // SAFETY: null or a team that is not over: its first initial task begins before it can be.
    with_noted(|noted| unsafe { noted.league.replace(ptr::null()).as_ref() })
}

/// What was noted last; it stays noted.
pub fn still_noted() -> Entry {
    with_noted(|noted| noted.entry.get())
}
