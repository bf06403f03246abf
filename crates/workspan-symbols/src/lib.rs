//! Names the function around a place in the source, from an executable's debug information.
//!
//! A collector knows exactly where a program called it, for the compiler tells it: file, line and column. It does not know
//! in which function. That stands in the executable's debug information, which this crate reads in the opposite
//! direction from a debugger: from the place to the instructions, and from those to the function ([`Executable::functions`]).
//! Where there is none, the name of a closure's type tells as much ([`function_from_type_name`]). [`symbolise`] does both.
//!
//! **Invariants.** Pure functions over bytes: no file is opened, nothing is printed or kept. No input makes them panic,
//! recur without bound, or take more than a fixed number of steps per byte.
//!
//! **Cost.** No less than the heads of all line programs, where the names of files stand, must be read; beyond that only
//! units that mention a wanted file are. For 50 places in an executable of 42 MB, with 13 MB of entries, that is 12 ms
//! (the heads alone 8, reading the file 20); if every unit mentions the file, 70. Nothing is kept between calls.
//!
//! **Why not addr2line**: it answers the opposite question; it recurs as deep as the entries nest, so that a damaged
//! file overflows the stack; and it gives up on a file of which one unit is damaged.

mod budget;
mod error;
mod executable;
mod files;
mod frames;
mod names;
mod path;
mod places;
mod rows;
mod scopes;
mod units;

#[cfg(test)]
mod hostile_tests;

use workspan_model::{Function, Site, SiteKind};

pub use error::Error;
pub use executable::Executable;
pub use frames::Frames;
pub use path::function_from_type_name;
pub use places::{Functions, Place};

/// What [`symbolise`] has done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Symbolised {
    /// The executable has debug information about the file of at least one site.
    pub has_debug_info: bool,
    /// Sites whose function was found there.
    pub from_debug_info: usize,
    /// Sites whose function was derived from the type of a closure.
    pub from_type_names: usize,
    /// What could not be read; functions were found nevertheless.
    pub problem: Option<Error>,
}

/// Fills in the function of each site that has none, but for serial code; and for sites in a dependency the place in the
/// workspace that led there, if addresses were recorded.
pub fn symbolise(executable: &[u8], sites: &mut [Site]) -> Symbolised {
    let mut done = Symbolised::default();
    let wanted = |site: &Site| site.function.is_none() && !matches!(site.kind, SiteKind::Serial { .. });
    match Executable::parse(executable) {
        Err(problem) => done.problem = Some(problem),
        Ok(executable) => {
            let indices: Vec<usize> = (0..sites.len()).filter(|index| wanted(&sites[*index])).collect();
            let places: Vec<_> = indices.iter().map(|index| place(&sites[*index])).collect();
            let found = executable.functions(&places);
            done.has_debug_info = found.files_known;
            done.problem = found.problem;
            for (index, name) in indices.into_iter().zip(found.names) {
                if let Some(name) = name {
                    let name = whole_name(name, &sites[index].type_name);
                    sites[index].function = Some(Function { name, from_debug_info: true, offset: None });
                    done.from_debug_info += 1;
                }
            }
            find_callers(&executable, sites);
        }
    }
    for site in sites.iter_mut().filter(|site| wanted(site)) {
        if let Some(name) = function_from_type_name(&site.type_name) {
            site.function = Some(Function { name, from_debug_info: false, offset: None });
            done.from_type_names += 1;
        }
    }
    done
}

fn place(site: &Site) -> Place<'_> {
    Place { file: &site.file, line: site.line, column: site.column }
}

/// Line tables alone have only the last part of some functions' paths. If the closure passed at the site is of a function
/// with that name, it is the same.
fn whole_name(name: String, type_name: &str) -> String {
    match function_from_type_name(type_name) {
        Some(whole) if !name.contains("::") && path::last_segment(&whole) == name => whole,
        _ => name,
    }
}

fn find_callers(executable: &Executable<'_>, sites: &mut [Site]) {
    let in_dependency =
        |site: &&mut Site| site.via.is_none() && !site.addresses.is_empty() && site.file.starts_with('/');
    let mut sites = sites.iter_mut().filter(in_dependency).peekable();
    if sites.peek().is_none() {
        return;
    }
    let frames = executable.frames();
    for site in sites {
        site.via = frames.first_workspace_frame(&site.addresses);
    }
}
