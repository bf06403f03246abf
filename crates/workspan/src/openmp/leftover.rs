//! What the runtime that stands in for libgomp leaves behind when a program ends without its exit handlers: a file in
//! `/dev/shm` by which copies of libomp in one process find each other. With its own runtime the program leaves none.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use nix::unistd::geteuid;

const FOLDER: &str = "/dev/shm";
/// Then the process id and, from LLVM 17 on, the user's.
const PREFIX: &str = "__KMP_REGISTERED_LIB_";

/// The time of a file is that of the kernel's last tick.
const TICK: Duration = Duration::from_millis(100);

/// Removes the files of processes that have ended, of this user, made since then.
pub fn remove_since(since: SystemTime) {
    let since = since - TICK;
    for entry in fs::read_dir(FOLDER).into_iter().flatten().flatten() {
        let Some(process) = entry.file_name().to_str().and_then(process_of) else {
            continue;
        };
        let Ok(found) = entry.metadata() else {
            continue;
        };
        let made_since = found.modified().is_ok_and(|made| made >= since);
        if found.uid() == geteuid().as_raw() && made_since && !Path::new(&format!("/proc/{process}")).exists() {
            // Another may have removed it just now.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// The process that a file is of, by its name.
fn process_of(name: &str) -> Option<u32> {
    name.strip_prefix(PREFIX)?.split('_').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_processes() {
        assert_eq!(process_of("__KMP_REGISTERED_LIB_123_0"), Some(123));
        assert_eq!(process_of("__KMP_REGISTERED_LIB_77"), Some(77));
        assert_eq!(process_of("__KMP_REGISTERED_LIB_x"), None);
        assert_eq!(process_of("other"), None);
    }
}
