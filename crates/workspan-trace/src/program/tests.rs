//! Descriptions come back, and damage is an error.

use super::*;
use proptest::prelude::*;

fn example() -> Module {
    let slot = Operation { access: Access::Store, size: 8, place: 0, ..Operation::default() };
    let near = Address::Near { operation: 0, offset: -8 };
    let global = Address::Symbol { symbol: 0, offset: 4 };
    let flags = operation::BULK | operation::SIZE_SLOT;
    Module {
        name: "a.c".into(),
        texts: vec!["a.c".into(), "f".into()],
        symbols: vec!["table".into()],
        places: vec![
            Place { file: 0, line: 3, column: 7, function: 1, inlined_at: NONE },
            Place { file: 0, line: 9, column: 0, function: NONE, inlined_at: 0 },
        ],
        functions: vec![Function { name: "f".into(), place: 1, blocks: 2 }],
        loops: vec![Loop { function: 0, parent: NONE, header: 1, place: NONE }],
        segments: vec![
            Segment {
                flags: flag::ENTRY | flag::FRAME,
                in_loop: NONE,
                place: 0,
                call_place: 1,
                callee: 1,
                first: 0,
                operations: 3,
                ..Segment::default()
            },
            Segment {
                block: 1,
                flags: flag::HEADER | flag::REPEATED,
                in_loop: 0,
                place: NONE,
                call_place: NONE,
                callee: NONE,
                first: 3,
                operations: 1,
                function: 0,
            },
        ],
        operations: vec![
            slot.clone(),
            Operation { address: near, ..slot.clone() },
            Operation { address: global, flags, size: 0, access: Access::Update, ..slot.clone() },
            Operation { step: -24, ..slot },
        ],
        facts: crate::facts::Facts::default(),
    }
}

#[test]
fn a_module_comes_back() {
    let module = example();
    assert_eq!([0, 1].map(|number| module.slots(&module.segments[number])), [3, 2]);
    let mut bytes = module.encode();
    bytes.push(7);
    assert_eq!(Module::decode(&bytes), Ok((module, &[7][..])));
}

#[test]
fn every_truncation_is_an_error() {
    let bytes = example().encode();
    for length in 0..bytes.len() {
        assert_eq!(Module::decode(&bytes[..length]), Err(Malformed), "{length}");
    }
}

proptest! {
    #[test]
    fn damage_is_no_panic(at in 0_usize..200, byte in any::<u8>(), other in any::<Vec<u8>>()) {
        let mut bytes = example().encode();
        let at = at % bytes.len();
        bytes[at] = byte;
        let _ = Module::decode(&bytes);
        let _ = Module::decode(&other);
    }
}
