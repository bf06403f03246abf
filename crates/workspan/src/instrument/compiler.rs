//! Which compilers there are that run the pass.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Compilers that are stood in for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// C.
    C,
    /// C++.
    Cxx,
    /// Fortran.
    Fortran,
    /// Rust, as cargo's wrapper of rustc.
    Rust,
}

impl Language {
    /// By the word in the stand-ins' scripts.
    pub fn of(word: &str) -> Option<Language> {
        Some(match word {
            "c" => Language::C,
            "cxx" => Language::Cxx,
            "fortran" => Language::Fortran,
            "rust" => Language::Rust,
            _ => return None,
        })
    }
}

/// Versions of LLVM that the pass works with, the newest first.
const VERSIONS: std::ops::RangeInclusive<u32> = 16..=22;

/// The variable that keeps what `CC` and so on were before the build.
pub fn variable(language: Language) -> Option<&'static str> {
    match language {
        Language::C => Some("WORKSPAN_CC"),
        Language::Cxx => Some("WORKSPAN_CXX"),
        Language::Fortran => Some("WORKSPAN_FC"),
        Language::Rust => None,
    }
}

/// The compiler: the one chosen by a variable if it is clang or flang, else the newest in `PATH`.
pub fn find(language: Language) -> anyhow::Result<PathBuf> {
    let names: &[&str] = match language {
        Language::C => &["clang"],
        Language::Cxx => &["clang++"],
        Language::Fortran => &["flang-new", "flang"],
        Language::Rust => anyhow::bail!("cargo names rustc itself"),
    };
    if let Some(chosen) = variable(language).and_then(env::var_os).filter(|chosen| !chosen.is_empty()) {
        let name = Path::new(&chosen).file_name().unwrap_or_default().to_string_lossy().into_owned();
        if names.iter().any(|wanted| name.starts_with(wanted)) {
            return Ok(PathBuf::from(chosen));
        }
    }
    let numbered = VERSIONS.rev().flat_map(|version| names.iter().map(move |name| format!("{name}-{version}")));
    let all = numbered.chain(names.iter().map(|name| (*name).to_owned()));
    let found = all.into_iter().find_map(|name| in_path(OsStr::new(&name)));
    let what = names[0];
    found.ok_or_else(|| {
        anyhow::anyhow!(
            "found no {what} of LLVM 16 to 22: install {what}-19, or name one in {}",
            variable(language).unwrap_or("CC")
        )
    })
}

/// A command in `PATH` that is no stand-in of Workspan.
pub(super) fn in_path(name: &OsStr) -> Option<PathBuf> {
    let folders = env::var_os("PATH")?;
    let ours = |folder: &Path| {
        folder
            .parent()
            .and_then(Path::file_name)
            .is_some_and(|parent| parent.to_string_lossy().starts_with("instrument-") && folder.ends_with("bin"))
    };
    let mut found = env::split_paths(&folders).filter(|folder| !ours(folder)).map(|folder| folder.join(name));
    found.find(|path| path.is_file())
}

/// The target of the machine's rustc.
pub fn host_of_rust() -> Option<String> {
    let output = Command::new("rustc").arg("-vV").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    text.lines().find_map(|line| line.strip_prefix("host: ")).map(str::to_owned)
}

/// The rustc behind rustup's: the library is loaded into it, not into what starts it.
pub fn real_rustc(rustc: &OsStr) -> PathBuf {
    let output = Command::new(rustc).args(["--print", "sysroot"]).output();
    let folder = output.ok().and_then(|output| String::from_utf8(output.stdout).ok());
    let real = folder.map(|folder| Path::new(folder.trim()).join("bin/rustc"));
    real.filter(|path| path.is_file()).unwrap_or_else(|| PathBuf::from(rustc))
}
