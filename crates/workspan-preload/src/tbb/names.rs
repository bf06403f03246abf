//! Whether code is of oneTBB's headers, or the standard library's, rather than the program's own: by the symbol of its
//! function.
//!
//! Templates are compiled into the program, so the call of an entry point comes from one of them where the compiler did not
//! inline it. The debug information that would say it is for the runner to read, but how far up the stack to look has to be
//! known here. A stripped program has those of templates that it shares with libraries, which are nearly all that are not inlined;
//! one without symbols is taken to be all its own.
//!
//! **Cost**: a pass over the symbols of the file for each address, once for each place of the program.

use core::ffi::{c_char, c_int, c_long, c_void};
use core::mem::size_of;
use core::ptr;
use core::slice;
use core::sync::atomic::{AtomicU64, Ordering};

use workspan_collect::platform;

/// True if the code at `address` is of a function of the headers.
pub fn is_of_headers(address: u64) -> bool {
    let Some(module) = platform::module_of(address) else { return false };
    if ["libstdc++.so", "libc++.so"]
        .iter()
        .any(|name| module.path.windows(name.len()).any(|part| part == name.as_bytes()))
    {
        return true;
    }
    let Some(file) = File::open(module.path) else { return false };
    let name = file.symbol_at(address.wrapping_sub(module.base));
    name.is_some_and(in_headers)
}

/// The same of a function's own address, which is needed whenever a thread begins with it: what is known is kept.
pub fn is_function_of_headers(function: u64) -> bool {
    static KNOWN: [AtomicU64; 64] = [const { AtomicU64::new(0) }; 64];
    let slot = &KNOWN[(function >> 4) as usize % KNOWN.len()];
    let known = slot.load(Ordering::Relaxed);
    if known >> 1 == function {
        return known & 1 != 0;
    }
    let found = is_of_headers(function);
    slot.store(function << 1 | u64::from(found), Ordering::Relaxed);
    found
}

/// True for the mangled names of functions in the namespaces of oneTBB and the standard libraries, and of what is local to
/// these.
fn in_headers(name: &[u8]) -> bool {
    if let Some(rest) = name.strip_prefix(b"_R") {
        return first_crate(rest).is_some_and(|name| [&b"std"[..], b"core", b"alloc"].contains(&name));
    }
    let Some(rest) = name.strip_prefix(b"_Z") else { return false };
    let rest = without_thunk(rest);
    let nested = rest.iter().take_while(|byte| matches!(byte, b'Z' | b'N' | b'K' | b'L')).count();
    let spaces: [&[u8]; 6] = [b"3tbb", b"St", b"6__pstl", b"4pstl", b"9__gnu_cxx", b"3std"];
    let Some(rest) = rest.get(nested..) else { return false };
    // What gcc's library has between itself and pthreads.
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    rest[digits..].starts_with(b"__gthread") || spaces.iter().any(|space| rest.starts_with(space))
}

/// What is behind the mark of a function that corrects the object's address first: `Th` or `Tv`, and distances, each with `_` behind it.
fn without_thunk(name: &[u8]) -> &[u8] {
    let distances = match name {
        [b'T', b'h', ..] => 1,
        [b'T', b'v', ..] => 2,
        _ => return name,
    };
    let ends = name.iter().enumerate().filter(|(_, byte)| **byte == b'_').map(|(at, _)| at);
    ends.take(distances).last().map_or(name, |end| &name[end + 1..])
}

/// The crate that comes first in a name as Rust's compiler mangles them: `C`, `s`, a number in letters, `_`, a length, a name.
fn first_crate(name: &[u8]) -> Option<&[u8]> {
    let at = name.windows(2).position(|pair| pair == b"Cs")? + 2;
    let rest = name.get(at..)?;
    let rest = rest.get(rest.iter().position(|byte| *byte == b'_')? + 1..)?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let length = rest[..digits].iter().fold(0usize, |sum, digit| sum.wrapping_mul(10) + usize::from(digit - b'0'));
    rest.get(digits..)?.get(..length)
}

extern "C" {
    fn open(path: *const c_char, flags: c_int, ...) -> c_int;
    fn close(file: c_int) -> c_int;
    fn lseek(file: c_int, offset: c_long, whence: c_int) -> c_long;
    fn mmap(at: *mut c_void, length: usize, access: c_int, flags: c_int, file: c_int, offset: c_long) -> *mut c_void;
    fn munmap(at: *mut c_void, length: usize) -> c_int;
}

/// The content of a file of code, mapped as long as this lives.
struct File(&'static [u8]);

impl Drop for File {
    fn drop(&mut self) {
        // SAFETY: mapped by `open`, and nobody else has it.
        unsafe { munmap(self.0.as_ptr().cast_mut().cast(), self.0.len()) };
    }
}

/// Kinds of sections: all symbols; those that other files may use, which is all that a stripped file has.
const SYMBOLS: u32 = 2;
const DYNAMIC_SYMBOLS: u32 = 11;
const FUNCTION: u8 = 2;

#[repr(C)]
#[derive(Clone, Copy)]
struct Section {
    _name: u32,
    kind: u32,
    _flags: u64,
    _address: u64,
    offset: u64,
    size: u64,
    link: u32,
    _info: u32,
    _align: u64,
    _entry: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Symbol {
    name: u32,
    info: u8,
    _other: u8,
    _section: u16,
    value: u64,
    size: u64,
}

impl File {
    /// The file of a module, whose path the loader has; an empty one is the executable's.
    fn open(path: &[u8]) -> Option<File> {
        const CLOSE_ON_EXEC: c_int = 0o2_000_000;
        const END: c_int = 2;
        const READ: c_int = 1;
        const PRIVATE: c_int = 2;
        let mut terminated = [0u8; 4096];
        let path = if path.is_empty() { b"/proc/self/exe" } else { path };
        terminated.get_mut(..path.len()).filter(|_| path.len() < 4096)?.copy_from_slice(path);
        // SAFETY: a terminated text.
        let file = unsafe { open(terminated.as_ptr().cast(), CLOSE_ON_EXEC) };
        if file < 0 {
            return None;
        }
        // SAFETY: an open file.
        let length = usize::try_from(unsafe { lseek(file, 0, END) }).unwrap_or(0);
        // SAFETY: any length may be requested; the mapping is private and read-only.
        let at = unsafe { mmap(ptr::null_mut(), length, READ, PRIVATE, file, 0) };
        // SAFETY: opened above.
        unsafe { close(file) };
        if at as isize == -1 {
            return None;
        }
        // SAFETY: mapped with this length.
        Some(File(unsafe { slice::from_raw_parts(at.cast::<u8>(), length) }))
    }

    /// The plain values of a part of it.
    fn values<T: Copy>(&self, offset: u64, size: u64) -> impl Iterator<Item = T> + '_ {
        let at = usize::try_from(offset).unwrap_or(usize::MAX);
        let end = at.saturating_add(usize::try_from(size).unwrap_or(usize::MAX));
        let bytes = self.0.get(at..end).unwrap_or(&[]);
        // SAFETY: as many bytes as a value of plain numbers has, at any address.
        bytes.chunks_exact(size_of::<T>()).map(|bytes| unsafe { bytes.as_ptr().cast::<T>().read_unaligned() })
    }

    fn number<T: Copy>(&self, offset: u64) -> Option<T> {
        self.values(offset, size_of::<T>() as u64).next()
    }

    /// The name of the function that has the code at an address of the file's own.
    fn symbol_at(&self, address: u64) -> Option<&[u8]> {
        const SECTIONS_AT: u64 = 40;
        const COUNT_AT: u64 = 60;
        self.0.strip_prefix(b"\x7fELF\x02")?;
        let first: u64 = self.number(SECTIONS_AT)?;
        let count: u16 = self.number(COUNT_AT)?;
        let section = |index: u64| self.number::<Section>(first.checked_add(index * size_of::<Section>() as u64)?);
        let of_kind = |kind| (0..u64::from(count)).filter_map(section).find(|section| section.kind == kind);
        let symbols = of_kind(SYMBOLS).or_else(|| of_kind(DYNAMIC_SYMBOLS))?;
        let names = section(u64::from(symbols.link))?;
        let here = |symbol: &Symbol| symbol.info & 0xf == FUNCTION && address.wrapping_sub(symbol.value) < symbol.size;
        let symbol = self.values::<Symbol>(symbols.offset, symbols.size).find(here)?;
        let at = usize::try_from(names.offset).ok()?.checked_add(symbol.name as usize)?;
        let text = self.0.get(at..)?;
        text.get(..text.iter().position(|byte| *byte == 0)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_headers() {
        for name in [
            "_ZN3tbb6detail2d15spawnERNS1_4taskERNS1_18task_group_contextE",
            "_ZNK3tbb1aEv",
            "_ZSt4sortIPiEvT_S1_",
            "_ZZN6__pstl1aEvENKUlvE_clEv",
            "_ZL20__gthread_mutex_lockP15pthread_mutex_t",
            "_ZThn80_N3tbb6detail2d111buffer_nodeIiE7releaseEv",
            "_ZTv0_n24_N3tbb6detail2d15graphD1Ev",
            "_RNvNvMs0_NtNtNtCsjrHSEGnQ3l9_3std3sys6thread4unixNtB7_6Thread3new12thread_start",
        ] {
            assert!(in_headers(name.as_bytes()), "{name}");
        }
        for name in [
            "main",
            "_Z3fibi",
            "_ZZ4mainENKUlRKN3tbb6detail2d113blocked_rangeIiEEE_clES5_",
            "_ZN5mytbb1aEv",
            "_ZThn16_N4node7releaseEv",
            "_ZTh",
            "",
            "_RNvCs1_4main4work",
        ] {
            assert!(!in_headers(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn symbols_of_this_program() {
        extern "C" fn some_function() -> u32 {
            core::hint::black_box(3)
        }
        let at = some_function as *const () as u64 + 1;
        let module = platform::module_of(at).expect("we run");
        let file = File::open(module.path).expect("it can be read");
        let name = file.symbol_at(at - module.base).map(|name| String::from_utf8_lossy(name).into_owned());
        assert!(name.is_some_and(|name| name.contains("some_function")));
        assert!(!is_of_headers(at) && !is_of_headers(1));
    }
}
