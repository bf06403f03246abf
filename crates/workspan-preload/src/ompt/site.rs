//! Which place of the program a construct is.
//!
//! The runtime gives a return address. Better is what clang and flang pass to its entry points with every construct
//! ([`super::interpose`]): file, function, line and column, which neither tail calls nor unrolling can confuse.

use core::cell::Cell;
use core::ffi::{c_char, c_void, CStr};
use core::ptr;

use workspan_collect::platform;
use workspan_collect::region::{CallSite, Place, Told};
use workspan_wire::site::SiteKind;

use crate::dag::team::Team;

/// `ident_t` of LLVM's OpenMP: what the compiler says of a construct.
#[repr(C)]
#[derive(Debug)]
pub struct Ident {
    reserved: [i32; 4],
    /// ";file;function;line;column;;"
    source: *const c_char,
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
    /// How many creations the sample stands for.
    pub weight: u32,
    /// The task is to run at once because the program says so.
    pub at_once: bool,
    /// The taskloop has a taskgroup of its own, which ends with it.
    pub grouped: bool,
}

impl Entry {
    /// Nothing was passed.
    pub const NONE: Entry =
        Entry { ident: ptr::null(), body: ptr::null(), since: 0, weight: 0, at_once: false, grouped: false };

    /// True if nothing was passed.
    pub fn is_none(&self) -> bool {
        self.ident.is_null() && self.body.is_null()
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

/// One creation in this many is measured, after as many that all are.
pub const SAMPLE: u32 = 64;

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
    ".size workspan_entry, 56",
    "workspan_entry:",
    ".zero 56",
    ".popsection",
);

/// What the calling thread has noted, creations until the next sample, where its last taskgroup began, and the
/// league that it has forked.
#[repr(C)]
#[derive(Debug)]
struct Noted {
    entry: Cell<Entry>,
    left: Cell<u32>,
    measured: Cell<u32>,
    group: Cell<*const Ident>,
    league: Cell<*const Team>,
}

const _: () = assert!(size_of::<Noted>() == 56);

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
            const { Noted { entry: Cell::new(Entry::NONE), left: Cell::new(0), measured: Cell::new(0), group: Cell::new(ptr::null()), league: Cell::new(ptr::null()) } };
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
        let weight = if measured < SAMPLE { 1 } else { SAMPLE };
        noted.measured.set(measured.saturating_add(1));
        noted.left.set(weight - 1);
        noted.entry.set(Entry { since: platform::ticks(), weight, ..entry });
    });
}

/// What was noted last; it is used up.
#[inline(always)]
pub fn noted() -> Entry {
    with_noted(|noted| {
        let entry = noted.entry.get();
        noted.entry.set(Entry::NONE);
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

/// The site of a construct with return address `after`.
pub fn call_site(kind: SiteKind, entry: Entry, after: *const c_void) -> CallSite {
    // The instruction after the call may belong to the next statement.
    let call = (after as u64).saturating_sub(1);
    let body = entry.body as u64;
    let place = if has_source(entry.ident) {
        // Should the compiler leave the file out (flang), the unit of that place says more than the address of a call,
        // which may be inlined from anywhere.
        Place::Told { key: entry.ident as u64, address: 0, tell }
    } else {
        // gcc has the call stand at the statement before the directive, and the body's beginning at the directive.
        Place::Address(if body == 0 || !entry.ident.is_null() { call } else { body })
    };
    CallSite { kind, place, type_name: || "" }
}

/// True if the compiler has said where in the source a construct is.
pub(super) fn has_source(ident: *const Ident) -> bool {
    // SAFETY: null or what the compiler passed: a constant of the program.
    let Some(ident) = (unsafe { ident.as_ref() }) else {
        return false;
    };
    if ident.source.is_null() {
        return false;
    }
    // Without debug information the text is ";unknown;unknown;0;0;;".
    let unknown = b";unknown;";
    let mut at = ident.source.cast::<u8>();
    for byte in unknown {
        // SAFETY: a terminated text, of the compiler's; all bytes before this one were not its end.
        if unsafe { *at } != *byte {
            return true;
        }
        // SAFETY: not past the end, as the byte was not the terminating one.
        at = unsafe { at.add(1) };
    }
    false
}

/// Takes the compiler's text apart.
fn tell(key: u64) -> Told {
    // SAFETY: the key is the address of an `Ident` with a source, a constant of the program.
    let ident = unsafe { &*(key as *const Ident) };
    // SAFETY: as in `has_source`.
    let text: &'static CStr = unsafe { CStr::from_ptr(ident.source) };
    let text = core::str::from_utf8(text.to_bytes()).unwrap_or("");
    parse(text)
}

/// ";file;function;line;column;;" — a file name may hold semicolons itself.
fn parse(text: &'static str) -> Told {
    let text = text.strip_prefix(';').unwrap_or(text).trim_end_matches(';');
    let mut parts = text.rsplitn(4, ';');
    let mut next = || parts.next().unwrap_or("");
    let (column, line, function, file) = (next(), next(), next(), next());
    Told { file, function, line: line.parse().unwrap_or(0), column: column.parse().unwrap_or(0), address: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compilers_text() {
        let told = parse(";src/a.c;spawn;12;3;;");
        assert_eq!((told.file, told.function, told.line, told.column), ("src/a.c", "spawn", 12, 3));
        let told = parse(";odd;name.c;f;1;2;;");
        assert_eq!((told.file, told.function, told.line, told.column), ("odd;name.c", "f", 1, 2));
        let told = parse("nonsense");
        assert_eq!((told.line, told.column), (0, 0));
    }
}
