//! Running commands, and saying so.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::Context;

/// The repository.
pub(crate) fn root() -> PathBuf {
    // Where cargo says it is now; where it was when this was compiled, if cargo did not start us.
    let here =
        env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    here.parent().map_or_else(|| here.clone(), Path::to_owned)
}

/// The target directory, in which this executable lies.
pub(crate) fn target() -> PathBuf {
    let here = env::current_exe().unwrap_or_default();
    let found = here.ancestors().find(|folder| folder.join("CACHEDIR.TAG").is_file());
    found.map_or_else(|| root().join("target"), Path::to_owned)
}

/// Cargo, as if called from a shell in the repository.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new("cargo");
    command.current_dir(root());
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        // What cargo has set for xtask would make it build scripts again that look at these.
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") || text == "CARGO" {
            command.env_remove(&name);
        }
    }
    command
}

/// Shows a command and runs it to its end.
pub(crate) fn run(command: &mut Command) -> anyhow::Result<()> {
    let line = line(command);
    eprintln!("$ {line}");
    let status = command.status().with_context(|| format!("cannot run `{line}`"))?;
    anyhow::ensure!(status.success(), "`{line}` failed ({status})");
    Ok(())
}

/// Runs a command that reports something: true if it succeeds.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|s| s.success())
}

/// The command as one would type it.
pub(crate) fn line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<String> = words.map(|word| word.to_string_lossy().into_owned()).collect();
    // What no shell can have in a word is shown as it is.
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_else(|_| words.join(" "))
}

/// True if `name` is a command in PATH.
pub(crate) fn has_command(name: &str) -> bool {
    env::var_os("PATH").is_some_and(|path| env::split_paths(&path).any(|folder| folder.join(name).is_file()))
}

/// The platform that rustc builds for.
pub(crate) fn host() -> anyhow::Result<String> {
    let output = Command::new("rustc").arg("-vV").output().context("cannot run rustc")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("`rustc -vV` names no platform")
}

/// A path as seen from the repository, if it is inside.
pub(crate) fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

/// Minutes and seconds.
pub(crate) fn minutes(time: Duration) -> String {
    let seconds = time.as_secs();
    if seconds < 60 {
        format!("{:.1} s", time.as_secs_f64())
    } else {
        format!("{} min {:02} s", seconds / 60, seconds % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_shown_as_one_would_type_them() {
        let mut command = Command::new("cargo");
        command.args(["run", "--", "a b", "it's", ""]);
        assert_eq!(line(&command), r#"cargo run -- 'a b' "it's" ''"#);
    }

    #[test]
    fn times_are_readable() {
        assert_eq!(minutes(Duration::from_millis(1_540)), "1.5 s");
        assert_eq!(minutes(Duration::from_secs(125)), "2 min 05 s");
    }
}
