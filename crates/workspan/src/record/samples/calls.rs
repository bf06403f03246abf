//! From samples to calls: which code was mapped where, and who called it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use workspan_events::record::Mapped;
use workspan_model::ContextId;
use workspan_symbols::{chain, Callers, Chain, Layout, Stopped};

use crate::files;

/// Bytes of a file of code.
const LARGEST: u64 = 16 << 30;

/// Where serial code was.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Its row.
    pub row: ContextId,
    /// The thread.
    pub tid: u32,
    /// It is that which runs `main`.
    pub main_thread: bool,
    /// What was called, innermost first: files of code, and addresses as they have them.
    pub calls: Vec<(PathBuf, u64)>,
}

/// Code that was mapped into a process.
#[derive(Debug)]
pub(super) struct Mapping {
    pid: u32,
    address: u64,
    length: u64,
    offset: u64,
    path: PathBuf,
}

impl Mapping {
    /// As the kernel reports it.
    pub(super) fn of(mapped: &Mapped<'_>) -> Mapping {
        let path = PathBuf::from(String::from_utf8_lossy(mapped.path).into_owned());
        Mapping { pid: mapped.pid, address: mapped.address, length: mapped.length, offset: mapped.offset, path }
    }
}

/// The files of code that were mapped.
#[derive(Debug, Default)]
pub(super) struct Files(BTreeMap<PathBuf, Vec<u8>>);

impl Files {
    /// Reads those of these processes. What cannot be read, such as what the kernel maps of its own, has no calls.
    pub(super) fn read(mapped: &[Mapping], pids: &BTreeSet<u32>) -> Files {
        let paths = mapped.iter().filter(|code| pids.contains(&code.pid)).map(|code| &code.path);
        let paths: BTreeSet<&PathBuf> = paths.filter(|path| path.is_absolute()).collect();
        let read = |path: &PathBuf| Some((path.clone(), files::read_regular(path, LARGEST).ok()?));
        Files(paths.into_iter().filter_map(read).collect())
    }
}

/// The code of a run.
#[derive(Debug)]
pub(super) struct Code<'f> {
    mapped: &'f [Mapping],
    files: BTreeMap<&'f Path, File<'f>>,
}

/// A file of code.
#[derive(Debug)]
struct File<'f> {
    layout: Layout,
    callers: Option<Callers<'f>>,
}

impl<'f> Code<'f> {
    /// What was mapped, in order.
    pub(super) fn new(mapped: &'f [Mapping], files: &'f Files) -> Code<'f> {
        let file = |bytes: &'f [u8]| Some(File { layout: Layout::parse(bytes)?, callers: Callers::parse(bytes) });
        let files = files.0.iter().filter_map(|(path, bytes)| Some((path.as_path(), file(bytes)?)));
        Code { mapped, files: files.collect() }
    }

    /// The calls of a thread, innermost first.
    pub(super) fn calls(&self, pid: u32, thread: Stopped<'_>) -> Vec<(PathBuf, u64)> {
        let find = |at: u64| {
            let (_, file, address) = self.at(pid, at)?;
            Some((file.callers.as_ref()?, address))
        };
        let Chain { addresses, .. } = chain(thread, find);
        let place = |at: u64| self.at(pid, at).map(|(path, _, address)| (path.to_owned(), address));
        addresses.into_iter().filter_map(place).collect()
    }

    /// The code at an address: the file, and the address as it has it.
    fn at(&self, pid: u32, at: u64) -> Option<(&Path, &File<'f>, u64)> {
        // What is mapped later lies over what was there before.
        let mapping =
            self.mapped.iter().rev().find(|code| {
                code.pid == pid && at.checked_sub(code.address).is_some_and(|within| within < code.length)
            })?;
        let file = self.files.get(mapping.path.as_path())?;
        let address = file.layout.address_of(at - mapping.address + mapping.offset)?;
        Some((&mapping.path, file, address))
    }
}
