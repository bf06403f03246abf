//! How far the work after the program's end is. Nothing in the first seconds; then one line on a terminal, elsewhere a line now
//! and then.

use std::time::{Duration, Instant};

use crate::status_line::StatusLine;

/// Whoever waits less needs no comfort.
const PATIENCE: Duration = Duration::from_secs(2);

/// Shown as it grows, and wiped at the end.
#[derive(Debug)]
pub struct Progress {
    what: &'static str,
    most: u64,
    done: u64,
    next: Instant,
    line: StatusLine,
}

impl Progress {
    /// Of at most this number of things.
    pub fn new(what: &'static str, most: u64) -> Progress {
        Progress { what, most, done: 0, next: Instant::now() + PATIENCE, line: StatusLine::new(false) }
    }

    /// This number more are done.
    pub fn add(&mut self, count: u64) {
        self.done += count;
        let now = Instant::now();
        if now < self.next {
            return;
        }
        self.next = now + if self.line.is_replaced() { PATIENCE / 10 } else { PATIENCE * 5 };
        self.line.show(&line(self.what, self.done, self.most));
    }
}

fn line(what: &str, done: u64, most: u64) -> String {
    let share = done.saturating_mul(100).checked_div(most).unwrap_or(0).min(100);
    format!("the program has ended; writing {what}: {done}, about {share} % (Ctrl-C keeps what there is)")
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
