//! What source a piece of code comes from.
//!
//! **Cost:** the address ranges of the wanted units once; the entries and the line program of each unit in which an address
//! lies, once.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use gimli::UnitRef;

use crate::budget::Stop;
use crate::executable::{Code, Executable};
use crate::files;
use crate::rows::{self, Row};
use crate::scopes::{self, ScopeId, Scopes};
use crate::units::{CompileUnit, Units};

/// The units of an executable, by address.
#[derive(Debug)]
pub(crate) struct CodeMap<'e> {
    pub(crate) units: Units<'e>,
    code: &'e Code,
    wanted: fn(&CompileUnit<'e>) -> bool,
    /// Begin and end of code, and the position of the unit that it belongs to.
    ranges: OnceCell<Vec<(u64, u64, usize)>>,
    details: RefCell<HashMap<usize, Option<Rc<Details>>>>,
}

/// What is known of a unit's code.
#[derive(Debug)]
pub(crate) struct Details {
    /// Position of the unit.
    pub(crate) unit: usize,
    pub(crate) scopes: Scopes,
    /// By address.
    rows: Vec<Row>,
    /// By index in the unit's table.
    files: HashMap<u64, File>,
}

/// A file of a unit.
#[derive(Debug)]
pub(crate) struct File {
    /// Absolute, as far as known.
    pub(crate) path: String,
    /// Within the folder of the compilation, if the compiler was given a relative path.
    pub(crate) relative: Option<String>,
}

/// Where an instruction stands in the source, or a call that was inlined around it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step<'d> {
    /// File and line, if known, and column (0 if unknown).
    pub(crate) place: Option<(&'d File, u32, u32)>,
    /// The innermost function there.
    pub(crate) scope: Option<ScopeId>,
}

impl<'e> CodeMap<'e> {
    /// Of those units that are wanted.
    pub(crate) fn new(executable: &'e Executable<'_>, wanted: fn(&CompileUnit<'e>) -> bool) -> CodeMap<'e> {
        let units = Units::read(executable, |_, _, _| Ok(()));
        let details = RefCell::new(HashMap::new());
        CodeMap { units, code: executable.code(), wanted, ranges: OnceCell::new(), details }
    }

    /// The unit around an address.
    pub(crate) fn details(&self, address: u64) -> Option<Rc<Details>> {
        let unit = self.unit_at(address)?;
        let mut details = self.details.borrow_mut();
        let known = details.entry(unit).or_insert_with(|| {
            let details = Details::read(&self.units, unit, self.code);
            details.ok().flatten().map(Rc::new)
        });
        known.clone()
    }

    pub(crate) fn unit_at(&self, address: u64) -> Option<usize> {
        let ranges = self.ranges.get_or_init(|| self.ranges());
        let after = ranges.partition_point(|(begin, _, _)| *begin <= address);
        let (_, end, unit) = ranges.get(after.checked_sub(1)?)?;
        (address < *end).then_some(*unit)
    }

    fn ranges(&self) -> Vec<(u64, u64, usize)> {
        let units = &self.units;
        let mut found = Vec::new();
        for (index, unit) in units.units.iter().enumerate().filter(|(_, unit)| (self.wanted)(unit)) {
            let visit = |begin, end| {
                units.budget.charge(1)?;
                if begin < end && self.code.contains(begin) {
                    found.push((begin, end, index));
                }
                Ok(())
            };
            // What stands before the damage is known.
            let _ = scopes::unit_ranges(UnitRef::new(&units.dwarf, &unit.unit), visit);
        }
        found.sort_unstable();
        found
    }
}

impl Details {
    fn read(units: &Units<'_>, index: usize, code: &Code) -> Result<Option<Details>, Stop> {
        let Some(unit) = units.units.get(index) else {
            return Ok(None);
        };
        let unit_ref = UnitRef::new(&units.dwarf, &unit.unit);
        let scopes = Scopes::read(unit_ref, code, &units.budget)?;
        let mut rows = Vec::new();
        let mut known = HashMap::new();
        if let Some(program) = unit.line_program(&units.dwarf)? {
            for (index, entry) in files::table(program.header()) {
                let path = files::Path::of(unit_ref, program.header(), entry)?;
                units.budget.charge(path.length())?;
                known.insert(index, File { path: path.whole(), relative: path.relative() });
            }
            rows::for_each(program, code, &units.budget, |row| rows.push(row))?;
        }
        rows.sort_by_key(|row| row.begin);
        Ok(Some(Details { unit: index, scopes, rows, files: known }))
    }

    /// The instruction at an address, and the calls inlined around it, innermost first.
    pub(crate) fn steps(&self, address: u64) -> impl Iterator<Item = Step<'_>> {
        let after = self.rows.partition_point(|row| row.begin <= address);
        let row = after.checked_sub(1).and_then(|at| self.rows.get(at)).filter(|row| address < row.end);
        let place = |file: u64, line: u32, column: u32| {
            let file = self.files.get(&file).filter(|_| line != 0)?;
            Some((file, line, column))
        };
        let first = match self.scopes.beginning_at(address) {
            // What is requested is the function, whatever has been inlined into its first instructions.
            Some(function) => Step {
                place: row.and_then(|Row { opening: (file, line, column), .. }| place(*file, *line, *column)),
                scope: Some(function),
            },
            None => Step {
                place: row.and_then(|row| place(row.file, row.line, row.column)),
                scope: self.scopes.at(address),
            },
        };
        // Ends: parents come before their children.
        std::iter::successors(Some(first), move |step| {
            let inner = self.scopes.get(step.scope?)?;
            let call = inner.call;
            Some(Step { place: place(call.file, call.line, call.column), scope: Some(inner.parent?) })
        })
    }
}
