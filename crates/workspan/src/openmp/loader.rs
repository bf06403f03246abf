//! Which libraries a program loads, as the dynamic loader finds them.

use std::collections::{BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::{env, io};

use super::elf::{self, Dynamic};
use super::ld_cache::LdCache;

/// Most libraries of a program that are looked at.
const MOST: usize = 1000;

/// A library that a program loads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Library {
    /// As whoever needs it names it.
    pub name: String,
    /// Where it is; `None` if it is not found, as the loader would say.
    pub path: Option<PathBuf>,
}

/// All libraries that a program loads at its start, in the order in which the loader finds them. Those that it loads
/// itself while it runs are not among them.
/// An error if the system has no means left to look for them.
pub fn libraries(program: &Path) -> io::Result<Vec<Library>> {
    let mut found: Vec<Library> = Vec::new();
    let mut known: BTreeSet<String> = BTreeSet::new();
    let Some(root) = elf::try_dynamic(program)? else {
        return Ok(found);
    };
    let search = Search::new(&root, program);
    let mut queue = VecDeque::from([(root, program.to_owned())]);
    while let Some((dynamic, path)) = queue.pop_front() {
        for name in &dynamic.needed {
            if found.len() == MOST || !known.insert(name.clone()) {
                continue;
            }
            let file = search.find(name, &dynamic, &path)?;
            found.push(Library { name: name.clone(), path: file.as_ref().map(|(file, _)| file.clone()) });
            if let Some((file, dynamic)) = file {
                queue.push_back((dynamic, file));
            }
        }
    }
    Ok(found)
}

/// Where the loader looks.
struct Search {
    machine: (u16, bool),
    /// Of the program: it counts for the libraries of its libraries, too.
    rpath: Vec<PathBuf>,
    environment: Vec<PathBuf>,
    cache: LdCache,
}

impl Search {
    fn new(root: &Dynamic, program: &Path) -> Search {
        Search {
            machine: root.machine,
            rpath: if root.runpath.is_empty() { expand(&root.rpath, program) } else { Vec::new() },
            environment: env::var_os("LD_LIBRARY_PATH").map_or_else(Vec::new, |all| env::split_paths(&all).collect()),
            cache: LdCache::of_system(),
        }
    }

    /// The file of the name that a program or library gives, and what it says itself.
    fn find(&self, name: &str, by: &Dynamic, path: &Path) -> io::Result<Option<(PathBuf, Dynamic)>> {
        let usable = |file: PathBuf| match elf::try_dynamic(&file) {
            Ok(dynamic) => dynamic.filter(|dynamic| dynamic.machine == self.machine).map(|dynamic| Ok((file, dynamic))),
            Err(error) => Some(Err(error)),
        };
        if name.contains('/') {
            return usable(PathBuf::from(name)).transpose();
        }
        let own = if by.runpath.is_empty() { expand(&by.rpath, path) } else { Vec::new() };
        let before = own.iter().chain(&self.rpath).chain(&self.environment).cloned();
        let after = default_folders();
        let folders = before.chain(expand(&by.runpath, path)).map(|folder| folder.join(name));
        let cached = self.cache.files(name).cloned();
        folders.chain(cached).chain(after.into_iter().map(|folder| folder.join(name))).find_map(usable).transpose()
    }
}

/// Folders in which `$ORIGIN` stands for that of the file itself.
fn expand(folders: &[String], path: &Path) -> Vec<PathBuf> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let origin = path.parent().unwrap_or(Path::new("/")).to_string_lossy().into_owned();
    folders.iter().map(|folder| folder.replace("${ORIGIN}", &origin).replace("$ORIGIN", &origin).into()).collect()
}

/// Where the loader looks last.
pub fn default_folders() -> Vec<PathBuf> {
    let multiarch = format!("{}-linux-gnu", env::consts::ARCH);
    let mut folders = Vec::new();
    for root in ["/lib", "/usr/lib"] {
        folders.extend([Path::new(root).join(&multiarch), PathBuf::from(format!("{root}64")), PathBuf::from(root)]);
    }
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins() {
        let folders = ["$ORIGIN/../lib", "/opt/lib", "${ORIGIN}"].map(str::to_owned);
        let expected = ["/none/bin/../lib", "/opt/lib", "/none/bin"].map(PathBuf::from);
        assert_eq!(expand(&folders, Path::new("/none/bin/prog")), expected);
    }

    #[test]
    #[cfg(target_env = "gnu")]
    fn our_own_libraries() {
        let found = libraries(&env::current_exe().expect("we run")).expect("files can be opened");
        let libc = found.iter().find(|library| library.name == "libc.so.6").expect("glibc");
        assert!(libc.path.as_ref().is_some_and(|path| path.exists()));
        assert_eq!(libraries(Path::new("/none")).expect("nothing is opened"), []);
    }
}
