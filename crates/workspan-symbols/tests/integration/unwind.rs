//! Who called: the test program itself says where its callers are.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::fs;

use object::{Object, ObjectSection};
use workspan_symbols::{chain, Callers, Stopped};

/// The test program itself: compiled code says where its callers are.
#[test]
fn an_executable_says_where_its_functions_begin() {
    let bytes = fs::read("/proc/self/exe").expect("it runs");
    let callers = Callers::parse(&bytes).expect("it has tables");
    let file = object::File::parse(&bytes[..]).expect("it is ELF");
    let entry = callers.function_at(file.entry()).expect("it begins somewhere");
    assert!(entry <= file.entry());
    assert_eq!(callers.function_at(0), None);
}

#[test]
fn whatever_a_stack_holds_the_chain_ends() {
    let bytes = fs::read("/proc/self/exe").expect("it runs");
    let callers = Callers::parse(&bytes).expect("it has tables");
    let file = object::File::parse(&bytes[..]).expect("it is ELF");
    let text = file.section_by_name(".text").expect("it has code");
    // A stack that is full of addresses of code.
    let words = (0..512_u64).map(|word| text.address() + word * 7919 % text.size());
    let stack: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
    for at in (0..text.size()).step_by(usize::try_from(text.size() / 500).unwrap_or(1).max(1)) {
        let base = 0x7fff_0000_0000;
        let registers = [(7, base), (16, text.address() + at), (6, base + 64), (3, 1)];
        let chain = chain(Stopped::new(registers, &stack), |address| Some((&callers, address)));
        assert!((1..=256).contains(&chain.addresses.len()));
    }
}

#[test]
fn damaged_files_have_no_callers_or_some() {
    let bytes = fs::read("/proc/self/exe").expect("it runs");
    assert!(Callers::parse(&[]).is_none());
    for cut in [1, 64, 1000, bytes.len() / 3, bytes.len() / 2] {
        if let Some(callers) = Callers::parse(&bytes[..cut]) {
            let _ = callers.function_at(0x1000);
        }
    }
}
