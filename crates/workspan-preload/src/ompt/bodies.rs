//! Bodies of parallel regions, with virtual cores: functions in their place that note where the program's code begins and ends
//! ([`super::boundary`]).
//!
//! There are as many such functions as a program may have regions in its source, one each; further ones are left alone, and what the
//! runtime takes around them counts as work of their members. A body of gcc's takes one argument. One of clang's and flang's
//! takes two and those that the region shares, beyond the sixth on the stack: these are copied, which is why their number is kept.
//!
//! **Cost:** where a region begins, a search among those that were met before; nothing without virtual cores.

use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use workspan_collect::thread;
use workspan_wire::shm::Thread;

use super::{boundary, first_calls};
use crate::dag::frame::Frame;
use crate::dag::team::Team;

/// Most functions that can be replaced.
const BODIES: usize = 256;
/// Bytes of a replacement's code.
const CODE: usize = 16;
/// Arguments of a body of clang's that are in registers, but for the two that all have.
const IN_REGISTERS: u32 = 4;

/// What replacements stand for; filled from the front.
#[derive(Debug)]
struct Bodies {
    routines: [AtomicPtr<c_void>; BODIES],
    /// Arguments on the stack.
    words: [AtomicU32; BODIES],
}

impl Bodies {
    const fn new() -> Bodies {
        Bodies {
            routines: [const { AtomicPtr::new(ptr::null_mut()) }; BODIES],
            words: [const { AtomicU32::new(0) }; BODIES],
        }
    }

    /// The number of the replacement of `routine`. `None` if there is none left.
    fn find(&self, routine: *mut c_void, words: u32) -> Option<usize> {
        let at = self.routines.iter().position(|known| {
            let found = known.load(Ordering::Acquire);
            found == routine
                || found.is_null()
                    && match known.compare_exchange(found, routine, Ordering::AcqRel, Ordering::Acquire) {
                        Ok(_) => true,
                        Err(other) => other == routine,
                    }
        })?;
        // Whoever found it has stored it before the runtime gets the replacement; it is the same for all.
        self.words[at].store(words, Ordering::Release);
        Some(at)
    }
}

static GCCS: Bodies = Bodies::new();
static CLANGS: Bodies = Bodies::new();

// The replacements: each adds its number, in a register that a body has no argument in. Those of clang's make a frame of their own
// with the arguments on the stack, and call the body with all arguments as they were.
core::arch::global_asm!(
    ".pushsection .text.workspan_bodies,\"ax\",@progbits",
    ".p2align 4",
    ".hidden workspan_gccs_bodies",
    ".globl workspan_gccs_bodies",
    ".type workspan_gccs_bodies, @function",
    "workspan_gccs_bodies:",
    ".set workspan_body, 0",
    ".rept {bodies}",
    ".p2align 4",
    "mov esi, OFFSET workspan_body",
    "jmp {run}",
    ".set workspan_body, workspan_body + 1",
    ".endr",
    ".p2align 4",
    ".hidden workspan_clangs_bodies",
    ".globl workspan_clangs_bodies",
    ".type workspan_clangs_bodies, @function",
    "workspan_clangs_bodies:",
    ".set workspan_body, 0",
    ".rept {bodies}",
    ".p2align 4",
    "mov r11d, OFFSET workspan_body",
    "jmp 7f",
    ".set workspan_body, workspan_body + 1",
    ".endr",
    ".p2align 4",
    "7:",
    ".cfi_startproc",
    "push rbp",
    ".cfi_def_cfa_offset 16",
    ".cfi_offset rbp, -16",
    "mov rbp, rsp",
    ".cfi_def_cfa_register rbp",
    "push rdi",
    "push rsi",
    "push rdx",
    "push rcx",
    "push r8",
    "push r9",
    "mov rdi, r11",
    "call {begins}",
    "mov r11, rax",
    "mov r10, rdx",
    "mov rdi, [rbp - 8]",
    "mov [rbp - 8], r11",
    "mov rsi, [rbp - 16]",
    "mov rdx, [rbp - 24]",
    "mov rcx, [rbp - 32]",
    "mov r8, [rbp - 40]",
    "mov r9, [rbp - 48]",
    // An even number of words keeps the stack aligned.
    "lea rax, [r10 + 1]",
    "and rax, -2",
    "shl rax, 3",
    "sub rsp, rax",
    "test r10, r10",
    "jz 9f",
    "8:",
    "mov rax, [rbp + 8*r10 + 8]",
    "mov [rsp + 8*r10 - 8], rax",
    "dec r10",
    "jnz 8b",
    "9:",
    "call r11",
    "mov rdi, [rbp - 8]",
    "call {ends}",
    "leave",
    ".cfi_def_cfa rsp, 8",
    ".cfi_restore rbp",
    "ret",
    ".cfi_endproc",
    ".popsection",
    bodies = const BODIES,
    run = sym run,
    begins = sym begins,
    ends = sym ends,
);

extern "C" {
    #[link_name = "workspan_gccs_bodies"]
    fn first_of_gccs();
    #[link_name = "workspan_clangs_bodies"]
    fn first_of_clangs();
}

/// What to call in place of `body`, a region's by gcc.
pub(super) fn of_gccs(body: u64, first: bool) -> u64 {
    replaced(&GCCS, first_of_gccs as *const () as usize, body, 0, first)
}

/// What to call in place of `body`, a region's by clang or flang that shares `count` things.
pub(super) fn of_clangs(body: u64, count: u32, first: bool) -> u64 {
    replaced(&CLANGS, first_of_clangs as *const () as usize, body, count.saturating_sub(IN_REGISTERS), first)
}

fn replaced(bodies: &Bodies, at: usize, body: u64, words: u32, first: bool) -> u64 {
    // The runtime's entry points may call one another with what they were given.
    let ours = at as u64..(at + BODIES * CODE) as u64;
    if body == 0 || ours.contains(&body) || !(boundary::watched() || first) {
        return body;
    }
    bodies.find(body as *mut c_void, words).map_or(body, |number| (at + number * CODE) as u64)
}

/// Runs the body of gcc's whose replacement has number `at`. A thread that is ended in it (`pthread_cancel`) unwinds through here.
unsafe extern "C-unwind" fn run(data: *mut c_void, at: usize) {
    let routine = GCCS.routines[at % BODIES].load(Ordering::Acquire);
    // SAFETY: the runtime calls a replacement only after `of_gccs` gave it out for this function, which is a region's.
    let body = unsafe { core::mem::transmute::<*mut c_void, unsafe extern "C-unwind" fn(*mut c_void)>(routine) };
    goes_on();
    // SAFETY: with the argument that the runtime passes for it.
    unsafe { body(data) };
    ends(routine);
}

/// A body of clang's, and how many of its arguments are on the stack.
#[repr(C)]
#[derive(Debug)]
struct Body {
    routine: *mut c_void,
    words: u64,
}

/// The body of clang's is about to run whose replacement has number `at`.
extern "C" fn begins(at: usize) -> Body {
    let routine = CLANGS.routines[at % BODIES].load(Ordering::Acquire);
    let words = u64::from(CLANGS.words[at % BODIES].load(Ordering::Acquire));
    goes_on();
    Body { routine, words }
}

/// It has returned.
extern "C" fn ends(routine: *mut c_void) {
    boundary::enters(routine as u64);
    if let Some(thread) = thread::hot().filter(|thread| is_watched(thread)) {
        first_calls::body_ends(thread);
    }
}

/// The body is about to run.
fn goes_on() {
    boundary::program_goes_on();
    first_calls::body_begins();
}

/// True if the member on `thread` is one of a region whose body is watched for being one of the first.
fn is_watched(thread: &'static Thread) -> bool {
    Frame::on(thread).is_some_and(|member| member.is_member() && member.team().is_some_and(Team::has_watched_body))
}
