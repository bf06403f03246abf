//! `workspan doctor` on this machine and on programs, and `workspan info`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::build::{self, scratch};
use crate::command::{record, run, workspan, Ended};

/// `id state` of every check, and the status.
fn doctor(folder: &Path, program: Option<&Path>, environment: &[(&str, &str)]) -> (Vec<(String, String)>, i32) {
    let mut command = workspan(folder);
    command.env("XDG_CACHE_HOME", Path::new(env!("CARGO_TARGET_TMPDIR")).join("doctor-cache"));
    let ended = run(command.args(["doctor", "--json"]).args(program).envs(environment.iter().copied()));
    let found: Value = serde_json::from_slice(&ended.stdout).unwrap_or_else(|e| panic!("{e}: {}", ended.err()));
    let text = |check: &Value, key: &str| check[key].as_str().map(str::to_owned).expect("a text");
    let checks = found["checks"].as_array().expect("a list");
    for check in checks {
        let well = check["state"] == "ok";
        assert!(well || check["fix"].is_string() || check["means"] != "", "{check}");
        assert!(!text(check, "found").is_empty(), "{check}");
    }
    assert_eq!(found["ok"], ended.code() == Some(0));
    let states = checks.iter().map(|check| (text(check, "id"), text(check, "state"))).collect();
    (states, ended.code().expect("a status"))
}

/// The states that are expected; of the others nothing is said: they depend on the machine.
#[track_caller]
fn check(found: &[(String, String)], expected: &[(&str, &str)]) {
    for (id, state) in expected {
        let there: Vec<_> = found.iter().filter(|(found, _)| found == id).map(|(_, state)| state.as_str()).collect();
        assert_eq!(there, [*state], "{id}");
    }
}

#[test]
fn this_machine() {
    // No project is there.
    let folder = Path::new("/");
    let (found, status) = doctor(folder, None, &[]);
    let ids: Vec<&str> = found.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(
        ids,
        [
            "system",
            "cycle-counter",
            "switch-witness",
            "interrupt-witness",
            "interrupts",
            "pauses",
            "run-delay",
            "samples",
            "memfd",
            "proc",
            "address-space",
            "load",
            "spawn-rayon",
            "spawn-libgomp",
            "spawn-libomp",
            "spawn-onetbb",
            "cargo",
            "rustc",
            "clang",
            "commands",
            "collector",
            "libomp",
            "emulator",
            "mpi"
        ]
    );
    check(&found, &[("memfd", "ok"), ("proc", "ok"), ("cargo", "ok"), ("rustc", "ok")]);
    check(&found, &[("collector", "ok"), ("libomp", "ok")]);
    check(&found, &[("spawn-rayon", "ok"), ("spawn-libgomp", "ok"), ("spawn-libomp", "ok"), ("spawn-onetbb", "ok")]);
    assert_eq!(status, 0);
    // The two commands are not in PATH when they are tested, and then are.
    check(&found, &[("commands", "warn")]);
    let place = Path::new(env!("CARGO_BIN_EXE_workspan")).parent().expect("a folder");
    let path = format!("{}:{}", place.display(), std::env::var("PATH").unwrap_or_default());
    check(&doctor(folder, None, &[("PATH", &path)]).0, &[("commands", "ok")]);
}

#[test]
fn what_is_missing_is_told_with_a_fix() {
    let folder = scratch("doctor-missing");
    let no_rust = [("CARGO", "/none"), ("RUSTC", "/none")];
    let (found, status) = doctor(&folder, None, &no_rust);
    check(&found, &[("cargo", "missing"), ("rustc", "missing")]);
    assert_eq!(status, 1);
    // What is built already needs neither.
    let program = build::program("endings");
    let (found, status) = doctor(&folder, Some(&program), &no_rust);
    check(&found, &[("cargo", "warn"), ("rustc", "warn"), ("hooks", "ok")]);
    assert_eq!(status, 0);
    if cfg!(all(target_os = "linux", target_env = "gnu")) {
        let tunables = "glibc.pthread.rseq=0";
        let mut command = workspan(&folder);
        let ended = run(command.arg("doctor").env("GLIBC_TUNABLES", tunables));
        assert!(ended.out().contains("fix: unset GLIBC_TUNABLES"), "{}", ended.out());
    }
}

/// What the rows of the spawn thresholds say: id, `found`, and `means`.
fn spawn_rows(cache: &Path, environment: &[(&str, &str)]) -> Vec<(String, String, String)> {
    let mut command = workspan(Path::new("/"));
    command.args(["doctor", "--json"]).env("XDG_CACHE_HOME", cache).envs(environment.iter().copied());
    let found: Value = serde_json::from_slice(&run(&mut command).stdout).expect("JSON");
    let text = |check: &Value, key: &str| check[key].as_str().map(str::to_owned).expect("a text");
    let rows = found["checks"].as_array().expect("a list").iter().filter(|check| check["group"] == "spawn threshold");
    rows.map(|check| (text(check, "id"), text(check, "found"), text(check, "means"))).collect()
}

/// Whether a runtime can be measured depends on what else the machine does; that it is shown, and kept if it was, does not.
#[test]
fn spawn_thresholds() {
    let folder = scratch("doctor-spawn");
    let missing: Vec<String> = spawn_rows(&folder.join("missing"), &[("PATH", "/none"), ("WORKSPAN_CC", "")])
        .into_iter()
        .map(|(id, found, means)| format!("{id}: {found}. {means}"))
        .collect();
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        assert!(
            missing.iter().all(|row| row.contains("not measured: Workspan may use only one processor")),
            "{missing:?}"
        );
        return;
    }
    insta::assert_snapshot!(missing[1..].join("\n"), @r"
    spawn-libgomp: not measured: no gcc in PATH. To measure it, install gcc (Debian, Ubuntu: `apt-get install gcc`).
    spawn-libomp: not measured: no clang of LLVM 16 to 22 in PATH. To measure it, install clang and libomp (Debian, Ubuntu: `apt-get install clang-19 libomp-19-dev`).
    spawn-onetbb: not measured: no g++ in PATH. To measure it, install g++ and oneTBB (Debian, Ubuntu: `apt-get install g++ libtbb-dev`).
    ");
    let cache = folder.join("cache");
    let first = spawn_rows(&cache, &[]);
    let is_measured = |found: &str| !found.starts_with("not measured: ");
    for (id, found, _) in &first {
        let normal = found.split(' ').map(|word| match word {
            "ns" | "µs" | "ms" => "TIME",
            number if number.starts_with(|c: char| c.is_ascii_digit()) => "N",
            number if number.starts_with('(') => "(N",
            word => word,
        });
        let sentence = normal.collect::<Vec<_>>().join(" ");
        let expected = "a task is worth spawning if it takes N TIME or more (N instructions)";
        assert!(!is_measured(found) || sentence == expected, "{id}: {found}");
    }
    let kept = fs::read_dir(cache.join("workspan")).into_iter().flatten().flatten().map(|entry| entry.path());
    let kept = kept.filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("spawn-")));
    let lines: usize = kept.map(|path| fs::read_to_string(path).expect("it is ours").lines().count()).sum();
    assert_eq!(lines, first.iter().filter(|(_, found, _)| is_measured(found)).count());
    for (first, second) in first.iter().zip(spawn_rows(&cache, &[])) {
        assert!(!is_measured(&first.1) || *first == second, "{first:?} {second:?}");
    }
}

#[test]
fn programs() {
    let folder = scratch("doctor-programs");
    let program = build::program("endings");
    let look = |program: &Path| doctor(&folder, Some(program), &[]);
    let all_well = [("program", "ok"), ("hooks", "ok"), ("debug-info", "ok"), ("symbols", "ok"), ("linking", "ok")];
    let (found, status) = look(&program);
    check(&found, &all_well);
    assert_eq!(status, 0);
    let (found, status) = look(&build::native("endings"));
    check(&found, &[("hooks", "missing")]);
    assert_eq!(status, 1);
    let stripped = folder.join("stripped");
    run(Command::new("strip").arg("-o").arg(&stripped).arg(&program)).check_success();
    let (found, status) = look(&stripped);
    check(&found, &[("hooks", "ok"), ("debug-info", "warn"), ("symbols", "ok")]);
    assert_eq!(status, 0);
    fs::set_permissions(&stripped, fs::Permissions::from_mode(0o644)).expect("it is ours");
    assert_eq!((look(&stripped).0.contains(&("program".into(), "missing".into())), look(&stripped).1), (true, 1));
    fs::write(folder.join("script"), "#!/bin/sh\n").expect("writable");
    check(&look(&folder.join("script")).0, &[("program", "warn")]);
    fs::write(folder.join("text"), "text").expect("writable");
    let (found, status) = look(&folder.join("text"));
    check(&found, &[("program", "missing")]);
    assert_eq!(status, 1);
    run(workspan(&folder).args(["doctor", "./none"])).check_error(2, &["./none", "No such file"]);
    run(workspan(&folder).args(["doctor", "no-such-command"])).check_error(2, &["no-such-command", "not found"]);
}

#[test]
#[cfg(target_arch = "x86_64")]
fn the_table_for_a_program_without_hooks() {
    let folder = scratch("doctor-text");
    fs::copy(build::native("endings"), folder.join("prog")).expect("it was built");
    let ended = run(workspan(&folder).args(["doctor", "./prog"]));
    assert_eq!(ended.code(), Some(1));
    let text = ended.out();
    let program = text.split("\nprogram\n").nth(1).expect("a group");
    insta::assert_snapshot!(program, @r"
    ok       program            ./prog, ELF for X86_64
    missing  hooks              none, although it uses rayon
                                The program was built without `cargo workspan`: a run would report nothing.
                                fix: build it with `cargo workspan build`, and look at the program that it names
    ok       debug-info         functions and lines
    ok       symbols            not stripped
    ok       linking            dynamic, by /lib64/ld-linux-x86-64.so.2

    1 essential thing is missing
    ");
}

/// Nothing is built, downloaded or written.
#[test]
fn the_project_here() {
    let state = |manifest: &str, lock: Option<&str>| {
        let folder = scratch("doctor-project");
        fs::create_dir(folder.join("src")).expect("writable");
        fs::write(folder.join("src/main.rs"), "fn main() {}").expect("writable");
        fs::write(folder.join("Cargo.toml"), manifest).expect("writable");
        if let Some(lock) = lock {
            fs::write(folder.join("Cargo.lock"), lock).expect("writable");
        }
        let (found, status) = doctor(&folder, None, &[]);
        assert_eq!(folder.join("Cargo.lock").exists(), lock.is_some());
        assert!(!folder.join("target").exists());
        let project = found.into_iter().find(|(id, _)| id == "project").expect("there is one");
        (project.1, status)
    };
    let package = "[workspace]\n[package]\nname = \"endings\"\nversion = \"0.0.0\"\nedition = \"2021\"\n";
    let lock = fs::read_to_string(build::root().join("programs/endings/Cargo.lock")).expect("it is there");
    let probe = build::root().join("crates/workspan-probe");
    let with_rayon = format!("{package}[dependencies]\nrayon = \"1\"\nworkspan-probe.path = \"{}\"\n", probe.display());
    build::program("endings");
    assert_eq!(state(&with_rayon, Some(&lock)), ("ok".to_owned(), 0));
    let alone = "version = 4\n[[package]]\nname = \"endings\"\nversion = \"0.0.0\"\n";
    assert_eq!(state(package, Some(alone)), ("warn".to_owned(), 0));
    assert_eq!(state(&with_rayon, None).0, "warn");
}

fn info(folder: &Path, arguments: &[&str]) -> Ended {
    run(workspan(folder).arg("info").args(arguments))
}

/// What a fresh recording says of itself; stored ones are in `fixtures`.
#[test]
fn info_of_a_fresh_recording() {
    let folder = scratch("info");
    run(&mut record(&folder, &["--repeat", "2"], &build::program("endings"), &["exit", "0"])).check_success();
    let found: Value = serde_json::from_slice(&info(&folder, &["--json"]).check_success().stdout).expect("JSON");
    assert_eq!(found["directory"], folder.to_str().expect("a plain path"));
    assert_eq!(found["bytes"], fs::metadata(folder.join("workspan.wspan")).expect("it is there").len());
    let year: u32 = found["made_at"].as_str().and_then(|at| at.get(..4)?.parse().ok()).expect("a date");
    assert!(year >= 2025);
    assert_eq!(found["runs"].as_array().map(Vec::len), Some(2));
    let run = &found["runs"][1];
    assert_eq!((&run["work_ns"], &run["workers"], &run["complete"]), (&2_000.into(), &2.into(), &true.into()));
    assert!(info(&folder, &[]).check_success().out().starts_with("file  "));
}
