//! Source lines of instructions, from the files that their code was mapped from.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use object::{Object, ObjectSegment};
use workspan_limits::program::{Mapped, Program};
use workspan_limits::Limits;
use workspan_report::limits::Place;
use workspan_report::shown::shown;
use workspan_symbols::{debug_file_candidates, is_debug_file_of, Executable};

/// The places of all instructions on critical paths. Of an instruction whose line is unknown, the file alone is shown.
pub fn places(found: &Limits, program: &Program) -> BTreeMap<u32, Place> {
    // Instructions by the mapping that they are in.
    let mut by_file: BTreeMap<&[u8], Vec<(u32, u64)>> = BTreeMap::new();
    let mut places = BTreeMap::new();
    let on_paths: BTreeSet<u32> = found.models.iter().flat_map(|model| &model.path).map(|step| step.op).collect();
    for id in on_paths {
        let Some(place) = program.place(id) else { continue };
        match program.file_of(place.address) {
            Some(file) => by_file.entry(&file.path).or_default().push((id, in_file(file, place.address))),
            None => drop(places.insert(id, Place { file: "[generated code]".to_owned(), ..Place::default() })),
        }
    }
    for (path, instructions) in by_file {
        let path = Path::new(OsStr::from_bytes(path));
        let unknown = Place { file: shown(&path.to_string_lossy()).into_owned(), ..Place::default() };
        places.extend(instructions.iter().map(|(id, _)| (*id, unknown.clone())));
        look_up(path, &instructions, &mut places);
    }
    places
}

/// The place of one instruction.
pub fn one(id: u32, program: &Program) -> Option<Place> {
    let place = program.place(id)?;
    let file = program.file_of(place.address)?;
    let path = Path::new(OsStr::from_bytes(&file.path));
    let unknown = Place { file: shown(&path.to_string_lossy()).into_owned(), ..Place::default() };
    let mut places = BTreeMap::from([(id, unknown)]);
    look_up(path, &[(id, in_file(file, place.address))], &mut places);
    places.remove(&id)
}

/// The bytes at an address of the program, as its file has them: an emulator that does not know an instruction does not
/// say how long it is.
pub fn code_at(program: &Program, address: u64) -> Option<Vec<u8>> {
    let file = program.file_of(address)?;
    let bytes = fs::read(Path::new(OsStr::from_bytes(&file.path))).ok()?;
    let from = usize::try_from(in_file(file, address)).ok()?;
    Some(bytes.get(from..)?.iter().take(15).copied().collect())
}

fn in_file(file: &Mapped, address: u64) -> u64 {
    address - file.from + file.offset
}

/// Fills in what the debug information and the symbols of a file say.
fn look_up(path: &Path, instructions: &[(u32, u64)], places: &mut BTreeMap<u32, Place>) {
    let Ok(bytes) = fs::read(path) else { return };
    let Ok(file) = object::File::parse(bytes.as_slice()) else { return };
    let address = |offset: u64| {
        file.segments().find_map(|segment| {
            let (from, len) = segment.file_range();
            (from..from.saturating_add(len)).contains(&offset).then(|| offset - from + segment.address())
        })
    };
    let debug = debug_file_candidates(path, &bytes);
    let debug = debug.iter().filter_map(|file| fs::read(file).ok()).find(|debug| is_debug_file_of(debug, &bytes));
    let executable = match &debug {
        Some(debug) => Executable::parse_with_debug_file(&bytes, debug),
        None => Executable::parse(&bytes),
    };
    let Ok(executable) = executable else { return };
    let lookup = executable.lookup();
    for (id, offset) in instructions {
        let Some(found) = address(*offset).map(|address| lookup.find(address)) else { continue };
        let Some(place) = places.get_mut(id) else { continue };
        // Names are somebody else's: no line of them may end early, nor anything in them be obeyed.
        place.function = found.function.or(found.symbol.map(|(name, _)| name)).map(|name| shown(&name).into_owned());
        if let Some(source) = found.places.first() {
            (place.file, place.line) = (shown(&source.file).into_owned(), source.line);
        }
    }
}
