//! Which OpenMP runtime a program uses.

use std::io;
use std::path::{Path, PathBuf};

use super::elf;
use super::libomp::{self, Libomp, Missing};
use super::loader::{self, Library};

/// A program that uses OpenMP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Its runtime.
    pub runtime: Runtime,
    /// It is loaded by the dynamic loader, which can load a collector, too.
    pub is_dynamic: bool,
}

/// The OpenMP runtime of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Runtime {
    /// LLVM's or Intel's, in a library of its own.
    Shared {
        /// As the program names it.
        name: String,
        /// Its file, if it is found.
        path: Option<PathBuf>,
    },
    /// One that is part of the program, or of a library of its.
    Linked {
        /// It is gcc's, and nothing can stand in for it.
        by_gcc: bool,
    },
    /// gcc's, for which LLVM's must stand in.
    Gcc {
        /// Which one that is: one that the program also loads, or else the newest.
        stand_in: Result<Libomp, Missing>,
    },
}

/// The OpenMP runtime of a program; `None` if it uses none, as far as can be seen before it runs. An error if the system has no
/// means left to look.
pub fn look(program: &Path) -> io::Result<Option<Program>> {
    let Some(is_dynamic) = elf::try_dynamic(program)?.map(|dynamic| dynamic.is_dynamic) else {
        return Ok(None);
    };
    let libraries = loader::libraries(program)?;
    let find = |wanted: fn(&str) -> bool| libraries.iter().find(|library| wanted(&library.name));
    let runtime = match (find(is_llvm), find(is_gcc)) {
        (llvm, Some(_)) => {
            let beside = llvm.and_then(|library| libomp::look(library.path.as_deref()?));
            let usable = beside.filter(|found| found.version.number >= libomp::OLDEST);
            Runtime::Gcc { stand_in: usable.map_or_else(libomp::newest, Ok) }
        }
        (Some(Library { name, path }), None) => Runtime::Shared { name: name.clone(), path: path.clone() },
        (None, None) => {
            let own = libraries.iter().filter(|library| !is_of_system(&library.name)).filter_map(|l| l.path.as_deref());
            match std::iter::once(program).chain(own).find_map(linked) {
                Some(runtime) => runtime,
                None => return Ok(None),
            }
        }
    };
    Ok(Some(Program { runtime, is_dynamic }))
}

/// The runtime that is part of a file.
fn linked(file: &Path) -> Option<Runtime> {
    let found = elf::defines(file, &["__kmpc_fork_call", "GOMP_parallel"]);
    // LLVM's has gcc's entry points, too.
    found.contains(&true).then(|| Runtime::Linked { by_gcc: !found[0] })
}

fn is_llvm(name: &str) -> bool {
    ["libomp.so", "libomp5.so", "libomp-", "libiomp5.so"].iter().any(|prefix| name.starts_with(prefix))
}

fn is_gcc(name: &str) -> bool {
    name.starts_with("libgomp.so")
}

/// Libraries that are part of every system, in which nothing is to be found.
pub(crate) fn is_of_system(name: &str) -> bool {
    ["libc.so", "libm.so", "libgcc_s.so", "libstdc++.so", "libpthread.so", "libdl.so", "librt.so", "ld-linux"]
        .iter()
        .any(|prefix| name.starts_with(prefix))
}

impl Program {
    /// Why no collector can watch it, whatever is installed.
    pub fn obstacle(&self) -> Option<&'static str> {
        match self.runtime {
            _ if !self.is_dynamic => Some("it is linked statically, so that no collector can be loaded into it"),
            Runtime::Linked { by_gcc: true } => Some("gcc's OpenMP runtime is linked into it and cannot be replaced"),
            _ => None,
        }
    }

    /// True if LLVM's runtime stands in for gcc's.
    pub fn is_swapped(&self) -> bool {
        matches!(self.runtime, Runtime::Gcc { .. })
    }

    /// What a recording says of the runtime.
    pub fn describe(&self) -> String {
        let version = |found: Option<Libomp>| found.map_or(String::new(), |found| format!(" {}", found.version));
        match &self.runtime {
            Runtime::Shared { name, .. } if name.starts_with("libiomp5") => "Intel OpenMP".to_owned(),
            Runtime::Shared { path, .. } => format!("LLVM OpenMP{}", version(path.as_deref().and_then(libomp::look))),
            Runtime::Linked { by_gcc: false } => "LLVM OpenMP, linked into the program".to_owned(),
            Runtime::Linked { by_gcc: true } => "libgomp, linked into the program".to_owned(),
            Runtime::Gcc { stand_in } => {
                format!("LLVM OpenMP{} in place of libgomp", version(stand_in.clone().ok()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_runtimes() {
        for name in ["libomp.so.5", "libomp.so", "libomp5.so.5", "libomp-19.so.5", "libiomp5.so"] {
            assert!(is_llvm(name) && !is_gcc(name), "{name}");
        }
        assert!(is_gcc("libgomp.so.1") && !is_llvm("libgomp.so.1"));
        for name in ["libomptarget.so", "libompi.so", "libc.so.6"] {
            assert!(!is_llvm(name) && !is_gcc(name), "{name}");
        }
    }

    #[test]
    fn programs_without() {
        assert_eq!(look(Path::new("/none")).expect("nothing is opened"), None);
        assert_eq!(look(&std::env::current_exe().expect("we run")).expect("files can be opened"), None);
    }
}
