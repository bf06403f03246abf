//! What loads an executable: into which programs no collector can be loaded, and why.

use std::fmt;
use std::fs::File;
use std::path::Path;

use object::read::ReadCache;
use object::{Object, ObjectSection};

/// Why no collector can be loaded into a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// Nothing is loaded into it.
    Static,
    /// Its threads and locks are no calls of a library, linked statically or not.
    Go,
    /// The collector needs glibc, and the program has another C library: its loader would end the program.
    Musl,
}

impl Obstacle {
    /// Of the program at `path`, as far as its file can be read.
    pub fn of(path: &Path) -> Option<Obstacle> {
        let cache = ReadCache::new(File::open(path).ok()?);
        let file = object::File::parse(&cache).ok()?;
        let has = |name: &str| file.section_by_name(name).is_some();
        if has(".go.buildinfo") || has(".note.go.buildid") {
            return Some(Obstacle::Go);
        }
        let Some(loader) = file.section_by_name(".interp") else {
            // A file without sections says nothing.
            return has(".text").then_some(Obstacle::Static);
        };
        let loader = loader.data().ok()?;
        let is_musl = loader.windows(7).any(|part| part == b"ld-musl");
        is_musl.then_some(Obstacle::Musl)
    }
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Obstacle::Static => {
                "it is linked statically, so that no collector can be loaded into it: link it dynamically (without -static or \
                 -static-pie; a Rust program for a target with glibc, without `-C target-feature=+crt-static`)"
            }
            Obstacle::Go => {
                "it is written in Go, whose threads and locks no library sees: Workspan profiles C, C++, Fortran and Rust"
            }
            Obstacle::Musl => {
                "it is linked with musl, and the collector needs glibc: build it for a target with glibc (gcc instead of \
                 musl-gcc; of a Rust program x86_64-unknown-linux-gnu)"
            }
        })
    }
}
