//! Where a C++ program waits by code of headers that nobody sees unless it blocks: latches, barriers, semaphores and `wait` of atomics
//! of the standard library, locks of oneTBB's; and its own loops that spin.
//!
//! Headers put all of it into the program. What it calls, should it have to wait, are `syscall` and `sched_yield`, and what it spins with
//! is `pause`: so each place has one of these, and debug information says which header it comes from and which line of the
//! program has it.
//!
//! x86-64 only.

use std::collections::BTreeMap;

use object::read::elf::ElfFile64;
use object::{Architecture, Object, ObjectSection, ObjectSymbol, ObjectSymbolTable, RelocationTarget, SectionKind};

use workspan_model::UnseenLock;

use crate::call_sites::calls_of;
use crate::files::{below, seen_from};
use crate::lookup::Lookup;
use crate::symbolise::Module;

/// What is in the headers of this name, by the folder that they lie in.
const KINDS: [(&str, &[&str], &str); 11] = [
    ("/c++/", &["latch"], "std::latch"),
    ("/c++/", &["barrier"], "std::barrier"),
    ("/c++/", &["semaphore", "semaphore_base.h"], "std::counting_semaphore"),
    ("/c++/", &["atomic", "atomic_base.h"], "std::atomic::wait"),
    ("/tbb/", &["concurrent_hash_map.h"], "tbb::concurrent_hash_map"),
    ("/tbb/", &["spin_mutex.h"], "tbb::spin_mutex"),
    ("/tbb/", &["spin_rw_mutex.h"], "tbb::spin_rw_mutex"),
    ("/tbb/", &["mutex.h"], "tbb::mutex"),
    ("/tbb/", &["rw_mutex.h"], "tbb::rw_mutex"),
    ("/tbb/", &["queuing_mutex.h"], "tbb::queuing_mutex"),
    ("/tbb/", &["queuing_rw_mutex.h"], "tbb::queuing_rw_mutex"),
];

/// Headers that lock whatever they are given.
const GUARDS: [&str; 5] = ["_scoped_lock.h", "std_mutex.h", "unique_lock.h", "mutex", "scoped_lock.h"];

/// A loop of the program's own.
const SPINS: &str = "a loop that spins";

/// Functions of headers that are in one another, at most, where nothing is inlined.
const DEEPEST: usize = 12;
/// Bytes of a loop that spins.
const LOOP: u8 = 64;

/// True for files of the compiler's and the libraries' headers, and of Rust's libraries.
fn is_header(file: &str) -> bool {
    const FOLDERS: [&str; 8] = [
        "/include/c++/",
        "/c++/v1/",
        "/include/tbb/",
        "/oneapi/tbb/",
        "/usr/include/",
        "library/std/",
        "library/core/",
        "library/alloc/",
    ];
    is_instruction(file) || FOLDERS.iter().any(|folder| file.contains(folder))
}

/// True for files in which functions stand for instructions.
fn is_instruction(file: &str) -> bool {
    ["/lib/gcc/", "/lib/clang/", "library/core/src/hint.rs"].iter().any(|folder| file.contains(folder))
}

/// What a place in these files, the innermost first, waits with.
fn kind_of<'f>(files: impl DoubleEndedIterator<Item = &'f str>) -> Option<&'static str> {
    let name = |file: &'f str| file.rsplit('/').next().unwrap_or(file);
    let outermost = files.rev().find(|file| !GUARDS.contains(&name(file)))?;
    let is =
        |(folder, names, _): &&(&str, &[&str], &str)| outermost.contains(folder) && names.contains(&name(outermost));
    KINDS.iter().find(is).map(|(_, _, kind)| *kind)
}

/// The lines of the program that wait so, each once for each kind.
pub(crate) fn header_waits(
    module: &Module<'_>,
    lookup: &Lookup<'_>,
    functions: impl Fn(u64) -> Option<u64>,
    directory: &str,
) -> Vec<UnseenLock> {
    let mut found = Vec::new();
    let mut add = |kind: &str, file: &str, line: u32| {
        let file = seen_from(directory, &below(None, file));
        // Whatever spins in a library does so for its own purposes.
        if kind != SPINS || !file.starts_with('/') {
            found.push(UnseenLock { lock: kind.to_owned(), file, line });
        }
    };
    let Ok(program) = ElfFile64::<object::Endianness>::parse(module.bytes) else { return Vec::new() };
    if program.architecture() != Architecture::X86_64 {
        return Vec::new();
    }
    let slots = slots(&program);
    let stubs = stubs(&program, &slots);
    let mut at = calls_of(module.bytes, &stubs, &slots);
    at.extend(pauses(&program).into_iter().map(|at| (at, SPINS)));
    for _ in 0..DEEPEST {
        let mut around = BTreeMap::new();
        for (address, kind) in at.into_iter().filter(|(address, _)| !lookup.is_of_standard_library(*address)) {
            let places = lookup.find(address).places;
            let headers = places.iter().take_while(|place| is_header(&place.file)).count();
            let files = || places[..headers].iter().map(|place| place.file.as_str());
            let here = match kind {
                SPINS if files().all(is_instruction) => Some(SPINS),
                _ => kind_of(files()),
            };
            match places.get(headers) {
                Some(place) if headers > 0 => {
                    if let Some(kind) = here {
                        add(kind, &place.file, place.line);
                    }
                }
                Some(place) if !kind.is_empty() => add(kind, &place.file, place.line),
                None if headers > 0 => {
                    around.extend(functions(address).map(|function| (function, here.unwrap_or(""))));
                }
                Some(_) | None => {}
            }
        }
        if around.is_empty() {
            break;
        }
        at = calls_of(module.bytes, &around, &BTreeMap::new());
    }
    found.sort();
    found.dedup();
    found
}

/// Where the program keeps the addresses of what it calls.
fn slots(program: &ElfFile64<'_, object::Endianness>) -> BTreeMap<u64, &'static str> {
    let Some(symbols) = program.dynamic_symbol_table() else { return BTreeMap::new() };
    let wanted = |target| match target {
        RelocationTarget::Symbol(index) => symbols.symbol_by_index(index).ok().and_then(|symbol| symbol.name().ok()),
        _ => None,
    };
    let is_wanted = |name: &str| matches!(name, "syscall" | "sched_yield");
    let relocations = program.dynamic_relocations().into_iter().flatten();
    relocations
        .filter(|(_, relocation)| wanted(relocation.target()).is_some_and(is_wanted))
        .map(|(slot, _)| (slot, ""))
        .collect()
}

/// The code by which it calls them.
fn stubs(
    program: &ElfFile64<'_, object::Endianness>,
    slots: &BTreeMap<u64, &'static str>,
) -> BTreeMap<u64, &'static str> {
    let mut stubs = BTreeMap::new();
    for section in program.sections().filter(|section| section.name().is_ok_and(|name| name.starts_with(".plt"))) {
        let Ok(code) = section.data() else { continue };
        for (at, window) in code.windows(6).enumerate() {
            let here = section.address().wrapping_add(at as u64);
            let relative = i32::from_le_bytes([window[2], window[3], window[4], window[5]]);
            let slot = here.wrapping_add(6).wrapping_add_signed(i64::from(relative));
            if window.starts_with(&[0xff, 0x25]) && slots.contains_key(&slot) {
                // Stubs of 16 bytes may begin with a mark for where calls may lead.
                stubs.insert(here & !15, "");
                stubs.insert(here, "");
            }
        }
    }
    stubs
}

/// Instructions `pause` in short loops.
fn pauses(program: &ElfFile64<'_, object::Endianness>) -> Vec<u64> {
    let mut found = Vec::new();
    for section in program.sections().filter(|section| section.kind() == SectionKind::Text) {
        let Ok(code) = section.data() else { continue };
        for at in memchr::memmem::find_iter(code, &[0xf3, 0x90]) {
            let behind = &code[at + 2..code.len().min(at + 2 + usize::from(LOOP))];
            let leads_back = |(from, window): (usize, &[u8])| {
                let [0xeb | 0x70..=0x7f, to] = window else { return false };
                let to = from as i64 + 2 + i64::from(*to as i8);
                (-i64::from(LOOP)..=-2).contains(&to)
            };
            if behind.windows(2).enumerate().any(leads_back) {
                found.push(section.address().wrapping_add(at as u64));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outermost_header_says_what_is_waited_for() {
        let of = |files: &[&str]| kind_of(files.iter().copied());
        let wait = "/usr/include/c++/12/bits/atomic_wait.h";
        assert_eq!(of(&[wait, "/usr/include/c++/12/latch"]), Some("std::latch"));
        assert_eq!(
            of(&[wait, "/usr/include/c++/12/bits/semaphore_base.h", "/usr/include/c++/12/semaphore"]),
            Some("std::counting_semaphore")
        );
        assert_eq!(of(&[wait]), None);
        assert_eq!(of(&[wait, "/usr/include/c++/12/stop_token"]), None);
        let spin = "/usr/include/oneapi/tbb/spin_mutex.h";
        assert_eq!(of(&["/usr/include/oneapi/tbb/detail/_utils.h", spin]), Some("tbb::spin_mutex"));
        assert_eq!(of(&[spin, "/usr/include/oneapi/tbb/detail/_scoped_lock.h"]), Some("tbb::spin_mutex"));
        assert_eq!(of(&[spin, "/usr/include/c++/12/bits/std_mutex.h"]), Some("tbb::spin_mutex"));
        assert_eq!(of(&[spin, "/usr/include/oneapi/tbb/flow_graph.h"]), None);
        assert_eq!(of(&["/usr/include/oneapi/tbb/mutex.h"]), Some("tbb::mutex"));
        assert!(is_header("/usr/lib/gcc/x86_64-linux-gnu/12/include/xmmintrin.h") && !is_header("src/tbb/main.cpp"));
    }
}
