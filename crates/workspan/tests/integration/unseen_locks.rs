//! Locks of Rust's standard library, which are taken by an instruction of the program while they are free: nobody sees that, and so the
//! report says where they are.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::build::{self, scratch};
use crate::command::{report, run, workspan};

/// Lines of a source that end with this remark.
fn lines(source: &str, remark: &str) -> Vec<usize> {
    let text = fs::read_to_string(build::root().join(source)).expect("it is there");
    (1..).zip(text.lines()).filter(|(_, line)| line.ends_with(remark)).map(|(number, _)| number).collect()
}

fn warning(report: &Value) -> Option<&str> {
    let warnings = report["warnings"].as_array().expect("a list");
    warnings.iter().find(|warning| warning["code"] == "locks-unseen").and_then(|warning| warning["message"].as_str())
}

/// On one worker nobody waits: the report says where the lock is, and does not say that the program scales well whatever the lock does.
#[test]
fn a_program_with_rayon_is_reported_with_the_lines_of_its_locks() {
    let program = build::program("waits");
    let folder = scratch("unseen-locks");
    let mut command = workspan(&folder);
    command.args(["record", "--strands", "--workers", "1", "--"]).arg(&program).arg("locked");
    run(&mut command).check_success();
    let shown = report(&folder, "workspan.wspan");
    let warning = warning(&shown).expect("a warning");
    assert!(warning.contains("std::sync::Mutex"), "{warning}");
    for line in lines("programs/waits/src/main.rs", "// locked") {
        assert!(warning.contains(&format!(":{line}")), "{line}: {warning}");
    }
    assert!(warning.contains("--workers 2"), "{warning}");
    assert_eq!(shown["verdict"]["outcome"], "scales-well");
    let speedup = shown["verdict"]["lines"][0].as_str().expect("a line");
    assert!(speedup.ends_with("scales well if little of the work is under one lock"), "{speedup}");
    // The same sentence in every command that shows a parallelism.
    let part = format!("{}=2", shown["sites"][0]["id"].as_str().expect("an id"));
    for command in [&["predict"][..], &["advise"], &["calls"], &["what-if", "-s", &part]] {
        let answer = run(workspan(&folder).args(command));
        answer.check_success();
        assert!(answer.out().contains(warning), "{command:?}: {}", answer.out());
    }
}

/// Latches and their kin in C++, and locks of oneTBB's: code of headers, inlined or not, is reported with the line of the program.
#[test]
fn waits_of_headers_are_reported_with_their_lines() {
    let folder = scratch("waits-of-headers");
    for (source, case, libraries) in
        [("programs/threads/kinds.cpp", "ping", None), ("programs/tbb/kinds.cpp", "hash", Some("-ltbb"))]
    {
        let text = fs::read_to_string(build::root().join(source)).expect("it is there");
        let remarks = (1..).zip(text.lines()).filter_map(|(line, text)| Some((text.split_once("// waits: ")?.1, line)));
        let expected: Vec<(&str, u32)> = remarks.collect();
        assert!(!expected.is_empty());
        for level in ["-O0", "-O1", "-O2"] {
            let mut command = Command::new("g++");
            command
                .args([level, "-g", "-std=c++20", "-pthread", source, "-o"])
                .arg(folder.join("kinds"))
                .args(libraries);
            run(command.current_dir(build::root())).check_success();
            // Loops that spin are reported of the files below the current folder.
            let mut command = workspan(&folder);
            command.current_dir(build::root()).args(["record", "-o"]).arg(folder.join("workspan.wspan"));
            run(command.arg("--").arg(folder.join("kinds")).args([case, "1000"])).check_success();
            let recorded = fs::read(folder.join("workspan.wspan")).expect("it was recorded");
            let (recording, _) = workspan_read::file::decode(&recorded).expect("it is whole");
            let found = |(kind, line): &(&str, u32)| {
                let mut all = recording.unseen_locks.iter();
                all.any(|wait| wait.lock == *kind && wait.line == *line && wait.file.ends_with("kinds.cpp"))
            };
            let missing: Vec<_> = expected.iter().filter(|one| !found(one)).collect();
            assert!(missing.is_empty(), "{source} {level}: {missing:?} of {:?}", recording.unseen_locks);
            let shown = report(&folder, "workspan.wspan");
            let warning = warning(&shown).expect("a warning");
            assert!(warning.contains("kinds.cpp:"), "{warning}");
        }
    }
}

/// Threads of a program without rayon; whatever is inlined, and however symbols are made.
#[test]
fn threads_of_rust_are_reported_with_the_lines_of_their_locks() {
    let folder = scratch("unseen-locks-of-threads");
    let source = "programs/threads/locked.rs";
    let expected = lines(source, "// locked");
    assert_eq!(expected.len(), 3);
    for (name, options) in [
        ("debug", &["-Copt-level=0", "-g"][..]),
        ("release", &["-Copt-level=3", "-g"]),
        ("lines", &["-Copt-level=3", "-Cdebuginfo=line-tables-only", "-Csymbol-mangling-version=v0"]),
    ] {
        let mut command = Command::new("rustc");
        command.args(["--edition=2021", "--crate-name=locked"]).args(options).arg("-o").arg(folder.join(name));
        run(command.arg(build::root().join(source))).check_success();
        let file = folder.join(name).with_extension("wspan");
        let mut command = workspan(&folder);
        command.args(["record", "-o"]).arg(&file).arg("--").arg(folder.join(name));
        run(&mut command).check_success();
        let report = report(&folder, &file);
        let warning = warning(&report).expect("a warning");
        for line in &expected {
            assert!(warning.contains(&format!(":{line}")), "{name}, {line}: {warning}");
        }
        assert!(warning.contains("std::sync::Mutex and std::sync::RwLock"), "{name}: {warning}");
    }
}
