//! A program that crashed while LLVM's OpenMP runtime stood in for gcc's: whose fault it is.
//!
//! It is run again without the collector, reading nothing and writing nowhere: with its own runtime first, then with the one that
//! stood in. What it does to files it does again.

use std::ffi::OsString;

use workspan_model::Exit;
use workspan_report::crashed;

use super::child::{self, Streams};
use crate::output;
use crate::runtime::Variable;

/// Reports whose fault a crash of `command` is; `stand_in` has the runtime stand in without the collector.
pub(super) fn explain(command: &[OsString], stand_in: Option<&Variable>) {
    output::note(
        "the program crashed with LLVM's OpenMP runtime in place of its own, gcc's: running it again without the collector, \
         without input, to see which is at fault (Ctrl-C skips this)",
    );
    let found = crashes(command, &[]).and_then(|own| match own {
        true => Ok(Fault::Program),
        false => Ok(match stand_in {
            None => Fault::Unknown,
            Some(alone) if crashes(command, std::slice::from_ref(alone))? => Fault::Runtime,
            Some(_) => Fault::Collector,
        }),
    });
    output::note(match found {
        Ok(Fault::Program) => "it crashes with its own runtime, too: the program is at fault",
        Ok(Fault::Runtime) => {
            "with its own runtime it runs, with LLVM's it crashes without the collector, too: the runtime that stood in is at \
             fault; build the program with clang to profile it"
        }
        Ok(Fault::Collector) => {
            "with either runtime it runs without the collector: the crash may come and go, or the collector is at fault; please \
             report it"
        }
        Ok(Fault::Unknown) => "with its own runtime it runs: the runtime that stood in, or the collector, is at fault",
        Err(_) => "it could not be run again",
    });
}

enum Fault {
    Program,
    Runtime,
    Collector,
    Unknown,
}

fn crashes(command: &[OsString], environment: &[Variable]) -> anyhow::Result<bool> {
    let errors = tempfile::tempfile()?;
    let ended = child::run_with(command, environment, Streams::Errors(&errors))?;
    Ok(match ended.exit {
        Exit::Signal(signal) => crashed(Some(signal)),
        Exit::Code(_) => false,
    })
}
