//! Whether a file was instrumented: it carries the pass's note.

use std::fs;
use std::path::Path;

use object::{Object, ObjectSection};

use super::companion;

/// Name of the note's section.
const SECTION: &str = ".note.workspan.pass";

/// What a file is, as far as instrumentation goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The pass ran.
    Instrumented,
    /// It did not.
    Native,
    /// No object, or none that can be read.
    Other,
}

/// Looks into an object, library, program, or a file of assembly.
pub fn state(path: &Path) -> State {
    let Ok(bytes) = fs::read(path) else {
        return State::Other;
    };
    if !bytes.starts_with(b"\x7fELF") {
        let is_assembly = path.extension().is_some_and(|extension| extension == "s");
        let noted = bytes.windows(SECTION.len()).any(|window| window == SECTION.as_bytes());
        return match (is_assembly, noted) {
            (true, true) => State::Instrumented,
            (true, false) => State::Native,
            (false, _) => State::Other,
        };
    }
    match object::File::parse(bytes.as_slice()) {
        Ok(file) if file.sections().any(|section| section.name() == Ok(SECTION)) => State::Instrumented,
        Ok(_) => State::Native,
        Err(_) => State::Other,
    }
}

/// True for a word of the command that is no instrumented program, and no script or shell either, which might start one.
pub fn is_native(word: &Path) -> bool {
    let Some(found) = companion::find(word) else {
        return true;
    };
    let is_shell = found.file_name().is_some_and(|name| name.to_string_lossy().ends_with("sh"));
    state(&found) == State::Native && companion::of_program(word).is_none() && !is_shell
}
