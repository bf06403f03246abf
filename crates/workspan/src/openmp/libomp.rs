//! LLVM's OpenMP runtime on this system, which stands in for gcc's.

use std::path::{Path, PathBuf};
use std::{env, fmt, fs};

use super::elf;
use super::ld_cache::LdCache;
use super::loader::default_folders;

/// Names a library to use; no other is then looked for.
pub const VARIABLE: &str = "WORKSPAN_LIBOMP";

/// Older ones do not report the pieces of loops.
pub const OLDEST: u32 = 15;

/// What to do if there is none.
pub const FIX: &str = "install LLVM's libomp (Debian, Ubuntu: `apt-get install libomp-19-dev`; Fedora: `dnf install \
                       libomp`; Arch: `pacman -S openmp`), or set WORKSPAN_LIBOMP to its path";

/// Names under which it is installed; Intel's has the same interface.
const NAMES: [&str; 3] = ["libomp.so.5", "libomp.so", "libiomp5.so"];

/// An OpenMP runtime with the interface for tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Libomp {
    /// Its file.
    pub path: PathBuf,
    /// Its version, as far as the file reports.
    pub version: Version,
}

/// The version of LLVM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// Major number.
    pub number: u32,
    /// It may be newer than that.
    pub at_least: bool,
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.number, if self.at_least { " or newer" } else { "" })
    }
}

/// Why there is none to use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    /// None is installed.
    None,
    /// The newest is too old.
    TooOld(Libomp),
    /// The one that [`VARIABLE`] names is of no use.
    Unusable(PathBuf),
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Missing::None => write!(f, "LLVM's OpenMP runtime is not installed"),
            Missing::TooOld(found) => {
                write!(f, "{} is of LLVM {}, and {OLDEST} or newer is needed", found.path.display(), found.version)
            }
            Missing::Unusable(path) => {
                write!(f, "{VARIABLE} names {}, which is no OpenMP runtime with an interface for tools", path.display())
            }
        }
    }
}

/// The newest on this system.
pub fn newest() -> Result<Libomp, Missing> {
    if let Some(path) = env::var_os(VARIABLE).filter(|path| !path.is_empty()) {
        let path = PathBuf::from(path);
        return look(&path).ok_or(Missing::Unusable(path)).and_then(new_enough);
    }
    // Of equals the first: later ones are copies.
    let newest = candidates().iter().filter_map(|path| look(path)).rev().max_by_key(|found| found.version);
    newest.ok_or(Missing::None).and_then(new_enough)
}

fn new_enough(found: Libomp) -> Result<Libomp, Missing> {
    if found.version.number < OLDEST {
        return Err(Missing::TooOld(found));
    }
    Ok(found)
}

/// Where it may be, each file once.
fn candidates() -> Vec<PathBuf> {
    let cache = LdCache::of_system();
    let mut folders = default_folders();
    folders.push("/usr/local/lib".into());
    for root in ["/usr/lib", "/usr/lib64", "/usr/local"] {
        let versions = fs::read_dir(root).into_iter().flatten().flatten().map(|entry| entry.path());
        let llvm =
            versions.filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("llvm")));
        folders.extend(llvm.flat_map(|path| [path.join("lib"), path.join("lib64")]));
    }
    let mut found: Vec<PathBuf> = Vec::new();
    let named = NAMES
        .iter()
        .flat_map(|name| cache.files(name).cloned().chain(folders.iter().map(move |folder| folder.join(name))));
    for path in named.filter_map(|path| path.canonicalize().ok()) {
        if !found.contains(&path) {
            found.push(path);
        }
    }
    found
}

/// What a file is; `None` if it is no OpenMP runtime with an interface for tools, or for another processor.
pub fn look(path: &Path) -> Option<Libomp> {
    let ours = elf::dynamic(&env::current_exe().ok()?)?.machine;
    if elf::dynamic(path)?.machine != ours {
        return None;
    }
    let [fork, tool, from_15, from_16, from_19] = SYMBOLS;
    let known = elf::defines(path, &SYMBOLS);
    let has = |symbol: &str| SYMBOLS.iter().zip(&known).any(|(known, found)| *known == symbol && *found);
    if !has(fork) || !has(tool) {
        return None;
    }
    let least = [(from_19, 19), (from_16, 16), (from_15, 15)].into_iter().find(|(symbol, _)| has(symbol));
    let least = least.map_or(OLDEST - 1, |(_, number)| number);
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let version = match version_in(&path).filter(|number| *number >= least) {
        Some(number) => Version { number, at_least: false },
        None => Version { number: least, at_least: least >= OLDEST },
    };
    Some(Libomp { path, version })
}

/// An entry point, the place for tools, and what the versions 15, 16 and 19 have added.
const SYMBOLS: [&str; 5] =
    ["__kmpc_fork_call", "ompt_start_tool", "__kmpc_sections_init", "__kmpc_fork_call_if", "__kmpc_dispatch_deinit"];

/// The version in a path such as `/usr/lib/llvm-19/lib/libomp.so.5` or `…/libomp-19.so.5`. The library itself does not
/// report.
fn version_in(path: &Path) -> Option<u32> {
    let number = |text: &str| {
        let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    };
    path.iter().rev().find_map(|part| {
        let part = part.to_str()?;
        let rest = ["llvm-", "llvm", "libomp-"].iter().find_map(|prefix| part.strip_prefix(prefix))?;
        number(rest)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_in_paths() {
        for (path, expected) in [
            ("/usr/lib/llvm-19/lib/libomp.so.5", Some(19)),
            ("/usr/lib/llvm-17.0/lib/libomp.so", Some(17)),
            ("/usr/lib64/llvm18/lib64/libomp.so", Some(18)),
            ("/opt/x/libomp-16.so.5", Some(16)),
            ("/usr/lib/x86_64-linux-gnu/libomp.so.5", None),
            ("/opt/llvm/lib/libomp.so", None),
        ] {
            assert_eq!(version_in(Path::new(path)), expected, "{path}");
        }
    }

    #[test]
    fn other_files_are_none() {
        assert_eq!(look(Path::new("/none")), None);
        assert_eq!(look(&env::current_exe().expect("we run")), None);
    }

    #[test]
    fn words() {
        let version = Version { number: 14, at_least: false };
        let old = Missing::TooOld(Libomp { path: "/l/libomp.so.5".into(), version });
        assert_eq!(old.to_string(), "/l/libomp.so.5 is of LLVM 14, and 15 or newer is needed");
        assert_eq!(Version { number: 16, at_least: true }.to_string(), "16 or newer");
    }
}
