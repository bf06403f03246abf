//! Disks without room, for anybody: a library that is loaded into a command refuses what it writes below a folder, as a
//! file system does that is full. To mount one takes rights that not every machine gives.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

const LIBRARY: &str = include_str!("full_disk.c");

/// Lets a command write no more than this number of bytes below a folder.
pub(crate) fn fill<'c>(command: &'c mut Command, folder: &Path, room: usize) -> &'c mut Command {
    let folder = folder.canonicalize().expect("it is there");
    command.env("LD_PRELOAD", library()).env("FULL_DISK", folder).env("FULL_DISK_ROOM", room.to_string())
}

fn library() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("full-disk");
        fs::create_dir_all(&folder).expect("the target directory is writable");
        let (source, library) = (folder.join("full_disk.c"), folder.join("full_disk.so"));
        fs::write(&source, LIBRARY).expect("the target directory is writable");
        let mut command = Command::new("gcc");
        command.args(["-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC", "-o"]).arg(&library).arg(&source);
        let output = command.output().expect("gcc, which these tests need");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        library
    })
}
