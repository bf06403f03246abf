//! Ends a compilation that cannot be instrumented.

extern "C" {
    fn exit(status: core::ffi::c_int) -> !;
}

/// Ends the compilation: a program that is instrumented in part would be taken for one that is whole.
pub(crate) fn fail(message: &str) -> ! {
    use std::io::Write;
    // Nowhere else to report to.
    let _ = writeln!(std::io::stderr(), "workspan build: error: {message}");
    // SAFETY: ends the compiler, with the status of an internal error.
    unsafe { exit(70) }
}
