//! What an ELF file says to the dynamic loader. Only the parts that are needed are read.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use nix::errno::Errno;
use object::elf::{self, DynamicTag, DT_NEEDED, DT_NULL, DT_RPATH, DT_RUNPATH, DT_STRSZ, DT_STRTAB};
use object::read::elf::{Dyn, FileHeader, ProgramHeader};
use object::read::{FileKind, ReadCache, ReadRef};
use object::{Endianness, Object, ObjectSection, ObjectSymbol, StringTable};

/// The dynamic section of an executable or a library.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dynamic {
    /// Libraries to load, by name.
    pub needed: Vec<String>,
    /// Where to look for them first, if there is no [`Dynamic::runpath`].
    pub rpath: Vec<String>,
    /// Where to look for them.
    pub runpath: Vec<String>,
    /// The file is loaded by a loader: it is a library, or an executable that is not static.
    pub is_dynamic: bool,
    /// Processor and word size: files of others are not for this program.
    pub machine: (u16, bool),
}

/// Reads the dynamic section of a file; `None` if it is no ELF file that makes sense, or cannot be read.
pub fn dynamic(path: &Path) -> Option<Dynamic> {
    try_dynamic(path).ok().flatten()
}

/// The same where it matters why a file cannot be read: an error if the system has no means left to open files.
pub fn try_dynamic(path: &Path) -> io::Result<Option<Dynamic>> {
    match File::open(path) {
        Ok(file) => Ok(parse(file)),
        Err(error) => match error.raw_os_error().map(Errno::from_raw) {
            Some(Errno::EMFILE | Errno::ENFILE | Errno::ENOMEM) => Err(error),
            _ => Ok(None),
        },
    }
}

fn parse(file: File) -> Option<Dynamic> {
    let cache = ReadCache::new(file);
    match FileKind::parse(&cache).ok()? {
        FileKind::Elf64 => read::<elf::FileHeader64<Endianness>, _>(&cache),
        FileKind::Elf32 => read::<elf::FileHeader32<Endianness>, _>(&cache),
        _ => None,
    }
}

fn read<'d, Elf: FileHeader<Endian = Endianness>, R: ReadRef<'d>>(data: R) -> Option<Dynamic> {
    let header = Elf::parse(data).ok()?;
    let endian = header.endian().ok()?;
    let segments = header.program_headers(endian, data).ok()?;
    let machine = (header.e_machine(endian).0, header.is_type_64());
    let mut found = Dynamic { machine, ..Dynamic::default() };
    let Some(entries) = segments.iter().find_map(|segment| segment.dynamic(endian, data).ok()?) else {
        return Some(found);
    };
    found.is_dynamic = true;
    let entries: Vec<(DynamicTag, u64)> = entries
        .iter()
        .map(|entry| (entry.tag(endian), entry.val(endian)))
        .take_while(|(tag, _)| *tag != DT_NULL)
        .collect();
    let value = |wanted: DynamicTag| entries.iter().find(|(tag, _)| *tag == wanted).map(|(_, value)| *value);
    let (at, size) = (value(DT_STRTAB)?, value(DT_STRSZ)?);
    // Not by the segment's data, which would all be read: it may be most of the file.
    let table = segments.iter().find_map(|segment| {
        let inside = at.checked_sub(segment.p_vaddr(endian).into())?;
        let all: u64 = segment.p_filesz(endian).into();
        let offset: u64 = segment.p_offset(endian).into();
        let holds = segment.p_type(endian) == elf::PT_LOAD && inside.checked_add(size)? <= all;
        holds.then(|| data.read_bytes_at(offset.checked_add(inside)?, size).ok()).flatten()
    })?;
    let strings = StringTable::new(table, 0, table.len() as u64);
    let text = |offset: u64| {
        let text = strings.get(u32::try_from(offset).ok()?).ok()?;
        Some(String::from_utf8_lossy(text).into_owned())
    };
    let folders = |offset: u64| {
        let text = text(offset).unwrap_or_default();
        text.split(':').filter(|folder| !folder.is_empty()).map(str::to_owned).collect::<Vec<_>>()
    };
    for (tag, value) in entries.iter().copied() {
        match tag {
            DT_NEEDED => found.needed.extend(text(value)),
            DT_RPATH => found.rpath = folders(value),
            DT_RUNPATH => found.runpath = folders(value),
            _ => {}
        }
    }
    Some(found)
}

/// Which of some symbols a file defines, for others or for itself.
pub fn defines(path: &Path, symbols: &[&str]) -> Vec<bool> {
    let defined = |file: &object::File<'_>| {
        among(file.dynamic_symbols().chain(file.symbols()).filter(ObjectSymbol::is_definition), symbols)
    };
    answer(path, true, symbols, defined)
}

/// True if these bytes are among the constants of a file. False for one that cannot be read.
pub fn has_constant(path: &Path, wanted: &[u8]) -> bool {
    let Ok(bytes) = fs::read(path) else { return false };
    let Ok(file) = object::File::parse(&*bytes) else { return false };
    let constants = file.section_by_name(".rodata").and_then(|section| section.data().ok()).unwrap_or_default();
    constants.windows(wanted.len()).any(|part| part == wanted)
}

/// True if a file calls one of these functions of others. False for one that cannot be read.
pub fn calls(path: &Path, functions: &[&str]) -> bool {
    let called = |file: &object::File<'_>| among(file.dynamic_symbols().filter(ObjectSymbol::is_undefined), functions);
    answer(path, false, functions, called).contains(&true)
}

/// Which of `names` are those of symbols.
fn among<'d>(symbols: impl Iterator<Item = impl ObjectSymbol<'d>>, names: &[&str]) -> Vec<bool> {
    let mut found = vec![false; names.len()];
    for name in symbols.filter_map(|symbol| symbol.name_bytes().ok()) {
        if let Some(at) = names.iter().position(|wanted| wanted.as_bytes() == name) {
            found[at] = true;
        }
    }
    found
}

/// A question about a file: its path, size and time of change; whether it is about definitions; the names.
type Question = (PathBuf, u64, Option<SystemTime>, bool, Vec<String>);

/// What a question about a file is answered, once: every runtime looks at the same libraries, which may be large.
fn answer(path: &Path, defined: bool, names: &[&str], ask: impl FnOnce(&object::File<'_>) -> Vec<bool>) -> Vec<bool> {
    static KNOWN: Mutex<BTreeMap<Question, Vec<bool>>> = Mutex::new(BTreeMap::new());
    let none = || vec![false; names.len()];
    let Ok(about) = fs::metadata(path) else { return none() };
    let names = names.iter().map(|name| (*name).to_owned()).collect();
    let question: Question = (path.to_owned(), about.len(), about.modified().ok(), defined, names);
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(answer) = known().get(&question) {
        return answer.clone();
    }
    // Names are everywhere in it: to read it at once is faster than piece by piece.
    let Ok(bytes) = fs::read(path) else { return none() };
    let answer = object::File::parse(&*bytes).map_or_else(|_| none(), |file| ask(&file));
    known().insert(question, answer.clone());
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ourselves() {
        let here = std::env::current_exe().expect("we run");
        let found = dynamic(&here).expect("we are an ELF file");
        assert_ne!(found.is_dynamic, found.needed.is_empty());
        assert_eq!(defines(&here, &["main", "no such function"]), [true, false]);
        // Behind a black box, as compilers put short constants that they see through into instructions.
        let wanted: &[u8] = std::hint::black_box(b"what is in this program");
        assert!(has_constant(&here, wanted));
        // Made here: as an array, it would be a constant of this file.
        assert!(!has_constant(&here, &vec![0xd3; std::hint::black_box(77)]));
    }

    #[test]
    fn files_that_are_none() {
        assert_eq!(dynamic(Path::new("/none")), None);
        assert_eq!(dynamic(Path::new("/proc/self/cmdline")), None);
        assert_eq!(dynamic(Path::new("/")), None);
        assert_eq!(defines(Path::new("/none"), &["main"]), [false]);
    }
}
