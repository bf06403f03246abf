//! Writing to the terminal. A closed pipe ends output quietly.
//!
//! **Invariant:** nothing that a terminal obeys gets there from a name, a path or a message of others: all text passes
//! [`workspan_report::shown`] here. Only [`stream`], which writes other tools' formats, leaves that to `workspan_export`.

use std::io::{self, IsTerminal, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use workspan_report::shown::{shown, shown_lines};

/// Data, to stdout.
pub fn data(text: &str) -> io::Result<()> {
    quiet_if_closed(io::stdout().lock().write_all(shown_lines(text).as_bytes()))
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
    let _ = writeln!(io::stderr().lock(), "{}", shown_lines(text));
}

/// A message with our name, in one line whatever names are in it.
pub fn note(text: &str) {
    message(&format!("workspan: {}", shown(text)));
}

/// An error and its causes, in one line.
pub fn error(error: &anyhow::Error) {
    message(&format!("workspan: error: {}", shown(&format!("{error:#}"))));
}

/// What clap has to say of a command line, which is more than a line; a path of the user's may be in it.
pub fn usage(error: &clap::Error, known: &clap::Command) {
    if error.use_stderr() {
        let arguments: Vec<_> = std::env::args_os().collect();
        // What was typed without a command gets the whole help.
        let whole = error.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
        let colour = colour_stderr();
        let text = match (error.render(), whole) {
            (text, true) if colour => text.ansi().to_string(),
            (text, true) => text.to_string(),
            (text, false) => crate::usage::advised(&text.to_string(), known, &arguments),
        };
        // Nothing distinguishes a new line of clap's from one in an argument that it repeats.
        let hostile = arguments.iter().any(|word| word.to_string_lossy().contains(char::is_control));
        let text = match hostile {
            true => text.split_whitespace().collect::<Vec<_>>().join(" "),
            false if colour && !whole => crate::usage::painted(&text),
            false => text,
        };
        message(text.trim_end_matches('\n'));
    } else {
        let text = error.render();
        let text = if colour_stdout() { text.ansi().to_string() } else { text.to_string() };
        // A closed pipe is no reason to complain about help.
        let _ = data(&text);
    }
}

/// A path, as part of a line.
pub fn path(path: &Path) -> String {
    shown(&path.display().to_string()).into_owned()
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
