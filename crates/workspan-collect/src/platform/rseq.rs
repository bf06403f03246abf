//! Witness of context switches by restartable sequences (Linux 4.18, glibc 2.35).
//!
//! A thread names, in a word of its own memory, the critical section that it is in; the kernel reads it. Whenever the kernel
//! preempts or migrates the thread, or delivers a signal, and finds the program counter outside that section, it
//! clears the word ("lazily", `rseq_ip_fixup`). So the address of a section that never runs is a witness: as long as
//! it stands there, the thread has not been switched out. Cost of a look: one load.
//!
//! A library that uses restartable sequences itself overwrites the word. That looks like a switch; the look at the
//! kernel's clocks that follows finds nothing and arms it again.

use core::arch::global_asm;

// The four bytes before the abort address are the signature with which glibc registers; the kernel requires them.
#[cfg(target_arch = "x86_64")]
global_asm!(
    ".pushsection .text",
    ".balign 4",
    ".long 0x53053053",
    ".Lworkspan_rseq_abort:",
    "ud2",
    ".Lworkspan_rseq_start:",
    "nop",
    ".Lworkspan_rseq_end:",
    ".popsection",
    ".pushsection .data.rel.ro,\"aw\"",
    ".balign 32",
    ".hidden workspan_rseq_section",
    ".globl workspan_rseq_section",
    "workspan_rseq_section:",
    ".long 0, 0",
    ".quad .Lworkspan_rseq_start",
    ".quad .Lworkspan_rseq_end - .Lworkspan_rseq_start",
    ".quad .Lworkspan_rseq_abort",
    ".popsection",
);

#[cfg(target_arch = "aarch64")]
global_asm!(
    ".pushsection .text",
    ".balign 4",
    ".inst 0xd428bc00",
    ".Lworkspan_rseq_abort:",
    "udf #0",
    ".Lworkspan_rseq_start:",
    "nop",
    ".Lworkspan_rseq_end:",
    ".popsection",
    ".pushsection .data.rel.ro,\"aw\"",
    ".balign 32",
    ".hidden workspan_rseq_section",
    ".globl workspan_rseq_section",
    "workspan_rseq_section:",
    ".long 0, 0",
    ".quad .Lworkspan_rseq_start",
    ".quad .Lworkspan_rseq_end - .Lworkspan_rseq_start",
    ".quad .Lworkspan_rseq_abort",
    ".popsection",
);

/// Shows whether the thread was switched out since it was armed.
pub mod switch_witness {
    use core::ffi::{c_char, c_void};
    use core::ptr;
    use core::sync::atomic::{AtomicU64, Ordering};

    extern "C" {
        static workspan_rseq_section: u8;
        fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    }

    /// Address of the calling thread's word, or 0 if the C library has registered none.
    pub fn word() -> u64 {
        let find = |name: &[u8]| {
            // SAFETY: a null handle (`RTLD_DEFAULT`) and a terminated name are valid arguments.
            unsafe { dlsym(ptr::null_mut(), name.as_ptr().cast()) }
        };
        let size = find(b"__rseq_size\0").cast::<u32>();
        let offset = find(b"__rseq_offset\0").cast::<isize>();
        if size.is_null() || offset.is_null() {
            return 0;
        }
        // SAFETY: glibc documents the symbol as a constant of this type; it is 0 if registration failed.
        let size = unsafe { *size };
        // SAFETY: glibc documents the symbol as a constant of this type.
        let offset = unsafe { *offset };
        if size < 16 {
            return 0;
        }
        // The word `rseq_cs` lies 8 bytes into the area, which lies at a fixed offset from the thread pointer.
        (thread_pointer() as i64 + offset as i64 + 8) as u64
    }

    #[cfg(target_arch = "x86_64")]
    fn thread_pointer() -> u64 {
        let pointer: u64;
        // SAFETY: by the x86-64 ABI the first word of the thread control block holds its own address.
        unsafe { core::arch::asm!("mov {}, fs:[0]", out(reg) pointer, options(nostack, readonly, preserves_flags)) }
        pointer
    }

    #[cfg(target_arch = "aarch64")]
    fn thread_pointer() -> u64 {
        let pointer: u64;
        // SAFETY: user code may read TPIDR_EL0.
        unsafe { core::arch::asm!("mrs {}, tpidr_el0", out(reg) pointer, options(nomem, nostack, preserves_flags)) }
        pointer
    }

    fn armed() -> u64 {
        ptr::addr_of!(workspan_rseq_section) as u64
    }

    /// Arms the witness in `word` (from [`word`], called by the same thread).
    #[inline]
    pub fn arm(word: u64) {
        if word != 0 {
            // SAFETY: `word` is the calling thread's own `rseq_cs`; the section it is made to name is well-formed
            // (version 0, signature before the abort address) and its code range never runs, so the kernel's only
            // action can be to clear the word.
            unsafe { (*(word as *const AtomicU64)).store(armed(), Ordering::Relaxed) }
        }
    }

    /// Leaves the word as found at thread start.
    pub fn disarm(word: u64) {
        if word != 0 {
            // SAFETY: as in `arm`; 0 means "in no section".
            unsafe { (*(word as *const AtomicU64)).store(0, Ordering::Relaxed) }
        }
    }

    /// True if the thread was not switched out since [`arm`], or if there is no witness.
    #[inline]
    pub fn intact(word: u64) -> bool {
        // SAFETY: as in `arm`; the kernel writes the word only on behalf of this same thread.
        word == 0 || unsafe { (*(word as *const AtomicU64)).load(Ordering::Relaxed) } == armed()
    }
}
