//! `cargo xtask demo`: the main job, on a published program that was written without a thought of us.

mod picture;
mod source;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context;

use crate::shell;

/// The program: name and version in the registry.
const PACKAGE: (&str, &str) = ("oxipng", "10.2.1");

/// The report, and the recording it is made from.
const PAGE: &str = "report.html";
const RECORDING: &str = "demo.wspan";

/// How the program is run; with strands the page answers what-if, and predicts. The README shows the same, and its report.
const COMMAND: [&str; 4] = ["workspan", "run", "--release", "--strands"];

/// Where to run what.
struct Job {
    /// The project's folder.
    folder: PathBuf,
    /// What it is.
    about: String,
    /// What the program is called with.
    arguments: Vec<String>,
}

/// Runs the verb.
pub(crate) fn main() -> anyhow::Result<()> {
    let start = Instant::now();
    let results = shell::target().join("demo");
    fs::create_dir_all(&results).with_context(|| format!("cannot make {}", results.display()))?;
    println!("1. Build workspan (the first time, that takes a minute or two)");
    // Without the SQL engine, which takes longer to build than everything else and is not shown here.
    let options = ["build", "--release", "--locked", "--package", "workspan"];
    shell::run(shell::cargo().args(options))?;
    println!("2. Fetch a program that uses rayon: {} {}", PACKAGE.0, PACKAGE.1);
    let job = published(&results).or_else(|error| {
        let text = error.to_string();
        let reason = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
        eprintln!("note: it cannot be had ({reason}): a program of this repository takes its place");
        own()
    })?;
    println!("3. Build {} with hooks, its source unchanged, run it, and report", job.about);
    profile(&job, &results)?;
    println!("{}", closing(&results, &shell::minutes(start.elapsed())));
    Ok(())
}

/// The published program, with a picture to work on.
fn published(results: &Path) -> anyhow::Result<Job> {
    let (name, version) = PACKAGE;
    let folder = source::fetch(name, version, results)?;
    let picture = results.join("picture.png");
    fs::write(&picture, picture::png(900, 600))?;
    let [smaller, picture] = [results.join("smaller.png"), picture].map(|path| from(&folder, &path));
    let arguments = ["-o", "4", "--out", &smaller, &picture].map(str::to_owned).to_vec();
    Ok(Job { folder, about: format!("{name} {version} (it makes PNG files smaller)"), arguments })
}

/// A program of Workspan.
fn own() -> anyhow::Result<Job> {
    let folder = shell::root().join("programs/shapes");
    shell::run(
        shell::cargo().args(["fetch", "--quiet", "--locked", "--manifest-path"]).arg(folder.join("Cargo.toml")),
    )?;
    Ok(Job {
        folder,
        about: "programs/shapes".to_owned(),
        arguments: ["skewed", "10000000"].map(str::to_owned).to_vec(),
    })
}

fn profile(job: &Job, results: &Path) -> anyhow::Result<()> {
    let bin = shell::target().join("release");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(bin).chain(std::env::split_paths(&path)))?;
    let mut command = shell::cargo();
    command.args(COMMAND);
    command.arg("--html").arg(from(&job.folder, &results.join(PAGE)));
    command.arg("--output").arg(from(&job.folder, &results.join(RECORDING)));
    command.arg("--").args(&job.arguments);
    command.current_dir(&job.folder).env("PATH", path);
    eprintln!("$ cd {}", shell::shown(&job.folder));
    shell::run(&mut command)
}

/// A path as seen from the folder beside it, so that commands stay readable; any other as it is.
fn from(folder: &Path, path: &Path) -> String {
    match (folder.parent(), path.parent(), path.file_name()) {
        (Some(beside), Some(parent), Some(name)) if beside == parent => format!("../{}", name.to_string_lossy()),
        _ => path.display().to_string(),
    }
}

fn closing(results: &Path, time: &str) -> String {
    let page = shell::shown(&results.join(PAGE));
    let report = shell::shown(&shell::target().join("release/workspan"));
    let recording = shell::shown(&results.join(RECORDING));
    let [predict, report] = ["predict", "report"].map(|verb| format!("{report} {verb} {recording}"));
    let width = predict.len();
    format!(
        "
Done in {time}. The first line of the report says how much faster than on one core the program can get at most, on any
number of cores, and which line of its source stands in the way. docs/methods defines every number.

  {page:<width$}  the report as a page: open it in a browser
  {report:<width$}  the report as text, again
  {predict}  how long it would take on 1 to 1024 processors

For a program of your own:
  cargo install --path crates/workspan
  cd YOUR-PROJECT && cargo {command} -- ARGUMENTS",
        command = COMMAND.join(" ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a reader of the README types prints what the README shows.
    #[test]
    fn the_readme_shows_this_command() {
        let readme = fs::read_to_string(shell::root().join("README.md")).expect("it is there");
        let command = format!("\ncargo {} -- ARGUMENTS\n", COMMAND.join(" "));
        assert!(readme.contains(&command), "README.md does not show{command}");
        let (name, version) = PACKAGE;
        assert!(readme.contains(&format!("[{name}](https://crates.io/crates/{name}) {version}")), "another program");
    }
}
