//! The functions by which all of Rust allocates stay functions of their own.
//!
//! Where a program has `#[global_allocator]`, its crate defines them, and LLVM would inline them into their callers there: what is given
//! and taken back would not be seen. Their names contain a hash that is the compiler's; it stands in its library `alloc`.

use std::fs;
use std::path::Path;

/// What follows the hash, where the compiler writes one; [the names](FUNCTIONS) come behind the number of their bytes.
const CRATE: &str = "_7___rustc";
const FUNCTIONS: [&str; 4] = ["__rust_alloc", "__rust_dealloc", "__rust_realloc", "__rust_alloc_zeroed"];

/// Options for a compiler at `rustc`, which lies in `bin` of its folder. None if its library is elsewhere.
pub fn options(rustc: &Path) -> Vec<String> {
    let Some(prefix) = rustc.parent().and_then(Path::parent).and_then(prefix_of) else {
        return Vec::new();
    };
    FUNCTIONS.iter().map(|name| format!("-Cllvm-args=-force-attribute={}:noinline", symbol(&prefix, name))).collect()
}

/// The name of a function in object files.
fn symbol(prefix: &str, name: &str) -> String {
    // A name that begins with `_` is set apart from its number by another one.
    if prefix.is_empty() {
        name.to_owned()
    } else {
        format!("{prefix}{}_{name}", name.len())
    }
}

/// What comes before the names of the compiler in `folder`.
fn prefix_of(folder: &Path) -> Option<String> {
    let platforms = fs::read_dir(folder.join("lib/rustlib")).ok()?.flatten();
    let libraries = platforms.filter_map(|platform| fs::read_dir(platform.path().join("lib")).ok()).flatten().flatten();
    let is_alloc = |name: &str| name.starts_with("liballoc-") && name.ends_with(".rlib");
    let file = libraries
        .map(|file| file.path())
        .find(|path| path.file_name().and_then(|name| name.to_str()).is_some_and(is_alloc))?;
    Some(prefix_in(&fs::read(file).ok()?))
}

/// The same, from the library; empty where names have no hash.
fn prefix_in(library: &[u8]) -> String {
    let end = format!("{CRATE}{}_{}", FUNCTIONS[1].len(), FUNCTIONS[1]);
    let Some(at) = memchr::memmem::find(library, end.as_bytes()) else {
        return String::new();
    };
    // Behind the `_` that all such names begin with.
    let before = library[..at].iter().rev().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    format!("_{}", String::from_utf8_lossy(&library[at - before..at + CRATE.len()]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_compilers() {
        let check = |library: &str, expected: &str| {
            assert_eq!(symbol(&prefix_in(library.as_bytes()), "__rust_alloc"), expected, "{library}")
        };
        check("\0_RNvCsfLfy6EI15iL_7___rustc14___rust_dealloc\0", "_RNvCsfLfy6EI15iL_7___rustc12___rust_alloc");
        check("failed_RNvCsab1_7___rustc14___rust_dealloc_RN", "_RNvCsab1_7___rustc12___rust_alloc");
        check("\0__rust_dealloc\0", "__rust_alloc");
        check("", "__rust_alloc");
    }

    #[test]
    fn this_compiler_has_them() {
        let rustc = super::super::compiler::real_rustc("rustc".as_ref());
        let options = options(&rustc);
        assert_eq!(options.len(), FUNCTIONS.len(), "{}", rustc.display());
        assert!(options[0].ends_with("__rust_alloc:noinline"), "{options:?}");
    }
}
