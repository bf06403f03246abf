//! Where a program takes locks, or waits, so that nobody sees it unless it blocks: in Rust; for C++ see [`super::header_waits`].
//!
//! Of `std::sync::Mutex` and its kin the compiler puts the attempt to take a lock that is free into the caller: one instruction. Only
//! where the lock is held does that call a function of the library. So each place that takes such a lock has a call of that
//! function, directly or by the table of addresses (GOT), and debug information names its line.
//!
//! x86-64 only.

use std::collections::BTreeMap;

use object::read::elf::ElfFile64;
use object::{Architecture, Object, ObjectSection, ObjectSymbol, RelocationFlags, RelocationTarget};

use workspan_model::UnseenLock;

use crate::call_sites::calls_of;
use crate::files::{below, seen_from};
use crate::header_waits::header_waits;
use crate::symbolise::Module;

/// What a symbol says of a function that waits for a lock: its module and name, both forms of mangling alike; and the lock.
const WAITING: [(&str, &str, &str); 10] = [
    ("5mutex5futex", "5Mutex14lock_contended", "std::sync::Mutex"),
    ("6rwlock5futex", "6RwLock14read_contended", "std::sync::RwLock"),
    ("6rwlock5futex", "6RwLock15write_contended", "std::sync::RwLock"),
    ("3std6thread", "4park", "std::thread::park"),
    ("3std6thread", "12park_timeout", "std::thread::park"),
    ("11parking_lot9raw_mutex", "8RawMutex9lock_slow", "parking_lot::Mutex"),
    ("11parking_lot10raw_rwlock", "9RawRwLock16lock_shared_slow", "parking_lot::RwLock"),
    ("11parking_lot10raw_rwlock", "9RawRwLock19lock_exclusive_slow", "parking_lot::RwLock"),
    ("11parking_lot10raw_rwlock", "9RawRwLock20lock_upgradable_slow", "parking_lot::RwLock"),
    ("11parking_lot10raw_rwlock", "9RawRwLock12upgrade_slow", "parking_lot::RwLock"),
];

/// Places that are reported, at most.
const MOST: usize = 64;

/// Functions of the library that are in one another, at most, where nothing is inlined.
const DEEPEST: usize = 6;

/// Where the program's own code, or that of its dependencies, takes such locks: each line once, the program's own first. Files below
/// `directory` are named from there. Nothing where there is no debug information.
pub fn unseen_locks(module: &Module<'_>, directory: &str) -> Vec<UnseenLock> {
    let Ok(executable) = module.parse() else { return Vec::new() };
    let mut functions = waiting(module.debug_file.unwrap_or(module.bytes));
    let lookup = executable.lookup();
    let symbols = executable.symbols();
    let function = |address| symbols.at(address).map(|function| function.address);
    let others = header_waits(module, &lookup, function, directory);
    let mut found: Vec<(bool, UnseenLock)> =
        others.into_iter().map(|lock| (lock.file.starts_with('/'), lock)).collect();
    for _ in 0..DEEPEST {
        let mut around = BTreeMap::new();
        let calls = calls(module.bytes, &functions);
        for (address, lock) in calls.into_iter().filter(|(address, _)| !lookup.is_of_standard_library(*address)) {
            let places = lookup.find(address).places;
            match places.iter().find(|place| !is_of_lock(&place.file)) {
                Some(place) if is_users(&place.file) => {
                    let file = seen_from(directory, &below(None, &place.file));
                    let of_program = !file.starts_with('/');
                    found.push((!of_program, UnseenLock { lock: lock.to_owned(), file, line: place.line }));
                }
                Some(_) => {}
                // In a function of the lock's own that is not inlined: who calls that takes the lock.
                None if !places.is_empty() => {
                    around.extend(symbols.at(address).map(|function| (function.address, lock)));
                }
                None => {}
            }
        }
        if around.is_empty() {
            break;
        }
        functions = around;
    }
    found.sort();
    found.dedup();
    found.into_iter().map(|(_, lock)| lock).take(MOST).collect()
}

/// True for files of locks themselves, inlined where they are taken.
fn is_of_lock(file: &str) -> bool {
    let of_std = file.contains("library/std/src/")
        && (file.contains("/mutex") || file.contains("/rwlock") || file.contains("/poison"));
    of_std
        || file.contains("library/core/src/")
        || file.split('/').any(|part| is_version_of(part, &["lock_api", "parking_lot"]))
}

/// True for files that are neither Rust's own libraries nor rayon's or its channels', which wait for their own purposes.
fn is_users(file: &str) -> bool {
    const LIBRARIES: &[&str] =
        &["rayon", "rayon-core", "crossbeam", "crossbeam-channel", "crossbeam-utils", "crossbeam-epoch"];
    let rust = ["library/std/src/", "library/core/src/", "library/alloc/src/"];
    !rust.iter().any(|folder| file.contains(folder)) && !file.split('/').any(|part| is_version_of(part, LIBRARIES))
}

/// True for the folder of one of these crates, such as `rayon-1.12.0`.
fn is_version_of(folder: &str, crates: &[&str]) -> bool {
    let version = |name: &&str| {
        let rest = folder.strip_prefix(*name).and_then(|rest| rest.strip_prefix('-'));
        rest.is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
    };
    crates.iter().any(version)
}

/// Functions that wait for a lock, by address.
fn waiting(with_symbols: &[u8]) -> BTreeMap<u64, &'static str> {
    let Ok(file) = object::File::parse(with_symbols) else { return BTreeMap::new() };
    if file.architecture() != Architecture::X86_64 {
        return BTreeMap::new();
    }
    let lock = |name: &str| {
        let of = |(module, function, _): &&(&str, &str, &str)| {
            name.contains(module)
                && name.rsplit_once(function).is_some_and(|(_, rest)| rest.is_empty() || rest.starts_with("17h"))
        };
        WAITING.iter().find(of).map(|(_, _, lock)| *lock)
    };
    let symbols = file.symbols().filter(|symbol| symbol.is_definition());
    symbols.filter_map(|symbol| Some((symbol.address(), lock(symbol.name().ok()?)?))).collect()
}

/// The calls of these functions, in order.
fn calls(bytes: &[u8], functions: &BTreeMap<u64, &'static str>) -> Vec<(u64, &'static str)> {
    calls_of(bytes, functions, &slots(bytes, functions))
}

/// Where addresses of these functions are kept.
fn slots(bytes: &[u8], functions: &BTreeMap<u64, &'static str>) -> BTreeMap<u64, &'static str> {
    let mut slots = BTreeMap::new();
    let Ok(file) = ElfFile64::<object::Endianness>::parse(bytes) else { return slots };
    // Of a program that may be loaded anywhere the loader fills the table; otherwise it is there.
    for (slot, relocation) in file.dynamic_relocations().into_iter().flatten() {
        let is_relative = matches!(relocation.flags(), RelocationFlags::Elf { r_type: object::elf::R_X86_64_RELATIVE })
            && matches!(relocation.target(), RelocationTarget::Absolute);
        let function = u64::try_from(relocation.addend()).ok().filter(|_| is_relative);
        if let Some(lock) = function.and_then(|function| functions.get(&function)) {
            slots.insert(slot, *lock);
        }
    }
    for section in file.sections().filter(|section| section.name().is_ok_and(|name| name.starts_with(".got"))) {
        let words = section.data().unwrap_or_default().chunks_exact(8);
        for (slot, word) in (section.address()..).step_by(8).zip(words) {
            let function = u64::from_le_bytes(word.try_into().unwrap_or_default());
            if let Some(lock) = functions.get(&function) {
                slots.insert(slot, *lock);
            }
        }
    }
    slots
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_found_in_all_forms() {
        assert!(calls(b"no program", &BTreeMap::from([(1, "a lock")])).is_empty());
        assert!(waiting(b"no program").is_empty());
    }

    #[test]
    fn files_of_libraries_are_not_the_users() {
        assert!(is_of_lock("/rustc/0123/library/std/src/sync/poison/mutex.rs"));
        assert!(is_of_lock("/rustc/0123/library/std/src/sys/sync/rwlock/futex.rs"));
        assert!(is_of_lock("/c/registry/src/i/lock_api-0.4.12/src/mutex.rs"));
        assert!(!is_of_lock("/rustc/0123/library/std/src/sync/mpmc/waker.rs"));
        for file in [
            "/rustc/0123/library/std/src/sync/poison/mutex.rs",
            "/p/target/workspan/instrumented/rayon-1.12.0/src/iter/mod.rs",
            "/c/registry/src/i/rayon-core-1.13.0/src/sleep/mod.rs",
            "/c/registry/src/i/crossbeam-channel-0.5.15/src/waker.rs",
        ] {
            assert!(!is_users(file), "{file}");
        }
        for file in [
            "src/main.rs",
            "/c/registry/src/i/dashmap-6.1.0/src/lib.rs",
            "/c/registry/src/i/rayon-hash-0.1.0/src/lib.rs",
        ] {
            assert!(is_users(file), "{file}");
        }
    }
}
