//! Entry points of the OpenMP runtimes, defined here first: each notes what the compiler passes, and goes on to the
//! runtime's own.
//!
//! With `--cfg idle_only` only the one is defined without which correct programs crash ([`super::copying`]).
//!
//! What is worth noting: the place in the source (`ident_t`, the first argument of clang's and flang's entry points), the
//! body of a task (gcc's), and whether the program says that a task runs at once.

use core::ffi::{c_void, CStr};
#[cfg(not(idle_only))]
use core::ops::RangeInclusive;

use workspan_collect::interposed::Original;

use super::alone;
#[cfg(all(not(idle_only), target_arch = "x86_64"))]
use super::bodies;
#[cfg(not(idle_only))]
use super::boundary;
use super::copying;
#[cfg(not(idle_only))]
use super::first_calls;
#[cfg(not(idle_only))]
use super::first_use;
#[cfg(not(idle_only))]
use super::noted::{self, note, note_group, note_task, noted_group, still_noted, Entry, Ident};
#[cfg(not(idle_only))]
use super::parts;
#[cfg(not(idle_only))]
use super::site::has_source;
#[cfg(not(idle_only))]
use crate::modules;

/// Arguments of an entry point: the registers, as the trampoline pushes them, then the stack.
#[repr(C)]
#[derive(Debug)]
struct Arguments {
    _rax: u64,
    sixth: u64,
    fifth: u64,
    fourth: u64,
    third: u64,
    second: u64,
    first: u64,
    return_address: u64,
}

impl Arguments {
    /// Those in registers.
    fn registers(&self) -> [u64; 6] {
        [self.first, self.second, self.third, self.fourth, self.fifth, self.sixth]
    }
}

#[cfg(not(idle_only))]
impl Arguments {
    /// The low half of the argument of this number, from 1, of those on the stack, of which the caller has pushed as many.
    fn on_stack(&self, number: usize) -> u32 {
        // SAFETY: as the caller says; it is above its return address.
        unsafe { (&raw const self.return_address).wrapping_add(number).read() as u32 }
    }

    /// True if it is the runtime that calls: libomp makes gcc's entry points of its own, and these pass no place.
    fn of_the_runtime(&self) -> bool {
        !has_source(self.first as *const Ident) && modules::of_the_runtime(self.return_address)
    }
}

/// A task is about to be created: place, and code of its body.
#[cfg(not(idle_only))]
extern "C" fn task_alloc(arguments: &mut Arguments) -> Next {
    const TIED: u64 = 1;
    let (ident, body) = (arguments.first as *const Ident, arguments.sixth as *const c_void);
    note_task(Entry { ident, body, ..Entry::NONE });
    if arguments.third & TIED == 0 {
        arguments.sixth = parts::replacement(body.cast_mut()) as u64;
    }
    next(arguments)
}

/// The same of a task that may go to a device.
#[cfg(not(idle_only))]
extern "C" fn target_task(arguments: &mut Arguments) {
    task_alloc(arguments);
}

/// A task is created that was described before.
#[cfg(all(not(idle_only), target_arch = "x86_64"))]
extern "C" fn task_made(arguments: &Arguments) -> Next {
    next(arguments)
}

/// How an entry point goes on.
#[repr(u32)]
#[derive(Debug)]
enum Next {
    /// The runtime takes its place.
    There,
    /// It calls the runtime.
    AndBack,
}

/// It calls the runtime for a thread's first creations.
#[cfg(not(idle_only))]
fn next(arguments: &Arguments) -> Next {
    if still_noted().first && first_calls::enters(arguments.return_address) {
        Next::AndBack
    } else {
        Next::There
    }
}

/// An entry point, `number` of those that are watched, is called: by the thread for the first time, or with virtual cores, and not by the runtime
/// itself.
#[cfg(all(not(idle_only), target_arch = "x86_64"))]
extern "C" fn met(arguments: &Arguments, number: u32) -> Next {
    if (boundary::watched() || noted::meets(number))
        && !modules::of_the_runtime(arguments.return_address)
        && first_calls::enters(arguments.return_address)
    {
        Next::AndBack
    } else {
        Next::There
    }
}

/// A task that runs at once begins: it is the third argument.
#[cfg(not(idle_only))]
extern "C" fn task_at_once(arguments: &Arguments) {
    let entry = if arguments.of_the_runtime() {
        // Since `gcc_task` the thread may have waited for what this task depends on, and created others.
        let task = arguments.third as *const *const c_void;
        // SAFETY: the runtime's task begins with the data and the body (compilers write the one and read the other).
        let body = unsafe { *task.wrapping_add(1) };
        Entry { body: if copying::is_ours(body) { still_noted().body } else { body }, ..Entry::NONE }
    } else {
        Entry { ident: arguments.first as *const Ident, ..Entry::NONE }
    };
    note(Entry { at_once: true, ..entry });
}

/// gcc's task: code, data, a function that copies these, size and alignment of the copy, and in the sixth place whether it may
/// be deferred.
extern "C" fn gcc_task(arguments: &mut Arguments) -> Next {
    let at_once = arguments.sixth & 0xff == 0;
    #[cfg(not(idle_only))]
    note_task(Entry { body: arguments.first as *const c_void, at_once, ..Entry::NONE });
    if at_once && arguments.third != 0 {
        let Arguments { first, second, third, fourth, fifth, .. } = *arguments;
        if let Some((body, data)) = copying::replacement(first, second, third, fourth, fifth) {
            // No size: the runtime is to copy nothing itself.
            (arguments.first, arguments.second, arguments.third, arguments.fourth) = (body, data, 0, 0);
        }
    }
    #[cfg(not(idle_only))]
    return next(arguments);
    #[cfg(idle_only)]
    Next::There
}

/// gcc's parallel region: its code.
#[cfg(all(not(idle_only), target_arch = "x86_64"))]
extern "C" fn gcc_region(arguments: &mut Arguments) {
    first_use::begins();
    note(Entry { body: arguments.first as *const c_void, ..Entry::NONE });
    let first = first_calls::watches_body();
    note(Entry { first, ..still_noted() });
    arguments.first = bodies::of_gccs(arguments.first, first);
}

/// The same, of sections.
#[cfg(all(not(idle_only), target_arch = "x86_64"))]
extern "C" fn gcc_region_of_sections(arguments: &mut Arguments) {
    gcc_region(arguments);
    note(Entry { sections: true, ..still_noted() });
}

/// clang's parallel region: its place, how many arguments its code shares, and that code.
#[cfg(all(not(idle_only), target_arch = "x86_64"))]
extern "C" fn clang_region(arguments: &mut Arguments) {
    region(arguments);
    let first = !arguments.of_the_runtime() && first_calls::watches_body();
    if first {
        note(Entry { first, ..still_noted() });
    }
    arguments.third = bodies::of_clangs(arguments.third, arguments.second as u32, first);
}

/// A taskgroup begins.
#[cfg(not(idle_only))]
extern "C" fn group(arguments: &Arguments) {
    note_group(arguments.first as *const Ident);
}

/// A taskloop: in the fourth place whether its tasks may be deferred, in the eighth whether it has no group of its own. clang and
/// flang pass that it has none, and begin one at the same place just before.
#[cfg(not(idle_only))]
extern "C" fn taskloop(arguments: &Arguments) {
    let at_once = arguments.fourth as u32 == 0;
    let ident = arguments.first as *const Ident;
    if arguments.of_the_runtime() {
        let Entry { body, grouped, .. } = still_noted();
        return note(Entry { body, at_once, grouped, ..Entry::NONE });
    }
    let behind = (&raw const arguments.return_address).wrapping_add(2);
    // SAFETY: the caller has pushed it, the second above its return address.
    let no_group = unsafe { behind.read() } as u32 != 0;
    let grouped = !no_group || core::ptr::eq(noted_group(), ident);
    note(Entry { ident, at_once, grouped, ..Entry::NONE });
}

/// gcc's taskloop: its code, and in bits 10 and 11 of the sixth argument (`GOMP_TASK_FLAG_IF`, `GOMP_TASK_FLAG_NOGROUP`) whether
/// its tasks may be deferred, and whether it has no group of its own.
#[cfg(not(idle_only))]
extern "C" fn gcc_taskloop(arguments: &Arguments) {
    const MAY_BE_DEFERRED: u64 = 1 << 10;
    const NO_GROUP: u64 = 1 << 11;
    let at_once = arguments.sixth & MAY_BE_DEFERRED == 0;
    let grouped = arguments.sixth & NO_GROUP == 0;
    note(Entry { body: arguments.first as *const c_void, at_once, grouped, ..Entry::NONE });
}

/// A parallel region, whose place in the source comes first. gcc's leagues go through it, with their body noted.
#[cfg(not(idle_only))]
extern "C" fn region(arguments: &Arguments) {
    if !arguments.of_the_runtime() {
        first_use::begins();
        place(arguments);
    }
}

/// A loop, whose place in the source comes first.
#[cfg(not(idle_only))]
extern "C" fn work(arguments: &Arguments, number: u32) -> Next {
    place(arguments);
    met(arguments, number)
}

/// A static loop: with a chunk size if the third argument says so, which is the ninth.
#[cfg(not(idle_only))]
extern "C" fn static_loop(arguments: &Arguments, number: u32) -> Next {
    const CHUNKED: u64 = 33;
    loop_in_chunks(arguments, number, CHUNKED, 3)
}

/// A loop of which members get chunks as they go: of what size is the seventh argument.
#[cfg(not(idle_only))]
extern "C" fn dynamic_loop(arguments: &Arguments, number: u32) -> Next {
    const DYNAMIC: u64 = 35;
    loop_in_chunks(arguments, number, DYNAMIC, 1)
}

/// A loop, of which the argument `at` on the stack is the size of chunks if it has this schedule, without what modifies that.
#[cfg(not(idle_only))]
#[inline(always)]
fn loop_in_chunks(arguments: &Arguments, number: u32, schedule: u64, at: usize) -> Next {
    /// Schedules of loops with `ordered` regions, and those whose chunks are not to be merged.
    const IN_ORDER: [RangeInclusive<u64>; 2] = [64..=72, 192..=200];
    let chosen = arguments.third & 0xffff;
    let in_order = IN_ORDER.iter().any(|schedules| schedules.contains(&chosen));
    let chunk = match chosen == schedule {
        true => arguments.on_stack(at) & !noted::IN_ORDER,
        false => u32::from(in_order) * noted::IN_ORDER,
    };
    note(Entry { ident: arguments.first as *const Ident, weight: chunk, ..Entry::NONE });
    met(arguments, number)
}

/// gcc's loop with `ordered` regions.
#[cfg(not(idle_only))]
extern "C" fn gcc_loop_in_order(_arguments: &Arguments) {
    note(Entry { weight: noted::IN_ORDER, ..Entry::NONE });
}

/// gcc's `ordered` regions, and critical sections, of which libomp sometimes reports a place of its own.
#[cfg(not(idle_only))]
extern "C" fn gcc_section(arguments: &Arguments, number: u32) -> Next {
    note(Entry::called_from(arguments.return_address));
    met(arguments, number)
}

/// gcc's sections within a region, of which libomp does not report the place, and which it calls a loop.
#[cfg(not(idle_only))]
extern "C" fn gcc_sections(arguments: &Arguments, number: u32) -> Next {
    note(Entry { sections: true, ..Entry::called_from(arguments.return_address) });
    met(arguments, number)
}

/// A critical section, whose place in the source comes first.
#[cfg(not(idle_only))]
extern "C" fn critical(arguments: &Arguments, number: u32) -> Next {
    // If it is called for gcc's, the place is noted already. libomp may do that by a jump, so that the program seems to call, with a
    // place of libomp's own.
    if !arguments.of_the_runtime() && !modules::of_the_runtime(arguments.first) {
        place(arguments);
    }
    met(arguments, number)
}

/// The place in the source comes first.
#[cfg(not(idle_only))]
extern "C" fn place(arguments: &Arguments) {
    note(Entry { ident: arguments.first as *const Ident, ..Entry::NONE });
}

/// Defines entry points that call a function with their arguments, then jump to the runtime's own. The stack is left as
/// it was, so the return address that the runtime reports is the program's.
macro_rules! entry_points {
    ($($function:ident: $($name:ident)*;)*) => {
        $($(
            #[cfg(target_arch = "x86_64")]
            #[no_mangle]
            #[unsafe(naked)]
            unsafe extern "C" fn $name() {
                static ORIGINAL: Original = Original::new(name(concat!(stringify!($name), "\0").as_bytes()));
                extern "C" fn original() -> *mut c_void {
                    ORIGINAL.get()
                }
                // Seven pushes: the stack is aligned for the calls.
                core::arch::naked_asm!(
                    "push rdi",
                    "push rsi",
                    "push rdx",
                    "push rcx",
                    "push r8",
                    "push r9",
                    "push rax",
                    "mov rdi, rsp",
                    "call {function}",
                    "call {original}",
                    "mov r11, rax",
                    "pop rax",
                    "pop r9",
                    "pop r8",
                    "pop rcx",
                    "pop rdx",
                    "pop rsi",
                    "pop rdi",
                    "jmp r11",
                    function = sym $function,
                    original = sym original,
                )
            }
        )*)*
    };
}

/// Passes the arguments to `function`, and goes on as it says ([`Next`]). Where the runtime is to return here, all its arguments are as they
/// were: six in registers, and up to four on the stack.
#[cfg(target_arch = "x86_64")]
macro_rules! ask {
    () => {
        // Seven pushes: the stack is aligned for the call, and again after two words more.
        "push rdi
         push rsi
         push rdx
         push rcx
         push r8
         push r9
         push rax
         mov rdi, rsp
         mov esi, {number}
         call {function}
         push rax
         sub rsp, 8
         call {original}
         add rsp, 8
         mov r11, rax
         pop r10
         pop rax
         pop r9
         pop r8
         pop rcx
         pop rdx
         pop rsi
         pop rdi
         test r10d, r10d
         jnz 2f
         jmp r11
         2:
         .cfi_startproc
         push rbp
         .cfi_def_cfa_offset 16
         .cfi_offset rbp, -16
         mov rbp, rsp
         .cfi_def_cfa_register rbp
         push qword ptr [rbp + 40]
         push qword ptr [rbp + 32]
         push qword ptr [rbp + 24]
         push qword ptr [rbp + 16]
         call r11
         push rax
         push rdx
         call {returned}
         pop rdx
         pop rax
         leave
         .cfi_def_cfa rsp, 8
         ret
         .cfi_endproc"
    };
}

/// Goes on to the runtime unless the word at `word` of what the thread has noted says that there is something to do.
#[cfg(all(not(idle_only), target_arch = "x86_64"))]
macro_rules! unless {
    ($test:literal, $jump:literal) => {
        concat!(
            "mov r11, qword ptr [rip + workspan_entry@GOTTPOFF]\n",
            $test,
            "\n",
            $jump,
            " 3f
             mov r11, qword ptr [rip + {known} + {at}]
             test r11, r11
             jz 3f
             jmp r11
             3:"
        )
    };
}

/// Defines an entry point that asks a function how to go on. With a test, only where that says so.
macro_rules! asking {
    ($name:ident $function:ident $number:expr $(, $test:literal $jump:literal $word:expr)?) => {
        #[cfg(target_arch = "x86_64")]
        #[no_mangle]
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            static ORIGINAL: Original = Original::new(name(concat!(stringify!($name), "\0").as_bytes()));
            extern "C" fn original() -> *mut c_void {
                ORIGINAL.get()
            }
            core::arch::naked_asm!(
                $(unless!($test, $jump),)?
                ask!(),
                function = sym $function,
                number = const $number,
                original = sym original,
                returned = sym returned,
                $(word = const $word, known = sym ORIGINAL, at = const Original::AT,)?
            )
        }
    };
}

/// Defines entry points of which each thread's first call is watched, with numbers from `from` on: `always` those of which a function
/// notes something of each call, `first` the others.
#[cfg(not(idle_only))]
macro_rules! watched {
    (always $from:expr; $function:ident: $name:ident $($more:tt)*) => {
        asking!($name $function $from);
        watched!(always $from + 1; $function: $($more)*);
    };
    (always $from:expr; $function:ident: ; $($more:tt)+) => {
        watched!(always $from; $($more)+);
    };
    (always $from:expr; $function:ident: ;) => {
        const ALWAYS: u32 = $from;
    };
    (first $from:expr; $name:ident $($more:tt)*) => {
        asking!($name met $from, "bt qword ptr fs:[r11 + {word}], {number}" "jnc" noted::MET);
        watched!(first $from + 1; $($more)*);
    };
    (first $from:expr;) => {
        const WATCHED: u32 = $from;
        const _: () = assert!(WATCHED <= noted::BARRIER);
    };
}

/// The runtime has returned to an entry point.
#[cfg(target_arch = "x86_64")]
extern "C" fn returned() {
    #[cfg(not(idle_only))]
    first_calls::returns();
}

const fn name(text: &'static [u8]) -> &'static CStr {
    match CStr::from_bytes_with_nul(text) {
        Ok(name) => name,
        Err(_) => c"",
    }
}

/// Defines entry points of which a function says what takes their place, given the runtime's own.
macro_rules! replacing {
    ($($function:path: $($name:ident)*;)*) => {
        $($(
            #[cfg(target_arch = "x86_64")]
            #[no_mangle]
            #[unsafe(naked)]
            unsafe extern "C" fn $name() {
                static ORIGINAL: Original = Original::new(name(concat!(stringify!($name), "\0").as_bytes()));
                extern "C" fn replacement(arguments: &Arguments) -> *const c_void {
                    $function(arguments.registers(), arguments.return_address, &ORIGINAL)
                }
                // Seven pushes: the stack is aligned for the call.
                core::arch::naked_asm!(
                    "push rdi",
                    "push rsi",
                    "push rdx",
                    "push rcx",
                    "push r8",
                    "push r9",
                    "push rax",
                    "mov rdi, rsp",
                    "call {replacement}",
                    "mov r11, rax",
                    "pop rax",
                    "pop r9",
                    "pop r8",
                    "pop rcx",
                    "pop rdx",
                    "pop rsi",
                    "pop rdi",
                    "jmp r11",
                    replacement = sym replacement,
                )
            }
        )*)*
    };
}

replacing! {
    alone::gcc_wait: GOMP_doacross_wait GOMP_doacross_ull_wait;
}

asking!(GOMP_task gcc_task 0);

// What [`task_alloc`] does of a tied task whose creation is not measured, in place: `left` is one less, and the entry is noted.
#[cfg(not(idle_only))]
asking!(
    __kmpc_omp_task_alloc task_alloc 0,
    "test dl, 1
     jz 3f
     mov r10d, dword ptr fs:[r11 + {word}]
     sub r10d, 1
     jc 3f
     mov dword ptr fs:[r11 + {word}], r10d
     mov qword ptr fs:[r11 + {word} - 32], rdi
     mov qword ptr fs:[r11 + {word} - 24], r9
     mov qword ptr fs:[r11 + {word} - 16], 0
     mov qword ptr fs:[r11 + {word} - 8], 0"
    "jc" noted::LEFT
);

#[cfg(not(idle_only))]
asking!(__kmpc_omp_task task_made 0, "cmp dword ptr fs:[r11 + {word}], 0" "jne" noted::FIRST);

#[cfg(not(idle_only))]
asking!(__kmpc_omp_task_with_deps task_made 0, "cmp dword ptr fs:[r11 + {word}], 0" "jne" noted::FIRST);

#[cfg(not(idle_only))]
entry_points! {
    target_task: __kmpc_omp_target_task_alloc;
    task_at_once: __kmpc_omp_task_begin_if0;
    gcc_region:
        GOMP_parallel GOMP_parallel_reductions GOMP_teams_reg
        GOMP_parallel_loop_static GOMP_parallel_loop_dynamic GOMP_parallel_loop_guided GOMP_parallel_loop_runtime
        GOMP_parallel_loop_nonmonotonic_dynamic GOMP_parallel_loop_nonmonotonic_guided
        GOMP_parallel_loop_nonmonotonic_runtime GOMP_parallel_loop_maybe_nonmonotonic_runtime;
    gcc_region_of_sections: GOMP_parallel_sections;
    gcc_loop_in_order:
        GOMP_loop_ordered_static_start GOMP_loop_ordered_dynamic_start GOMP_loop_ordered_guided_start GOMP_loop_ordered_runtime_start
        GOMP_loop_ull_ordered_static_start GOMP_loop_ull_ordered_dynamic_start GOMP_loop_ull_ordered_guided_start
        GOMP_loop_ull_ordered_runtime_start GOMP_loop_ordered_start GOMP_loop_ull_ordered_start;
    group: __kmpc_taskgroup;
    taskloop: __kmpc_taskloop __kmpc_taskloop_5;
    gcc_taskloop: GOMP_taskloop GOMP_taskloop_ull;
    region: __kmpc_fork_call_if __kmpc_fork_teams;
    clang_region: __kmpc_fork_call;
}

#[cfg(not(idle_only))]
watched! { always 0;
    met: __kmpc_for_static_fini __kmpc_barrier;
    static_loop:
        __kmpc_for_static_init_4 __kmpc_for_static_init_4u __kmpc_for_static_init_8 __kmpc_for_static_init_8u;
    dynamic_loop:
        __kmpc_dispatch_init_4 __kmpc_dispatch_init_4u __kmpc_dispatch_init_8 __kmpc_dispatch_init_8u;
    work:
        __kmpc_dist_for_static_init_4 __kmpc_dist_for_static_init_4u
        __kmpc_dist_for_static_init_8 __kmpc_dist_for_static_init_8u;
    critical:
        __kmpc_critical __kmpc_critical_with_hint;
    gcc_sections: GOMP_sections_start;
    gcc_section: GOMP_critical_start GOMP_critical_name_start GOMP_ordered_start;
}

#[cfg(not(idle_only))]
watched! { first ALWAYS;
    __kmpc_global_thread_num __kmpc_single __kmpc_end_single __kmpc_master __kmpc_masked __kmpc_omp_taskwait
    __kmpc_end_taskgroup __kmpc_end_critical __kmpc_reduce __kmpc_reduce_nowait __kmpc_end_reduce __kmpc_end_reduce_nowait
    __kmpc_dispatch_next_4 __kmpc_dispatch_next_4u __kmpc_dispatch_next_8 __kmpc_dispatch_next_8u
    GOMP_single_start GOMP_taskwait GOMP_taskgroup_start GOMP_taskgroup_end GOMP_critical_end GOMP_critical_name_end GOMP_atomic_start GOMP_atomic_end
    GOMP_loop_static_start GOMP_loop_static_next GOMP_loop_dynamic_start GOMP_loop_dynamic_next
    GOMP_loop_guided_start GOMP_loop_guided_next GOMP_loop_nonmonotonic_dynamic_start GOMP_loop_nonmonotonic_dynamic_next
    GOMP_loop_nonmonotonic_guided_start GOMP_loop_nonmonotonic_guided_next GOMP_loop_runtime_start GOMP_loop_runtime_next
    GOMP_loop_end GOMP_loop_end_nowait GOMP_sections_next GOMP_sections_end GOMP_sections_end_nowait
}
