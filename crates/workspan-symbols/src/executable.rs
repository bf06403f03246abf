//! An executable's parts that matter here: debug information, code, symbols.

use std::borrow::Cow;

use gimli::{DwarfSections, EndianSlice, RunTimeEndian, SectionId};
use object::{Object, ObjectSection, SectionKind};

use crate::error::Error;
use crate::symbols::Symbols;

/// Bytes of a section.
pub(crate) type Slice<'s> = EndianSlice<'s, RunTimeEndian>;

/// Most that a compressed section may grow, per byte of the file. Debug information shrinks to a third or a fifth.
const MAX_EXPANSION: u64 = 64;

/// An ELF file, an executable or a shared library, read as far as it must be to find debug information in it.
#[derive(Debug)]
pub struct Executable<'a> {
    /// The file that has the symbols.
    file: object::File<'a>,
    sections: DwarfSections<Cow<'a, [u8]>>,
    code: Code,
    size: u64,
    has_debug_info: bool,
}

impl<'a> Executable<'a> {
    /// Finds the sections. Those that are compressed are decompressed, which is all that this costs.
    pub fn parse(bytes: &'a [u8]) -> Result<Executable<'a>, Error> {
        let file = object::File::parse(bytes).map_err(Error::NotAnExecutable)?;
        let code = Code::of(&file);
        Executable::with_code(file, bytes, code)
    }

    /// The same for an executable whose debug information and symbols are in a file of their own.
    pub fn parse_with_debug_file(bytes: &[u8], debug_file: &'a [u8]) -> Result<Executable<'a>, Error> {
        let code = Code::of(&object::File::parse(bytes).map_err(Error::NotAnExecutable)?);
        let file = object::File::parse(debug_file).map_err(Error::NotAnExecutable)?;
        Executable::with_code(file, debug_file, code)
    }

    fn with_code(file: object::File<'a>, bytes: &[u8], code: Code) -> Result<Executable<'a>, Error> {
        let limit = (bytes.len() as u64).saturating_mul(MAX_EXPANSION);
        let mut size = 0;
        let mut present = Vec::new();
        let sections = DwarfSections::load(|id| {
            let data = load(&file, id, limit)?;
            size += data.len() as u64;
            if !data.is_empty() {
                present.push(id);
            }
            Ok::<_, Error>(data)
        })?;
        let has_debug_info = [SectionId::DebugInfo, SectionId::DebugLine].iter().all(|id| present.contains(id));
        Ok(Executable { file, sections, code, size, has_debug_info })
    }

    /// True if there is any debug information, be it only that of the standard library.
    pub fn has_debug_info(&self) -> bool {
        self.has_debug_info
    }

    pub(crate) fn dwarf(&self) -> gimli::Dwarf<Slice<'_>> {
        let endian = if self.file.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
        self.sections.borrow(|section| EndianSlice::new(section, endian))
    }

    /// Bytes of debug information.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    pub(crate) fn code(&self) -> &Code {
        &self.code
    }

    pub(crate) fn symbols(&self) -> Symbols<'_> {
        Symbols::of(&self.file)
    }
}

/// A section's bytes; none if it is absent or of no use here.
fn load<'a>(file: &object::File<'a>, id: SectionId, limit: u64) -> Result<Cow<'a, [u8]>, Error> {
    let used = matches!(
        id,
        SectionId::DebugAbbrev
            | SectionId::DebugAddr
            | SectionId::DebugInfo
            | SectionId::DebugLine
            | SectionId::DebugLineStr
            | SectionId::DebugRanges
            | SectionId::DebugRngLists
            | SectionId::DebugStr
            | SectionId::DebugStrOffsets
    );
    let Some(section) = file.section_by_name(id.name()).filter(|_| used) else {
        return Ok(Cow::Borrowed(&[]));
    };
    let failed = |reason| Error::Section { name: id.name(), reason };
    let data = section.compressed_data().map_err(failed)?;
    if data.uncompressed_size > limit {
        return Err(Error::TooMuchWork);
    }
    data.decompress().map_err(failed)
}

/// Where the code is. Debug information of functions that the linker has dropped lies outside.
#[derive(Debug)]
pub(crate) struct Code(Vec<(u64, u64)>);

impl Code {
    fn of(file: &object::File<'_>) -> Code {
        let text = file.sections().filter(|section| section.kind() == SectionKind::Text);
        let mut ranges: Vec<_> = text.map(|s| (s.address(), s.address().saturating_add(s.size()))).collect();
        ranges.sort_unstable();
        Code(ranges)
    }

    #[cfg(test)]
    pub(crate) fn everywhere() -> Code {
        Code(vec![(0, u64::MAX)])
    }

    pub(crate) fn contains(&self, address: u64) -> bool {
        let after = self.0.partition_point(|(begin, _)| *begin <= address);
        after.checked_sub(1).and_then(|at| self.0.get(at)).is_some_and(|(_, end)| address < *end)
    }
}
