//! The project: what cargo knows of it before anything is built.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;
use std::{fs, io};

use anyhow::Context;
use serde_json::Value;
use workspan_instrument::{check_version, instrument, Package, Runtime};

use super::programs::cargo;

/// A cargo project.
#[derive(Debug)]
pub struct Project {
    /// Where cargo would put its results.
    pub target_directory: PathBuf,
    /// Whether there is a `Cargo.lock`.
    pub has_lock_file: bool,
    workspace_root: PathBuf,
    packages: Vec<Value>,
    members: Vec<String>,
}

/// What [`Project::look`] finds.
#[derive(Debug)]
pub enum Look {
    /// No project.
    None,
    /// A project that cargo cannot resolve as things are, and why.
    Unresolved(String),
    /// A project.
    Found(Project),
}

impl Project {
    /// Asks `cargo metadata`, with those of the user's options that matter to it.
    pub fn find(cargo_options: &[OsString]) -> anyhow::Result<Project> {
        let mut command = Command::new(cargo());
        command.args(["metadata", "--format-version", "1"]);
        command.args(relevant(cargo_options));
        // Without `--locked`, cargo would bring an outdated lock file up to date.
        let first = root_of(cargo_options)?;
        let has_lock_file = first.join("Cargo.lock").is_file();
        if has_lock_file {
            command.arg("--locked");
        }
        let output = command.stderr(Stdio::inherit()).output().context("cannot run cargo metadata")?;
        anyhow::ensure!(output.status.success(), "cargo cannot resolve the project (see above)");
        Project::parse(&output.stdout, has_lock_file)
    }

    /// Looks for a project here, quietly: nothing is downloaded, and no lock file is made.
    pub fn look() -> Look {
        let mut locate = Command::new(cargo());
        locate.args(["locate-project", "--workspace", "--message-format", "plain"]);
        if !locate.output().is_ok_and(|output| output.status.success()) {
            return Look::None;
        }
        let mut command = Command::new(cargo());
        command.args(["metadata", "--format-version", "1", "--locked", "--offline"]);
        match command.output() {
            Ok(output) if output.status.success() => {
                Project::parse(&output.stdout, true).map_or_else(|e| Look::Unresolved(e.to_string()), Look::Found)
            }
            Ok(output) => {
                let text = String::from_utf8_lossy(&output.stderr).into_owned();
                let error = text.lines().find_map(|line| line.strip_prefix("error: ")).unwrap_or("unknown error");
                Look::Unresolved(error.to_owned())
            }
            Err(error) => Look::Unresolved(error.to_string()),
        }
    }

    fn parse(metadata: &[u8], has_lock_file: bool) -> anyhow::Result<Project> {
        let metadata: Value = serde_json::from_slice(metadata).context("cannot read cargo's metadata")?;
        let text = |key: &str| metadata.get(key).and_then(Value::as_str).map(PathBuf::from);
        let list = |key: &str| metadata.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
        Ok(Project {
            target_directory: text("target_directory").context("cargo metadata names no target directory")?,
            workspace_root: text("workspace_root").context("cargo metadata names no workspace")?,
            has_lock_file,
            packages: list("packages"),
            members: list("workspace_members").iter().filter_map(|m| m.as_str().map(str::to_owned)).collect(),
        })
    }

    /// Errors that are better reported before a build: no rayon, a version without hooks, nothing to run.
    pub fn check(&self, needs_program: bool) -> anyhow::Result<()> {
        let runtimes = self.runtimes();
        anyhow::ensure!(
            runtimes.iter().any(|p| p.runtime == Runtime::RayonCore),
            "the project in {} does not depend on rayon: there is nothing to profile (Workspan does not yet support \
             Rust programs with other runtimes or plain threads)",
            self.workspace_root.display()
        );
        for package in &runtimes {
            check_version(package)?;
        }
        let own = |package: &&Value| {
            let id = package.get("id").and_then(Value::as_str);
            id.is_some_and(|id| self.members.iter().any(|m| m == id))
        };
        let runnable = self.packages.iter().filter(own).any(|package| {
            let targets = package.get("targets").and_then(Value::as_array);
            targets.into_iter().flatten().any(|target| {
                let kinds = target.get("kind").and_then(Value::as_array);
                kinds.into_iter().flatten().any(|kind| kind == "bin" || kind == "example")
            })
        });
        anyhow::ensure!(
            runnable || !needs_program,
            "{} has no program to run, neither a binary nor an example (try `cargo workspan test` or `cargo workspan bench`)",
            self.workspace_root.display()
        );
        Ok(())
    }

    /// Makes the instrumented copies, or finds them: that a source is not as expected is better reported before a build.
    pub fn instrument(&self, into: &Path) -> anyhow::Result<()> {
        for package in self.runtimes() {
            let copy = instrument(&package, into)?;
            // Published sources never change, a folder of the user's may. Cargo compiles a new copy by its date.
            let made = || fs::metadata(&copy.root)?.modified();
            let changed = || changed_since(&package.folder.join("src"), made()?);
            if !copy.fresh && changed().with_context(|| format!("cannot read {}", package.folder.display()))? {
                let folder = copy.root.parent().and_then(Path::parent).context("a copy without a folder")?;
                fs::remove_dir_all(folder).with_context(|| format!("cannot remove {}", folder.display()))?;
                instrument(&package, into)?;
            }
        }
        Ok(())
    }

    /// The packages that get hooks.
    pub fn runtimes(&self) -> Vec<Package> {
        self.packages.iter().filter_map(runtime).collect()
    }

    /// Where the workspace's manifest is.
    pub fn root(&self) -> &Path {
        &self.workspace_root
    }

    /// The workspace's manifest.
    pub fn manifest(&self) -> anyhow::Result<toml::Table> {
        let file = self.workspace_root.join("Cargo.toml");
        let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        text.parse().with_context(|| format!("cannot parse {}", file.display()))
    }
}

/// The folder in which cargo finds the workspace's manifest.
fn root_of(cargo_options: &[OsString]) -> anyhow::Result<PathBuf> {
    let mut command = Command::new(cargo());
    command.args(["locate-project", "--workspace", "--message-format", "plain"]);
    let mut options = cargo_options.iter();
    while let Some(option) = options.next() {
        if option == OsStr::new("--manifest-path") {
            command.arg(option).args(options.next());
        } else if option.to_string_lossy().starts_with("--manifest-path=") {
            command.arg(option);
        }
    }
    let output = command.stderr(Stdio::inherit()).output().context("cannot run cargo")?;
    anyhow::ensure!(output.status.success(), "there is no cargo project here (see above)");
    let manifest = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    manifest.parent().map(PathBuf::from).context("cargo names no manifest")
}

/// The package of a runtime, if `package` is one.
fn runtime(package: &Value) -> Option<Package> {
    let runtime = match package.get("name")?.as_str()? {
        "rayon-core" => Runtime::RayonCore,
        "rayon" => Runtime::Rayon,
        _ => return None,
    };
    let manifest = PathBuf::from(package.get("manifest_path")?.as_str()?);
    Some(Package {
        runtime,
        version: package.get("version")?.as_str()?.to_owned(),
        folder: manifest.parent()?.to_owned(),
    })
}

/// Of the user's options for cargo, those that `cargo metadata` takes.
fn relevant(options: &[OsString]) -> Vec<OsString> {
    const WITH_VALUE: &[&str] = &["--manifest-path", "--features", "-F", "--config", "-Z"];
    const FLAGS: &[&str] = &["--offline", "--frozen", "--all-features", "--no-default-features"];
    let mut kept = Vec::new();
    let mut options = options.iter();
    while let Some(option) = options.next() {
        let text = option.to_string_lossy();
        if FLAGS.contains(&&*text) {
            kept.push(option.clone());
        } else if WITH_VALUE.contains(&&*text) {
            kept.push(option.clone());
            kept.extend(options.next().cloned());
        } else if text.split_once('=').is_some_and(|(name, _)| WITH_VALUE.contains(&name)) {
            kept.push(option.clone());
        }
    }
    kept
}

/// True if something below `folder` was changed after `made`.
fn changed_since(folder: &Path, made: SystemTime) -> io::Result<bool> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let found = fs::metadata(&path)?;
        if found.modified()? > made || found.is_dir() && changed_since(&path, made)? {
            return Ok(true);
        }
    }
    Ok(false)
}
