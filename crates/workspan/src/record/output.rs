//! Where a recording goes.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use std::{env, fs};

use crate::args::Record;
use crate::rank;

/// Set by `cargo workspan test` and `bench`, whose one command runs several programs: when it began, in nanoseconds
/// since 1970.
pub const PER_PROGRAM: &str = "WORKSPAN_FILE_PER_PROGRAM";

/// The value of [`PER_PROGRAM`] for a session that begins now.
pub fn session() -> OsString {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    now.as_nanos().to_string().into()
}

/// True if this is one of several programs that cargo runs.
pub fn per_program(args: &Record) -> bool {
    args.from_cargo && env::var_os(PER_PROGRAM).is_some()
}

/// True for an example from the documentation: they are many, short, and all of one name.
pub fn is_documentation_test(program: &Path) -> bool {
    let folder = program.parent().and_then(Path::file_name);
    program.file_stem().is_some_and(|stem| stem == "rust_out")
        || folder.is_some_and(|folder| folder.to_string_lossy().starts_with("rustdoctest"))
}

/// The file for the recording of `program`.
pub fn file(args: &Record, program: &Path) -> PathBuf {
    let asked = &args.options.output;
    let Some(began) = env::var(PER_PROGRAM).ok().filter(|_| args.from_cargo) else {
        return rank::place(asked, rank::rank());
    };
    let began = SystemTime::UNIX_EPOCH + Duration::from_nanos(began.parse().unwrap_or(0));
    let stem = program.file_stem().unwrap_or_default();
    let base = asked.file_stem().unwrap_or_default();
    let name = without_hash(stem);
    // A library and a binary of the same name have test executables of the same name.
    let named = |n: u32| {
        let mut file = base.to_owned();
        file.push("-");
        file.push(&name);
        if n > 1 {
            file.push(format!("-{n}"));
        }
        file.push(".wspan");
        asked.with_file_name(file)
    };
    let of_this_session = |file: &PathBuf| {
        let written = fs::metadata(file).and_then(|found| found.modified());
        written.is_ok_and(|written| written >= began)
    };
    (1..).map(named).find(|file| !of_this_session(file)).unwrap_or_else(|| asked.clone())
}

/// Cargo adds a hash to the names of test executables.
fn without_hash(stem: &OsStr) -> OsString {
    let bytes = stem.as_bytes();
    match bytes.iter().rposition(|byte| *byte == b'-').map(|at| bytes.split_at(at)) {
        Some((name, hash)) if hash.len() == 17 && hash[1..].iter().all(u8::is_ascii_hexdigit) => {
            OsStr::from_bytes(name).to_owned()
        }
        _ => stem.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_hashes_are_taken_off() {
        assert_eq!(without_hash("my_lib-0123456789abcdef".as_ref()), "my_lib");
        assert_eq!(without_hash("my-prog".as_ref()), "my-prog");
        assert_eq!(without_hash(OsStr::from_bytes(b"\xfd-0123456789abcdef")), OsStr::from_bytes(b"\xfd"));
    }
}
