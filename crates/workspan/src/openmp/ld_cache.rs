//! The dynamic loader's cache of libraries, `/etc/ld.so.cache`.
//!
//! | bytes | content |
//! |---|---|
//! | 20 | `glibc-ld.so.cache1.1` |
//! | 4 | number of libraries |
//! | 4 | bytes of text |
//! | 20 | flags, extensions, unused |
//! | 24 each | libraries: flags (4), offset of the name (4), offset of the path (4), version (4), hardware (8) |
//!
//! Offsets count from the beginning of that. Older systems have another table before it.

use std::path::PathBuf;

const FILE: &str = "/etc/ld.so.cache";
const MAGIC: &[u8] = b"glibc-ld.so.cache1.1";
const HEADER: usize = 48;
const ENTRY: usize = 24;

/// Names and paths, in the order in which the loader takes them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LdCache {
    libraries: Vec<(String, PathBuf)>,
}

impl LdCache {
    /// This system's; empty if there is none.
    pub fn of_system() -> LdCache {
        std::fs::read(FILE).map_or_else(|_| LdCache::default(), |bytes| LdCache::parse(&bytes))
    }

    fn parse(bytes: &[u8]) -> LdCache {
        // Aligned by the loader, so that it can only be at some offsets; the text occurs once.
        let at = bytes.windows(MAGIC.len()).position(|window| window == MAGIC);
        let table = at.and_then(|at| bytes.get(at..)).unwrap_or(&[]);
        let number = |at: usize| {
            let bytes: Option<[u8; 4]> = table.get(at..at.checked_add(4)?)?.try_into().ok();
            Some(u32::from_ne_bytes(bytes?) as usize)
        };
        let text = |at: usize| {
            let text = table.get(at..)?;
            let end = text.iter().position(|byte| *byte == 0)?;
            Some(String::from_utf8_lossy(&text[..end]).into_owned())
        };
        // No more than there is room for, whatever the number says.
        let count = number(MAGIC.len()).unwrap_or(0).min(table.len() / ENTRY);
        let entry = |index: usize| {
            let at = HEADER + index * ENTRY;
            Some((text(number(at + 4)?)?, PathBuf::from(text(number(at + 8)?)?)))
        };
        LdCache { libraries: (0..count).filter_map(entry).collect() }
    }

    /// The files of a name; those for other processors may be among them.
    pub fn files<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a PathBuf> {
        self.libraries.iter().filter(move |(known, _)| known == name).map(|(_, path)| path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache() -> Vec<u8> {
        let mut bytes = b"ld.so-1.7.0\0 an older table".to_vec();
        let mut table = MAGIC.to_vec();
        let texts = b"libomp.so.5\0/usr/lib/libomp.so.5\0libc.so.6\0/lib/libc.so.6\0";
        table.extend(2u32.to_ne_bytes());
        table.extend(u32::try_from(texts.len()).expect("short").to_ne_bytes());
        table.resize(HEADER, 0);
        let start = HEADER + 2 * ENTRY;
        for (name, path) in [(0, 12), (33, 43)] {
            for number in [0, start + name, start + path, 0, 0, 0] {
                table.extend(u32::try_from(number).expect("small").to_ne_bytes());
            }
        }
        table.extend(texts);
        bytes.extend(table);
        bytes
    }

    #[test]
    fn files_of_a_name() {
        let cache = LdCache::parse(&cache());
        assert_eq!(cache.files("libomp.so.5").collect::<Vec<_>>(), [&PathBuf::from("/usr/lib/libomp.so.5")]);
        assert_eq!(cache.files("libc.so.6").collect::<Vec<_>>(), [&PathBuf::from("/lib/libc.so.6")]);
        assert_eq!(cache.files("libnone.so").count(), 0);
    }

    #[test]
    fn what_is_cut_or_damaged_does_no_harm() {
        let whole = cache();
        for length in 0..whole.len() {
            LdCache::parse(&whole[..length]);
            let mut damaged = whole.clone();
            damaged[length] = 0xff;
            LdCache::parse(&damaged);
        }
        assert_eq!(LdCache::parse(b"").libraries, []);
    }

    #[test]
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    fn this_system_has_a_c_library() {
        if std::path::Path::new(FILE).exists() {
            assert!(LdCache::of_system().files("libc.so.6").any(|path| path.exists()));
        }
    }
}
