//! `cargo xtask demo`: the main job, on a published program that was written without a thought of us.

mod picture;
mod source;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::Context;

use crate::shell;

/// The program: name and version in the registry.
const PACKAGE: (&str, &str) = ("oxipng", "10.2.1");

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
    shell::run(shell::cargo().args(["build", "--release", "--locked", "--package", "workspan"]))?;
    println!("2. Fetch a program that uses rayon: {} {}", PACKAGE.0, PACKAGE.1);
    let job = published(&results).or_else(|error| {
        eprintln!("note: it cannot be had ({error:#}): a program of this repository takes its place");
        own()
    })?;
    println!("3. Profile {}, unmodified: build it with hooks, run it, and report", job.about);
    let html = results.join("report.html");
    let recording = results.join("demo.wspan");
    profile(&job, &html, &recording)?;
    println!("{}", closing(&html, &recording, &shell::minutes(start.elapsed())));
    Ok(())
}

/// The published program, with a picture to work on.
fn published(results: &Path) -> anyhow::Result<Job> {
    let (name, version) = PACKAGE;
    let folder = source::fetch(name, version, results)?;
    let picture = results.join("picture.png");
    fs::write(&picture, picture::png(900, 600))?;
    let smaller = results.join("smaller.png");
    // Relative, so that the command can be read; the program runs in its own folder.
    let shown = |path: &Path| format!("../{}", path.file_name().unwrap_or_default().to_string_lossy());
    let arguments = ["-o", "4", "--out", &shown(&smaller), &shown(&picture)];
    Ok(Job {
        folder,
        about: format!("{name} {version}, which makes pictures smaller,"),
        arguments: arguments.map(str::to_owned).to_vec(),
    })
}

/// A program of ours.
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

fn profile(job: &Job, html: &Path, recording: &Path) -> anyhow::Result<()> {
    let bin = shell::target().join("release");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(bin).chain(std::env::split_paths(&path)))?;
    let mut command = Command::new("cargo");
    command.args(["workspan", "run", "--release", "--html"]).arg(html).arg("-o").arg(recording);
    command.arg("--").args(&job.arguments);
    command.current_dir(&job.folder).env("PATH", path);
    // It is a project of its own, whatever cargo has told us.
    command.env_remove("CARGO").env_remove("CARGO_MANIFEST_DIR").env_remove("CARGO_MANIFEST_PATH");
    println!("   (in {})", shell::shown(&job.folder));
    shell::run(&mut command)
}

fn closing(html: &Path, recording: &Path, time: &str) -> String {
    let workspan = shell::shown(&shell::target().join("release/workspan"));
    let (html, recording) = (shell::shown(html), shell::shown(recording));
    format!(
        "
Done in {time}. How to read it: the first line tells the most speedup that any number of cores can give, and which
line of the source to change to get more. docs/methods.md defines every number.

Next:
  open {html} in a browser         the report as a page, with the source
  {workspan} report {recording}    the report again
  cargo install --path crates/workspan && cd YOUR-PROJECT && cargo workspan run --release -- ARGUMENTS"
    )
}
