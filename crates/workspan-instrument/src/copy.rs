//! Making the instrumented copy.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::edit::{AnchorError, Edits};
use crate::hooks::Hooks;
use crate::rayon_core::{Recipe, Recipes};
use crate::{embed, graph, rayon, rayon_core};

/// A package as cargo resolved it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// Which one.
    pub runtime: Runtime,
    /// Its version.
    pub version: String,
    /// The folder with its `Cargo.toml`.
    pub folder: PathBuf,
}

/// A package that gets hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runtime {
    /// `rayon-core`.
    RayonCore,
    /// `rayon`.
    Rayon,
}

impl Runtime {
    /// The package's name.
    pub fn name(self) -> &'static str {
        match self {
            Runtime::RayonCore => "rayon-core",
            Runtime::Rayon => "rayon",
        }
    }

    fn tested(self) -> std::ops::RangeInclusive<u64> {
        match self {
            Runtime::RayonCore => rayon_core::TESTED,
            Runtime::Rayon => rayon::TESTED,
        }
    }
}

/// An instrumented copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instrumented {
    /// The copy's `src/lib.rs`, to be compiled in place of the original.
    pub root: PathBuf,
    /// Whether the copy was made now; false if it was there.
    pub fresh: bool,
}

/// Why a package could not be instrumented.
#[derive(Debug, thiserror::Error)]
pub enum InstrumentError {
    /// Not a version that was tested.
    #[error(
        "{name} {version} is not supported: workspan knows {name} 1.{oldest} to 1.{newest} \
         (pin a version with `cargo update -p {name} --precise 1.{newest}.0`, or use a newer workspan)"
    )]
    Version {
        /// The package.
        name: &'static str,
        /// Its version.
        version: String,
        /// Oldest tested minor version.
        oldest: u64,
        /// Newest tested minor version.
        newest: u64,
    },
    /// The text is not as expected, though the version is: a patched or vendored copy.
    #[error("the source of {name} {version} at {} is not the published one: {source} ({file})", folder.display())]
    Layout {
        /// The package.
        name: &'static str,
        /// Its version.
        version: String,
        /// Where it is.
        folder: PathBuf,
        /// The file.
        file: &'static str,
        /// What was missing.
        source: Box<AnchorError>,
    },
    /// Files could not be copied.
    #[error("cannot copy {} to {}", from.display(), to.display())]
    Copy {
        /// From here.
        from: PathBuf,
        /// To there.
        to: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Makes the copy below `into`, or finds it there. Copies of different packages must go to the same `into`.
pub fn instrument(package: &Package, into: &Path) -> Result<Instrumented, InstrumentError> {
    check_version(package)?;
    let name = package.runtime.name();
    let to = into.join(format!("{name}-{}", package.version));
    let root = to.join("src").join("lib.rs");
    let stamp = to.join(".workspan");
    let wanted = stamp_of(package);
    if fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) {
        return Ok(Instrumented { root, fresh: false });
    }
    let failed = |source| InstrumentError::Copy { from: package.folder.clone(), to: to.clone(), source };
    // Built beside its final place, so that an interrupted copy is never taken for a complete one.
    let building = into.join(format!(".{name}-{}.{}", package.version, std::process::id()));
    remove(&building).map_err(failed)?;
    copy_tree(&package.folder, &building).map_err(failed)?;
    let source = building.join("src");
    let hooks = Hooks::of(into);
    let (required, optional): (Recipes, Recipes) = match (package.runtime, hooks) {
        (Runtime::RayonCore, Hooks::All) => (rayon_core::FILES, &[]),
        (Runtime::RayonCore, Hooks::IdleOnly) => (rayon_core::IDLE_ONLY_FILES, &[]),
        (Runtime::Rayon, Hooks::All) => (rayon::FILES, rayon::OPTIONAL_FILES),
        (Runtime::RayonCore, Hooks::Graph) => (graph::FILES, &[]),
        (Runtime::Rayon, Hooks::IdleOnly | Hooks::Graph) => (&[], &[]),
    };
    for (file, recipe) in required {
        edit(package, &source, file, *recipe, failed)?;
    }
    for (file, recipe) in optional {
        if source.join(file).is_file() {
            edit(package, &source, file, *recipe, failed)?;
        }
    }
    if package.runtime == Runtime::RayonCore {
        if hooks == Hooks::Graph {
            fs::write(source.join(graph::MODULE), graph::TEXT).map_err(failed)?;
        } else {
            embed::write(&source.join("workspan"), hooks).map_err(failed)?;
        }
    }
    fs::write(building.join(".workspan"), wanted).map_err(failed)?;
    remove(&to).map_err(failed)?;
    fs::rename(&building, &to).map_err(failed)?;
    Ok(Instrumented { root, fresh: true })
}

/// An error if the package's version was not tested.
pub fn check_version(package: &Package) -> Result<(), InstrumentError> {
    let tested = package.runtime.tested();
    let mut parts = package.version.split('.').map(|p| p.parse::<u64>().ok());
    let (major, minor) = (parts.next().flatten(), parts.next().flatten());
    if major == Some(1) && minor.is_some_and(|m| tested.contains(&m)) {
        return Ok(());
    }
    Err(InstrumentError::Version {
        name: package.runtime.name(),
        version: package.version.clone(),
        oldest: *tested.start(),
        newest: *tested.end(),
    })
}

/// Identifies the copy: our hooks, and where the original came from.
fn stamp_of(package: &Package) -> String {
    format!("{:016x} {}\n", embed::fingerprint(), package.folder.display())
}

fn edit(
    package: &Package,
    source: &Path,
    file: &'static str,
    recipe: Recipe,
    failed: impl Fn(io::Error) -> InstrumentError,
) -> Result<(), InstrumentError> {
    let path = source.join(file);
    let text = fs::read_to_string(&path).map_err(&failed)?;
    let mut edits = Edits::new(text);
    recipe(&mut edits).map_err(|source| InstrumentError::Layout {
        name: package.runtime.name(),
        version: package.version.clone(),
        folder: package.folder.clone(),
        file,
        source: Box::new(source),
    })?;
    fs::write(&path, edits.finish()).map_err(&failed)
}

fn copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name();
        let (source, target) = (entry.path(), to.join(&name));
        if source.is_dir() {
            // Of a checkout, neither history nor build results.
            if name != OsStr::new(".git") && name != OsStr::new("target") {
                copy_tree(&source, &target)?;
            }
        } else {
            fs::write(&target, fs::read(&source)?)?;
        }
    }
    Ok(())
}

fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
