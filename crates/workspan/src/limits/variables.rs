//! Variables at addresses: through which the values of a critical path pass.
//!
//! A file's data lies as far from its code in memory as in the file, so that the place of its code shows where its variables
//! are. Memory that belongs to no file is one thing, `[heap]`; what a file has no symbol for is `[data of FILE]`.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use object::{Object, ObjectSegment, ObjectSymbol, SymbolKind};
use workspan_limits::program::{Mapped, Program};
use workspan_limits::Limits;
use workspan_report::shown::shown;
use workspan_symbols::function_of_symbol;

/// The names of variables at all addresses on critical paths.
pub fn variables(found: &Limits, program: &Program) -> BTreeMap<u64, String> {
    let steps = found.models.iter().flat_map(|model| &model.path);
    let addresses: BTreeSet<u64> = steps.map(|step| step.address).filter(|address| *address != 0).collect();
    if addresses.is_empty() {
        return BTreeMap::new();
    }
    let mut seen = BTreeSet::new();
    let files = program.files().iter().filter(|file| seen.insert(&file.path));
    let files: Vec<Data> = files.filter_map(data).collect();
    let name = |address: u64| match files.iter().find(|file| file.memory.contains(&address)) {
        Some(file) => file.name(address),
        None => "[heap]".to_owned(),
    };
    addresses.into_iter().map(|address| (address, name(address))).collect()
}

/// The data of a file in memory.
struct Data {
    file: String,
    /// All of the file, code included.
    memory: Range<u64>,
    /// First address, address behind the last, and name; by first address.
    variables: Vec<(u64, u64, String)>,
}

impl Data {
    fn name(&self, address: u64) -> String {
        let behind = self.variables.partition_point(|(from, ..)| *from <= address);
        let found = self.variables[..behind].iter().rev().take(ALIASES).find(|(_, to, _)| address < *to);
        found.map_or_else(|| format!("[data of {}]", self.file), |(_, _, name)| name.clone())
    }
}

/// Symbols that may begin between a variable's first byte and one of its last: names of parts of it.
const ALIASES: usize = 8;

fn data(file: &Mapped) -> Option<Data> {
    let path = Path::new(OsStr::from_bytes(&file.path));
    let bytes = fs::read(path).ok()?;
    let object = object::File::parse(bytes.as_slice()).ok()?;
    // What must be added to an address of the file; mappings begin with a page, segments anywhere in it.
    let moved = object.segments().find_map(|segment| {
        let (from, len) = segment.file_range();
        let page = from & !(segment.align().max(1) - 1).min(0xffff);
        (page..from.saturating_add(len))
            .contains(&file.offset)
            .then(|| file.from.wrapping_sub(segment.address().wrapping_add(file.offset).wrapping_sub(from)))
    })?;
    let of = |address: u64| address.wrapping_add(moved);
    let from = object.segments().map(|segment| segment.address()).min()?;
    let to = object.segments().map(|segment| segment.address().saturating_add(segment.size())).max()?;
    let mut variables: Vec<(u64, u64, String)> = object
        .symbols()
        .chain(object.dynamic_symbols())
        .filter(|symbol| symbol.kind() == SymbolKind::Data && symbol.is_definition() && symbol.size() > 0)
        .filter_map(|symbol| {
            let from = of(symbol.address());
            Some((from, from.saturating_add(symbol.size()), readable(symbol.name().ok()?)))
        })
        .collect();
    variables.sort_unstable();
    let file = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Some(Data { file: shown(&file).into_owned(), memory: of(from)..of(to), variables })
}

/// As in the source: without versions, without the number of a static variable in a function, and demangled.
fn readable(symbol: &str) -> String {
    let name = symbol.split('@').next().unwrap_or(symbol);
    let name = match name.rsplit_once('.') {
        Some((name, number)) if !name.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => name,
    };
    shown(&function_of_symbol(name).unwrap_or_else(|| name.to_owned())).into_owned()
}

#[cfg(test)]
mod tests {
    use super::readable;

    #[test]
    fn names_are_those_of_the_source() {
        for (symbol, name) in [
            ("seed", "seed"),
            ("a.0", "a"),
            (".hidden", ".hidden"),
            ("stdout@@GLIBC_2.2.5", "stdout"),
            ("_ZN4prog4SEED17h0123456789abcdefE", "prog::SEED"),
        ] {
            assert_eq!(readable(symbol), name);
        }
    }
}
