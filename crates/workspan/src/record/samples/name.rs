//! What samples of serial code have in common.
//!
//! Of each row, the innermost function that is in [`MOST`] of its samples: called there, or called by what was. A program's own
//! functions come before those of libraries, in which no one can change anything. Of fewer than [`Ran::FEW`] samples it has to be in all. Where
//! samples are fewer than [`LEAST`], or have nothing in common but what starts every program, nothing is claimed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use workspan_model::{ContextId, Ran, Recording, SiteId};
use workspan_report::place;
use workspan_symbols::{debug_file_candidates, is_debug_file_of, Called, Callers, Executable};

use super::calls::Seen;
use crate::files;

/// Bytes of a file of code, or of the debug information that it names.
const LARGEST: u64 = 16 << 30;
/// Samples of a row from which on something is said of it.
const LEAST: usize = 3;
/// Share of a row's samples that a function has to be in, in percent.
const MOST: usize = 75;
/// Of lines, samples that may lie outside of those that are named, in percent at each end.
const OUTSIDE: usize = 2;

/// A function, and where in it a sample is.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Frame {
    function: Function,
    /// Empty if it is not known, or not that of the function.
    file: String,
    line: u32,
    inlined: Inlined,
}

/// Whether a function was inlined where it was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Inlined {
    No,
    /// Into `main`, perhaps through others.
    IntoMain,
    Elsewhere,
}

/// A function.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Function {
    name: String,
    /// The program's own, not a library's.
    own: bool,
}

impl Function {
    fn is_main(&self) -> bool {
        self.name == "main" || self.name.ends_with("::main")
    }
}

/// Fills in what serial code did. `leads_to`: where each of the contexts leads that samples name.
pub fn name(recording: &mut Recording, executable: &Path, seen: Vec<Seen>, leads_to: &[ContextId]) {
    let mut rows: BTreeMap<SiteId, Vec<Seen>> = BTreeMap::new();
    for sample in seen {
        let context = leads_to.get(sample.row.index()).copied().unwrap_or(ContextId::ROOT);
        if let Some(site) = recording.contexts.site(context) {
            rows.entry(site).or_default().push(sample);
        }
    }
    rows.retain(|_, samples| samples.len() >= LEAST);
    let program = executable.canonicalize().unwrap_or_else(|_| executable.to_owned());
    let directory = recording.directory.clone();
    let find = |rows: &BTreeMap<SiteId, Vec<Seen>>, wanted: &dyn Fn(&Path) -> bool| -> Vec<Ran> {
        let frames = look_up(rows, wanted, &program, &directory);
        rows.iter().filter_map(|(site, samples)| common(*site, samples, &frames)).collect()
    };
    // Libraries of the system are looked at only where nothing else says what ran: that takes long.
    let own = |path: &Path| is_programs(path, &program);
    recording.ran = find(&rows, &own);
    rows.retain(|site, _| recording.ran.iter().all(|ran| ran.site != *site));
    recording.ran.extend(find(&rows, &|_| true));
    recording.ran.sort_by_key(|ran| ran.site);
}

/// The program's own code, not a library's of the system.
fn is_programs(path: &Path, program: &Path) -> bool {
    path == program || !SYSTEM.iter().any(|folder| path.starts_with(folder))
}

/// What is known of each address, innermost first.
type Known = BTreeMap<(PathBuf, u64), Vec<Frame>>;

fn look_up(
    rows: &BTreeMap<SiteId, Vec<Seen>>,
    is_wanted: &dyn Fn(&Path) -> bool,
    program: &Path,
    directory: &str,
) -> Known {
    let mut wanted: BTreeMap<&Path, BTreeSet<u64>> = BTreeMap::new();
    let calls = rows.values().flatten().flat_map(|sample| &sample.calls);
    for (path, address) in calls.filter(|(path, _)| is_wanted(path)) {
        wanted.entry(path).or_default().insert(*address);
    }
    let mut known = Known::new();
    for (path, addresses) in wanted {
        let Ok(bytes) = files::read_regular(path, LARGEST) else { continue };
        let candidates = debug_file_candidates(path, &bytes);
        let debug_file = candidates
            .iter()
            .filter_map(|file| files::read_regular(file, LARGEST).ok())
            .find(|candidate| is_debug_file_of(candidate, &bytes));
        let parsed = match &debug_file {
            Some(debug_file) => Executable::parse_with_debug_file(&bytes, debug_file),
            None => Executable::parse(&bytes),
        };
        let Ok(parsed) = parsed else { continue };
        let lookup = parsed.lookup();
        let callers = Callers::parse(&bytes);
        let of_program = is_programs(path, program);
        for address in addresses {
            let mut called = lookup.called(address);
            if let [Called { function: function @ None, .. }] = &mut called[..] {
                // A stripped program has no names, but says where functions begin.
                *function = callers.as_ref().and_then(|code| code.function_at(address)).map(|at| bare(path, at));
            }
            let mut frames: Vec<Frame> =
                called.into_iter().filter_map(|call| frame(call, of_program, directory)).collect();
            if let Some((around, inlined)) = frames.split_last_mut() {
                let into = if around.function.is_main() { Inlined::IntoMain } else { Inlined::Elsewhere };
                inlined.iter_mut().for_each(|frame| frame.inlined = into);
            }
            known.insert((path.to_owned(), address), frames);
        }
    }
    known
}

/// Folders whose libraries are not the program's own.
const SYSTEM: [&str; 4] = ["/usr/lib", "/lib", "/lib64", "/usr/local/lib"];

/// A function without a name.
fn bare(path: &Path, at: u64) -> String {
    let file = path.file_name().unwrap_or_default();
    format!("{}+{at:#x}", file.to_string_lossy())
}

fn frame(call: Called, of_program: bool, directory: &str) -> Option<Frame> {
    let Called { function, place } = call;
    let name = function?;
    let (mut file, mut line) = place.map_or_else(Default::default, |place| (place.file, place.line));
    if is_toolchains(&file) {
        // What was inlined from there may have no scope of its own, so that the function's own line is not known.
        (file, line) = (String::new(), 0);
    }
    let own = of_program && is_own(&name, &file) && !starts_programs(&name);
    let file = place::below(directory, &file).to_owned();
    Some(Frame { function: Function { name, own }, file, line, inlined: Inlined::No })
}

/// True for a file of Rust's own libraries.
fn is_toolchains(file: &str) -> bool {
    ["/rustc/", "/library/std/src/", "/library/core/src/", "/library/alloc/src/"].iter().any(|part| file.contains(part))
}

/// True for code that is not of a toolchain, a package or a system's header.
fn is_own(name: &str, file: &str) -> bool {
    let others = ["/usr/include/", "/usr/lib/", "/registry/src/", "/git/checkouts/"];
    let crates = ["std::", "core::", "alloc::", "<core::", "<std::", "<alloc::", "rayon", "<rayon", "__rust"];
    !others.iter().any(|folder| file.contains(folder)) && !crates.iter().any(|name_of| name.starts_with(name_of))
}

/// What is at the beginning of every program or thread, and says nothing.
fn starts_programs(name: &str) -> bool {
    name.starts_with("__libc_start")
        || matches!(name, "_start" | "start_thread" | "clone" | "__clone" | "clone3" | "__clone3")
}

/// What the samples of a row amount to in a function.
#[derive(Debug, Default)]
struct Sum<'k> {
    samples: usize,
    /// Sum of how deep it was called.
    depth: usize,
    file: &'k str,
    lines: Vec<u32>,
    /// Samples in which it was inlined into another, and those in which that was `main`.
    inlined: usize,
    into_main: usize,
}

/// The innermost function that most samples have in common.
fn common(site: SiteId, samples: &[Seen], known: &Known) -> Option<Ran> {
    let chains: Vec<Vec<&Frame>> = samples
        .iter()
        .map(|sample| sample.calls.iter().flat_map(|call| known.get(call).into_iter().flatten()).collect())
        .collect();
    let sums = sums(&chains);
    let few = (samples.len() as u64) < Ran::FEW;
    let share = if few { 100 } else { MOST };
    let most = |sum: &Sum<'_>| sum.samples * 100 >= samples.len() * share;
    let in_most = || sums.iter().filter(|(function, sum)| most(sum) && !starts_programs(&function.name));
    let mean = |sum: &Sum<'_>| sum.depth * 1000 / sum.samples.max(1);
    // Helpers that are inlined everywhere say less than the function that uses them.
    let whole = in_most().filter(|(_, sum)| sum.inlined * 2 < sum.samples);
    let mut best = whole.max_by_key(|(function, sum)| (function.own, mean(sum), sum.samples))?;
    if best.0.is_main() {
        // Into `main` whole phases are inlined: of these, the outermost.
        let phases = in_most().filter(|(function, sum)| function.own && sum.into_main * 2 >= sum.samples);
        best = phases.min_by_key(|(_, sum)| mean(sum)).unwrap_or(best);
    }
    let (function, sum) = best;
    let mut lines = sum.lines.clone();
    lines.sort_unstable();
    let aside = lines.len() * OUTSIDE / 100;
    let line = |at: Option<usize>| at.and_then(|at| lines.get(at)).copied().unwrap_or(0);
    let lines = (line(Some(aside)), line(lines.len().checked_sub(1 + aside)));
    let threads: BTreeSet<u32> = samples.iter().map(|sample| sample.tid).collect();
    Some(Ran {
        site,
        function: function.name.clone(),
        file: sum.file.to_owned(),
        lines,
        samples: samples.len() as u64,
        within: sum.samples as u64,
        // Shares of few samples say nothing.
        callees: if few { Vec::new() } else { callees(function, &chains) },
        threads: u32::try_from(threads.len()).unwrap_or(u32::MAX),
        main_thread: samples.iter().all(|sample| sample.main_thread),
    })
}

fn sums<'k>(chains: &[Vec<&'k Frame>]) -> BTreeMap<&'k Function, Sum<'k>> {
    let mut sums: BTreeMap<&Function, Sum<'_>> = BTreeMap::new();
    for chain in chains {
        let mut once = BTreeSet::new();
        for (at, frame) in chain.iter().enumerate() {
            // Of a recursion, the innermost call.
            if once.insert(&frame.function) {
                let sum = sums.entry(&frame.function).or_default();
                sum.samples += 1;
                sum.depth += chain.len() - at;
                if frame.line > 0 {
                    sum.lines.push(frame.line);
                    sum.file = &frame.file;
                }
                // A closure bears its function's name, and may be inlined into it.
                let same = || chain.iter().filter(|other| other.function == frame.function);
                if same().all(|other| other.inlined != Inlined::No) {
                    sum.inlined += 1;
                    sum.into_main += usize::from(frame.inlined == Inlined::IntoMain);
                }
            }
        }
    }
    sums
}

/// The functions of the program that `function` called, the most sampled first.
fn callees(function: &Function, chains: &[Vec<&Frame>]) -> Vec<(String, u64)> {
    let mut found: BTreeMap<&str, u64> = BTreeMap::new();
    for chain in chains {
        // From the outermost call of it inwards.
        let inside = chain.iter().rev().skip_while(|frame| frame.function != *function);
        let callee = inside.skip(1).find(|frame| frame.function.own && frame.function != *function);
        if let Some(callee) = callee {
            *found.entry(&callee.function.name).or_default() += 1;
        }
    }
    let mut callees: Vec<(String, u64)> = found.into_iter().map(|(name, count)| (name.to_owned(), count)).collect();
    callees.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    callees.truncate(Ran::CALLEES);
    callees
}

#[cfg(test)]
#[path = "name_tests.rs"]
mod tests;
