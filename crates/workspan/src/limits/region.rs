//! The region of interest: how it is requested, and where its functions begin.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use object::{Object, ObjectSegment, ObjectSymbol};
use workspan_limits::program::Mapped;
use workspan_limits::roi::{Region, Wanted, Watch};
use workspan_limits::stream::{Functions, LookUp};
use workspan_symbols::function_of_symbol;

/// What `--roi` names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Requested {
    /// Instructions with these numbers, the last excluded.
    Count(u64, u64),
    /// All calls of these functions.
    Functions(Vec<String>),
    /// From `workspan_roi_begin` to `workspan_roi_end`.
    Marks,
}

/// The functions that mark a region.
pub const MARKS: [&str; 2] = ["workspan_roi_begin", "workspan_roi_end"];

/// The functions of an allocator.
const ALLOCATORS: &[&str] = &[
    "malloc",
    "free",
    "calloc",
    "realloc",
    "reallocarray",
    "memalign",
    "aligned_alloc",
    "posix_memalign",
    "cfree",
    "_Znwm",
    "_Znam",
    "_ZdlPv",
    "_ZdaPv",
    "_ZdlPvm",
    "_ZdaPvm",
    "__rust_alloc",
    "__rust_dealloc",
    "__rust_realloc",
];

impl Requested {
    /// Reads `FROM..TO`, `marks`, or names of functions with commas between them.
    pub fn parse(text: &str) -> Result<Requested, String> {
        if text == "marks" {
            return Ok(Requested::Marks);
        }
        if let Some((from, to)) = text.split_once("..") {
            let number = |text: &str, default: u64| match text.replace('_', "") {
                text if text.is_empty() => Ok(default),
                text => text.parse::<u64>().map_err(|_| format!("`{text}` is no number of instructions")),
            };
            let (from, to) = (number(from, 0)?, number(to, u64::MAX)?);
            return match from < to {
                true => Ok(Requested::Count(from, to)),
                false => Err(format!("no instruction lies between {from} and {to}")),
            };
        }
        let names: Vec<String> =
            text.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect();
        match names.is_empty() {
            true => Err("name functions, `FROM..TO`, or `marks`".to_owned()),
            false => Ok(Requested::Functions(names)),
        }
    }

    /// In words.
    pub fn text(&self) -> String {
        match self {
            Requested::Count(from, u64::MAX) => format!("instructions from number {from} on"),
            Requested::Count(from, to) => format!("instructions {from} to {to}"),
            Requested::Functions(names) => format!("calls of {}", names.join(", ")),
            Requested::Marks => format!("from {} to {}", MARKS[0], MARKS[1]),
        }
    }
}

/// A watch for what is requested.
pub fn watch(requested: Option<&Requested>) -> Watch {
    Watch::new(match requested {
        None => Wanted::Everything,
        Some(Requested::Count(from, to)) => Wanted::Count(*from, *to),
        Some(Requested::Functions(_)) => Wanted::Functions,
        Some(Requested::Marks) => Wanted::Marks,
    })
}

/// Finds functions in files.
pub fn look_up(requested: Option<&Requested>) -> LookUp {
    let requested = requested.cloned();
    Box::new(move |file| functions(file, requested.as_ref()).unwrap_or_default())
}

fn functions(file: &Mapped, requested: Option<&Requested>) -> Option<Functions> {
    let bytes = fs::read(Path::new(OsStr::from_bytes(&file.path))).ok()?;
    let object = object::File::parse(bytes.as_slice()).ok()?;
    // From an address in the file to one in memory.
    let place = |address: u64| {
        let offset = object.segments().find_map(|segment| {
            let (from, len) = segment.file_range();
            let inside = address.checked_sub(segment.address()).filter(|inside| *inside < len)?;
            Some(from + inside)
        })?;
        let address = file.from.checked_add(offset.checked_sub(file.offset)?)?;
        (address < file.to).then_some(address)
    };
    let mut found = Functions::default();
    for symbol in object.symbols().chain(object.dynamic_symbols()).filter(|symbol| symbol.is_definition()) {
        let Ok(name) = symbol.name() else { continue };
        // Dynamic symbols may have a version.
        let name = name.split('@').next().unwrap_or(name);
        let Some(address) = place(symbol.address()) else { continue };
        if ALLOCATORS.contains(&name) {
            found.allocators.push(address);
        }
        let Region { functions, begins, ends } = &mut found.region;
        match requested {
            Some(Requested::Functions(names)) => {
                let is =
                    |wanted: &String| wanted == name || function_of_symbol(name).is_some_and(|name| name == *wanted);
                if names.iter().any(is) {
                    functions.push(address);
                }
            }
            Some(Requested::Marks) if name == MARKS[0] => begins.push(address),
            Some(Requested::Marks) if name == MARKS[1] => ends.push(address),
            _ => {}
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::Requested;

    #[test]
    fn what_may_be_requested() {
        assert_eq!(Requested::parse("1_000..2000"), Ok(Requested::Count(1000, 2000)));
        assert_eq!(Requested::parse("10.."), Ok(Requested::Count(10, u64::MAX)));
        assert_eq!(Requested::parse("f, g"), Ok(Requested::Functions(vec!["f".to_owned(), "g".to_owned()])));
        assert_eq!(Requested::parse("marks"), Ok(Requested::Marks));
        for bad in ["", "5..5", "a..b", ","] {
            assert!(Requested::parse(bad).is_err(), "{bad}");
        }
    }
}
