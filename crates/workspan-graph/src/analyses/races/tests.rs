//! Where the definition finds a race, one is found; what is found, the definition has.

use std::collections::BTreeSet;

use proptest::prelude::*;
use workspan_trace::control::{Kind, Operation};
use workspan_trace::program::{operation, Access as Mode};

use super::{From, Races};
use crate::causes::Causes;
use crate::events::{Access, Control};
use crate::replay::Consumer as _;

const CONTEXTS: u32 = 4;
/// Cells of 8 bytes, on both sides of the end of a page.
const CELLS: u64 = 4;
const BASE: u64 = 0x2000 - 16;
/// Code of the program that accesses.
const PLACES: u32 = 3;

#[derive(Clone, Debug)]
enum Step {
    Access {
        context: u32,
        at: u64,
        size: u64,
        write: bool,
        atomic: bool,
        place: u32,
    },
    Lock {
        context: u32,
        object: u64,
        unlock: bool,
    },
    /// A context ends and another joins it; nothing if it has ended.
    Join {
        context: u32,
        ended: u32,
    },
    Allocate {
        context: u32,
        at: u64,
        size: u64,
    },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let context = || 0..CONTEXTS;
    let at = || 0..CELLS * 8;
    let access = (context(), at(), prop_oneof![Just(1_u64), Just(2), Just(4), Just(8), 0..20_u64], any::<bool>())
        .prop_flat_map(|(context, at, size, write)| {
            (prop::bool::weighted(0.2), 0..PLACES).prop_map(move |(atomic, place)| {
                let size = size.min(CELLS * 8 - at);
                Step::Access { context, at, size, write, atomic, place }
            })
        });
    let lock = (context(), 0..2_u64, any::<bool>());
    prop::collection::vec(
        prop_oneof![
            12 => access,
            3 => lock.prop_map(|(context, object, unlock)| Step::Lock { context, object, unlock }),
            1 => (context(), 1..CONTEXTS).prop_map(|(context, ended)| Step::Join { context, ended }),
            1 => (context(), at(), 0..20_u64).prop_map(|(context, at, size)| Step::Allocate { context, at, size }),
        ],
        1..120,
    )
}

/// All accesses, by the definition.
#[derive(Default)]
struct Definition {
    causes: Causes,
    accesses: Vec<(u32, u32, u64, bool, bool, u32)>,
    /// Races, as pairs of operations.
    races: BTreeSet<(u32, u32)>,
}

impl Definition {
    fn access(&mut self, context: u32, access: &Access) {
        let order = &mut self.causes.order;
        let (write, atomic) = (access.mode != Mode::Load, access.flags & operation::ATOMIC != 0);
        for byte in access.address..access.address + access.size {
            for (other, moment, at, wrote, was_atomic, place) in &self.accesses {
                let conflict = *at == byte && (write || *wrote) && !(atomic && *was_atomic);
                if conflict && *other != context && !order.is_before(*other, *moment, context) {
                    self.races.insert((*place, access.operation));
                }
            }
        }
        let now = order.now(context);
        let bytes = access.address..access.address + access.size;
        self.accesses.extend(bytes.map(|byte| (context, now, byte, write, atomic, access.operation)));
    }

    /// As the shadow: whole cells.
    fn forget(&mut self, address: u64, size: u64) {
        if size > 0 {
            let cells = address >> 3..=(address + size - 1) >> 3;
            self.accesses.retain(|(_, _, byte, ..)| !cells.contains(&(byte >> 3)));
        }
    }
}

fn control(kind: Kind, slots: [u64; 5]) -> Control {
    Control { kind, slots }
}

proptest! {
    #[test]
    fn races_are_those_of_the_definition(steps in steps()) {
        let mut races = Races::default();
        let mut definition = Definition::default();
        for child in 1..CONTEXTS {
            let create = control(Kind::Create, [0, 0, u64::from(child) + 1, 0, 0]);
            races.control(0, create);
            definition.causes.control(0, create);
        }
        let mut ended = BTreeSet::new();
        for step in steps {
            match step {
                Step::Access { context, .. } | Step::Lock { context, .. } | Step::Allocate { context, .. }
                    if ended.contains(&context) => {}
                Step::Access { context, at, size, write, atomic, place } => {
                    let mode = if write { Mode::Store } else { Mode::Load };
                    let flags = if atomic { operation::ATOMIC } else { 0 };
                    // Which cell it is, which context and which code is in the operation, so that each race is known by it.
                    let cell = u32::try_from((at + BASE % 8) / 8).expect("few");
                    let operation = (cell * CONTEXTS + context) * PLACES + place;
                    let access = Access { address: BASE + at, size, mode, flags, operation };
                    let stamp = races.stamp(context, context);
                    races.touch(From { context, thread: context, module: 0, stamp }, &access);
                    definition.access(context, &access);
                }
                Step::Lock { context, object, unlock } => {
                    let operation = if unlock { Operation::Unlock } else { Operation::Lock };
                    let sync = control(Kind::Sync, [0, 0, object, 0, operation as u64]);
                    races.control(context, sync);
                    definition.causes.control(context, sync);
                }
                Step::Join { context, ended: gone } => {
                    if context != gone && !ended.contains(&context) && ended.insert(gone) {
                        races.after(context, gone);
                        definition.causes.order.join(context, gone);
                    }
                }
                Step::Allocate { context, at, size } => {
                    let allocate = control(Kind::Allocate, [BASE + at, size, 0, 0, 0]);
                    races.control(context, allocate);
                    definition.causes.control(context, allocate);
                    definition.forget(BASE + at, size);
                }
            }
        }
        let found: BTreeSet<(u32, u32)> = races.pairs().iter().map(|race| (race.first.1, race.second.1)).collect();
        let wrong: Vec<_> = found.difference(&definition.races).collect();
        prop_assert!(wrong.is_empty(), "no races: {wrong:?}");
        // At least one of each cell where there are some.
        let cells = |pairs: &BTreeSet<(u32, u32)>| -> BTreeSet<u32> {
            pairs.iter().map(|(_, second)| second / PLACES / CONTEXTS).collect()
        };
        prop_assert_eq!(cells(&found), cells(&definition.races));
    }
}
