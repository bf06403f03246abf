//! Compilation units.
//!
//! **Cost:** each byte of abbreviations and of line program headers is read once; of the units only the first entry.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::sync::Arc;

use gimli::{
    Abbreviations, AttributeValue, DebugAbbrev, DebugAbbrevOffset, DebugLineOffset, DwLang, IncompleteLineProgram,
    Reader, Section, Unit,
};

use crate::budget::{Budget, Stop};
use crate::error::Error;
use crate::executable::{Executable, Slice};

/// A unit, without its line program: the file tables of all units together would fill much memory.
#[derive(Debug)]
pub(crate) struct CompileUnit<'s> {
    /// Offset in `.debug_info`.
    pub(crate) start: usize,
    pub(crate) unit: Unit<Slice<'s>>,
    pub(crate) lines: Option<DebugLineOffset>,
    language: OnceCell<Option<DwLang>>,
}

/// C++, in all its editions.
const CPP: [DwLang; 6] = [
    gimli::DW_LANG_C_plus_plus,
    gimli::DW_LANG_C_plus_plus_03,
    gimli::DW_LANG_C_plus_plus_11,
    gimli::DW_LANG_C_plus_plus_14,
    gimli::DW_LANG_C_plus_plus_17,
    gimli::DW_LANG_C_plus_plus_20,
];

impl<'s> CompileUnit<'s> {
    /// True if the unit belongs to the workspace that was built: cargo gives the compiler relative paths only for the
    /// workspace's own files.
    pub(crate) fn is_of_workspace(&self) -> bool {
        let relative = |text: &Slice<'_>| !text.slice().starts_with(b"/");
        self.unit.name.as_ref().is_some_and(relative) && !self.is_of_standard_library()
    }

    /// True if the unit is of Rust's standard library, compiled before the program was. Its generic functions are compiled into the
    /// units that use them.
    pub(crate) fn is_of_standard_library(&self) -> bool {
        self.unit.comp_dir.is_some_and(|folder| folder.slice().starts_with(b"/rustc/"))
    }

    /// True if the unit is of C++.
    pub(crate) fn is_cpp(&self) -> bool {
        self.language().is_some_and(|language| CPP.contains(&language))
    }

    /// True if the unit is of Fortran.
    pub(crate) fn is_fortran(&self) -> bool {
        self.language().is_some_and(|language| FORTRAN.contains(&language))
    }

    fn language(&self) -> Option<DwLang> {
        *self.language.get_or_init(|| self.read_language().ok().flatten())
    }

    fn read_language(&self) -> Result<Option<DwLang>, gimli::Error> {
        let mut entries = self.unit.entries_raw(None)?;
        let Some(abbreviation) = entries.read_abbreviation()? else {
            return Ok(None);
        };
        for specification in abbreviation.attributes() {
            let attribute = entries.read_attribute(*specification)?;
            if let (gimli::DW_AT_language, AttributeValue::Language(language)) = (attribute.name(), attribute.value()) {
                return Ok(Some(language));
            }
        }
        Ok(None)
    }

    /// The line program, read again.
    pub(crate) fn line_program(
        &self,
        dwarf: &gimli::Dwarf<Slice<'s>>,
    ) -> Result<Option<IncompleteLineProgram<Slice<'s>>>, Stop> {
        let Some(offset) = self.lines else {
            return Ok(None);
        };
        let unit = &self.unit;
        Ok(Some(dwarf.debug_line.program(offset, unit.header.address_size(), unit.comp_dir, unit.name)?))
    }
}

/// Fortran, in all its editions.
const FORTRAN: [DwLang; 6] = [
    gimli::DW_LANG_Fortran77,
    gimli::DW_LANG_Fortran90,
    gimli::DW_LANG_Fortran95,
    gimli::DW_LANG_Fortran03,
    gimli::DW_LANG_Fortran08,
    gimli::DW_LANG_Fortran18,
];

/// All units of an executable that can be read.
#[derive(Debug)]
pub(crate) struct Units<'s> {
    pub(crate) dwarf: gimli::Dwarf<Slice<'s>>,
    pub(crate) units: Vec<CompileUnit<'s>>,
    pub(crate) budget: Budget,
    damaged: usize,
    exhausted: bool,
}

impl<'s> Units<'s> {
    /// Reads the units, and shows `visit` each with its line program.
    pub(crate) fn read(
        executable: &'s Executable<'_>,
        visit: impl FnMut(&Units<'s>, &CompileUnit<'s>, &IncompleteLineProgram<Slice<'s>>) -> Result<(), Stop>,
    ) -> Units<'s> {
        Units::of(executable.dwarf(), Budget::for_bytes(executable.size()), visit)
    }

    pub(crate) fn of(
        dwarf: gimli::Dwarf<Slice<'s>>,
        budget: Budget,
        mut visit: impl FnMut(&Units<'s>, &CompileUnit<'s>, &IncompleteLineProgram<Slice<'s>>) -> Result<(), Stop>,
    ) -> Units<'s> {
        let mut units = Units { dwarf, units: Vec::new(), budget, damaged: 0, exhausted: false };
        let headers = units.headers();
        let abbreviations = abbreviations(&units.dwarf, &headers);
        for header in headers {
            let Some(table) = abbreviations.get(&header.debug_abbrev_offset()) else {
                units.damaged += 1;
                continue;
            };
            let result = units.unit(header, table).and_then(|(unit, program)| {
                if let Some(program) = program {
                    visit(&units, &unit, &program)?;
                }
                Ok(unit)
            });
            match result {
                Ok(unit) => units.units.push(unit),
                Err(stop) => units.note(stop),
            }
            if units.exhausted {
                break;
            }
        }
        units
    }

    fn headers(&mut self) -> Vec<gimli::UnitHeader<Slice<'s>>> {
        let mut headers = Vec::new();
        let mut iter = self.dwarf.units();
        loop {
            match iter.next() {
                Ok(Some(header)) => headers.push(header),
                Ok(None) => return headers,
                // The length of this one is not known, so that of the next is not either.
                Err(_) => {
                    self.damaged += 1;
                    return headers;
                }
            }
        }
    }

    fn unit(
        &self,
        header: gimli::UnitHeader<Slice<'s>>,
        abbreviations: &Arc<Abbreviations>,
    ) -> Result<(CompileUnit<'s>, Option<IncompleteLineProgram<Slice<'s>>>), Stop> {
        let start = header.debug_info_offset().map_or(0, |offset| offset.0);
        let mut unit = Unit::new_with_abbreviations(&self.dwarf, header, Arc::clone(abbreviations))?;
        let program = unit.line_program.take();
        let strings = [unit.name, unit.comp_dir].iter().flatten().map(|text| text.len()).sum::<usize>();
        self.budget.charge(strings + program.as_ref().map_or(0, |program| program.header().header_length()))?;
        let lines = program.as_ref().map(|program| program.header().offset());
        Ok((CompileUnit { start, unit, lines, language: OnceCell::new() }, program))
    }

    /// The unit around an offset of `.debug_info`.
    pub(crate) fn around(&self, offset: usize) -> Option<&CompileUnit<'s>> {
        let after = self.units.partition_point(|unit| unit.start <= offset);
        self.units.get(after.checked_sub(1)?)
    }

    /// Keeps count of what went wrong.
    pub(crate) fn note(&mut self, stop: Stop) {
        match stop {
            Stop::Damaged => self.damaged += 1,
            Stop::Exhausted => self.exhausted = true,
        }
    }

    pub(crate) fn exhausted(&self) -> bool {
        self.exhausted
    }

    /// What went wrong.
    pub(crate) fn problem(&self) -> Option<Error> {
        match (self.exhausted, self.damaged) {
            (true, _) => Some(Error::TooMuchWork),
            (false, 0) => None,
            (false, units) => Some(Error::Damaged { units }),
        }
    }
}

/// The tables of abbreviations. Each ends where the next begins, as in any sound file: so none is read twice, however the
/// units refer to them.
fn abbreviations<'s>(
    dwarf: &gimli::Dwarf<Slice<'s>>,
    headers: &[gimli::UnitHeader<Slice<'s>>],
) -> HashMap<DebugAbbrevOffset, Arc<Abbreviations>> {
    let section = *dwarf.debug_abbrev.reader();
    let mut offsets: Vec<usize> = headers.iter().map(|header| header.debug_abbrev_offset().0).collect();
    offsets.sort_unstable();
    offsets.dedup();
    let ends = offsets.iter().skip(1).copied().chain([section.len()]);
    let mut tables = HashMap::new();
    for (begin, end) in offsets.iter().copied().zip(ends) {
        let Some(bytes) = section.slice().get(begin..end.min(section.len())) else {
            continue;
        };
        if let Ok(table) = DebugAbbrev::new(bytes, section.endian()).abbreviations(DebugAbbrevOffset(0)) {
            tables.insert(DebugAbbrevOffset(begin), Arc::new(table));
        }
    }
    tables
}
