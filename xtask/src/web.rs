//! `cargo xtask web`: the parts of the HTML report that are made from other sources and committed: the script, from the
//! TypeScript in `web/`, and with `--wasm` the engine, from `workspan-page`. So building Workspan needs neither Node nor
//! another compiler.
//!
//! Beside them lies what they were made from, as hashes: `tidy` finds what belongs no longer to its sources.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;

use crate::setup::{self, Missing};
use crate::shell;
use crate::tidy::{self, made};

/// Options.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Make the engine, too: `workspan-page` as WebAssembly.
    #[arg(long)]
    wasm: bool,
}

/// Runs the verb.
pub(crate) fn main(options: &Options) -> anyhow::Result<()> {
    script()?;
    if options.wasm {
        engine()?;
    }
    let text = made::record(&tidy::repository()?, options.wasm);
    fs::write(shell::root().join(made::RECORD), text).with_context(|| format!("cannot write {}", made::RECORD))?;
    println!("made {}", if options.wasm { "the script and the engine" } else { "the script" });
    Ok(())
}

fn script() -> anyhow::Result<()> {
    if !shell::has_command("npm") {
        return Err(
            Missing("the script is made with Node: install npm (Debian's package `npm`), 20 or newer".into()).into()
        );
    }
    let npm = |words: &[&str]| {
        let mut command = Command::new("npm");
        command.args(words).current_dir(shell::root().join("web"));
        command
    };
    shell::run(&mut npm(&["ci"]))?;
    shell::run(&mut npm(&["run", "check"]))?;
    let output = npm(&["run", "--silent", "build"]).output().context("cannot run npm")?;
    anyhow::ensure!(output.status.success(), "the script cannot be made: {}", String::from_utf8_lossy(&output.stderr));
    fs::write(shell::root().join(made::SCRIPT), output.stdout).with_context(|| format!("cannot write {}", made::SCRIPT))
}

/// Packages of Debian that hold a compiler of one version with the sources of its library; both the compiler's own and its
/// LLVM's number are in the names of two of them.
const PACKAGES: &[&str] = &["rustc-web", "libstd-rust-web-dev", "rust-web-src"];

fn engine() -> anyhow::Result<()> {
    let linker = ["wasm-ld-19", "wasm-ld", "rust-lld"].into_iter().find(|name| shell::has_command(name));
    let target = shell::target().join("web");
    let mut command = shell::cargo();
    command.args(["rustc", "-p", "workspan-page", "--lib", "--crate-type", "cdylib", "--release", "--locked"]);
    command.args(["--target", "wasm32-unknown-unknown", "--target-dir"]).arg(&target);
    for (key, value) in [
        ("OPT_LEVEL", "3"),
        ("LTO", "fat"),
        ("PANIC", "abort"),
        ("STRIP", "symbols"),
        ("CODEGEN_UNITS", "1"),
        ("DEBUG", "0"),
    ] {
        command.env(format!("CARGO_PROFILE_RELEASE_{key}"), value);
    }
    // No place on this machine gets into the result, which is the same wherever it is made by this compiler.
    command.env("RUSTC_BOOTSTRAP", "1").env("RUSTFLAGS", "-Zlocation-detail=none -Zfmt-debug=none");
    let linker = linker.ok_or_else(|| Missing("there is no wasm-ld: install Debian's package `lld-19`".into()))?;
    command.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker);
    let compiler = compiler(&target.join("compiler"))?;
    command.env("RUSTC", compiler).arg("-Zbuild-std=std,panic_abort");
    shell::run(&mut command)?;
    let made = target.join("wasm32-unknown-unknown/release/workspan_page.wasm");
    let bytes = fs::read(&made).with_context(|| format!("cannot read {}", made.display()))?;
    fs::write(shell::root().join(made::ENGINE), bytes).with_context(|| format!("cannot write {}", made::ENGINE))
}

/// A compiler that has the sources of its library: unpacked from Debian's packages, next to nothing of the system's.
fn compiler(folder: &Path) -> anyhow::Result<PathBuf> {
    let script = folder.join("rustc");
    if script.is_file() {
        return Ok(script);
    }
    if !shell::has_command("apt-get") || !shell::has_command("dpkg") {
        return Err(Missing(
            "the engine needs a compiler with the sources of its library for WebAssembly, which is taken from Debian's \
             packages: there is no apt-get here"
                .into(),
        )
        .into());
    }
    // The lists of an image know an older compiler than Workspan needs.
    setup::apt_update()?;
    fs::create_dir_all(folder)?;
    let mut packages: Vec<String> = PACKAGES.iter().map(|name| (*name).to_owned()).collect();
    let library = dependency("libstd-rust-web-dev", "libstd-rust-web-1")?;
    packages.push(dependency(&library, "libllvm")?);
    packages.push(library);
    shell::run(Command::new("apt-get").arg("download").args(&packages).current_dir(folder))?;
    let root = folder.join("root");
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "deb") {
            shell::run(Command::new("dpkg").arg("-x").arg(&path).arg(&root))?;
        }
    }
    let root = root.display();
    let text =
        format!("#!/bin/sh\nLD_LIBRARY_PATH='{root}/usr/lib/x86_64-linux-gnu' exec '{root}/usr/bin/rustc' \"$@\"\n");
    fs::write(&script, text)?;
    shell::run(Command::new("chmod").arg("+x").arg(&script))?;
    Ok(script)
}

/// The package whose name begins like this, of those that another one needs.
fn dependency(package: &str, prefix: &str) -> anyhow::Result<String> {
    let output = Command::new("apt-cache").args(["show", "--no-all-versions", package]).output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let needed =
        text.lines().filter_map(|line| line.strip_prefix("Depends: ")).flat_map(|line| line.split([',', '|', ' ']));
    let found = needed.into_iter().map(str::trim).find(|name| name.starts_with(prefix)).map(str::to_owned);
    found.ok_or_else(|| {
        Missing(format!("apt knows no package `{package}` that needs `{prefix}…`: run `apt-get update`")).into()
    })
}
