//! Names that try to end the string, the cell, the line, the element or the script that they stand in.

use workspan_export::chrome;
use workspan_export::stacks::Weight;
use workspan_export::timeline::timeline;
use workspan_model::{ContextId, Function};

use crate::sample::{sample, written, Sample};
use crate::{graphs, profiles, tables, traces};

const NAMES: [&str; 12] = [
    "a\"b\\\"c\\",
    "line\nline\r\nline\ttab",
    "</script><script>alert(1)</script>",
    "nul\0nul\u{1}\u{7f}\u{9f}",
    "semi;colon 12;3 ",
    "comma,comma",
    "'single' & <b> ]]> &amp; <!-- -->",
    "=1+1|cmd",
    "\u{2028}\u{2029}\u{202e}left\u{feff}\u{fffe}\u{ffff}",
    "\u{fffd}\u{fffd}.so",
    "😀 名前 é",
    "",
];

/// The same run with other names of everything.
fn hostile(seed: u64) -> Sample {
    let mut sample = sample(seed);
    let name = |at: usize| NAMES[at % NAMES.len()].to_owned();
    for (at, site) in sample.recording.sites.iter_mut().enumerate() {
        site.type_name = name(at + 1);
        site.function = Some(Function { name: name(at), from_debug_info: true, offset: None });
        if !site.file.is_empty() {
            site.file = format!("{}{at}", name(at + 2));
        }
        site.module = name(at + 3);
    }
    sample.recording.command = vec![format!("./{}", name(usize::try_from(seed).expect("small"))), name(3)];
    sample.recording.machine.processor = name(5);
    sample.recording.machine.system = name(2);
    sample.recording.runtime = name(1);
    sample
}

#[test]
fn names_are_inert() {
    for seed in 0..60 {
        let sample = hostile(seed);
        let in_time =
            timeline(&sample.recording, &sample.run, &sample.rows, 1_000).unwrap_or_else(|never| match never {});
        let trace = written(|out| chrome::write(&sample.recording, &in_time, out));
        // The names come back as they are.
        let plain = workspan_export::names::contexts(&sample.recording);
        for name in traces::check_trace(&trace) {
            assert!(plain.contains(&name), "seed {seed}: {name:?}");
        }
        let json = [
            trace,
            profiles::write_speedscope(&sample, Some(&in_time)),
            profiles::write_firefox(&sample, Some(&in_time)),
        ];
        assert!(json.iter().all(|text| !text.contains('<')), "seed {seed}");
        profiles::check_speedscope(&json[1]);
        profiles::check_firefox(&json[2]);
        for weight in [Weight::Work, Weight::Critical] {
            let (stacks, sum) = profiles::check_folded(&profiles::write_folded(&sample, weight));
            assert_eq!(sum, if weight == Weight::Work { sample.work().0 } else { sample.run.span.0 });
            let deepest = sample.recording.contexts.ids().map(|id| sample.recording.contexts.path(id).count()).max();
            assert!(stacks.iter().all(|stack| stack.len() <= deepest.unwrap_or(0) + 1), "a name has become several");
        }
        graphs::check_dot(&graphs::write_dot(&sample));
        let labels = graphs::check_graphml(&graphs::write_graphml(&sample));
        let kept = |c: char| {
            if (c.is_control() && !"\n\t\r".contains(c)) || "\u{fffe}\u{ffff}".contains(c) {
                '\u{fffd}'
            } else {
                c
            }
        };
        let expected: Vec<String> = plain.iter().map(|name| name.chars().map(kept).collect()).collect();
        assert!(labels.iter().all(|label| expected.contains(label)), "seed {seed}");
        for (name, text) in tables::write_tables(&sample) {
            let (names, rows) = tables::check_csv(&text);
            if name == "sites" {
                let file = names.iter().position(|name| name == "file").expect("a column");
                let known = |file: &String| sample.recording.sites.iter().any(|site| site.file == *file);
                assert!(rows.iter().all(|row| known(&row[file])), "seed {seed}");
            }
        }
    }
}

/// Contexts and sites that do not exist, in rows that no program made.
#[test]
fn unknown_numbers_are_inert() {
    for seed in 0..60 {
        let mut sample = sample(seed);
        for (at, row) in sample.rows.iter_mut().enumerate() {
            if at % 3 == 0 {
                row.context = ContextId(u32::MAX - 1);
            }
        }
        sample.recording.sites.truncate(2);
        let in_time =
            timeline(&sample.recording, &sample.run, &sample.rows, 1_000).unwrap_or_else(|never| match never {});
        traces::check_trace(&written(|out| chrome::write(&sample.recording, &in_time, out)));
        profiles::check_speedscope(&profiles::write_speedscope(&sample, Some(&in_time)));
        profiles::check_firefox(&profiles::write_firefox(&sample, Some(&in_time)));
        graphs::check_dot(&graphs::write_dot(&sample));
        graphs::check_graphml(&graphs::write_graphml(&sample));
        for (_, text) in tables::write_tables(&sample) {
            tables::check_csv(&text);
        }
    }
}
