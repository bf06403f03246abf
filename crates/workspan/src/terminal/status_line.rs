//! How far something is, on stderr: on a terminal one line that is replaced, and wiped at the end; elsewhere lines.

use std::io::{self, IsTerminal, Write};

/// The line.
#[derive(Debug)]
pub struct StatusLine {
    terminal: bool,
    shown: bool,
}

impl StatusLine {
    /// Nothing yet. With `lines`, a terminal gets lines, too: other messages go there meanwhile.
    pub fn new(lines: bool) -> StatusLine {
        StatusLine { terminal: !lines && io::stderr().is_terminal(), shown: false }
    }

    /// True if the line is replaced.
    pub fn is_replaced(&self) -> bool {
        self.terminal
    }

    /// Shows a text.
    pub fn show(&mut self, text: &str) {
        write(&if self.terminal { format!("\r\x1b[K{text}") } else { format!("workspan: {text}\n") });
        self.shown = self.terminal;
    }
}

impl Drop for StatusLine {
    fn drop(&mut self) {
        if self.shown {
            write("\r\x1b[K");
        }
    }
}

fn write(text: &str) {
    let mut stderr = io::stderr().lock();
    // There is nowhere left to report a failure to.
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}
