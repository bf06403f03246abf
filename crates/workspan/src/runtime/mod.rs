//! The runtimes that programs may use, one row each.
//!
//! A runtime is a module of its own, which implements [`Runtime`] — how it shows in a program, what a program needs around it,
//! what can be in the way, what `workspan doctor` says of it — and a row of [`FAMILIES`]. Nobody else distinguishes runtimes.

mod kind;

use std::io;
use std::path::Path;

use object::{File, Object, ObjectSection, ReadRef};

pub use kind::{Around, Environment, Family, Look, Runtime, Sections, Variable, STAND_IN};

use crate::{native, openmp, rayon};

/// All of them, in the order in which a program is asked.
pub const FAMILIES: &[Family] = &[rayon::FAMILY, openmp::FAMILY, native::tbb::FAMILY, native::threads::FAMILY];

/// How a program can be watched, if it can. An error if the system has no means left to look.
pub fn look<'d, R: ReadRef<'d>>(executable: &Path, file: &File<'d, R>) -> io::Result<Option<Box<dyn Runtime>>> {
    let sections = |name: &str| Some(file.section_by_name(name)?.data().map_or(Vec::new(), <[u8]>::to_vec));
    for family in FAMILIES {
        match (family.look)(executable, &sections) {
            Look::Not => {}
            Look::Broken => return Ok(None),
            Look::Uses(runtime) => return Ok(Some(runtime)),
            Look::Failed(error) => return Err(error),
        }
    }
    Ok(None)
}
