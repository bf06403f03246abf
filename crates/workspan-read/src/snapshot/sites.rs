//! Source places, and the files of code in which their addresses lie.

use std::collections::HashMap;
use std::io;
use std::mem::{offset_of, size_of};

use workspan_model::{Recording, Site, SiteId, SiteIdentity, SiteKind};
use workspan_wire::shm::{self, Header, ModuleRecord, SiteRecord};

use crate::memory::{Record, Snapshot};

/// Adds the sites to the recording. Returns, by the collector's number, the recording's.
pub(super) fn read(
    snapshot: &(impl Snapshot + ?Sized),
    header: &Record,
    recording: &mut Recording,
) -> io::Result<Vec<Option<SiteId>>> {
    let count = (header.u32(offset_of!(Header, sites)) as usize).min(shm::MAX_SITES);
    let size = size_of::<SiteRecord>();
    let bytes = Record::read(snapshot, shm::SITES, count * size)?;
    let modules = Modules::read(snapshot, header)?;
    let mut known: HashMap<SiteIdentity, SiteId> =
        recording.sites.iter().zip(0..).map(|(site, i)| (site.identity(), SiteId(i))).collect();
    let mut map = vec![None; count];
    // Places first, then the serial code between them.
    for serial in [false, true] {
        for index in 0..count {
            let record = bytes.part(index * size, size);
            let Some(kind) = SiteKind::numbered(record.u32(offset_of!(SiteRecord, kind)), None, None) else {
                continue;
            };
            if record.u32(offset_of!(SiteRecord, ready)) == 0 || kind.ends().is_some() != serial {
                continue;
            }
            let site = read_site(&record, kind, &modules, &map);
            let next = SiteId(u32::try_from(recording.sites.len()).unwrap_or(u32::MAX));
            map[index] = Some(*known.entry(site.identity()).or_insert_with(|| {
                recording.sites.push(site);
                next
            }));
        }
    }
    Ok(map)
}

fn read_site(record: &Record, kind: SiteKind, modules: &Modules, map: &[Option<SiteId>]) -> Site {
    let neighbour = |at: usize| {
        let index = (record.u32(at) as usize).checked_sub(1)?;
        *map.get(index)?
    };
    let [from, to] = [offset_of!(SiteRecord, serial_from), offset_of!(SiteRecord, serial_to)].map(neighbour);
    let kind = kind.with_ends(from, to);
    let Module { path, base } = modules.of(record.u32(offset_of!(SiteRecord, module)), kind.lasts());
    let stack = offset_of!(SiteRecord, stack);
    let addresses: Vec<u64> = std::iter::once(offset_of!(SiteRecord, address))
        .chain((0..shm::STACK_DEPTH).map(|i| stack + 8 * i))
        .map(|at| record.u64(at))
        .filter(|address| *address != 0)
        .map(|address| address.wrapping_sub(*base))
        .collect();
    // Without an address there is nothing to be known of a module.
    let module = if addresses.is_empty() { String::new() } else { path.clone() };
    Site {
        kind,
        file: record.text(offset_of!(SiteRecord, file), record.u32(offset_of!(SiteRecord, file_len)), shm::FILE_BYTES),
        line: record.u32(offset_of!(SiteRecord, line)),
        column: record.u32(offset_of!(SiteRecord, column)),
        function: None,
        type_name: record.text(
            offset_of!(SiteRecord, type_name),
            record.u32(offset_of!(SiteRecord, type_len)),
            shm::TYPE_BYTES,
        ),
        module,
        addresses,
        via: None,
    }
}

/// A file of code, and where it was loaded.
struct Module {
    path: String,
    base: u64,
}

/// All that the collector has named.
struct Modules {
    named: Vec<Module>,
    executable: Module,
    unknown: Module,
}

impl Modules {
    fn read(snapshot: &(impl Snapshot + ?Sized), header: &Record) -> io::Result<Modules> {
        let count = (header.u32(offset_of!(Header, modules)) as usize).min(shm::MAX_MODULES);
        let size = size_of::<ModuleRecord>();
        let bytes = Record::read(snapshot, shm::MODULES, count * size)?;
        let length = header.u32(offset_of!(Header, executable_len));
        let executable = header.text(offset_of!(Header, executable), length, shm::FILE_BYTES);
        let unknown = || Module { path: Site::UNKNOWN_MODULE.to_owned(), base: 0 };
        let module = |index: usize| {
            let record = bytes.part(index * size, size);
            if record.u32(offset_of!(ModuleRecord, ready)) == 0 {
                return unknown();
            }
            let length = record.u32(offset_of!(ModuleRecord, path_len));
            let path = match length {
                0 => executable.clone(),
                _ => record.text(offset_of!(ModuleRecord, path), length, shm::FILE_BYTES),
            };
            Module { path, base: record.u64(offset_of!(ModuleRecord, base)) }
        };
        Ok(Modules {
            named: (0..count).map(module).collect(),
            executable: Module { path: executable, base: header.u64(offset_of!(Header, load_base)) },
            unknown: unknown(),
        })
    }

    /// The module with this number, counted from 1. Hooks that are compiled into an executable name none; a collector that
    /// is loaded into it does (`named`), unless there are too many.
    fn of(&self, number: u32, named: bool) -> &Module {
        match (number as usize).checked_sub(1) {
            Some(index) => self.named.get(index).unwrap_or(&self.unknown),
            None if named => &self.unknown,
            None => &self.executable,
        }
    }
}

#[cfg(test)]
#[path = "sites_tests.rs"]
mod tests;
