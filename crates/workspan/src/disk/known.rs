//! What a file or folder of Workspan's is, and which command reads it: for whoever gave it to another command.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use workspan_graph::file::{MAGIC as GRAPH, NAME};
use workspan_read::MAGIC as RECORDING;

use crate::output;

/// What Workspan writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// `NAME.wspan`.
    Recording,
    /// `NAME.depend`.
    Profile,
    /// `NAME.graph`: a folder.
    Graph,
}

impl Known {
    /// By its first bytes; of a folder, by what is in it.
    pub fn of(path: &Path) -> Option<Known> {
        let file = if path.is_dir() { path.join(NAME) } else { path.to_owned() };
        let mut head = [0; 16];
        // A pipe might never begin.
        let mut opened = Some(file).filter(|file| file.is_file()).and_then(|file| File::open(file).ok())?;
        let length = opened.read(&mut head).ok()?;
        Known::of_bytes(&head[..length])
    }

    fn of_bytes(head: &[u8]) -> Option<Known> {
        let all: [(&[u8], Known); 3] =
            [(&RECORDING, Known::Recording), (workspan_depend::file::MAGIC, Known::Profile), (GRAPH, Known::Graph)];
        all.into_iter().find(|(magic, _)| head.starts_with(magic)).map(|(_, known)| known)
    }

    /// What it is, and what to type.
    pub fn advice(self, path: &Path) -> String {
        let name = output::quoted(path);
        match self {
            Known::Recording => format!("it is a recording: type `workspan report {name}`"),
            Known::Profile => format!("it is a dependence profile: type `workspan depend report {name}`"),
            Known::Graph => {
                let is_file = path.file_name().is_some_and(|file| file == NAME);
                let folder = if is_file { path.parent().unwrap_or(path) } else { path };
                let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
                format!("it is a task graph: type `workspan graph report {}`", output::quoted(folder))
            }
        }
    }
}

/// A recording in a folder, the first by name, as it is called from where the folder is named.
pub fn recording_in(folder: &Path) -> Option<PathBuf> {
    let files = std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    files.filter(|file| file.is_file() && file.extension().is_some_and(|extension| extension == "wspan")).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], expected: Option<Known>) {
        assert_eq!(Known::of_bytes(bytes), expected);
    }

    #[test]
    fn files_are_known_by_their_first_bytes() {
        check(&workspan_read::encode(&workspan_model::Recording::default()), Some(Known::Recording));
        check(&workspan_depend::file::encode(&workspan_depend::profile::Profile::default()), Some(Known::Profile));
        check(b"wspgraph\x01\0\0\0", Some(Known::Graph));
        check(b"workspan-query", None);
        check(b"", None);
        check(b"\x7fELF", None);
    }
}
