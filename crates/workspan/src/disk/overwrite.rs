//! Outputs that would take what is read, or each other: refused before anything is written.
//!
//! Files are distinguished by device and inode, so that links and spellings hide nothing; what is not there yet by its folder and
//! name. Devices and pipes take what is written to them and lose nothing.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::bail;
use workspan_store::folder_of;

use crate::files::{folder_around, with_suffix};

/// Which file a path names.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    /// One that is there.
    There(u64, u64),
    /// One that is not.
    New(PathBuf),
    /// A device or a pipe, or nothing that can be written.
    None,
}

impl Place {
    fn of(file: &Path) -> Place {
        match fs::metadata(file) {
            Ok(found) if found.is_file() => Place::There(found.dev(), found.ino()),
            Ok(_) => Place::None,
            Err(_) => match (fs::canonicalize(folder_around(file)), file.file_name()) {
                (Ok(folder), Some(name)) => Place::New(folder.join(name)),
                _ => Place::None,
            },
        }
    }
}

/// What a command reads and writes.
#[derive(Clone, Debug, Default)]
pub struct Overwrites {
    /// What is read or has been claimed, and what to call it.
    taken: Vec<(Place, String)>,
    /// Folders whose files are read.
    folders: Vec<(PathBuf, PathBuf)>,
}

impl Overwrites {
    /// Nothing yet.
    pub fn new() -> Overwrites {
        Overwrites::default()
    }

    /// `file` is read.
    #[must_use]
    pub fn input(mut self, file: &Path) -> Overwrites {
        self.taken.push((Place::of(file), format!("{}, which is read", file.display())));
        self
    }

    /// The recording `file` is read, and its strands.
    #[must_use]
    pub fn recording(mut self, file: &Path) -> Overwrites {
        let folder = folder_of(file);
        if let Ok(canonical) = fs::canonicalize(&folder) {
            self.folders.push((canonical, folder));
        }
        self.input(file)
    }

    /// `file` is to be written, if one is given; `-` is standard output.
    pub fn output<'f>(mut self, files: impl IntoIterator<Item = &'f PathBuf>) -> anyhow::Result<Overwrites> {
        for file in files.into_iter().filter(|file| *file != Path::new("-")) {
            self.claim(file, format!("{}, which is written too", file.display()))?;
        }
        Ok(self)
    }

    /// The recording `file` is to be written; what is there is moved to `FILE.old`.
    pub fn new_recording(mut self, file: &Path) -> anyhow::Result<Overwrites> {
        self.claim(file, format!("{}, which is written too", file.display()))?;
        let former = with_suffix(file, ".old");
        self.claim(&former, format!("{}, where a former recording is kept", former.display()))?;
        Ok(self)
    }

    fn claim(&mut self, file: &Path, name: String) -> anyhow::Result<()> {
        let place = Place::of(file);
        if place == Place::None {
            return Ok(());
        }
        if let Some((_, other)) = self.taken.iter().find(|(taken, _)| *taken == place) {
            bail!("writing {} would overwrite {other}: name another file", file.display());
        }
        let folder = fs::canonicalize(folder_around(file)).ok();
        if let Some((_, folder)) = self.folders.iter().find(|(taken, _)| Some(taken) == folder.as_ref()) {
            bail!("{} would be among the strands in {}: name another file", file.display(), folder.display());
        }
        self.taken.push((place, name));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_and_spellings_hide_nothing() {
        let folder = tempfile::tempdir().expect("writable");
        let at = |name: &str| folder.path().join(name);
        fs::write(at("a"), "a").expect("writable");
        fs::hard_link(at("a"), at("hard")).expect("writable");
        symlink("a", at("soft")).expect("writable");
        fs::create_dir(at("d")).expect("writable");
        for other in ["a", "hard", "soft", "d/../a", "./a"] {
            let error = Overwrites::new().input(&at("a")).output([&at(other)]).expect_err(other);
            assert!(error.to_string().contains("would overwrite"), "{error}");
        }
        for pair in [["new", "d/../new"], ["a", "soft"]] {
            Overwrites::new().output(&pair.map(at)).expect_err("the same file");
        }
        let null = PathBuf::from("/dev/null");
        Overwrites::new().input(&null).output([&null, &null, &at("b"), &PathBuf::from("-")]).expect("nothing is lost");
    }

    #[test]
    fn a_recording_is_kept_with_its_strands_and_its_former_self() {
        let folder = tempfile::tempdir().expect("writable");
        let at = |name: &str| folder.path().join(name);
        fs::write(at("a.wspan"), "a").expect("writable");
        fs::create_dir(at("a.strands")).expect("writable");
        Overwrites::new().recording(&at("a.wspan")).output([&at("a.strands/x.json")]).expect_err("among the strands");
        let old = at("a.wspan.old");
        Overwrites::new().new_recording(&at("a.wspan")).and_then(|o| o.output([&old])).expect_err("the former one");
    }
}
