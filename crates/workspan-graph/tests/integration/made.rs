//! Made-up programs and recordings.

use std::path::PathBuf;

use workspan_graph::codec::Encoder;
use workspan_graph::file::{End, Meta, Recorder, Recording};
use workspan_graph::program::Program;
use workspan_trace::control::{Kind, Operation as Sync, FIRST_SEGMENT};
use workspan_trace::program::{flag, operation, Access, Address, Function, Module, Operation, Place, Segment, NONE};
use workspan_trace::{ID_BYTES, SLOT_BYTES};

/// A module: segment 0 enters a function and loads, 1 stores with a size in a slot, 2 stores 4 bytes near another and to a
/// variable, 3 updates atomically, 4 has masked lanes, 5 is a loop: loads 8 bytes at addresses that grow by 8, and the 8 before
/// each, stores 4 where the step is in the event, and to the variable. Operation `n` is on line `10 + n`.
pub(crate) fn module() -> Module {
    let op = |access, flags, size, address, line| Operation { access, flags, size, address, place: line, step: 0 };
    let near = |offset| Address::Near { operation: 0, offset };
    let lists = [
        vec![op(Access::Load, 0, 8, Address::Slot, 0)],
        vec![op(Access::Store, operation::SIZE_SLOT | operation::BULK, 0, Address::Slot, 1)],
        vec![
            op(Access::Store, 0, 4, Address::Slot, 2),
            op(Access::Load, 0, 4, near(4), 3),
            op(Access::Store, 0, 4, Address::Symbol { symbol: 0, offset: 16 }, 4),
        ],
        vec![op(Access::Update, operation::ATOMIC, 8, Address::Slot, 5)],
        vec![
            op(Access::Load, operation::MASK_SLOT | operation::VECTOR, 4, Address::Slot, 6),
            op(Access::Load, operation::MASK_SLOT | operation::VECTOR, 4, near(4), 7),
        ],
        vec![
            Operation { step: 8, ..op(Access::Load, 0, 8, Address::Slot, 8) },
            Operation { step: 8, ..op(Access::Load, 0, 8, near(-8), 9) },
            op(Access::Store, operation::STEP_SLOT, 4, Address::Slot, 10),
            op(Access::Store, 0, 4, Address::Symbol { symbol: 0, offset: 16 }, 11),
        ],
    ];
    let mut module = Module {
        name: "made.c".into(),
        texts: vec!["made.c".into(), "f".into()],
        symbols: vec!["variable".into()],
        functions: vec![Function { name: "f".into(), place: 0, blocks: 6 }],
        places: (0..12)
            .map(|line| Place { file: 0, line: 10 + line, column: 1, function: 1, inlined_at: NONE })
            .collect(),
        ..Module::default()
    };
    for (block, list) in (0..).zip(lists) {
        let flags = match block {
            0 => flag::BLOCK | flag::ENTRY | flag::FRAME,
            5 => flag::BLOCK | flag::REPEATED,
            _ => flag::BLOCK,
        };
        module.segments.push(Segment {
            function: 0,
            block,
            flags,
            in_loop: NONE,
            place: block,
            call_place: NONE,
            callee: NONE,
            first: u32::try_from(module.operations.len()).expect("few"),
            operations: u32::try_from(list.len()).expect("few"),
        });
        module.operations.extend(list);
    }
    module
}

/// Address of the module's variable.
pub(crate) const VARIABLE: u64 = 0x5555_0000_1000;

/// What the run-time hands over.
pub(crate) fn description() -> Vec<u8> {
    let mut bytes = module().encode();
    bytes.extend(VARIABLE.to_le_bytes());
    bytes
}

pub(crate) fn program() -> Program {
    let mut program = Program::new();
    program.add(FIRST_SEGMENT, &description()).expect("it is whole");
    program
}

/// A buffer's bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Buffer {
    pub(crate) bytes: Vec<u8>,
}

impl Buffer {
    pub(crate) fn event(&mut self, id: u32, slots: &[u64]) -> &mut Buffer {
        self.bytes.extend(&id.to_le_bytes()[..ID_BYTES]);
        for slot in slots {
            self.bytes.extend(&slot.to_le_bytes()[..SLOT_BYTES]);
        }
        self
    }

    /// A segment of the module.
    pub(crate) fn segment(&mut self, number: u32, slots: &[u64]) -> &mut Buffer {
        self.event(FIRST_SEGMENT + number, slots)
    }

    pub(crate) fn control(&mut self, kind: Kind, slots: &[u64]) -> &mut Buffer {
        assert_eq!(kind.slots(), slots.len());
        self.event(kind as u32, slots)
    }

    pub(crate) fn sync(&mut self, time: u64, object: u64, ticket: u64, operation: Sync) -> &mut Buffer {
        self.control(Kind::Sync, &[time, time + 1, object, ticket, operation as u64])
    }

    /// A store of 4 bytes, a load of the 4 after it, and a store to the variable.
    pub(crate) fn store(&mut self, address: u64) -> &mut Buffer {
        self.segment(2, &[address])
    }

    /// A load of 8 bytes.
    pub(crate) fn load(&mut self, address: u64) -> &mut Buffer {
        self.segment(0, &[0x7fff_0000_0000, address])
    }
}

/// A file in the folder of tests.
pub(crate) fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.wsg"))
}

/// A recording of buffers, one or more for each context.
pub(crate) fn recording(name: &str, contexts: &[Vec<Buffer>]) -> Recording {
    let path = file(name);
    let mut recorder = Recorder::create(&path, &Meta { ticks_per_second: 1, ..Meta::default() }).expect("writable");
    recorder.module(FIRST_SEGMENT, &description()).expect("writable");
    let mut encoder = Encoder::default();
    // The last first: the order in the file is that of encoding, which is any.
    for (context, buffers) in (0..).zip(contexts).collect::<Vec<_>>().into_iter().rev() {
        for (sequence, buffer) in (0..).zip(buffers) {
            let (chunk, unknown) = encoder.encode(&program(), &buffer.bytes).expect("encodable");
            assert_eq!(unknown, None);
            recorder.events(context, sequence, false, &chunk).expect("writable");
        }
    }
    recorder.finish(&End { ticks: 1000, ..End::default() }).expect("writable");
    Recording::open(&path).expect("readable")
}
