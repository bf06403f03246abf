//! Places and functions for the sites of a recording, from the files whose code ran.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use workspan_analysis::bounded_by_locks;
use workspan_model::{merge_sites, ContextId, Recording, Site};
use workspan_symbols::{debug_file_candidates, is_debug_file_of, symbolise, unseen_locks, Module};

use crate::{files, untrusted};

/// Bytes of a file of code, or of the debug information that it names.
const LARGEST: u64 = 16 << 30;

/// The content of a file of code.
struct File {
    /// As [`Site::module`].
    module: String,
    bytes: Vec<u8>,
    debug_file: Option<Vec<u8>>,
}

/// Fills in what depends on the executable and its libraries. Only names and places do, so nothing here is an error.
/// Returns where each of the former contexts leads.
pub fn complete(recording: &mut Recording, executable: &Path) -> Vec<ContextId> {
    let modules: BTreeSet<&str> = recording.sites.iter().map(|site| site.module.as_str()).collect();
    let files: Vec<File> = modules
        .into_iter()
        .filter(|module| *module != Site::UNKNOWN_MODULE)
        .filter_map(|module| {
            let path = if module.is_empty() { executable } else { Path::new(module) };
            read(module, path)
        })
        .collect();
    let modules: Vec<Module<'_>> = files
        .iter()
        .map(|file| Module { path: &file.module, bytes: &file.bytes, debug_file: file.debug_file.as_deref() })
        .collect();
    let done = symbolise(&modules, &recording.directory, &mut recording.sites);
    recording.has_debug_info = done.has_debug_info;
    recording.unseen_locks = modules
        .iter()
        .find(|module| module.path.is_empty())
        .map_or_else(Vec::new, |program| unseen_locks(program, &recording.directory));
    recording.debug_info_problem = done.problem.map(|problem| problem.to_string());
    // Locks that one place takes in turn are known apart only until their sites become one.
    if let Cow::Owned(bounded) = bounded_by_locks(recording) {
        *recording = bounded;
    }
    let leads_to = merge_sites(recording);
    untrusted::make_harmless(recording);
    leads_to
}

/// Has code of the program named after its file, where the command begins with another: a shell, say.
pub fn name_program(recording: &mut Recording, program: &Path) {
    let known_by_address = |site: &&mut Site| site.module.is_empty() && !site.addresses.is_empty();
    for site in recording.sites.iter_mut().filter(known_by_address) {
        site.module = program.to_string_lossy().into_owned();
    }
}

fn read(module: &str, path: &Path) -> Option<File> {
    let bytes = files::read_regular(path, LARGEST).ok()?;
    // The program that a script starts is not known.
    if bytes.starts_with(b"#!") {
        return None;
    }
    let path: PathBuf = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let candidates = debug_file_candidates(&path, &bytes);
    let debug_file = candidates
        .iter()
        .filter_map(|file| files::read_regular(file, LARGEST).ok())
        .find(|candidate| is_debug_file_of(candidate, &bytes));
    Some(File { module: module.to_owned(), bytes, debug_file })
}
