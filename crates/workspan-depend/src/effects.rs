//! What functions outside the instrumented code do to what other calls see.
//!
//! Memory behind their arguments is the pass's matter. A function that is in no list is a black box: two calls of black boxes
//! depend on each other.

mod tables;

use std::collections::HashMap;

use workspan_trace::program::TEXT_STREAM;
use workspan_trace::rust_names;

use self::tables::{
    FORTRAN_NONE, IO, LIBRARY, MATHEMATICS, NONE, OF_OBJECTS, RANDOM, READS_ON, RUST_IO, RUST_NONE, STREAMS, UNBOUNDED,
};

/// What the pass calls assembly within a function that may do more than its operands say.
pub const ASSEMBLY: &str = "inline assembly";

/// State that calls share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    /// None: the same arguments give the same result, or the order does not matter.
    None,
    /// Files, terminals, sockets, the process: their order can be seen.
    Io,
    /// A generator of random numbers.
    Random,
    /// State within the C library, as that of `strtok`.
    Library,
    /// Unknown.
    Unknown,
}

/// Effects that are state, in the order of [`Effect::state`].
pub const STATES: [Effect; 4] = [Effect::Io, Effect::Random, Effect::Library, Effect::Unknown];

impl Effect {
    /// Number of the state, if it is one.
    pub fn state(self) -> Option<usize> {
        STATES.iter().position(|state| *state == self)
    }

    /// As shown in place of a variable.
    pub fn name(self) -> &'static str {
        match self {
            Effect::None => "",
            Effect::Io => "input and output",
            Effect::Random => "random numbers",
            Effect::Library => "state of the C library",
            Effect::Unknown => "code that was not instrumented",
        }
    }
}

/// Effects that the user has named, before those that are known.
#[derive(Clone, Debug, Default)]
pub struct Named(HashMap<String, Effect>);

impl Named {
    /// Reads `NAME none|io|random|state|unknown`, one on each line; `#` begins a comment. Fails with the number of a line that is
    /// something else.
    pub fn parse(text: &str) -> Result<Named, usize> {
        let mut found = HashMap::new();
        for (number, line) in (1..).zip(text.lines()) {
            let words: Vec<&str> = line.split('#').next().unwrap_or_default().split_whitespace().collect();
            let (name, effect) = match words.as_slice() {
                [] => continue,
                // `inline assembly` is a name, too.
                [name @ .., effect] if !name.is_empty() => (name.join(" "), *effect),
                _ => return Err(number),
            };
            let effect = match effect {
                "none" => Effect::None,
                "io" => Effect::Io,
                "random" => Effect::Random,
                "state" => Effect::Library,
                "unknown" => Effect::Unknown,
                _ => return Err(number),
            };
            found.insert(name, effect);
        }
        Ok(Named(found))
    }

    /// The effect of a function by its symbol.
    pub fn of(&self, name: &str) -> Effect {
        self.0.get(name).copied().unwrap_or_else(|| effect(name))
    }
}

/// The effect of a function of Rust's library: what `core` and `alloc` do is in their arguments alone.
fn of_rust(path: &[&str]) -> Effect {
    match (path.first().copied(), path.get(1)) {
        (Some("std"), Some(module)) if RUST_NONE.contains(module) => Effect::None,
        (Some("std"), Some(module)) if RUST_IO.contains(module) => Effect::Io,
        (Some("std"), Some(&"env")) => Effect::Library,
        (Some("std" | "proc_macro"), _) => Effect::Unknown,
        _ => Effect::None,
    }
}

/// The effect of a function of Fortran's run-time.
fn of_fortran(name: &str) -> Effect {
    let starts = |all: &[&str]| all.iter().any(|start| name.starts_with(start));
    match () {
        () if starts(&["io", "GetCommand", "ArgumentCount", "GetEnv", "ExecuteCommandLine", "Pause"]) => Effect::Io,
        () if name.starts_with("Random") => Effect::Random,
        () if starts(FORTRAN_NONE) => Effect::None,
        () => Effect::Unknown,
    }
}

/// True if a function reads more than is known.
pub fn reads_on(name: &str) -> bool {
    READS_ON.contains(&name)
}

/// True if a function writes more than is known.
pub fn is_unbounded(name: &str) -> bool {
    UNBOUNDED.contains(&name)
}

/// The effect of a function by its name; an empty name is one that was called by a pointer.
pub fn effect(name: &str) -> Effect {
    if NONE.contains(&name) || name == TEXT_STREAM || READS_ON.contains(&name) {
        return Effect::None;
    }
    if let Some(path) = rust_names::path(name) {
        return of_rust(&path);
    }
    let base = name.strip_prefix("__").and_then(|rest| rest.strip_suffix("_finite")).unwrap_or(name);
    let short = base.strip_suffix(['f', 'l']).unwrap_or(base);
    if MATHEMATICS.contains(&base) || MATHEMATICS.contains(&short) || name.starts_with("llvm.") {
        return Effect::None;
    }
    if RANDOM.contains(&name) {
        return Effect::Random;
    }
    if LIBRARY.contains(&name) {
        return Effect::Library;
    }
    if let Some(name) = name.strip_prefix("_FortranA") {
        return of_fortran(name);
    }
    if IO.contains(&name) || STREAMS.iter().any(|start| name.starts_with(start)) {
        return Effect::Io;
    }
    if name.starts_with("_ZNSt13random_device") {
        return Effect::Random;
    }
    if OF_OBJECTS.iter().any(|start| name.starts_with(start)) {
        return Effect::None;
    }
    Effect::Unknown
}
