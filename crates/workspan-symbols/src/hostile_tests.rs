//! Debug information that no compiler writes: made to overflow the stack, to run in circles, or to take for ever.

use gimli::{EndianSlice, RunTimeEndian, UnitOffset, UnitRef};

use crate::budget::{Budget, Stop};
use crate::executable::Code;
use crate::names::{read_name, EntryName};
use crate::scopes::Scopes;
use crate::units::Units;

const ENDIAN: RunTimeEndian = RunTimeEndian::Little;

/// Abbreviations: a unit; an inlined call with nothing but children; one with a list of ranges; one with an origin.
const UNIT: u8 = 1;
const NESTED: u8 = 2;
const RANGES: u8 = 3;
const ORIGIN: u8 = 4;
const ABBREVIATIONS: &[u8] = &[
    UNIT, 0x11, 1, 0, 0, //
    NESTED, 0x1d, 1, 0, 0, //
    RANGES, 0x1d, 0, 0x55, 0x17, 0, 0, //
    ORIGIN, 0x1d, 0, 0x31, 0x13, 0, 0, //
    0,
];

/// Length of a unit's header: DWARF 4 of 32 bits.
const HEADER: usize = 11;

/// A unit with these entries below its first.
fn section(entries: &[u8]) -> Vec<u8> {
    let length = u32::try_from(HEADER - 4 + 1 + entries.len()).expect("tests are small");
    let mut info = length.to_le_bytes().to_vec();
    info.extend([4, 0, 0, 0, 0, 0, 8, UNIT]);
    info.extend(entries);
    info
}

fn with_units<T>(entries: &[u8], ranges: &[u8], budget: Budget, look: impl FnOnce(&Units<'_>) -> T) -> T {
    let info = section(entries);
    let of = |bytes| EndianSlice::new(bytes, ENDIAN);
    let dwarf = gimli::Dwarf {
        debug_info: of(&info).into(),
        debug_abbrev: of(ABBREVIATIONS).into(),
        ranges: gimli::RangeLists::new(of(ranges).into(), of(&[]).into()),
        ..gimli::Dwarf::default()
    };
    let units = Units::of(dwarf, budget, |_, _, _| Ok(()));
    assert_eq!(units.problem(), None);
    look(&units)
}

fn scopes(entries: &[u8], ranges: &[u8], budget: Budget) -> Result<Scopes, Stop> {
    with_units(entries, ranges, budget, |units| {
        Scopes::read(UnitRef::new(&units.dwarf, &units.units[0].unit), &Code::everywhere(), &units.budget)
    })
}

#[test]
fn entries_may_nest_as_deep_as_they_like() {
    let deep = vec![NESTED; 300_000];
    let found = scopes(&deep, &[], Budget::for_bytes(deep.len() as u64)).expect("it is strange, but sound");
    assert_eq!(found.scopes.len(), deep.len());
    assert!(found.scopes.iter().all(|scope| scope.function == 0));
}

#[test]
fn a_shared_list_does_not_take_for_ever() {
    let mut list = Vec::new();
    for begin in 1..20_000_u64 {
        list.extend([(begin * 2).to_le_bytes(), (begin * 2 + 1).to_le_bytes()].concat());
    }
    let entries = [RANGES, 0, 0, 0, 0].repeat(20_000);
    let bytes = (list.len() + entries.len()) as u64;
    assert!(matches!(scopes(&entries, &list, Budget::for_bytes(bytes)), Err(Stop::Exhausted)));
}

#[test]
fn entries_that_refer_in_circles_have_no_name() {
    let first = HEADER + 1;
    for (one, other) in [(first, first), (first + 5, first), (first, 0xffff), (first + 1, first + 2)] {
        let reference =
            |to: usize| [&[ORIGIN][..], &u32::try_from(to).expect("tests are small").to_le_bytes()].concat();
        let entries = [reference(one), reference(other)].concat();
        with_units(&entries, &[], Budget::for_bytes(0), |units| {
            let name = read_name(units, &units.units[0], UnitOffset(first));
            assert!(matches!(name, Ok(EntryName::None) | Err(Stop::Damaged)));
        });
    }
}
