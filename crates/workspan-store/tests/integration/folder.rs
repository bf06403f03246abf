//! A folder that goes away after a test.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Folder {
        Folder(tempfile::tempdir().expect("the temporary folder is writable"))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Names of the files in it, in order.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path()).expect("it is there");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("it is there").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}
