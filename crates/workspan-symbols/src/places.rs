//! From places in the source to the functions around them.
//!
//! For each place the evidence is, from best to worst:
//! 1. instructions, or a call that was inlined, with the very line and column: the function in which they lie;
//! 2. the same with the very line;
//! 3. the function whose lines, from the first to the last that has instructions, enclose the place; of several the one
//!    with the fewest lines, which is the innermost.
//!
//! The third is for calls in the middle of a chain of methods, where the compiler notes the line on which the chain
//! begins, and for closures whose name is not known. Instances of a generic function, copies in several units and
//! closures count for the one function that they come from; where they disagree, the majority decides.
//!
//! **Cost:** the file tables of all units; and for units that mention a wanted file their line program and their entries,
//! once.

use std::collections::{BTreeMap, HashMap};

use gimli::UnitRef;

use crate::budget::Stop;
use crate::error::Error;
use crate::executable::{Code, Executable};
use crate::files::{Mention, WantedFiles};
use crate::names::{Name, NameId, Names};
use crate::path::last_segment;
use crate::rows;
use crate::scopes::Scopes;
use crate::units::{CompileUnit, Units};

/// A place in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place<'p> {
    /// File as the compiler saw it: relative to the workspace, or absolute.
    pub file: &'p str,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1; 0 if unknown.
    pub column: u32,
}

/// What was found out about places.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Functions {
    /// For each place the path of the function around it, without generic arguments. Only its last part where debug
    /// information has no more.
    pub names: Vec<Option<String>>,
    /// True if debug information mentions the file of any of the places.
    pub files_known: bool,
    /// What could not be read.
    pub problem: Option<Error>,
}

impl Executable<'_> {
    /// The functions around places in the source.
    pub fn functions(&self, places: &[Place<'_>]) -> Functions {
        if !self.has_debug_info() || places.is_empty() {
            return Functions { names: vec![None; places.len()], ..Functions::default() };
        }
        let files = WantedFiles::new(places.iter().map(|place| place.file));
        let mut mentions = Vec::new();
        let mut units = Units::read(self, |units, unit, program| {
            let unit_ref = UnitRef::new(&units.dwarf, &unit.unit);
            let found = files.mentioned(unit_ref, unit.is_of_workspace(), program.header(), &units.budget)?;
            if !found.is_empty() {
                mentions.push((units.units.len(), found));
            }
            Ok(())
        });
        let mut survey = Survey::new(self, places, &files);
        survey.files_known = !mentions.is_empty();
        for (index, found) in mentions {
            if units.exhausted() {
                break;
            }
            let result = units.units.get(index).map_or(Ok(()), |unit| survey.unit(&units, unit, &found));
            if let Err(stop) = result {
                units.note(stop);
            }
        }
        survey.finish(units.problem())
    }
}

/// How often a function was found at a place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Votes {
    with_column: u32,
    with_line: u32,
}

/// Lines from the first to the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Lines {
    first: u32,
    last: u32,
}

impl Lines {
    fn join(self, other: Lines) -> Lines {
        Lines { first: self.first.min(other.first), last: self.last.max(other.last) }
    }

    fn contains(self, line: u32) -> bool {
        self.first <= line && line <= self.last
    }
}

/// Evidence, gathered unit by unit.
struct Survey<'e, 'p> {
    code: &'e Code,
    names: Names<'e>,
    places: &'p [Place<'p>],
    /// Of each place.
    files: Vec<Option<usize>>,
    by_line: HashMap<(usize, u32), Vec<usize>>,
    votes: Vec<BTreeMap<NameId, Votes>>,
    /// By file.
    lines: Vec<BTreeMap<NameId, Lines>>,
    files_known: bool,
}

impl<'e, 'p> Survey<'e, 'p> {
    fn new(executable: &'e Executable<'_>, places: &'p [Place<'p>], files: &WantedFiles<'_>) -> Survey<'e, 'p> {
        let of_places: Vec<_> = places.iter().map(|place| files.position(place.file)).collect();
        let mut by_line: HashMap<(usize, u32), Vec<usize>> = HashMap::new();
        for (index, (place, file)) in places.iter().zip(&of_places).enumerate() {
            if let Some(file) = file {
                by_line.entry((*file, place.line)).or_default().push(index);
            }
        }
        Survey {
            code: executable.code(),
            names: Names::new(executable.symbols()),
            places,
            files: of_places,
            by_line,
            votes: vec![BTreeMap::new(); places.len()],
            lines: vec![BTreeMap::new(); files.len()],
            files_known: false,
        }
    }

    /// Gathers what a unit knows about the files that it mentions.
    fn unit(&mut self, units: &Units<'e>, unit: &CompileUnit<'e>, mentions: &[Mention]) -> Result<(), Stop> {
        let files: HashMap<u64, usize> = mentions.iter().map(|mention| (mention.index, mention.file)).collect();
        let scopes = Scopes::read(UnitRef::new(&units.dwarf, &unit.unit), self.code, &units.budget)?;
        for scope in &scopes.scopes {
            let (Some(parent), Some(file)) = (scope.parent, files.get(&scope.call.file)) else {
                continue;
            };
            let caller = scopes.get(parent).map_or(Ok(None), |caller| self.names.of_scope(units, unit, caller))?;
            if let Some(name) = caller.filter(|_| scope.call.line != 0) {
                self.found(*file, scope.call.line, scope.call.column, name);
            }
        }
        let Some(program) = unit.line_program(&units.dwarf)? else {
            return Ok(());
        };
        let mut found = Vec::new();
        rows::for_each(program, self.code, &units.budget, |row| {
            if let Some(file) = files.get(&row.file) {
                found.push((*file, row));
            }
        })?;
        for (file, row) in found {
            let name = match scopes.of_row(row.begin) {
                Some(scope) => self.names.of_scope(units, unit, scope)?,
                // Line tables alone have no entry for a function into which nothing was inlined.
                None => self.names.of_symbol(units, row.begin)?,
            };
            if let Some(name) = name {
                self.found(file, row.line, row.column, name);
            }
        }
        Ok(())
    }

    /// Notes that a function has code that comes from a line.
    fn found(&mut self, file: usize, line: u32, column: u32, name: NameId) {
        let lines = Lines { first: line, last: line };
        self.lines[file].entry(name).and_modify(|known| *known = known.join(lines)).or_insert(lines);
        for place in self.by_line.get(&(file, line)).into_iter().flatten() {
            let votes = self.votes[*place].entry(name).or_default();
            votes.with_line += 1;
            votes.with_column += u32::from(column != 0 && column == self.places[*place].column);
        }
    }

    fn finish(self, problem: Option<Error>) -> Functions {
        let by_file: Vec<_> = self.lines.iter().map(|lines| FileNames::new(&self.names, lines)).collect();
        let names = self.places.iter().zip(&self.files).zip(&self.votes).map(|((place, file), votes)| {
            let names = by_file.get((*file)?)?;
            names.elect(&self.names, votes).or_else(|| names.around(place.line)).map(str::to_owned)
        });
        Functions { names: names.collect(), files_known: self.files_known, problem }
    }
}

/// The functions of a file, by name: short names that stand for a longer one are replaced by it.
struct FileNames<'n> {
    whole: BTreeMap<NameId, &'n str>,
    lines: BTreeMap<&'n str, Lines>,
}

impl<'n> FileNames<'n> {
    fn new(names: &'n Names<'_>, known: &BTreeMap<NameId, Lines>) -> FileNames<'n> {
        let mut long: HashMap<&str, Vec<(&'n Name, Lines)>> = HashMap::new();
        for (id, lines) in known {
            let name = names.get(*id);
            if !name.short {
                long.entry(last_segment(&name.text)).or_default().push((name, *lines));
            }
        }
        let mut file = FileNames { whole: BTreeMap::new(), lines: BTreeMap::new() };
        for (id, lines) in known {
            let name = names.get(*id);
            let mut text = name.text.as_str();
            if name.short {
                let same = |other: &&(&Name, Lines)| other.1.contains(lines.first) || lines.contains(other.1.first);
                let mut candidates = long.get(text).into_iter().flatten().filter(same);
                if let (Some((only, _)), None) = (candidates.next(), candidates.next()) {
                    text = &only.text;
                }
            }
            file.whole.insert(*id, text);
            file.lines.entry(text).and_modify(|known| *known = known.join(*lines)).or_insert(*lines);
        }
        file
    }

    fn elect(&self, names: &'n Names<'_>, votes: &BTreeMap<NameId, Votes>) -> Option<&'n str> {
        let mut tally: BTreeMap<&'n str, Votes> = BTreeMap::new();
        for (id, votes) in votes {
            let text = self.whole.get(id).copied().unwrap_or(&names.get(*id).text);
            let sum = tally.entry(text).or_default();
            sum.with_column = sum.with_column.saturating_add(votes.with_column);
            sum.with_line = sum.with_line.saturating_add(votes.with_line);
        }
        // Of equals the first by name.
        tally.into_iter().rev().max_by_key(|(_, votes)| *votes).map(|(name, _)| name)
    }

    /// The innermost function whose lines enclose a line.
    fn around(&self, line: u32) -> Option<&'n str> {
        let enclosing = self.lines.iter().filter(|(_, lines)| lines.contains(line));
        enclosing.min_by_key(|(_, lines)| lines.last - lines.first).map(|(name, _)| *name)
    }
}
