//! The source files that a page shows. A recording or debug information names them, and may name anything: a page must not
//! carry off `/etc/shadow`, and must not wait for a pipe or read a device without end.
//!
//! **Invariant:** what is embedded is a regular file of bounded size whose canonical path lies below one of a few folders that
//! the user, not the recording, has chosen: the working folder, the project around it, what cargo has fetched, the sources of
//! the compiler's own library, and those that are named on the command line. Each file that is skipped is named, with the
//! reason.
//!
//! **Argument:** the path is made canonical, compared, and opened without waiting; then the path of what has been opened is
//! read back from the kernel and compared again, so that exchanging a link in between gains nothing.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::{env, process};

use workspan_model::Recording;
use workspan_report::html::Sources;

use crate::files::open_regular;
use crate::output;

/// Bytes of a source file: generated ones are large, but nobody reads them in excerpts.
const LARGEST: u64 = 8 << 20;
/// Bytes of all of them.
const LARGEST_SUM: u64 = 64 << 20;
/// Files that are named one by one in a message.
const NAMED: usize = 5;

/// A file that is not shown, and why.
pub type LeftOut = (String, String);

/// The source files of all places of a recording, as far as they may be shown, and those that are skipped though there is
/// such a file.
pub fn of(recording: &Recording, further: &[PathBuf]) -> (Sources, Vec<LeftOut>) {
    let roots = Roots::new(further);
    let files = recording.sites.iter().flat_map(|site| {
        let via = site.via.as_ref().map(|(file, _)| file.as_str());
        [Some(site.file.as_str()), via].into_iter().flatten()
    });
    let files: BTreeSet<&str> = files.filter(|file| !file.is_empty()).collect();
    let (mut sources, mut left_out, mut left) = (Sources::new(), Vec::new(), LARGEST_SUM);
    for file in files {
        match find(file, &recording.directory, &roots, left) {
            Found::Text(text) => {
                left -= text.len() as u64;
                sources.insert(file.to_owned(), text);
            }
            Found::Refused(why) => left_out.push((file.to_owned(), why)),
            Found::Nothing => {}
        }
    }
    (sources, left_out)
}

/// Says which files are not in the page.
pub fn tell(left_out: &[LeftOut]) {
    for (file, why) in left_out.iter().take(NAMED) {
        output::note(&format!("warning: the page is without the source {file}: {why}"));
    }
    if let Some(more @ 1..) = left_out.len().checked_sub(NAMED) {
        output::note(&format!("warning: the page is without {more} further sources; it lists them"));
    }
}

enum Found {
    Text(String),
    /// There is a file, but it is not to be shown.
    Refused(String),
    Nothing,
}

/// The compiler names files from the root of the cargo workspace; the program may have run in a folder below it.
fn find(file: &str, directory: &str, roots: &Roots, left: u64) -> Found {
    let mut refused = Found::Nothing;
    for folder in Path::new(directory).ancestors() {
        // Nobody learns whether a file exists that is none of his business.
        let Ok(path) = folder.join(file).canonicalize() else {
            continue;
        };
        match read(&path, roots, left) {
            Ok(text) => return Found::Text(text),
            Err(why) if matches!(refused, Found::Nothing) => refused = Found::Refused(why),
            Err(_) => {}
        }
        if Path::new(file).is_absolute() {
            break;
        }
    }
    refused
}

fn read(path: &Path, roots: &Roots, left: u64) -> Result<String, String> {
    if !roots.hold(path) {
        return Err(OUTSIDE.to_owned());
    }
    let file = open_regular(path).map_err(|error| error.to_string())?;
    // Where the kernel does not say, the path that was opened is the canonical one.
    let opened = fs::read_link(format!("/proc/{}/fd/{}", process::id(), file.as_raw_fd()));
    if opened.is_ok_and(|opened| !roots.hold(&opened)) {
        return Err(OUTSIDE.to_owned());
    }
    text(file, left).map_err(|error| match error.kind() {
        io::ErrorKind::FileTooLarge => "it is too large".to_owned(),
        io::ErrorKind::InvalidData => "it is no text in UTF-8".to_owned(),
        _ => error.to_string(),
    })
}

const OUTSIDE: &str = "it lies outside of the project (show it with --source FOLDER)";

fn text(file: File, left: u64) -> io::Result<String> {
    let most = LARGEST.min(left);
    let mut text = String::new();
    file.take(most + 1).read_to_string(&mut text)?;
    if text.len() as u64 > most {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(text)
}

/// Folders whose files may be shown.
struct Roots(Vec<PathBuf>);

impl Roots {
    fn new(further: &[PathBuf]) -> Roots {
        let here = env::current_dir().ok();
        let project = here.as_deref().and_then(project_around);
        let set = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let home = |folder: &str| set("HOME").map(|home| home.join(folder));
        let cargo = set("CARGO_HOME").or_else(|| home(".cargo")).into_iter();
        let cargo = cargo.flat_map(|cargo| ["registry/src", "git/checkouts"].map(|folder| cargo.join(folder)));
        let toolchains = set("RUSTUP_HOME").or_else(|| home(".rustup")).map(|rustup| rustup.join("toolchains"));
        let toolchains = toolchains.and_then(|folder| fs::read_dir(folder).ok()).into_iter().flatten().flatten();
        let library = toolchains.map(|toolchain| toolchain.path().join("lib/rustlib/src"));
        let all = here.into_iter().chain(project).chain(cargo).chain(library).chain(further.iter().cloned());
        // Where everything is below the working folder, that is no choice.
        let canonical = all.filter_map(|folder| folder.canonicalize().ok()).filter(|folder| folder.parent().is_some());
        Roots(canonical.collect())
    }

    fn hold(&self, path: &Path) -> bool {
        let of_the_system = ["/proc", "/sys", "/dev"].iter().any(|folder| path.starts_with(folder));
        !of_the_system && self.0.iter().any(|root| path.starts_with(root))
    }
}

/// The repository, or the outermost cargo project, in which a folder lies.
pub fn project_around(folder: &Path) -> Option<PathBuf> {
    let with = |name: &'static str| folder.ancestors().filter(move |folder| folder.join(name).exists());
    with(".git").next().or_else(|| with("Cargo.toml").last()).map(Path::to_owned)
}
