//! `workspan depend report`, and what is shown after a run.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{anyhow, Context};
use workspan_depend::file::{decode, Problem};
use workspan_depend::profile::Profile;
use workspan_report::depend::{answer, autopar, csv, dot, html, json, sarif, text, Options, Threshold};

use crate::args::depend::{DependReport, Shown};
use crate::exit::Outcome;
use crate::known::Known;
use crate::machine::{known_thresholds, SpawnRuntime, SpawnThreshold};
use crate::{files, output};

/// A larger file is no profile.
const LARGEST: u64 = 1 << 30;
/// A larger file is no source.
const LARGEST_SOURCE: u64 = 1 << 24;

/// Runs the verb.
pub fn run(args: &DependReport) -> anyhow::Result<Outcome> {
    show(&read(&args.file)?, &args.shown, true)?;
    Ok(Outcome::OK)
}

/// Reads a profile.
pub fn read(file: &Path) -> anyhow::Result<Profile> {
    const WRITES: &str = "`workspan depend -- PROGRAM` writes a profile, NAME.depend";
    let name = output::path(file);
    let other = || Known::of(file).filter(|known| *known != Known::Profile).map(|known| known.advice(file));
    let bytes = files::read_regular(file, LARGEST).map_err(|error| match (error.kind(), other()) {
        (io::ErrorKind::NotFound, _) => anyhow!("there is no {name}: {WRITES}"),
        (_, Some(advice)) => anyhow!("cannot read {name}: {advice}"),
        (_, None) => anyhow!("cannot read {name}: {error}; {WRITES}"),
    })?;
    decode(&bytes).map_err(|problem| match other() {
        Some(advice) => anyhow!("cannot read {name}: {problem}; {advice}"),
        None if problem == Problem::Other => anyhow!("cannot read {name}: {problem}; {WRITES}"),
        None => anyhow!("cannot read {name}: {problem}"),
    })
}

/// Files that are to be written, but for JSON.
fn others(shown: &Shown) -> [&Option<PathBuf>; 5] {
    [&shown.csv, &shown.sarif, &shown.autopar, &shown.dot, &shown.html]
}

/// Fails if a file that is to be written cannot be.
pub fn check_writable(shown: &Shown) -> anyhow::Result<()> {
    let json = shown.json.iter().filter(|file| file.as_path() != Path::new("-"));
    others(shown).into_iter().flatten().chain(json).try_for_each(|file| files::check_writable(file))
}

/// Writes what is wanted. `asked`: text goes to standard output, not among the messages of a run.
pub fn show(profile: &Profile, shown: &Shown, asked: bool) -> anyhow::Result<()> {
    let lines = Lines::default();
    let line = |file: &str, number: u32| lines.line(file, number);
    let processors = shown.processors.unwrap_or_else(|| {
        std::thread::available_parallelism().map_or(1, |count| u32::try_from(count.get()).unwrap_or(1))
    });
    let threshold = threshold(profile, shown.spawn_threshold);
    let view = answer(profile, &Options { processors, threshold, line: &line });
    let made_at = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let [as_csv, as_sarif, as_autopar, as_dot, as_html] = others(shown);
    // For other programs files are as the compiler saw them.
    let here = files::here();
    let read = view.read_in(&here);
    let page = || html(&read, made_at, &line);
    let outputs: [(&Option<PathBuf>, &dyn Fn() -> String); 5] = [
        (as_csv, &|| csv(&view)),
        (as_sarif, &|| sarif(&view)),
        (as_autopar, &|| autopar(&view)),
        (as_dot, &|| dot(&view)),
        (as_html, &page),
    ];
    for (file, text) in outputs {
        let Some(file) = file else { continue };
        files::replace(file, text().as_bytes()).with_context(|| format!("cannot write {}", output::path(file)))?;
    }
    match shown.json.as_deref() {
        Some(file) if file == Path::new("-") => output::data(&(json(&view) + "\n"))?,
        Some(file) => {
            files::replace(file, (json(&view) + "\n").as_bytes())
                .with_context(|| format!("cannot write {}", output::path(file)))?;
        }
        None if asked => output::data(&text(&read, shown.top))?,
        None => {}
    }
    if !asked && shown.json.is_none() {
        output::message(text(&read, shown.top).trim_end());
    }
    Ok(())
}

/// The least size of a call that is worth a spawn: the given one, or of the runtimes that the program could use the smallest of those that
/// were measured.
fn threshold(profile: &Profile, asked: Option<u64>) -> Threshold {
    if let Some(instructions) = asked {
        return Threshold { instructions, basis: "--spawn-threshold".to_owned() };
    }
    let is_rust = |file: &str| Path::new(file).extension().is_some_and(|extension| extension == "rs");
    let is_rust = profile.calls.iter().any(|call| is_rust(&call.place.file));
    let fits = |of: &SpawnThreshold| (of.runtime == SpawnRuntime::Rayon) == is_rust;
    let best = known_thresholds().into_iter().filter(fits).min_by_key(|known| known.instructions);
    best.map_or_else(Threshold::default, |known| Threshold {
        instructions: known.instructions,
        basis: format!("measured, {}", known.runtime.name()),
    })
}

/// Source files that are there, each read once.
#[derive(Default)]
struct Lines(RefCell<HashMap<String, Vec<String>>>);

impl Lines {
    fn line(&self, file: &str, number: u32) -> Option<String> {
        let mut files = self.0.borrow_mut();
        let lines = files.entry(file.to_owned()).or_insert_with(|| {
            let bytes = files::read_regular(Path::new(file), LARGEST_SOURCE).unwrap_or_default();
            String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect()
        });
        lines.get((number as usize).checked_sub(1)?).cloned()
    }
}
