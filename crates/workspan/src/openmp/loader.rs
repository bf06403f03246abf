//! Which libraries a program loads, as the dynamic loader finds them.

use std::cmp::Reverse;
use std::collections::{BTreeSet, VecDeque};
use std::env;
use std::path::{Path, PathBuf};

use super::elf::{self, Dynamic};
use super::hwcaps;
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
pub fn libraries(program: &Path) -> Vec<Library> {
    let mut found: Vec<Library> = Vec::new();
    let mut known: BTreeSet<String> = BTreeSet::new();
    let Some(root) = elf::dynamic(program) else {
        return found;
    };
    let search = Search::new(&root, program);
    let mut queue = VecDeque::from([(root, program.to_owned())]);
    while let Some((dynamic, path)) = queue.pop_front() {
        for name in &dynamic.needed {
            if found.len() == MOST || !known.insert(name.clone()) {
                continue;
            }
            let file = search.find(name, &dynamic, &path);
            found.push(Library { name: name.clone(), path: file.as_ref().map(|(file, _)| file.clone()) });
            if let Some((file, dynamic)) = file {
                queue.push_back((dynamic, file));
            }
        }
    }
    found
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
        let environment = env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
        let environment = folders_in(&environment.to_string_lossy());
        let tokens = Tokens::of(program, root.machine);
        Search {
            machine: root.machine,
            rpath: if root.runpath.is_empty() { tokens.expand_all(&root.rpath) } else { Vec::new() },
            environment: tokens.expand_all(&environment),
            cache: LdCache::of_system(),
        }
    }

    /// The file of the name that a program or library gives, and what it says itself.
    fn find(&self, name: &str, by: &Dynamic, path: &Path) -> Option<(PathBuf, Dynamic)> {
        let usable = |file: PathBuf| {
            let dynamic = elf::dynamic(&file).filter(|dynamic| dynamic.machine == self.machine)?;
            Some((file, dynamic))
        };
        let tokens = Tokens::of(path, self.machine);
        let name = tokens.expand(name);
        if name.contains('/') {
            return usable(PathBuf::from(name));
        }
        let own = if by.runpath.is_empty() { tokens.expand_all(&by.rpath) } else { Vec::new() };
        let before = own.iter().chain(&self.rpath).chain(&self.environment).cloned();
        let before = before.chain(tokens.expand_all(&by.runpath));
        let files = |folder: PathBuf| hwcaps::within(&folder).map(|folder| folder.join(&name)).collect::<Vec<_>>();
        // Those for better processors are in the cache, too, without an order that could be relied on.
        let mut cached: Vec<(usize, &PathBuf)> =
            self.cache.files(&name).filter_map(|file| Some((hwcaps::rank(file)?, file))).collect();
        cached.sort_by_key(|(rank, _)| Reverse(*rank));
        let cached = cached.into_iter().map(|(_, file)| file.clone());
        before.flat_map(files).chain(cached).chain(default_folders().into_iter().flat_map(files)).find_map(usable)
    }
}

/// The folders of a list as `LD_LIBRARY_PATH` has it.
fn folders_in(list: &str) -> Vec<String> {
    let folders = list.split([':', ';']).filter(|_| !list.is_empty());
    // An empty one is the current folder.
    folders.map(|folder| if folder.is_empty() { "." } else { folder }.to_owned()).collect()
}

/// What stands for something else in the folders that a file names: `$ORIGIN`, `$LIB`, `$PLATFORM`, with braces or without.
struct Tokens {
    values: [(&'static str, String); 3],
}

impl Tokens {
    fn of(file: &Path, machine: (u16, bool)) -> Tokens {
        let file = file.canonicalize().unwrap_or_else(|_| file.to_owned());
        let origin = file.parent().unwrap_or(Path::new("/")).to_string_lossy().into_owned();
        let multiarch = multiarch();
        let here = [Path::new("/lib"), Path::new("/usr/lib")].iter().any(|root| root.join(&multiarch).is_dir());
        let lib = match machine {
            // Debian's loader is built so.
            (_, true) if here => format!("lib/{multiarch}"),
            (_, true) => "lib64".to_owned(),
            (_, false) => "lib".to_owned(),
        };
        Tokens { values: [("ORIGIN", origin), ("LIB", lib), ("PLATFORM", env::consts::ARCH.to_owned())] }
    }

    fn expand_all(&self, folders: &[String]) -> Vec<PathBuf> {
        folders.iter().map(|folder| self.expand(folder).into()).collect()
    }

    fn expand(&self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            let (before, token) = rest.split_at(at);
            out.push_str(before);
            let known = self.values.iter().find_map(|(name, value)| Some((value, after(&token[1..], name)?)));
            let Some((value, after)) = known else {
                out.push('$');
                rest = &token[1..];
                continue;
            };
            out.push_str(value);
            rest = after;
        }
        out + rest
    }
}

/// What follows the name of a token; `None` if it is another one's, or part of a longer word.
fn after<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    if let Some(rest) = text.strip_prefix('{') {
        return rest.strip_prefix(name)?.strip_prefix('}');
    }
    let rest = text.strip_prefix(name)?;
    (!rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')).then_some(rest)
}

fn multiarch() -> String {
    format!("{}-linux-gnu", env::consts::ARCH)
}

/// Where the loader looks last.
pub fn default_folders() -> Vec<PathBuf> {
    let multiarch = multiarch();
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
    fn tokens_stand_for_what_the_loader_puts_there() {
        let values = [("ORIGIN", "/o/bin"), ("LIB", "lib64"), ("PLATFORM", "x86_64")];
        let tokens = Tokens { values: values.map(|(name, value)| (name, value.to_owned())) };
        for (text, expected) in [
            ("$ORIGIN/../lib", "/o/bin/../lib"),
            ("${ORIGIN}", "/o/bin"),
            ("/opt/$LIB/${PLATFORM}", "/opt/lib64/x86_64"),
            ("/opt/lib", "/opt/lib"),
            // No tokens.
            ("$LIBS/${LIB/$", "$LIBS/${LIB/$"),
            ("$ORIGINAL", "$ORIGINAL"),
        ] {
            assert_eq!(tokens.expand(text), expected, "{text}");
        }
    }

    /// What `$LIB` is was decided when this system's loader was built, which reports it.
    #[test]
    #[cfg(all(target_arch = "x86_64", target_env = "gnu"))]
    fn the_loader_of_this_system_agrees() {
        let loader = std::process::Command::new("/lib64/ld-linux-x86-64.so.2").arg("--list-diagnostics").output();
        let Ok(output) = loader else {
            return;
        };
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        if let Some(line) = said.lines().find_map(|line| line.strip_prefix("dl_dst_lib=")) {
            let here = elf::dynamic(&env::current_exe().expect("we run")).expect("we are an ELF file");
            let tokens = Tokens::of(Path::new("/none"), here.machine);
            assert_eq!(tokens.expand("$LIB"), line.trim_matches('"'));
        }
    }

    #[test]
    fn lists_of_folders() {
        assert_eq!(folders_in(""), [""; 0]);
        assert_eq!(folders_in("/a:/b;/c"), ["/a", "/b", "/c"]);
        assert_eq!(folders_in(":/a"), [".", "/a"]);
    }

    #[test]
    #[cfg(target_env = "gnu")]
    fn our_own_libraries() {
        let found = libraries(&env::current_exe().expect("we run"));
        let libc = found.iter().find(|library| library.name == "libc.so.6").expect("glibc");
        assert!(libc.path.as_ref().is_some_and(|path| path.exists()));
        assert_eq!(libraries(Path::new("/none")), []);
    }
}
