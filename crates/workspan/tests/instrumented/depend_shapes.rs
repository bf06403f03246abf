//! A loop with more shapes than a function may have: each of some lines reads a variable in some iterations, and one writes it in few.
//! Its dependences are those of the definition, while shapes say much, while they say less, and when there are no more of them.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;

use crate::depend_oracle::{difference, note, profile, reported, Found, Key};
use crate::support::{build, folder};

const ITERATIONS: u64 = 20_000;
/// Lines that read.
const READERS: u32 = 12;
/// The lines of the declaration, of the loop, and of the first reader.
const DECLARED: u32 = 2;
const LOOP: u32 = 3;
const FIRST: u32 = 5;
const WRITER: u32 = FIRST + READERS;

/// Which lines read, and whether the last one writes, as `x` says.
fn program() -> String {
    let mut text = format!(
        "unsigned f0_2(void) {{
    unsigned x = 7, c = 0, s = 0;
    for (unsigned i = 0; i < {ITERATIONS}; i++) {{
        x = x * 1664525u + 1013904223u;
"
    );
    for reader in 0..READERS {
        let _ = writeln!(text, "        if (x >> {} & 1) s += c;", 31 - reader);
    }
    text + "        if ((x >> 12 & 15) == 0) c = i;\n    }\n    return s;\n}\nint main(void) { return f0_2() & 1; }\n"
}

/// The dependences of `c`, each access against the last write and all reads since.
fn expected() -> Found {
    let mut found = Found::new();
    let mut x = 7_u32;
    // The iteration of the last write; by line, the iterations that have read since.
    let (mut written, mut reads) = (None, BTreeMap::<u32, Vec<u64>>::new());
    let key = |kind: &str, from: u32, to: u32, is_carried: bool| -> Key {
        (kind.to_owned(), from, to, "f0_2".to_owned(), if is_carried { LOOP } else { 0 })
    };
    for i in 0..ITERATIONS {
        x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let (writer, distance) = written.map_or((DECLARED, 0), |at| (WRITER, i - at));
        let mut after_write = |kind: &str, line: u32| {
            note(&mut found, key(kind, writer, line, written.is_some()), distance, distance);
        };
        for reader in (0..READERS).filter(|reader| x >> (31 - reader) & 1 == 1) {
            after_write("RAW", FIRST + reader);
            reads.entry(FIRST + reader).or_default().push(i);
        }
        if x >> 12 & 15 != 0 {
            continue;
        }
        after_write("WAW", WRITER);
        for (line, mut iterations) in std::mem::take(&mut reads) {
            if iterations.pop_if(|last| *last == i).is_some() {
                note(&mut found, key("WAR", line, WRITER, false), 0, 0);
            }
            if let (Some(first), Some(last)) = (iterations.first(), iterations.last()) {
                note(&mut found, key("WAR", line, WRITER, true), i - last, i - first);
            }
        }
        written = Some(i);
    }
    found
}

#[test]
fn dependences_are_those_of_the_definition_however_many_shapes_there_are() {
    let folder = folder("depend-shapes");
    fs::write(folder.join("prog.c"), program()).expect("writable");
    build(&folder, "cc -O2 -w prog.c -o prog");
    let found = reported(&profile(&folder), 0, |name| name == "c");
    let difference = difference(&expected(), &found);
    assert!(difference.is_empty(), "{difference}");
    assert!(found.len() > 4 * READERS as usize, "{found:?}");
}
