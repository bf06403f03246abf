//! The task models of `workspan depend` on random programs, against a slow computation from the definitions: a tree of all that ran,
//! all dependences between its lines, and recursion. No streaming, no shapes, no jumps, no memory of what was found before.

mod chains;
mod counts;
mod slow;
mod source;
mod tree;

use std::fmt::Write;
use std::fs;
use std::path::Path;

use workspan_depend::engine::{analyse, Engine};
use workspan_depend::models::MODELS;
use workspan_graph::codec::Decoder;
use workspan_graph::events::Events;
use workspan_graph::file::Recording;

use crate::support::{build, folder, success, workspan};

use self::tree::Tree;

/// Files: some, and those that have found a fault. 100 are 2000 programs.
const FILES: [u64; 6] = [0, 1, 2, 20, 36, 39];
/// Programs in each.
const PROGRAMS: u64 = 20;
/// Instructions that a call needs to be a task, in half of the comparisons.
const GRANULARITY: u64 = 60;
/// Segments of a program that is computed slowly.
const MOST: usize = 40_000;

/// How both results of a recording differ, and whether granularity matters; nothing if it is too long.
fn compare(path: &Path, name: &str) -> Option<(String, bool)> {
    let recording = Recording::open(path).expect("a recording");
    let mut decoder = Decoder::default();
    let chunks = recording.chunks_of(0).map(|chunk| {
        let encoded = recording.encoded(chunk).expect("a chunk");
        decoder.decode(&recording.program, &encoded).expect("whole")
    });
    let chunks: Vec<Vec<u8>> = chunks.collect();
    let (engine, found) = analysed(&recording, &chunks, 0);
    let clock = engine.clock.work;
    let mut tree = Tree::new(&engine.source);
    let (mut accesses, mut segments) = (Vec::new(), 0);
    for bytes in &chunks {
        let mut events = Events::new(&recording.program, bytes);
        while let Some((event, _)) = events.next_event().expect("known events") {
            if event.control().is_some() {
                continue;
            }
            let (module, segment) = recording.program.segment(event.id).expect("known");
            event.accesses(module, segment, &mut accesses);
            tree.segment(event.id, &accesses);
            segments += 1;
            if segments > MOST {
                return None;
            }
        }
    }
    assert_eq!(tree.lines.iter().map(|line| line.cost).sum::<u64>(), clock, "{name}: work");
    let mut differences = counts::differences(&engine, &tree, name);
    differences += &chains::differences(&engine, &tree, name);
    // Small enough that some calls are tasks.
    let coarse = analysed(&recording, &chunks, GRANULARITY).1;
    let matters = coarse != found;
    for (granularity, found) in [(0, found), (GRANULARITY, coarse)] {
        let expected = slow::spans(&tree, &engine.source, granularity);
        for ((model, found), expected) in MODELS.iter().zip(found).zip(expected) {
            if found != expected {
                let _ = writeln!(
                    differences,
                    "{name}: {} of {granularity} is {found}, from the definition {expected}, of {clock}",
                    model.name
                );
            }
        }
    }
    Some((differences, matters))
}

/// What the engine finds, and the span of each model.
fn analysed(recording: &Recording, chunks: &[Vec<u8>], granularity: u64) -> (Engine, Vec<u64>) {
    let mut engine = Engine::new();
    engine.granularity = granularity;
    recording.program.modules.iter().for_each(|module| engine.learn(module));
    for bytes in chunks {
        analyse(&mut engine, &recording.program, 0, bytes).expect("known events");
    }
    engine.finish();
    workspan_depend::second::again(&mut engine);
    engine.continuations.finish();
    let clock = engine.clock.work;
    let found = engine.models.iter_mut().map(|run| run.finish(clock)).collect();
    (engine, found)
}

#[test]
fn all_task_models_are_those_of_the_definition() {
    let folder = folder("depend-models-slow");
    let (mut compared, mut coarse, mut differences) = (0, 0, String::new());
    for file in FILES {
        let mut text = String::new();
        let mut cases = String::new();
        for number in 0..PROGRAMS {
            let own = source::program(0x9e37_79b9 ^ (file * PROGRAMS + number + 1) << 20);
            for line in own.lines() {
                let renamed = rename(line, number);
                text.push_str(&renamed);
                text.push('\n');
            }
            let _ = writeln!(cases, "case {}: return m{number}();", number + 1);
        }
        let _ = write!(text, "int main(int argc, char **argv) {{\nswitch (argc) {{\n{cases}}}\nreturn 0;\n}}\n");
        let name = format!("p{file}");
        fs::write(folder.join(format!("{name}.c")), &text).expect("writable");
        build(&folder, &format!("cc -O1 -w {name}.c -o {name}"));
        for number in 0..PROGRAMS {
            let (graph, program) = (format!("{name}-{number}.graph"), format!("./.{name}.depend"));
            let mut arguments = vec!["graph", "record", "-o", &graph, "--", &program];
            arguments.extend((0..number).map(|_| "a"));
            success(workspan(&folder, &arguments));
            let path = folder.join(&graph).join("events.wsg");
            let found = compare(&path, &format!("{name}.c, {number} arguments"));
            compared += usize::from(found.is_some());
            let (found, matters) = found.unwrap_or_default();
            differences += &found;
            coarse += usize::from(matters);
        }
    }
    assert!(differences.is_empty(), "of {compared} programs:\n{differences}");
    assert!(coarse * 3 > compared, "granularity mattered in {coarse} programs");
    assert!(compared as u64 * 10 >= FILES.len() as u64 * PROGRAMS * 9, "{compared} programs were short enough");
}

/// Names of a program's own: functions, variables, `main`.
fn rename(line: &str, program: u64) -> String {
    let mut out = String::new();
    let mut before = ' ';
    for (at, letter) in line.char_indices() {
        out.push(letter);
        let begins = !before.is_alphanumeric() && before != '_';
        let next = line[at + letter.len_utf8()..].chars().next().unwrap_or(' ');
        if begins
            && (matches!(letter, 'A' | 'B' | 'g') && !next.is_alphanumeric() || letter == 'f' && next.is_numeric())
        {
            let _ = write!(out, "{program}_");
        }
        before = letter;
    }
    out.replace("int main(void)", &format!("static __attribute__((noinline)) int m{program}(void)"))
}
