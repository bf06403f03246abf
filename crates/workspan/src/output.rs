//! Writing to the terminal. A closed pipe ends output quietly.

use std::io::{self, IsTerminal, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Data, to stdout.
pub fn data(text: &str) -> io::Result<()> {
    quiet_if_closed(io::stdout().lock().write_all(text.as_bytes()))
}

/// Data that is too large to be kept in memory, to stdout.
pub fn stream(write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let written = write(&mut out).and_then(|()| Ok(out.flush()?));
    match written {
        Err(error) if error.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe) => {
            // What is left in the buffer has nowhere to go.
            let _ = out.into_parts();
            Ok(())
        }
        other => other,
    }
}

/// A message, to stderr.
pub fn message(text: &str) {
    // There is nowhere left to report a failure to.
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// A message with our name.
pub fn note(text: &str) {
    message(&format!("workspan: {text}"));
}

/// An error and its causes.
pub fn error(error: &anyhow::Error) {
    message(&format!("workspan: error: {error:#}"));
}

/// A path as a word of a shell's command line, to be copied.
pub fn quoted(path: &Path) -> String {
    let bytes = path.as_os_str().as_bytes();
    let words = shlex::bytes::try_quote(bytes).unwrap_or(bytes.into());
    String::from_utf8_lossy(&words).into_owned()
}

/// Whether to colour what goes to stdout.
pub fn colour_stdout() -> bool {
    colour(io::stdout().is_terminal())
}

/// Whether to colour what goes to stderr.
pub fn colour_stderr() -> bool {
    colour(io::stderr().is_terminal())
}

/// Whether the terminal shows more than ASCII: as the locale says, of which the first that is set counts.
pub fn unicode() -> bool {
    let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set).unwrap_or_default().to_ascii_uppercase();
    locale.contains("UTF-8") || locale.contains("UTF8")
}

fn colour(terminal: bool) -> bool {
    terminal
        && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
        && std::env::var_os("TERM").is_none_or(|t| t != "dumb")
}

fn quiet_if_closed(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}
