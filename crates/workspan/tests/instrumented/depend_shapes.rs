//! Loops with more shapes than say all (three readers), and than a function may have (twelve): each of some lines reads a variable in some
//! iterations, and one writes it in few. A second loop is simple, but its distances grow long after its shapes are known.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;

use crate::depend_oracle::{difference, note, profile, reported, Found};
use crate::support::{build, folder};

/// Iterations of each loop, and of the second one until its distances grow.
const ITERATIONS: u64 = 20_000;
const SECOND: u64 = 2000;
const NEAR: u64 = 1000;
/// The lines of the declaration, of the loop, and of the first reader.
const DECLARED: u32 = 2;
const LOOP: u32 = 3;
const FIRST: u32 = 5;

/// Of the bits that decide whether one reads: seldom, so that shapes come again.
fn shift(reader: u32) -> u32 {
    29 - 2 * reader
}

fn program(readers: u32) -> String {
    let mut text = format!(
        "unsigned f0_2(void) {{
    unsigned x = 7, c = 0, s = 0;
    for (unsigned i = 0; i < {ITERATIONS}; i++) {{
        x = x * 1664525u + 1013904223u;
"
    );
    for reader in 0..readers {
        let _ = writeln!(text, "        if ((x >> {} & 7) == 0) s += c;", shift(reader));
    }
    let _ = write!(
        text,
        "        if (x >> 28 == 5) c = i;
    }}
    for (unsigned k = 0; k < {SECOND}; k++) {{
        if (k % 4 == (k < {NEAR} ? 1 : 3)) s += c;
        if (k % 4 == 0) c = k;
    }}
    return s;
}}
int main(void) {{ return f0_2() == 1; }}
"
    );
    text
}

/// Where an access lies: line of its loop, or 0; iteration.
type Moment = (u32, u64);

/// The dependences of `c`: each access against the last write and all reads since.
#[derive(Default)]
struct Oracle {
    found: Found,
    written: Option<(u32, Moment)>,
    reads: BTreeMap<u32, Vec<Moment>>,
}

impl Oracle {
    /// Accesses of one line that lie in the same node, before another one.
    fn meet(&mut self, kind: &str, (from, moments): (u32, &[Moment]), (line, now): (u32, Moment)) {
        // By line of the loop that carries it, and whether they lie in the loop that runs.
        let mut distances = BTreeMap::<(u32, bool), (u64, u64)>::new();
        for (of_loop, iteration) in moments {
            let is_carried = *of_loop == now.0 && *iteration != now.1;
            let distance = if is_carried { now.1 - iteration } else { 0 };
            let node = (if is_carried { now.0 } else { 0 }, *of_loop == now.0);
            let (least, most) = distances.entry(node).or_insert((distance, distance));
            (*least, *most) = (distance.min(*least), distance.max(*most));
        }
        for ((carrier, _), (least, most)) in distances {
            note(&mut self.found, (kind.to_owned(), from, line, "f0_2".to_owned(), carrier), least, most);
        }
    }

    fn read(&mut self, line: u32, now: Moment) {
        if let Some((from, moment)) = self.written {
            self.meet("RAW", (from, &[moment]), (line, now));
        }
        self.reads.entry(line).or_default().push(now);
    }

    fn write(&mut self, line: u32, now: Moment) {
        if let Some((from, moment)) = self.written {
            self.meet("WAW", (from, &[moment]), (line, now));
        }
        for (from, moments) in std::mem::take(&mut self.reads) {
            self.meet("WAR", (from, &moments), (line, now));
        }
        self.written = Some((line, now));
    }
}

fn expected(readers: u32) -> Found {
    let mut oracle = Oracle::default();
    oracle.write(DECLARED, (0, 0));
    let (mut x, writer) = (7_u32, FIRST + readers);
    for i in 0..ITERATIONS {
        x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        for reader in (0..readers).filter(|reader| x >> shift(*reader) & 7 == 0) {
            oracle.read(FIRST + reader, (LOOP, i));
        }
        if x >> 28 == 5 {
            oracle.write(writer, (LOOP, i));
        }
    }
    let second = writer + 2;
    for k in 0..SECOND {
        if k % 4 == if k < NEAR { 1 } else { 3 } {
            oracle.read(second + 1, (second, k));
        }
        if k % 4 == 0 {
            oracle.write(second + 2, (second, k));
        }
    }
    oracle.found
}

#[test]
fn dependences_are_those_of_the_definition_however_many_shapes_there_are() {
    for readers in [3, 12] {
        let folder = folder(&format!("depend-shapes-{readers}"));
        fs::write(folder.join("prog.c"), program(readers)).expect("writable");
        build(&folder, "cc -O2 -w prog.c -o prog");
        let found = reported(&profile(&folder), 0, |name| name == "c");
        let difference = difference(&expected(readers), &found);
        assert!(difference.is_empty(), "{readers} readers:\n{difference}");
        assert!(found.len() > 4 * readers as usize, "{found:?}");
    }
}
