//! The functions of a unit, and the calls inlined into them, by address.
//!
//! The entries are a tree; it is walked with a stack of its own, so that no nesting overflows the thread's. The address
//! ranges are then flattened to segments, each of which knows the innermost function: a look-up is a binary search.
//!
//! **Cost:** one pass over the unit's entries, and the sorting of their ranges.

use gimli::{AttributeValue, EntriesRaw, UnitOffset, UnitRef};

use crate::budget::{Budget, Stop};
use crate::executable::{Code, Slice};

/// Steps charged for a range: it takes as many bytes of memory, and hostile lists can be shared.
const RANGE_STEPS: usize = 16;

/// Position among a unit's scopes.
pub(crate) type ScopeId = u32;

/// Where a call was inlined. The line is 0 if unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) file: u64,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// A function, or a call inlined into one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope {
    /// The scope into which it was inlined, always before this one; `None` for a function with code of its own.
    pub(crate) parent: Option<ScopeId>,
    /// The function with code of its own into which it was inlined, if need be through others; itself if it is one.
    pub(crate) function: ScopeId,
    pub(crate) call: Call,
    pub(crate) entry: UnitOffset,
    /// Its first address; 0 if it has no code.
    pub(crate) address: u64,
}

/// The scopes of a unit.
#[derive(Debug, Default)]
pub(crate) struct Scopes {
    pub(crate) scopes: Vec<Scope>,
    segments: Segments,
}

impl Scopes {
    pub(crate) fn read(unit: UnitRef<'_, Slice<'_>>, code: &Code, budget: &Budget) -> Result<Scopes, Stop> {
        let mut scopes = Vec::new();
        let mut ranges = Vec::new();
        // The entries around the next one that are scopes.
        let mut around: Vec<(isize, ScopeId)> = Vec::new();
        let mut entries = unit.entries_raw(None)?;
        while !entries.is_empty() {
            let entry = entries.next_offset();
            let depth = entries.next_depth();
            let Some(abbreviation) = entries.read_abbreviation()? else {
                continue;
            };
            budget.charge(1 + abbreviation.attributes().len())?;
            while around.last().is_some_and(|(outer, _)| *outer >= depth) {
                around.pop();
            }
            let inlined = match abbreviation.tag() {
                gimli::DW_TAG_inlined_subroutine => true,
                gimli::DW_TAG_subprogram => false,
                _ => {
                    entries.skip_attributes(abbreviation.attributes())?;
                    continue;
                }
            };
            let attributes = Attributes::read(unit, &mut entries, abbreviation.attributes())?;
            let id = ScopeId::try_from(scopes.len()).map_err(|_| Stop::Exhausted)?;
            let mut address = 0;
            attributes.for_each_range(unit, |begin, end| {
                budget.charge(RANGE_STEPS)?;
                if begin < end && code.contains(begin) {
                    address = if address == 0 { begin } else { address };
                    ranges.push(Range { begin, end, depth, scope: id });
                }
                Ok(())
            })?;
            let parent = around.last().map(|(_, scope)| *scope).filter(|_| inlined);
            let function =
                parent.and_then(|parent| scopes.get(parent as usize)).map_or(id, |scope: &Scope| scope.function);
            scopes.push(Scope { parent, function, call: attributes.call, entry, address });
            around.push((depth, id));
        }
        Ok(Scopes { scopes, segments: Segments::of(ranges) })
    }

    pub(crate) fn get(&self, id: ScopeId) -> Option<&Scope> {
        self.scopes.get(id as usize)
    }

    /// The innermost scope at an address.
    pub(crate) fn at(&self, address: u64) -> Option<ScopeId> {
        self.segments.at(address)
    }

    /// The function with code of its own that begins at an address.
    pub(crate) fn beginning_at(&self, address: u64) -> Option<ScopeId> {
        let function = self.get(self.at(address)?)?.function;
        self.get(function).filter(|scope| scope.address == address).map(|_| function)
    }

    /// The scope to which a row that begins at an address belongs: the innermost, but for a function's first, which
    /// stands for its head, even if the first instructions are already those of an inlined call.
    pub(crate) fn of_row(&self, address: u64) -> Option<&Scope> {
        let innermost = self.get(self.at(address)?)?;
        let function = self.get(innermost.function)?;
        Some(if function.address == address { function } else { innermost })
    }
}

/// Passes the code of a unit to `visit`, as its root entry has it: begin and end of each range. (`gimli::Dwarf::unit_ranges`
/// adds without looking whether the sum fits.)
pub(crate) fn unit_ranges(
    unit: UnitRef<'_, Slice<'_>>,
    visit: impl FnMut(u64, u64) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let mut entries = unit.entries_raw(None)?;
    match entries.read_abbreviation()? {
        Some(root) => Attributes::read(unit, &mut entries, root.attributes())?.for_each_range(unit, visit),
        None => Ok(()),
    }
}

/// What an entry says about its place.
#[derive(Default)]
struct Attributes {
    low: Option<u64>,
    high: Option<u64>,
    size: Option<u64>,
    ranges: Option<gimli::RangeListsOffset>,
    call: Call,
}

impl Attributes {
    fn read<'s>(
        unit: UnitRef<'_, Slice<'s>>,
        entries: &mut EntriesRaw<'_, Slice<'s>>,
        specifications: &[gimli::AttributeSpecification],
    ) -> Result<Attributes, Stop> {
        let mut read = Attributes::default();
        let small = |value: &AttributeValue<_, _>| value.udata_value().and_then(|v| u32::try_from(v).ok()).unwrap_or(0);
        for specification in specifications {
            let attribute = entries.read_attribute(*specification)?;
            let value = attribute.value();
            match attribute.name() {
                gimli::DW_AT_low_pc => read.low = unit.attr_address(value)?,
                gimli::DW_AT_high_pc => match value.udata_value() {
                    Some(size) => read.size = Some(size),
                    None => read.high = unit.attr_address(value)?,
                },
                gimli::DW_AT_ranges => read.ranges = unit.attr_ranges_offset(value)?,
                gimli::DW_AT_call_line => read.call.line = small(&value),
                gimli::DW_AT_call_column => read.call.column = small(&value),
                gimli::DW_AT_call_file => {
                    if let AttributeValue::FileIndex(file) = value {
                        read.call.file = file;
                    }
                }
                _ => {}
            }
        }
        Ok(read)
    }

    fn for_each_range(
        &self,
        unit: UnitRef<'_, Slice<'_>>,
        mut visit: impl FnMut(u64, u64) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        if let Some(offset) = self.ranges {
            let mut list = unit.ranges(offset)?;
            while let Some(range) = list.next()? {
                visit(range.begin, range.end)?;
            }
            return Ok(());
        }
        let Some(begin) = self.low else {
            return Ok(());
        };
        match self.size.map(|size| begin.saturating_add(size)).or(self.high) {
            Some(end) => visit(begin, end),
            None => Ok(()),
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Range {
    begin: u64,
    end: u64,
    depth: isize,
    scope: ScopeId,
}

/// Disjoint stretches of addresses: where each begins, and the innermost scope there.
#[derive(Debug, Default)]
struct Segments(Vec<(u64, Option<ScopeId>)>);

impl Segments {
    /// Of nested ranges the inner wins; of overlapping ones, which no compiler writes, the later.
    fn of(mut ranges: Vec<Range>) -> Segments {
        ranges.sort_unstable_by_key(|r| (r.begin, std::cmp::Reverse(r.end), r.depth, r.scope));
        let mut segments = Segments(Vec::with_capacity(ranges.len() * 2));
        let mut open: Vec<Range> = Vec::new();
        for range in ranges {
            segments.close(&mut open, range.begin);
            segments.begin(range.begin, Some(range.scope));
            open.push(range);
        }
        segments.close(&mut open, u64::MAX);
        segments
    }

    /// Ends the ranges that end at or before `address`.
    fn close(&mut self, open: &mut Vec<Range>, address: u64) {
        while let Some(end) = open.last().map(|range| range.end).filter(|end| *end <= address) {
            while open.last().is_some_and(|range| range.end <= end) {
                open.pop();
            }
            self.begin(end, open.last().map(|range| range.scope));
        }
    }

    fn begin(&mut self, address: u64, scope: Option<ScopeId>) {
        match self.0.last_mut() {
            Some(last) if last.0 == address => last.1 = scope,
            _ => self.0.push((address, scope)),
        }
    }

    fn at(&self, address: u64) -> Option<ScopeId> {
        let after = self.0.partition_point(|(begin, _)| *begin <= address);
        after.checked_sub(1).and_then(|at| self.0.get(at))?.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(ranges: &[(u64, u64, isize)], expected: &str) {
        let ranges = ranges.iter().zip(0..).map(|((begin, end, depth), scope)| Range {
            begin: *begin,
            end: *end,
            depth: *depth,
            scope,
        });
        let segments = Segments::of(ranges.collect());
        let picture: String =
            (0..10).map(|at| segments.at(at).map_or('.', |s| char::from_digit(s, 10).unwrap_or('?'))).collect();
        assert_eq!(picture, expected);
        assert!(segments.0.windows(2).all(|w| w[0].0 < w[1].0));
    }

    #[test]
    fn the_innermost_scope() {
        check(&[], "..........");
        check(&[(2, 5, 0), (6, 8, 0)], "..000.11..");
        check(&[(2, 5, 0), (5, 8, 0)], "..000111..");
        check(&[(1, 9, 0), (2, 6, 1), (3, 4, 2), (7, 9, 1)], ".01211033.");
        check(&[(1, 5, 0), (1, 5, 1), (1, 3, 2)], ".2211.....");
        // An inner scope in two pieces.
        check(&[(0, 9, 0), (1, 2, 1), (4, 5, 1)], "010020000.");
    }

    #[test]
    fn overlapping_ranges_do_no_harm() {
        check(&[(1, 5, 0), (3, 8, 1)], ".0011111..");
        check(&[(1, 8, 0), (3, 5, 1), (4, 9, 2)], ".00122222.");
        check(&[(0, u64::MAX, 0), (3, 4, 1)], "0001000000");
    }
}
