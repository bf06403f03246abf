//! Variants of libraries for better processors: folders `glibc-hwcaps/NAME` in the folders that the loader searches.
//!
//! A loader of glibc 2.33 or newer takes the best variant that the processor can run before the plain library.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// The name of the folder of variants.
const FOLDER: &str = "glibc-hwcaps";

/// What this processor can run, the best first.
static NAMES: LazyLock<Vec<&'static str>> = LazyLock::new(usable);

/// Where a library may be in a folder: its variants for this processor, the best first, then the plain one.
pub(super) fn within(folder: &Path) -> impl Iterator<Item = PathBuf> + '_ {
    NAMES.iter().map(move |name| folder.join(FOLDER).join(name)).chain([folder.to_owned()])
}

/// How good a variant a file is: `None` if this processor cannot run it; a plain library is the least.
pub(super) fn rank(file: &Path) -> Option<usize> {
    rank_among(file, &NAMES)
}

fn rank_among(file: &Path, names: &[&str]) -> Option<usize> {
    let folder = file.parent()?;
    if folder.parent().and_then(Path::file_name).is_none_or(|name| name != FOLDER) {
        return Some(0);
    }
    let at = names.iter().position(|name| folder.file_name().is_some_and(|own| own == *name))?;
    Some(names.len() - at)
}

#[cfg(target_arch = "x86_64")]
fn usable() -> Vec<&'static str> {
    macro_rules! all {
        ($($feature:tt)*) => { $(std::arch::is_x86_feature_detected!($feature))&&* };
    }
    let v2 = all!("cmpxchg16b" "popcnt" "sse3" "sse4.1" "sse4.2" "ssse3");
    let v3 = v2 && all!("avx" "avx2" "bmi1" "bmi2" "f16c" "fma" "lzcnt" "movbe" "xsave");
    let v4 = v3 && all!("avx512f" "avx512bw" "avx512cd" "avx512dq" "avx512vl");
    let names = [(v4, "x86-64-v4"), (v3, "x86-64-v3"), (v2, "x86-64-v2")];
    names.into_iter().filter(|(can, _)| *can).map(|(_, name)| name).collect()
}

/// Others have no variants in wide use.
#[cfg(not(target_arch = "x86_64"))]
fn usable() -> Vec<&'static str> {
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn better_variants_come_first() {
        let names = ["x86-64-v3", "x86-64-v2"];
        for (file, expected) in [
            ("/lib/liba.so", Some(0)),
            ("/lib/glibc-hwcaps/x86-64-v2/liba.so", Some(1)),
            ("/lib/glibc-hwcaps/x86-64-v3/liba.so", Some(2)),
            ("/lib/glibc-hwcaps/x86-64-v4/liba.so", None),
            ("liba.so", Some(0)),
        ] {
            assert_eq!(rank_among(Path::new(file), &names), expected, "{file}");
        }
    }

    #[test]
    fn the_plain_folder_comes_last() {
        let folders: Vec<PathBuf> = within(Path::new("/lib")).collect();
        assert_eq!(folders.last(), Some(&PathBuf::from("/lib")));
        assert_eq!(folders.len(), NAMES.len() + 1);
        assert!(folders.iter().all(|folder| rank(&folder.join("liba.so")).is_some()));
    }
}
