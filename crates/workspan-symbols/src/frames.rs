//! From addresses to the workspace's own places.
//!
//! **Cost:** the address ranges of the workspace's units once; the entries and the line program of each unit in which an
//! address lies, once.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use gimli::UnitRef;

use crate::budget::Stop;
use crate::executable::{Code, Executable};
use crate::files;
use crate::rows::{self, Row};
use crate::scopes::Scopes;
use crate::units::{CompileUnit, Units};

/// The folder into which sources of dependencies are copied, which may lie in the workspace.
const INSTRUMENTED: &str = "workspan/instrumented/";

/// Calls by address.
#[derive(Debug)]
pub struct Frames<'e> {
    units: Units<'e>,
    code: &'e Code,
    /// Begin and end of code, and the position of the unit that it belongs to.
    ranges: OnceCell<Vec<(u64, u64, usize)>>,
    details: RefCell<HashMap<usize, Option<Rc<Details>>>>,
}

/// What is known of a unit's code.
#[derive(Debug)]
struct Details {
    scopes: Scopes,
    /// By address.
    rows: Vec<Row>,
    /// The workspace's files, by index in the unit's table.
    files: HashMap<u64, String>,
}

impl Executable<'_> {
    /// Prepares the look-up of addresses.
    pub fn frames(&self) -> Frames<'_> {
        let units = Units::read(self, |_, _, _| Ok(()));
        Frames { units, code: self.code(), ranges: OnceCell::new(), details: RefCell::new(HashMap::new()) }
    }
}

impl Frames<'_> {
    /// The first place in a file of the workspace, file and line, in a chain of calls: return addresses, innermost first,
    /// as the executable has them when it is loaded at its own base. Calls that were inlined are seen.
    pub fn first_workspace_frame(&self, addresses: &[u64]) -> Option<(String, u32)> {
        // A return address may be the first of another line, or of another function.
        addresses.iter().find_map(|address| self.frame(address.checked_sub(1)?))
    }

    fn frame(&self, address: u64) -> Option<(String, u32)> {
        let details = self.details(self.unit_at(address)?)?;
        let after = details.rows.partition_point(|row| row.begin <= address);
        let row = after.checked_sub(1).and_then(|at| details.rows.get(at)).filter(|row| address < row.end);
        let mut at = row.map(|row| (row.file, row.line));
        let mut scope = details.scopes.at(address);
        loop {
            if let Some((file, line)) = at.filter(|(_, line)| *line != 0) {
                if let Some(file) = details.files.get(&file) {
                    return Some((file.clone(), line));
                }
            }
            let inner = details.scopes.get(scope?)?;
            at = Some((inner.call.file, inner.call.line));
            // Ends: parents come before their children.
            scope = Some(inner.parent?);
        }
    }

    fn unit_at(&self, address: u64) -> Option<usize> {
        let ranges = self.ranges.get_or_init(|| ranges(&self.units, self.code));
        let after = ranges.partition_point(|(begin, _, _)| *begin <= address);
        let (_, end, unit) = ranges.get(after.checked_sub(1)?)?;
        (address < *end).then_some(*unit)
    }

    fn details(&self, unit: usize) -> Option<Rc<Details>> {
        let mut details = self.details.borrow_mut();
        let known = details.entry(unit).or_insert_with(|| {
            let read = self.units.units.get(unit).map(|unit| Details::read(&self.units, unit, self.code));
            read.and_then(Result::ok).map(Rc::new)
        });
        known.clone()
    }
}

/// The address ranges of the workspace's units: no other has code of the workspace in it.
fn ranges(units: &Units<'_>, code: &Code) -> Vec<(u64, u64, usize)> {
    let mut found = Vec::new();
    for (index, unit) in units.units.iter().enumerate().filter(|(_, unit)| unit.is_of_workspace()) {
        let Ok(mut ranges) = units.dwarf.unit_ranges(&unit.unit) else {
            continue;
        };
        while let Ok(Some(range)) = ranges.next() {
            if units.budget.charge(1).is_err() {
                break;
            }
            if range.begin < range.end && code.contains(range.begin) {
                found.push((range.begin, range.end, index));
            }
        }
    }
    found.sort_unstable();
    found
}

impl Details {
    fn read<'s>(units: &Units<'s>, unit: &CompileUnit<'s>, code: &Code) -> Result<Details, Stop> {
        let unit_ref = UnitRef::new(&units.dwarf, &unit.unit);
        let scopes = Scopes::read(unit_ref, code, &units.budget)?;
        let mut rows = Vec::new();
        let mut known = HashMap::new();
        if let Some(program) = unit.line_program(&units.dwarf)? {
            for (index, entry) in files::table(program.header()) {
                let path = files::Path::of(unit_ref, program.header(), entry)?;
                units.budget.charge(path.length())?;
                if let Some(path) = path.relative().filter(|path| !path.contains(INSTRUMENTED)) {
                    known.insert(index, path);
                }
            }
            rows::for_each(program, code, &units.budget, |row| rows.push(row))?;
        }
        rows.sort_by_key(|row| row.begin);
        Ok(Details { scopes, rows, files: known })
    }
}
