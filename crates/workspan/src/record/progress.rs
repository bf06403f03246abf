//! How far the work after the program's end is. Nothing in the first seconds; then one line on a terminal, elsewhere a line now
//! and then.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

/// Whoever waits less needs no comfort.
const PATIENCE: Duration = Duration::from_secs(2);

/// Shown as it grows, and wiped at the end.
#[derive(Debug)]
pub struct Progress {
    what: &'static str,
    most: u64,
    done: u64,
    terminal: bool,
    next: Instant,
    shown: bool,
}

impl Progress {
    /// Of at most this number of things.
    pub fn new(what: &'static str, most: u64) -> Progress {
        let terminal = io::stderr().is_terminal();
        Progress { what, most, done: 0, terminal, next: Instant::now() + PATIENCE, shown: false }
    }

    /// This number more are done.
    pub fn add(&mut self, count: u64) {
        self.done += count;
        let now = Instant::now();
        if now < self.next {
            return;
        }
        self.next = now + if self.terminal { PATIENCE / 10 } else { PATIENCE * 5 };
        let line = line(self.what, self.done, self.most);
        write(&if self.terminal { format!("\r\x1b[K{line}") } else { format!("workspan: {line}\n") });
        self.shown = self.terminal;
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown {
            write("\r\x1b[K");
        }
    }
}

fn line(what: &str, done: u64, most: u64) -> String {
    let share = done.saturating_mul(100).checked_div(most).unwrap_or(0).min(100);
    format!("the program has ended; writing {what}: {done}, about {share} % (Ctrl-C keeps what there is)")
}

fn write(text: &str) {
    let mut stderr = io::stderr().lock();
    // There is nowhere left to report a failure to.
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_how_far_it_is() {
        let text = "the program has ended; writing strands: 50, about 25 % (Ctrl-C keeps what there is)";
        assert_eq!(line("strands", 50, 200), text);
        assert!(line("strands", 7, 0).contains("about 0 %") && line("strands", 7, 5).contains("about 100 %"));
    }
}
