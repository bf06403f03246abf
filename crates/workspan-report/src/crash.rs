//! Crashes under a runtime that is not the program's own.

use workspan_model::{Exit, Recording, Run};

use crate::view::{Verdict, Warning};

/// True for signals by which a defect ends a program: of its code, or of what runs it.
pub fn crashed(signal: Option<i32>) -> bool {
    // The numbers are those of Linux on all processors that it knows but MIPS.
    const ILL: i32 = 4;
    const ABRT: i32 = 6;
    const BUS: i32 = 7;
    const FPE: i32 = 8;
    const SEGV: i32 = 11;
    signal.is_some_and(|signal| [ILL, ABRT, BUS, FPE, SEGV].contains(&signal))
}

/// True if the run crashed while another runtime stood in for the program's own.
pub(crate) fn under_a_stand_in(recording: &Recording, run: &Run) -> bool {
    let signal = match run.exit {
        Exit::Signal(signal) => Some(signal),
        Exit::Code(_) => None,
    };
    recording.runtime.ends_with(" in place of libgomp") && crashed(signal)
}

/// In place of a verdict: what crashes may have done anything before.
pub(crate) fn verdict(processors: u32) -> Verdict {
    Verdict {
        text: "no verdict: the program crashed, with LLVM's OpenMP runtime in place of its own".to_owned(),
        outcome: "inconclusive".to_owned(),
        why: Some("incomplete".to_owned()),
        processors,
        ..Verdict::default()
    }
}

/// What to know of it.
pub(crate) fn warning() -> Warning {
    Warning {
        code: "swapped-runtime".to_owned(),
        message:
            "the program crashed with LLVM's OpenMP runtime in place of its own, gcc's: `record` has run it again and said which \
             is at fault"
                .to_owned(),
    }
}
