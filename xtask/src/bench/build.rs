//! Building what is measured, all below `target/bench`: workspan itself, and programs with hooks and without.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, OnceLock};

use anyhow::Context;

/// The repository.
pub(super) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// Where everything goes.
pub(super) fn folder() -> PathBuf {
    root().join("target/bench")
}

/// A program, built twice from the same source.
#[derive(Clone, Debug)]
pub(super) struct Twins {
    /// As ever.
    pub(super) native: PathBuf,
    /// With hooks.
    pub(super) hooked: PathBuf,
}

/// The program `programs/<name>`.
pub(super) fn program(name: &str) -> anyhow::Result<Twins> {
    static BUILT: Mutex<BTreeMap<String, Twins>> = Mutex::new(BTreeMap::new());
    let mut built = BUILT.lock().map_err(|_| anyhow::anyhow!("a build has panicked"))?;
    if let Some(twins) = built.get(name) {
        return Ok(twins.clone());
    }
    let twins = build_program(name)?;
    built.insert(name.to_owned(), twins.clone());
    Ok(twins)
}

fn build_program(name: &str) -> anyhow::Result<Twins> {
    let manifest = root().join("programs").join(name).join("Cargo.toml");
    let (native, hooked) = (folder().join("native"), folder().join("hooked"));
    let options = |target: &Path| -> Vec<OsString> {
        let words = ["build", "--release", "--quiet", "--manifest-path"].map(OsString::from);
        words.into_iter().chain([manifest.clone().into(), "--target-dir".into(), target.into()]).collect()
    };
    run(cargo().args(options(&native)).arg("--locked"))?;
    run(cargo_workspan()?.args(options(&hooked)))?;
    Ok(Twins { native: native.join("release").join(name), hooked: hooked.join("workspan/release").join(name) })
}

/// The program `programs/<name>`, which knows `rate`, with hooks for idle time alone.
pub(super) fn idle_program(name: &str) -> anyhow::Result<PathBuf> {
    let hooked = folder().join("hooked");
    let mut command = cargo_workspan()?;
    command.args(["scale", "--release", "--quiet", "--workers=1", "--repeat=1", "--warm-up=0", "--no-sites"]);
    command.arg("--manifest-path").arg(root().join("programs").join(name).join("Cargo.toml"));
    run(command.arg("--target-dir").arg(&hooked).args(["--", "rate"]))?;
    Ok(hooked.join("workspan-idle/release").join(name))
}

/// The program `programs/<of>/<name>.c`, which needs no hooks.
pub(super) fn c_program(of: &str, name: &str) -> anyhow::Result<Twins> {
    compiled("clang-19", of, name, "c", &["-fopenmp", "-lm"])
}

/// The program `programs/<of>/<name>` in the language of the `extension`, by this compiler with these libraries.
pub(super) fn compiled(
    compiler: &str,
    of: &str,
    name: &str,
    extension: &str,
    libraries: &[&str],
) -> anyhow::Result<Twins> {
    let folder = folder().join("c").join(of);
    std::fs::create_dir_all(&folder)?;
    let program = folder.join(name);
    let mut command = Command::new(compiler);
    command.args(["-O2", "-g", "-I"]).arg(root().join("include")).arg("-o").arg(&program);
    command.arg(root().join("programs").join(of).join(name).with_extension(extension)).args(libraries);
    let status = command.status().with_context(|| format!("cannot run {compiler} (`cargo xtask test` installs it)"))?;
    anyhow::ensure!(status.success(), "failed: {compiler} {name}.{extension}");
    Ok(Twins { native: program.clone(), hooked: program })
}

/// A published program `name` of the package `package` at `version`.
pub(super) fn published(package: &str, version: &str, name: &str) -> anyhow::Result<Twins> {
    let place = |kind: &str| folder().join("crates").join(format!("{package}-{version}-{kind}"));
    let install = |command: &mut Command, kind: &str| -> anyhow::Result<PathBuf> {
        let program = place(kind).join("bin").join(name);
        // What was built from other hooks is built again.
        if kind == "native" && program.exists() {
            return Ok(program);
        }
        command.args(["install", package, "--version", &format!("={version}"), "--locked", "--force", "--quiet"]);
        command.arg("--root").arg(place(kind)).arg("--target-dir").arg(folder().join("crates").join(kind));
        run(command)?;
        Ok(program)
    };
    Ok(Twins { native: install(&mut cargo(), "native")?, hooked: install(&mut cargo_workspan()?, "hooked")? })
}

/// The command `workspan`, built for release.
pub(super) fn workspan() -> anyhow::Result<PathBuf> {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    if let Some(path) = BUILT.get() {
        return Ok(path.clone());
    }
    let target = folder().join("workspan");
    let manifest = root().join("Cargo.toml");
    let options = ["build", "--release", "--quiet", "--package", "workspan", "--manifest-path"];
    run(cargo().args(options).arg(manifest).arg("--target-dir").arg(&target))?;
    Ok(BUILT.get_or_init(|| target.join("release/workspan")).clone())
}

/// The example `offline` of the same.
pub(super) fn offline() -> anyhow::Result<PathBuf> {
    let target = folder().join("workspan");
    let options = ["build", "--release", "--quiet", "--package", "workspan"];
    let manifest = root().join("Cargo.toml");
    run(cargo()
        .args(options)
        .args(["--example", "offline", "--manifest-path"])
        .arg(manifest)
        .arg("--target-dir")
        .arg(&target))?;
    Ok(target.join("release/examples/offline"))
}

/// The command `workspan`, with `workspan-query` beside it.
pub(super) fn workspan_with_queries() -> anyhow::Result<PathBuf> {
    let target = folder().join("query");
    let options = ["build", "--release", "--quiet", "--package", "workspan", "--package", "workspan-query"];
    let manifest = root().join("Cargo.toml");
    run(cargo().args(options).arg("--manifest-path").arg(manifest).arg("--target-dir").arg(&target))?;
    Ok(target.join("release/workspan"))
}

fn cargo_workspan() -> anyhow::Result<Command> {
    let mut command = Command::new(workspan()?.with_file_name("cargo-workspan"));
    command.arg("workspan");
    as_from_a_shell(&mut command);
    Ok(command)
}

fn cargo() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    as_from_a_shell(&mut command);
    command
}

/// What cargo has set for xtask must not reach another project.
fn as_from_a_shell(command: &mut Command) {
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_") && !["CARGO_HOME", "CARGO_TERM_COLOR"].contains(&&*text) {
            command.env_remove(&name);
        }
    }
}

fn run(command: &mut Command) -> anyhow::Result<()> {
    let words: Vec<_> = command.get_args().map(|word| word.to_string_lossy().into_owned()).collect();
    let status = command.stdout(Stdio::null()).status().context("cannot run cargo")?;
    anyhow::ensure!(status.success(), "failed: cargo {}", words.join(" "));
    Ok(())
}
