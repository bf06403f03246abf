//! `workspan query`: finds the program `workspan-query` and becomes it.
//!
//! DataFusion, which answers queries, takes several times as long to compile as all of Workspan: whoever wants it
//! installs it with one command, which [`missing`] shows. What the two programs agree on is at the head of
//! `workspan-query`'s `main.rs`.

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{anyhow, Context};

use crate::args;
use crate::exit::Outcome;
use crate::graph::open::open as open_folder;
use crate::known::Known;
use crate::output;
use crate::strands;

/// The program's name.
pub const PROGRAM: &str = "workspan-query";

/// Where this was compiled, the program's source lies, if it is still there.
const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "-query");

/// Runs the verb: returns only if the program cannot be run.
pub fn run(args: &args::Query) -> anyhow::Result<Outcome> {
    let folder = folder(&args.file())?;
    let folders = folders();
    let program = find(&folders).ok_or_else(|| missing(&folders))?;
    let mut command = Command::new(&program);
    command.args(args.json.then_some("--json")).args(args.csv.then_some("--csv"));
    let error = command.arg("--").arg(folder).arg(args.sql()).exec();
    Err(error).with_context(|| format!("cannot run {}", program.display()))
}

/// The task graph or the strands that a file stands for.
fn folder(file: &Path) -> anyhow::Result<PathBuf> {
    if file.is_dir() && Known::of(file) == Some(Known::Graph) {
        return Ok(file.to_owned());
    }
    if Known::of(file) == Some(Known::Graph) {
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        return Ok(folder.unwrap_or(Path::new(".")).to_owned());
    }
    if file.extension().is_some_and(|extension| extension == "graph") {
        open_folder(file)?;
    }
    strands::folder(&strands::recording_of(file))
}

/// Where the program may be: beside this one, in `PATH`, where cargo installs, in Workspan's cache.
fn folders() -> Vec<PathBuf> {
    let set = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = |folder: &str| set("HOME").map(|home| home.join(folder));
    let beside = env::current_exe().ok().and_then(|program| Some(program.parent()?.to_owned()));
    let path = env::var_os("PATH").unwrap_or_default();
    let cargo = [set("CARGO_INSTALL_ROOT"), set("CARGO_HOME"), home(".cargo")];
    let cache = set("XDG_CACHE_HOME").or_else(|| home(".cache")).map(|cache| cache.join("workspan"));
    let roots = cargo.into_iter().chain([cache]).flatten().map(|root| root.join("bin"));
    let all = beside.into_iter().chain(env::split_paths(&path)).chain(roots);
    // What lies in the working folder is nobody's installation.
    all.filter(|folder| folder.is_absolute()).collect()
}

fn find(folders: &[PathBuf]) -> Option<PathBuf> {
    let programs = folders.iter().map(|folder| folder.join(PROGRAM));
    programs.into_iter().find(|program| {
        fs::metadata(program).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    })
}

/// What to type, once.
fn missing(folders: &[PathBuf]) -> anyhow::Error {
    let source = Path::new(SOURCE);
    let (source, place) = if source.join("Cargo.toml").is_file() {
        (output::quoted(source), "")
    } else {
        ("crates/workspan-query".to_owned(), " in a checkout of Workspan")
    };
    let first = folders.first().map(|folder| format!(" in {},", folder.display())).unwrap_or_default();
    anyhow!(
        "`workspan query` needs the program {PROGRAM}, which is not{first} in PATH or where cargo installs programs; \
         install it{place}, which takes about 20 minutes: cargo install --locked --path {source}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_source_is_where_the_command_says() {
        assert!(Path::new(SOURCE).join("Cargo.toml").is_file(), "{SOURCE}");
    }
}
