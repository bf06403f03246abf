//! The two programs that everything here runs.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::Context;

/// Cargo: the one that runs us, if one does.
pub(super) fn cargo() -> OsString {
    env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// The executable of the command `workspan`, which lies beside this one.
pub(super) fn workspan() -> anyhow::Result<PathBuf> {
    let here = env::current_exe().context("cannot find our own executable")?;
    let there = here.with_file_name("workspan");
    anyhow::ensure!(
        there.is_file(),
        "the command `workspan` is missing beside {} (install both: cargo install --path crates/workspan)",
        here.display()
    );
    Ok(there)
}

/// The setting that makes cargo run programs through `workspan`, with a verb and its options.
pub(super) fn runner(verb: &[String], platform: &str) -> anyhow::Result<String> {
    let mut words = vec![workspan()?.to_string_lossy().into_owned()];
    words.extend(verb.iter().cloned());
    words.push("--".to_owned());
    let words: Vec<toml::Value> = words.into_iter().map(toml::Value::String).collect();
    Ok(format!("target.{platform}.runner={}", toml::Value::Array(words)))
}
