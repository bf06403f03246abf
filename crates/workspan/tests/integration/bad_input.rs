//! Input that cannot be used: a clear message on stderr, status 2, nothing half-written, and never a panic.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::build::{self, scratch};
use crate::command::{record, report, run, warnings, workspan};

/// The bytes of a recording of `shapes mix`.
fn recording(folder: &Path) -> Vec<u8> {
    run(&mut record(folder, &["-o", "whole.wspan"], &build::program("shapes"), &["mix"])).check_success();
    fs::read(folder.join("whole.wspan")).expect("it was written")
}

/// Every verb that reads recordings refuses `bytes`, for a reason that names `word`.
#[track_caller]
fn check_refused(folder: &Path, bytes: &[u8], word: &str) {
    fs::write(folder.join("bad.wspan"), bytes).expect("writable");
    for verb in [&["report"][..], &["report", "--json"], &["report", "--html", "page.html"], &["info"]] {
        let ended = run(workspan(folder).args(verb).arg("bad.wspan"));
        ended.check_error(2, &["workspan: error: ", "bad.wspan", word]);
        assert_eq!(ended.out(), "", "{verb:?}");
    }
    assert!(!folder.join("page.html").exists());
}

#[test]
fn files_that_are_no_recordings() {
    let folder = scratch("foreign");
    let whole = recording(&folder);
    check_refused(&folder, b"", "not a workspan recording");
    check_refused(&folder, b"some text", "not a workspan recording");
    check_refused(&folder, &fs::read("/proc/self/exe").expect("we run"), "not a workspan recording");
    check_refused(&folder, &whole[..5], "empty");
    check_refused(&folder, &whole[..16], "empty");
    let mut newer = whole.clone();
    newer[8..12].copy_from_slice(&[2, 0, 0, 0]);
    check_refused(&folder, &newer, "format 2.0");
    let mut both = whole.clone();
    both[8..12].copy_from_slice(&[9, 1, 3, 0]);
    check_refused(&folder, &both, "format 265.3");
    let ended = run(workspan(&folder).args(["report", "none.wspan"]));
    ended.check_error(2, &["there is no none.wspan: record one with", "workspan record"]);
    run(workspan(&folder).arg("info")).check_error(2, &["there is no workspan.wspan"]);
    run(workspan(&folder).args(["report", "."])).check_error(2, &["cannot read .: it is a folder; name a recording"]);
}

/// Whoever gives a file of Workspan's to another command learns what it is, and what to type.
#[test]
fn files_of_other_commands_are_recognised() {
    let folder = scratch("recognised");
    let whole = recording(&folder);
    fs::write(folder.join("p.depend"), workspan_depend::file::encode(&workspan_depend::profile::Profile::default()))
        .expect("writable");
    let graph = folder.join("run.graph");
    fs::create_dir(&graph).expect("new");
    fs::write(graph.join(workspan_graph::file::NAME), workspan_graph::file::MAGIC).expect("writable");
    #[track_caller]
    fn check(folder: &Path, words: &[&str], expected: &str) {
        run(workspan(folder).args(words)).check_error(2, &[expected]);
    }
    for verb in ["report", "info", "advise", "predict"] {
        check(&folder, &[verb, "p.depend"], "it is a dependence profile: type `workspan depend report p.depend`");
        check(&folder, &[verb, "run.graph"], "it is a task graph: type `workspan graph report run.graph`");
        check(&folder, &[verb, "run.graph/events.wsg"], "it is a task graph: type `workspan graph report run.graph`");
        check(&folder, &[verb, "."], "cannot read .: it is a folder; name a recording, such as ./whole.wspan");
    }
    for verb in [&["depend", "report"][..], &["depend", "what-if", "--remove", "x"], &["graph", "report"]] {
        check(&folder, &[verb, &["whole.wspan"]].concat(), "it is a recording: type `workspan report whole.wspan`");
    }
    check(&folder, &["depend", "report", "run.graph"], "it is a task graph: type `workspan graph report run.graph`");
    check(&folder, &["graph", "races", "p.depend"], "type `workspan depend report p.depend`");
    check(&folder, &["depend", "report"], "there is no workspan.depend: `workspan depend -- PROGRAM` writes");
    // What is damaged is of that command all the same.
    fs::write(folder.join("cut.wspan"), &whole[..9]).expect("writable");
    let ended = run(workspan(&folder).args(["report", "cut.wspan"]));
    assert!(!ended.err().contains("type `workspan report"), "{}", ended.err());
}

/// Commands that read strands say how to get them, whether there is a recording or not.
#[test]
fn without_a_recording_there_are_no_strands() {
    let folder = scratch("no-strands");
    for words in [&["query", "select 1"][..], &["advise"], &["predict"], &["what-if", "-s", "a.rs:1=2"], &["merge"]] {
        run(workspan(&folder).args(words)).check_error(2, &["there is no workspan.wspan: record one with `--strands`"]);
    }
    recording(&folder);
    run(workspan(&folder).args(["query", "whole.wspan", "select 1"])).check_error(2, &["whole.wspan holds no strands"]);
}

/// A program that is not there: the message says where it was looked for.
#[test]
fn programs_that_are_not_there() {
    let folder = scratch("gone");
    let here = folder.canonicalize().expect("it is there");
    let expected = format!("cannot run ./gone: there is no such file in {}; check the path", here.display());
    for verb in ["record", "depend"] {
        run(workspan(&folder).args([verb, "--", "./gone"])).check_error(127, &[&expected]);
    }
    run(workspan(&folder).args(["record", "--", "/no/such/program"]))
        .check_error(127, &["cannot run /no/such/program: there is no such file; check the path"]);
    run(workspan(&folder).args(["depend", "--", "gone"])).check_error(
        127,
        &["cannot run gone: there is no such program in the folders of PATH; one in this folder is ./gone"],
    );
}

/// Whatever is left of it is shown, with a warning; or there is an error.
#[test]
fn truncated_files() {
    let folder = scratch("truncated");
    let whole = recording(&folder);
    let file = folder.join("part.wspan");
    let mut shown = 0;
    for length in (0..whole.len()).step_by(64).chain([whole.len() - 1, whole.len() - 16]) {
        fs::write(&file, &whole[..length]).expect("writable");
        for verb in ["report", "info"] {
            let ended = run(workspan(&folder).arg(verb).arg("part.wspan"));
            match ended.code() {
                Some(0) => {
                    shown += 1;
                    assert!(ended.err().contains("truncated"), "{verb} of {length} bytes: {}", ended.err());
                }
                _ => ended.check_error(2, &["part.wspan"]),
            }
            assert!(!ended.err().contains("panicked"), "{verb} of {length} bytes: {}", ended.err());
        }
    }
    // Without its end mark the whole run is there.
    assert!(shown > 10, "{shown}");
}

/// One byte of each section is changed: that part is excluded, with a warning that names it, and the rest is shown.
#[test]
fn damaged_sections() {
    let folder = scratch("damaged");
    let whole = recording(&folder);
    let mut at = 16;
    let mut seen = Vec::new();
    while at < whole.len() {
        let tag = String::from_utf8_lossy(&whole[at..at + 4]).trim().to_owned();
        let length = usize::try_from(u64::from_le_bytes(whole[at + 4..at + 12].try_into().expect("eight bytes")));
        let payload = at + 16;
        at = payload + length.expect("short");
        if at == payload {
            continue;
        }
        let mut bytes = whole.clone();
        bytes[payload + (at - payload) / 2] ^= 0x10;
        fs::write(folder.join("damaged.wspan"), bytes).expect("writable");
        for verb in ["report", "info"] {
            let ended = run(workspan(&folder).args([verb, "damaged.wspan"]));
            let err = ended.err();
            assert!(
                err.contains(&format!("the section `{tag}` is damaged")) && !err.contains("panicked"),
                "{tag}: {err}"
            );
            // Runs refer to contexts, and contexts to sites: without them there is nothing to report.
            let expected = if verb == "report" && tag != "INFO" { 2 } else { 0 };
            assert_eq!(ended.code(), Some(expected), "{verb} without {tag}: {err}");
        }
        seen.push(tag);
    }
    assert_eq!(seen, ["INFO", "SITE", "CTXT", "RUN"]);
}

/// A minor version adds: what is not known is skipped, and said.
#[test]
fn a_newer_minor_version() {
    let folder = scratch("minor");
    let mut bytes = recording(&folder);
    let minor = bytes[10] + 1;
    bytes[10] = minor;
    let end = bytes.len() - 16;
    // An empty section with a tag to come; the checksum of nothing is zero.
    bytes.splice(end..end, *b"NEWS\0\0\0\0\0\0\0\0\0\0\0\0");
    fs::write(folder.join("newer.wspan"), bytes).expect("writable");
    let ended = run(workspan(&folder).args(["info", "newer.wspan"]));
    assert!(
        ended.check_success().err().contains("the section `NEWS` was written by a newer workspan"),
        "{}",
        ended.err()
    );
    assert!(ended.out().contains(&format!("format 1.{minor}\n")), "{}", ended.out());
}

#[test]
fn command_lines() {
    let folder = scratch("usage");
    let prog = build::program("endings");
    let prog = prog.to_str().expect("a plain path");
    for arguments in [
        &["record", "--frobnicate", "--", prog][..],
        &["record", "--workers", "0", "--", prog],
        &["record", "--workers", "many", "--", prog],
        &["record", "--repeat", "0", "--", prog],
        &["record", "--logical-cores", "-1", "--", prog],
        &["record"],
        &["record", "--"],
        &["record", prog],
        &["report", "--top", "x"],
        &["info", "a", "b"],
        &["frobnicate"],
        &[],
    ] {
        let ended = run(workspan(&folder).args(arguments));
        assert_eq!((ended.code(), ended.out()), (Some(2), String::new()), "{arguments:?}: {}", ended.err());
        assert!(ended.err().contains("--help") || ended.err().contains("Usage:"), "{arguments:?}: {}", ended.err());
    }
    for arguments in [&["run", "--workers", "0"][..], &["run", "--repeat=0"], &["frobnicate"], &[]] {
        let ended = run(build::cargo_workspan().args(arguments).current_dir(&folder));
        assert_eq!((ended.code(), ended.out()), (Some(2), String::new()), "{arguments:?}: {}", ended.err());
    }
    assert_eq!(fs::read_dir(&folder).expect("it exists").count(), 0);
}

/// In colour on a terminal, and there alone.
#[test]
fn wrong_command_lines_on_a_terminal() {
    let folder = scratch("bad-input-terminal");
    let line = format!("{} reprot", env!("CARGO_BIN_EXE_workspan"));
    let on_a_terminal = |set: &[(&str, &str)]| {
        // It runs the command on a terminal of its own, and passes on what that shows.
        let mut command = Command::new("script");
        command.args(["-qec", &line, "/dev/null"]).current_dir(&folder).env_remove("NO_COLOR").env("TERM", "xterm");
        run(command.envs(set.iter().copied()).stdin(std::process::Stdio::null())).out()
    };
    let coloured = on_a_terminal(&[]);
    assert!(coloured.contains("\x1b[1m\x1b[31merror:\x1b[0m there is no command 'reprot'"), "{coloured:?}");
    let plain = on_a_terminal(&[("NO_COLOR", "1")]);
    assert!(plain.contains("error: there is no command 'reprot'") && !plain.contains('\x1b'), "{plain:?}");
    assert!(!run(workspan(&folder).arg("reprot")).err().contains('\x1b'));
}

#[test]
fn programs_that_cannot_be_recorded() {
    let folder = scratch("programs");
    let check = |program: &Path, code: i32, words: &[&str]| {
        run(&mut record(&folder, &[], program, &["exit", "0"])).check_error(code, words);
        assert!(!folder.join("workspan.wspan").exists());
    };
    let file = |name: &str, content: &[u8], mode: u32| -> PathBuf {
        let file = folder.join(name);
        fs::write(&file, content).expect("writable");
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).expect("it is ours");
        file
    };
    check(Path::new("no-such-command-anywhere"), 127, &["no-such-command-anywhere", "not found"]);
    check(Path::new("./none"), 127, &["cannot run ./none: there is no such file in"]);
    check(&file("text", b"nothing to run", 0o755), 126, &["text", "neither an executable nor a script"]);
    check(&folder, 126, &["cannot run", "it is a folder; name the program in it"]);
    let hooked = fs::read(build::program("endings")).expect("it was built");
    check(&file("plain", &hooked, 0o644), 126, &["plain", "ermission denied"]);
    check(Path::new("true"), 2, &["true is not instrumented", "cargo workspan build", "rayon"]);
    check(&build::native("endings"), 2, &["endings is not instrumented", "cargo workspan build"]);
    // The mark, then the wire version.
    let mark = hooked.windows(8).position(|w| w == workspan_wire::shm::NOTE_MAGIC).expect("it has hooks");
    let mut newer = hooked.clone();
    newer[mark + 8] = 200;
    check(&file("newer", &newer, 0o755), 2, &["wire version 200", "build it again"]);
    // What they need to start is missing: the program itself is there.
    let script = file("script", b"#!/no/such/interpreter -x\n", 0o755);
    check(&script, 126, &["cannot run", "script", "needs /no/such/interpreter, which does not exist"]);
    let loader = b"/lib64/ld-linux-x86-64.so.2";
    if let Some(at) = hooked.windows(loader.len()).position(|bytes| bytes == loader) {
        let mut moved = hooked.clone();
        moved[at..at + loader.len()].copy_from_slice(b"/lib64/no-linux-x86-64.so.2");
        check(&file("moved", &moved, 0o755), 126, &["moved", "needs /lib64/no-linux-x86-64.so.2"]);
    }
}

#[test]
fn a_program_that_never_forks() {
    let folder = scratch("never");
    let ended = run(&mut record(&folder, &[], &build::program("endings"), &["never", "3"]));
    assert_eq!(ended.code(), Some(3));
    assert!(ended.err().contains("created no task"), "{}", ended.err());
    assert_eq!(warnings(&report(&folder, "workspan.wspan")), ["never-forks", "virtual-clock"]);
}

/// Functions are then named after the types of closures.
#[test]
fn a_program_without_debug_information() {
    let folder = scratch("stripped");
    let stripped = folder.join("shapes");
    let ended = run(Command::new("strip").arg("-o").arg(&stripped).arg(build::program("shapes")));
    ended.check_success();
    let ended = run(workspan(&folder).args(["record", "--"]).arg(&stripped).arg("mix"));
    assert!(ended.check_success().err().contains("no debug information"), "{}", ended.err());
    let found = report(&folder, "workspan.wspan");
    assert!(warnings(&found).contains(&"no-debug-info"));
    let sites = found["sites"].as_array().expect("a list");
    assert!(!sites.is_empty());
    for site in sites {
        assert!(site["file"] == "src/shapes.rs" && site["line"].as_u64() > Some(0), "{site}");
    }
}

/// What is damaged is said, and the run is reported all the same.
#[test]
fn a_program_with_damaged_debug_information() {
    use object::{Object, ObjectSection};
    let folder = scratch("damaged-debug");
    let mut bytes = fs::read(build::program("shapes")).expect("it was built");
    let file = object::File::parse(&*bytes).expect("an executable");
    let section = file.section_by_name(".debug_abbrev").expect("it has debug information");
    let (at, length) = section.file_range().expect("it lies in the file");
    let range = usize::try_from(at).expect("small")..usize::try_from(at + length).expect("small");
    bytes[range].fill(0xff);
    let program = folder.join("shapes");
    fs::write(&program, bytes).expect("writable");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let ended = run(workspan(&folder).args(["record", "--"]).arg(&program).arg("mix"));
    assert!(ended.check_success().err().contains("! debug information could not be used (debug"), "{}", ended.err());
    // On a busy machine that is said, too.
    assert!(warnings(&report(&folder, "workspan.wspan")).contains(&"debug-info-unread"));
    let info = run(workspan(&folder).arg("info"));
    assert!(info.check_success().out().contains("could not be used: debug information of"), "{}", info.out());
}
