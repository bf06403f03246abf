//! How far it is: on a terminal one line with the time left, elsewhere a line a round; nothing in the first two seconds.

use std::time::{Duration, Instant};

use crate::status_line::StatusLine;

/// Shown, and wiped at the end.
#[derive(Debug)]
pub struct Progress {
    began: Instant,
    all: usize,
    done: usize,
    round: u32,
    line: StatusLine,
}

/// Whoever waits less needs no comfort.
const PATIENCE: Duration = Duration::from_secs(2);

impl Progress {
    /// Of this number of runs. With `lines`, other things are written to the terminal meanwhile.
    pub fn new(all: usize, lines: bool) -> Progress {
        Progress { began: Instant::now(), all, done: 0, round: 0, line: StatusLine::new(lines) }
    }

    /// Before a run: what it is, and of which round.
    pub fn before(&mut self, what: &str, round: u32, rounds: u32) {
        if self.began.elapsed() >= PATIENCE {
            if self.line.is_replaced() || round != self.round {
                self.line.show(&line(what, (round, rounds), self.left()));
            }
            self.round = round;
        }
        self.done += 1;
    }

    /// Runs that remain take as long as those before, on average.
    fn left(&self) -> Option<Duration> {
        let done = u32::try_from(self.done).ok().filter(|done| *done > 0)?;
        let rest = u32::try_from(self.all.saturating_sub(self.done)).ok()?;
        Some(self.began.elapsed() / done * rest)
    }
}

fn line(what: &str, (round, rounds): (u32, u32), left: Option<Duration>) -> String {
    let left = left.map_or(String::new(), |left| match left.as_secs() {
        0..100 => format!(", {} s left", left.as_secs()),
        seconds => format!(", {} min left", seconds.div_ceil(60)),
    });
    format!("round {round} of {rounds}: {what}{left}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_is_short() {
        let check = |left, expected: &str| assert_eq!(line("2 workers", (3, 6), left), expected);
        check(None, "round 3 of 6: 2 workers");
        check(Some(Duration::from_millis(12_700)), "round 3 of 6: 2 workers, 12 s left");
        check(Some(Duration::from_secs(121)), "round 3 of 6: 2 workers, 3 min left");
    }
}
