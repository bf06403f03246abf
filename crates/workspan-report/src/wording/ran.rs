//! How the function is written that serial code spent its time in.

use schemars::JsonSchema;
use serde::Serialize;

use super::path::short_file;

/// The function that most samples of serial code have in common.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Ran {
    /// Its name.
    pub function: String,
    /// Its file; empty if it is not known.
    pub file: String,
    /// First line in it that was seen at work; 0 if it is not known.
    pub first_line: u32,
    /// Last line in it that was seen at work; 0 if it is not known.
    pub last_line: u32,
    /// Samples of the row.
    pub samples: u64,
    /// Share of them in the function, or in what it called.
    pub share: f64,
    /// The functions that it called, the most sampled first.
    pub callees: Vec<Callee>,
    /// Threads that ran the row.
    pub threads: u32,
    /// The only one was that which runs `main`.
    pub main_thread: bool,
}

/// A function that was called.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Callee {
    /// Its name.
    pub function: String,
    /// Share of the row's samples in it.
    pub share: f64,
}

/// From this share on, a callee of `main` is named, too.
const MUCH: f64 = 0.2;
/// From this share on, code is named by the function alone.
const ALL: f64 = 0.9;

impl Ran {
    /// As it is in a recording.
    #[expect(clippy::cast_precision_loss, reason = "a share")]
    pub fn of(ran: &workspan_model::Ran) -> Ran {
        let share = |samples: u64| if ran.samples == 0 { 0.0 } else { samples as f64 / ran.samples as f64 };
        Ran {
            function: ran.function.clone(),
            file: ran.file.clone(),
            first_line: ran.lines.0,
            last_line: ran.lines.1,
            samples: ran.samples,
            share: share(ran.within),
            callees: ran
                .callees
                .iter()
                .map(|(function, samples)| Callee { function: function.clone(), share: share(*samples) })
                .collect(),
            threads: ran.threads,
            main_thread: ran.main_thread,
        }
    }

    /// Behind a noun, such as "serial code": where it is.
    pub fn clause(&self) -> String {
        let share = if self.share >= ALL { String::new() } else { format!(", {:.0} % of it", self.share * 100.0) };
        let few = match self.samples {
            samples if samples < workspan_model::Ran::FEW => format!(", as {samples} samples show"),
            _ => String::new(),
        };
        format!("{share} in {}{}{few}", self.place(), self.phases())
    }

    /// What `main` spent its time in: its name alone says nothing.
    fn phases(&self) -> String {
        let is_main = self.function == "main" || self.function.ends_with("::main");
        let much = self.callees.iter().filter(|callee| is_main && callee.share >= MUCH);
        let named: Vec<String> = much.map(|c| format!("{:.0} % in `{}`", c.share * 100.0, c.function)).collect();
        if named.is_empty() {
            String::new()
        } else {
            format!(" with {}", named.join(" and "))
        }
    }

    /// The function and its lines.
    pub fn place(&self) -> String {
        let Ran { function, first_line, last_line, .. } = self;
        if self.file.is_empty() || *first_line == 0 {
            return format!("`{function}`");
        }
        let file = short_file(&self.file);
        match first_line == last_line {
            true => format!("`{function}` ({file}:{first_line})"),
            false => format!("`{function}` ({file}:{first_line}\u{2013}{last_line})"),
        }
    }

    /// Which thread it was.
    pub fn thread(&self) -> String {
        match (self.main_thread, self.threads) {
            (true, _) => "main thread".to_owned(),
            (false, 1) => "1 thread".to_owned(),
            (false, threads) => format!("{threads} threads"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(within: u64, lines: (u32, u32)) -> Ran {
        Ran::of(&workspan_model::Ran {
            site: workspan_model::SiteId(0),
            function: "write_output".to_owned(),
            file: "src/out.rs".to_owned(),
            lines,
            samples: 100,
            within,
            callees: vec![("escape".to_owned(), 60), ("flush".to_owned(), 10)],
            threads: 1,
            main_thread: true,
        })
    }

    #[test]
    fn the_share_is_said_where_it_is_not_all() {
        assert_eq!(ran(96, (40, 88)).clause(), " in `write_output` (src/out.rs:40\u{2013}88)");
        assert_eq!(ran(80, (40, 40)).clause(), ", 80 % of it in `write_output` (src/out.rs:40)");
        assert_eq!(ran(100, (0, 0)).clause(), " in `write_output`");
    }

    #[test]
    fn few_samples_are_named() {
        let few = Ran { samples: 4, ..ran(100, (40, 40)) };
        assert_eq!(few.clause(), " in `write_output` (src/out.rs:40), as 4 samples show");
    }

    #[test]
    fn of_main_it_is_said_what_it_called() {
        let main = Ran { function: "demo::main".to_owned(), ..ran(100, (3, 9)) };
        assert_eq!(main.clause(), " in `demo::main` (src/out.rs:3\u{2013}9) with 60 % in `escape`");
    }
}
