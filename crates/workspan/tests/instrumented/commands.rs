//! The commands: builds of all kinds, programs that end badly, and input that is not what it should be.

use std::fs;

use crate::support::{build, build_source, err, folder, json, out, record, success, workspan};

const HELLO: &str = "#include <stdio.h>\nint main(void) { printf(\"hello\\n\"); return 0; }\n";

#[test]
fn a_program_runs_without_a_recording_as_ever() {
    let folder = folder("plain");
    build_source(&folder, "prog.c", HELLO, "cc -O2");
    let output = std::process::Command::new(folder.join("prog")).output().expect("it runs");
    assert_eq!(out(&output), "hello\n");
}

#[test]
fn a_build_with_make_and_a_shared_library() {
    let folder = folder("make");
    fs::write(folder.join("lib.c"), "int table[100];\nint get(int i) { return table[i] + 1; }\n").expect("writable");
    let main = "#include <stdio.h>\nint get(int);\nint main(void) { int s = 0; for (int i = 0; i < 100; i++) s += get(i); printf(\"%d\\n\", s); return 0; }\n";
    fs::write(folder.join("main.c"), main).expect("writable");
    let make = "prog: main.o libget.so\n\t$(CC) -o $@ main.o -L. -lget -Wl,-rpath,'$$ORIGIN'\nlibget.so: lib.c\n\tgcc -O2 -shared -fPIC -flto -o $@ lib.c\n";
    fs::write(folder.join("Makefile"), make).expect("writable");
    build(&folder, "make");
    assert_eq!(record(&folder), "100\n");
    let report = json(&folder, "report");
    assert_eq!((&report["complete"], &report["modules"]), (&true.into(), &2.into()), "{report:#}");
    // One load for each call of the library, at least.
    assert!(report["accesses"]["loads"].as_u64().is_some_and(|loads| loads >= 100), "{report:#}");
    assert!(report["blocks"]["executed"].as_u64() <= report["blocks"]["static"].as_u64());
}

/// Compilers with a version in their name, or named by their path, build what the others do.
#[test]
fn a_compiler_may_be_named_in_full() {
    for (number, command) in
        ["clang-19 -O2", "/usr/bin/clang-19 -O1", "/usr/bin/cc -O2", "sh build.sh"].iter().enumerate()
    {
        let folder = folder(&format!("named-{number}"));
        fs::write(folder.join("build.sh"), "clang-19 -O2 \"$@\"\n").expect("writable");
        build_source(&folder, "prog.c", HELLO, command);
        assert_eq!(record(&folder), "hello\n", "{command}");
    }
}

/// What goes past the stand-ins is said.
#[test]
fn a_build_that_calls_no_stand_in_is_noted() {
    let folder = folder("past");
    fs::write(folder.join("prog.c"), HELLO).expect("writable");
    fs::write(folder.join("Makefile"), "prog: prog.c\n\t/usr/bin/cc -O2 -o $@ prog.c\n").expect("writable");
    let words = "called no compiler by way of workspan";
    for _ in 0..2 {
        let output = success(workspan(&folder, &["build", "--", "make"]));
        assert!(err(&output).contains(words), "{}", err(&output));
    }
    let output = success(workspan(&folder, &["build", "--", "cc", "-O2", "prog.c", "-o", "prog"]));
    assert!(!err(&output).contains(words), "{}", err(&output));
}

#[test]
fn the_folder_has_its_tables() {
    let folder = folder("tables");
    build_source(&folder, "prog.c", HELLO, "cc");
    record(&folder);
    for table in ["tasks", "edges", "blocks", "operations"] {
        let bytes = fs::read(folder.join(format!("run.graph/{table}.parquet"))).expect("it is there");
        assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"), "{table}");
    }
    // A second recording keeps the first.
    record(&folder);
    assert!(folder.join("run.graph.old/events.wsg").is_file());
    let cache = json(&folder, "cache");
    assert_eq!((&cache["line_bytes"], &cache["ways"]), (&64.into(), &4.into()));
    assert_eq!(cache["sizes"].as_array().map(Vec::len), Some(19));
    assert_eq!(cache["sizes"][18]["bytes"], 256 << 20);
    for command in ["report", "cache", "races", "timeline"] {
        assert!(!out(&success(workspan(&folder, &["graph", command, "run.graph"]))).is_empty(), "{command}");
    }
}

#[test]
fn a_crash_leaves_what_was_recorded() {
    let folder = folder("crash");
    let text = "#include <stdlib.h>\nint cells[1000];\nint main(void) { for (int i = 0; i < 1000; i++) ((volatile int *)cells)[i] = i; abort(); }\n";
    build_source(&folder, "prog.c", text, "cc -O2");
    let output = workspan(&folder, &["graph", "record", "-o", "run.graph", "--", "./prog"]);
    assert!(!output.status.success());
    let report = json(&folder, "report");
    assert_eq!((&report["complete"], &report["signal"]), (&false.into(), &6.into()));
    assert_eq!(report["accesses"]["stores"], 1000);
}

#[test]
fn the_status_is_the_programs_and_a_child_process_is_counted() {
    let folder = folder("fork");
    let text = "#include <sys/wait.h>\n#include <unistd.h>\nvolatile int cell;\nint main(void) { if (fork() == 0) { for (int i = 0; i < 500; i++) cell = i; _exit(0); } wait(0); cell = 1; return 7; }\n";
    build_source(&folder, "prog.c", text, "cc -O2");
    let output = workspan(&folder, &["graph", "record", "-o", "run.graph", "--", "./prog"]);
    assert_eq!(output.status.code(), Some(7), "{}", err(&output));
    assert!(err(&output).contains("1 more processes"), "{}", err(&output));
    assert_eq!(json(&folder, "report")["accesses"]["stores"], 1);
}

#[test]
fn a_program_without_instrumentation_is_an_error() {
    let folder = folder("native");
    let output = workspan(&folder, &["graph", "record", "-o", "run.graph", "--", "/bin/true"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(err(&output).contains("workspan build -- COMMAND"), "{}", err(&output));
    assert!(!folder.join("run.graph").exists());
    let output = workspan(&folder, &["graph", "report", "run.graph"]);
    assert!(err(&output).contains("workspan graph record"), "{}", err(&output));
}

#[test]
fn a_compiler_that_does_not_run_the_pass_is_an_error() {
    let folder = folder("without");
    fs::write(folder.join("prog.c"), HELLO).expect("writable");
    // By name it is clang; what it makes is gcc's.
    let false_clang = folder.join("clang-of-another-kind");
    fs::write(&false_clang, "#!/bin/sh\nfor a; do shift; case $a in -gline*) ;; *) set -- \"$@\" \"$a\";; esac; done\nexec /usr/bin/gcc \"$@\"\n").expect("writable");
    std::process::Command::new("chmod").arg("+x").arg(&false_clang).status().expect("chmod");
    let text = format!("WORKSPAN_CC={} cc -c prog.c", false_clang.display());
    let output = workspan(&folder, &["build", "--", "sh", "-c", &text]);
    assert!(!output.status.success());
    assert!(err(&output).contains("was compiled without instrumentation"), "{}", err(&output));
    let output = workspan(&folder, &["build", "--", "cc", "-static", "prog.c"]);
    assert!(err(&output).contains("static program"), "{}", err(&output));
}
