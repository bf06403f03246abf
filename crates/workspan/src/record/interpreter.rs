//! What a program needs to start, if that is why it does not: the interpreter of a script, the loader of an executable. The
//! system says of either only that there is no such file, as if the program itself did not exist.

use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use object::read::ReadCache;
use object::{Object, ObjectSection};

/// The longest first line of a script that the kernel reads.
const FIRST_LINE: u64 = 256;

/// The interpreter or loader that `program` names and that does not exist.
pub fn missing(program: &Path) -> Option<PathBuf> {
    let mut start = Vec::new();
    fs::File::open(program).ok()?.take(FIRST_LINE).read_to_end(&mut start).ok()?;
    let named = match start.strip_prefix(b"#!") {
        Some(line) => of_script(line),
        None => of_executable(program)?,
    };
    (!named.as_os_str().is_empty() && !named.exists()).then_some(named)
}

/// The first word behind `#!`.
fn of_script(line: &[u8]) -> PathBuf {
    let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let mut words = line.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty());
    PathBuf::from(OsStr::from_bytes(words.next().unwrap_or_default()))
}

fn of_executable(program: &Path) -> Option<PathBuf> {
    let cache = ReadCache::new(fs::File::open(program).ok()?);
    let file = object::File::parse(&cache).ok()?;
    let name = file.section_by_name(".interp")?.data().ok()?;
    let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
    Some(PathBuf::from(OsStr::from_bytes(&name[..end])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &[u8], expected: &str) {
        assert_eq!(of_script(line), Path::new(expected));
    }

    #[test]
    fn interpreters_of_scripts() {
        check(b"/bin/sh\necho", "/bin/sh");
        check(b" /usr/bin/env -S python3\n", "/usr/bin/env");
        check(b"/no/newline", "/no/newline");
        check(b"\n", "");
    }

    #[test]
    fn what_runs_misses_nothing() {
        assert_eq!(missing(&std::env::current_exe().expect("we run")), None);
        assert_eq!(missing(Path::new("/no/such/program")), None);
    }
}
