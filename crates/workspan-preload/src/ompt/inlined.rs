//! Static loops whose header gcc puts into the program: the runtime hears nothing of them.
//!
//! Before such a loop a member requests the size of its team and its own number, then divides the iterations among the
//! members. So the call of `omp_get_thread_num`, defined here first, is where the loop begins, and the division that follows
//! ([`super::straight`]) says how many iterations there are: if what is divided by is the size of the team, it is a loop, be it
//! the compiler's or one that the program divides itself. Of several loops in a region gcc asks once, and may compute headers
//! once for all rounds of a loop around; the other loops begin behind a barrier, so that is looked at, too. The loop lasts to the
//! member's next barrier, worksharing construct, or end.
//!
//! **Invariant:** nothing of the program changes: not its registers, not its memory. **Cost:** one look for each loop and
//! member, about a microsecond, which is in no strand; one load for a call that is known to be no header.

use core::cell::Cell;
use core::ffi::{c_int, c_void};
use core::mem;
use core::sync::atomic::{AtomicU64, Ordering};

use workspan_collect::interposed::Original;
use workspan_collect::region::Place;

use super::asked::of_runtime;
use super::boundary;
use super::events::now;
use super::first_calls;
use super::noted;
use super::shares;
use super::straight::{self, Found, Member, Registers};
use super::tasks::current_task;
use super::worksharing;
use crate::dag::pieces::{self, Headers};
use crate::dag::task;

/// What functions keep, as the trampolines push it, and where the call returns to.
#[repr(C)]
#[derive(Debug)]
struct Saved {
    rbx: u64,
    rbp: u64,
    r12: u64,
    r13: u64,
    r14: u64,
    r15: u64,
    after: u64,
}

/// Calls that are known to be no headers, by where they return to.
static OTHERS: [AtomicU64; 64] = [const { AtomicU64::new(0) }; 64];

static THREAD_NUM: Original = Original::new(c"omp_get_thread_num");
static NUM_THREADS: Original = Original::new(c"omp_get_num_threads");
static BARRIER: Original = Original::new(c"GOMP_barrier");

/// The caller requests its number.
extern "C" fn thread_num(saved: &Saved) -> c_int {
    let Some(original) = of_runtime(&THREAD_NUM) else { return 0 };
    boundary::enters(saved.after);
    let number = original();
    look(saved, u64::try_from(number).ok());
    // Unless it has just read the clock.
    boundary::program_goes_on();
    number
}

std::thread_local! {
    /// Where the last call that requested the size of the team returned to.
    static ASKED_SIZE: Cell<u64> = const { Cell::new(0) };
}

/// Members of the team: headers of loops request that, too.
extern "C" fn num_threads(saved: &Saved) -> c_int {
    let Some(original) = of_runtime(&NUM_THREADS) else { return 1 };
    boundary::enters(saved.after);
    let number = original();
    ASKED_SIZE.set(saved.after);
    boundary::program_goes_on();
    number
}

/// A loop whose iterations are dealt out by chunks.
#[derive(Clone, Copy)]
struct Dealt {
    /// Where its bounds are compared.
    guard: u64,
    /// Where the request of the member's number, from which they are computed, returned to.
    computed: u64,
    /// Where the barrier at its end returned to; `None`: that has not been passed.
    after: Option<u64>,
    /// How many chunks it has.
    chunks: u64,
    /// Of these, the member's.
    part: u64,
}

std::thread_local! {
    /// The last one that the thread, which is a member, came to by its header.
    static LAST: Cell<Option<Dealt>> = const { Cell::new(None) };
}

/// Most bytes of code between both requests in the header of a loop with a chunk size. A program that requests both itself does so elsewhere as a
/// rule.
const BETWEEN: u64 = 24;

/// The loop with a chunk size that begins where the call returns to, if its header has just requested the size, too; the member has this
/// number.
fn dealt(saved: &Saved, of: u64, number: u64) -> Option<Dealt> {
    if !(1..=BETWEEN).contains(&saved.after.wrapping_sub(ASKED_SIZE.get())) {
        return None;
    }
    // SAFETY: the thread goes on there, with these registers and its own number, which is tried with others.
    let found = unsafe { straight::chunks(saved.after, |number| registers(saved, Some(number))) }?;
    let part = shares::dealt(found.iterations, found.chunk, shares::MemberPlace { of, number });
    let chunks = found.iterations.div_ceil(found.chunk);
    Some(Dealt { guard: found.guard, computed: saved.after, after: None, chunks, part })
}

/// The member has passed a barrier: the last loop that was dealt out, if what follows is another round of it. gcc compares its bounds before the
/// first round alone, as these are the same in all. In between lies nothing but the loop, from its guard to the barrier at its end: whoever comes
/// there has come to the loop.
fn once_more(saved: &Saved) -> Option<Dealt> {
    let last = LAST.get()?;
    let after = last.after.unwrap_or(saved.after);
    LAST.set(Some(Dealt { after: Some(after), ..last }));
    // SAFETY: the thread goes on there, with these registers.
    let again = unsafe { straight::comes_into(saved.after, registers(saved, None), last.guard..after) };
    again.then_some(last)
}

/// The caller has passed a barrier.
extern "C" fn passed(saved: &Saved) {
    if noted::watches() {
        first_calls::returns();
    }
    look(saved, None);
}

/// It comes to one. Returns the runtime's function.
extern "C" fn barrier() -> *mut c_void {
    if noted::meets(noted::BARRIER) {
        first_calls::enters(0);
    }
    BARRIER.get()
}

/// Looks whether a loop begins where the call returns to; `number` is what it returns, if that is known.
fn look(saved: &Saved, number: Option<u64>) {
    let other = &OTHERS[(saved.after >> 2) as usize % OTHERS.len()];
    if other.load(Ordering::Relaxed) == saved.after {
        return;
    }
    let Some((thread, task)) = current_task() else { return };
    if !task.is_member() || thread.task.waiting.get() != 0 {
        return;
    }
    let Some(headers) = pieces::headers(task) else { return };
    let at = now(thread);
    task::stop(thread, Some(at));
    let (mut known, number_known) = (headers.iterations, number.or(u64::from(headers.number).checked_sub(1)));
    let member = Member { of: u64::from(task.team_size()).max(1), number: number_known };
    // SAFETY: the thread goes on there, with these registers.
    let found = unsafe { straight::iterations(saved.after, registers(saved, number), member, &mut known) };
    let one_more = number_known.and_then(|number| u32::try_from(number + 1).ok());
    let headers = Headers { iterations: known, number: one_more.unwrap_or(0) };
    let dealt = match (found, number) {
        (Some(_), _) => None,
        (None, Some(number)) => dealt(saved, member.of, number),
        (None, None) => once_more(saved),
    };
    if let Some(dealt) = dealt {
        if number.is_some() {
            LAST.set(Some(dealt));
        }
        worksharing::inlined(thread, task, header(dealt.guard, dealt.computed), dealt.chunks, dealt.part);
        return task::go_long(thread, at);
    }
    match found {
        // Of a loop around, the first round may not come to the loop, and another may.
        None if number.is_some() && known == [0; 3] => other.store(saved.after, Ordering::Relaxed),
        None | Some(Found { iterations: 0, .. }) => {}
        Some(Found { iterations, guard, division }) => {
            let (least, more) = (iterations / member.of, iterations % member.of);
            // The first members have one more; who is not known is one of them.
            let part = least + u64::from(more > 0 && number_known.is_none_or(|number| number < more));
            // Members come to one and the same loop by different calls: from the first round, or from either way of a branch.
            let guard = guard.unwrap_or(saved.after);
            worksharing::inlined(thread, task, header(guard, division.unwrap_or(guard)), iterations, part);
        }
    }
    if known != [0; 3] {
        pieces::set_headers(thread, task, headers);
    }
    task::go_long(thread, at);
}

/// The place of a loop whose bounds are compared just before `guard`, and computed just before `computed`.
fn header(guard: u64, computed: u64) -> Place {
    Place::Header { compared: guard.saturating_sub(1), computed: computed.saturating_sub(1) }
}

/// Those that a function keeps, and what it returns.
fn registers(saved: &Saved, returned: Option<u64>) -> Registers {
    let Saved { rbx, rbp, r12, r13, r14, r15, .. } = *saved;
    let stack = core::ptr::from_ref(saved) as u64 + mem::size_of::<Saved>() as u64;
    let mut registers: Registers = [None; 16];
    registers[0] = returned;
    for (register, value) in [(3, rbx), (4, stack), (5, rbp), (12, r12), (13, r13), (14, r14), (15, r15)] {
        registers[register] = Some(value);
    }
    registers
}

/// An entry point that does these steps above [`Saved`] on the stack: six registers and the eight bytes that they take from it align
/// it for calls.
macro_rules! entry {
    ($name:ident: $($step:literal)*; $($operand:ident = $to:ident),*) => {
        #[no_mangle]
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            core::arch::naked_asm!(
                "push r15",
                "push r14",
                "push r13",
                "push r12",
                "push rbp",
                "push rbx",
                $($step,)*
                "add rsp, 56",
                "ret",
                $($operand = sym $to),*
            )
        }
    };
}

// The caller's number is requested.
entry!(omp_get_thread_num: "mov rdi, rsp" "sub rsp, 8" "call {number}"; number = thread_num);

// The size of its team is requested.
entry!(omp_get_num_threads: "mov rdi, rsp" "sub rsp, 8" "call {number}"; number = num_threads);

// gcc's barrier.
entry!(GOMP_barrier: "sub rsp, 8" "call {barrier}" "call rax" "lea rdi, [rsp + 8]" "call {passed}"; barrier = barrier, passed = passed);
