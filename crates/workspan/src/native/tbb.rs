//! oneTBB among the runtimes.

use std::io;
use std::path::{Path, PathBuf};

use object::File;

use super::environment;
use crate::args::RunOptions;
use crate::doctor::check::Check;
use crate::doctor::sections::{linking, places};
use crate::openmp::{elf, loader};
use crate::runtime::{Around, Environment, Family, Look, Runtime, Sections};

/// Its row.
pub const FAMILY: Family = Family { look, doctor: Vec::new, without: |_| None };

/// Cores as on which oneTBB splits its ranges: as rayon does, so that the tree does not depend on this machine.
const CORES: u32 = 64;

const LIBRARY: &str = "libtbb.so.12";

/// One that no program of today is linked with.
const OLD: &str = "libtbb.so.2";

/// What lets a program with its own copy be profiled.
const FIX: &str =
    "link it with libtbb.so of oneTBB 2021 or newer (`apt-get install libtbb-dev`, or -DBUILD_SHARED_LIBS=ON)";

/// One of these has every program that oneTBB could be linked into.
const CPP: [&str; 2] = ["libstdc++.so.6", "libc++.so.1"];

/// How names of classes begin that nobody but libtbb has, in the description of their types: also where symbols are hidden, or stripped.
const OWN_CLASS: &[u8] = b"\0N3tbb6detail2r1";

const ENTRY: &str = "_ZN3tbb6detail2r15spawnERNS0_2d14taskERNS2_18task_group_contextE";

/// A program that uses oneTBB.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    library: Library,
    is_dynamic: bool,
}

/// Where oneTBB is.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Library {
    /// In a library of its own, if that is found.
    Shared(Option<PathBuf>),
    /// TBB 2020 or older.
    Old,
    /// Part of the program, or of a library of its.
    Linked,
}

fn look(executable: &Path, _: Sections<'_>) -> Look {
    match find(executable) {
        Ok(None) => Look::Not,
        Ok(Some(program)) => Look::Uses(Box::new(program)),
        Err(error) => Look::Failed(error),
    }
}

fn find(executable: &Path) -> io::Result<Option<Program>> {
    let Some(dynamic) = elf::try_dynamic(executable)? else {
        return Ok(None);
    };
    let libraries = loader::libraries(executable)?;
    let named = |name: &str| libraries.iter().find(|library| library.name == name);
    let library = if let Some(found) = named(LIBRARY) {
        Library::Shared(found.path.clone())
    } else if elf::defines(executable, &[ENTRY]) == [true]
        || CPP.iter().any(|library| named(library).is_some()) && elf::has_constant(executable, OWN_CLASS)
    {
        Library::Linked
    } else if named(OLD).is_some() {
        Library::Old
    } else {
        return Ok(None);
    };
    Ok(Some(Program { library, is_dynamic: dynamic.is_dynamic }))
}

impl Program {
    fn obstacle(&self) -> Option<&'static str> {
        match self.library {
            _ if !self.is_dynamic => Some("it is linked statically, so that no collector can be loaded into it"),
            Library::Linked => Some("oneTBB is part of the program, so that nobody sees its tasks"),
            Library::Old => Some("TBB 2020 and older cannot be watched"),
            Library::Shared(_) => None,
        }
    }

    /// The version, by the name of the file.
    fn version(&self) -> String {
        let Library::Shared(Some(path)) = &self.library else { return String::new() };
        let file = path.canonicalize().unwrap_or_else(|_| path.clone());
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let minor = name.strip_prefix("libtbb.so.12.").and_then(|rest| rest.split('.').next()?.parse::<u32>().ok());
        match minor {
            Some(minor) if minor < 14 => format!(" 2021.{minor}"),
            Some(minor) if minor < 18 => format!(" 2022.{}", minor - 14),
            Some(minor) => format!(" 2023.{}", minor - 18),
            None => String::new(),
        }
    }
}

impl Runtime for Program {
    fn name(&self) -> &'static str {
        "oneTBB"
    }

    fn describe(&self) -> String {
        format!("oneTBB{}", self.version())
    }

    fn check(&self, executable: &Path, _: bool) -> anyhow::Result<()> {
        match self.obstacle() {
            None => Ok(()),
            Some(obstacle) => anyhow::bail!("{} cannot be profiled: {obstacle}: {FIX}", executable.display()),
        }
    }

    fn measures_idle_alone(&self) -> bool {
        // The library for idle time alone defines none of the functions that oneTBB calls.
        false
    }

    fn environment(&self, executable: &Path, around: Around<'_>) -> anyhow::Result<Environment> {
        environment::of(executable, around)
    }

    fn logical_cores(&self, options: &RunOptions) -> Option<u32> {
        Some(options.logical_cores.unwrap_or(CORES))
    }

    fn most_workers(&self) -> u32 {
        crate::openmp::environment::MOST_THREADS
    }

    fn silence(&self, program: &str) -> String {
        super::threads::silence(program)
    }

    fn doctor(&self, file: &File<'_>) -> Vec<Check> {
        let found = match &self.library {
            Library::Shared(Some(path)) => format!("{} ({})", self.describe(), path.display()),
            Library::Shared(None) => format!("{LIBRARY}, which is not found"),
            Library::Old => OLD.to_owned(),
            Library::Linked => "part of the program".to_owned(),
        };
        let check = match (self.obstacle(), &self.library) {
            (Some(obstacle), _) => {
                Check::missing("program", "onetbb", found).means(format!("It cannot be profiled: {obstacle}.")).fix(FIX)
            }
            (None, Library::Shared(None)) => Check::missing("program", "onetbb", found)
                .means("The program cannot start.")
                .fix("install the library, or name its folder in LD_LIBRARY_PATH"),
            _ => Check::ok("program", "onetbb", found),
        };
        vec![check, places(file), linking(file)]
    }
}
