//! `workspan query` finds `workspan-query`, hands everything on to it, and says how to get it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::build::scratch;
use crate::command::{run, workspan};
use crate::strand_verbs::{recorded, SEEDS};

/// A program that says by which name it was called and with what, and ends with status 7.
const SCRIPT: &str = "#!/bin/sh\nprintf '%s\\n' \"$0\" \"$@\"\necho note >&2\nexit 7\n";

fn script(folder: &Path, text: &str) -> PathBuf {
    fs::create_dir_all(folder).expect("writable");
    let script = folder.join("workspan-query");
    fs::write(&script, text).expect("writable");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("ours");
    script
}

/// `workspan` in a folder of its own, with nothing of this machine's in the places where it looks.
fn alone(folder: &Path) -> Command {
    let program = folder.join("own/workspan");
    fs::create_dir_all(folder.join("own")).expect("writable");
    // A copy may be "busy" as long as a child of another test, forked meanwhile, has it open for writing.
    let _ = fs::remove_file(&program);
    fs::hard_link(workspan(folder).get_program(), &program).expect("writable");
    let mut command = Command::new(program);
    let places = [
        ("PATH", "path"),
        ("CARGO_INSTALL_ROOT", "root"),
        ("CARGO_HOME", "cargo"),
        ("HOME", "home"),
        ("XDG_CACHE_HOME", "cache"),
    ];
    command.current_dir(folder).envs(places.map(|(name, place)| (name, folder.join(place))));
    command
}

/// Each place is used only as long as none before it has the program.
#[test]
fn it_is_found_where_programs_are_installed() {
    let folder = recorded("query-places", SEEDS[0]);
    // The last place first.
    for place in ["cache/workspan/bin", "home/.cargo/bin", "cargo/bin", "root/bin", "path", "own"] {
        let program = script(&folder.join(place), SCRIPT);
        let ended = run(alone(&folder).args(["query", "--csv", "--", "workspan.wspan", "-- one\nselect 1"]));
        let expected = format!("{}\n--csv\n--\nworkspan.strands\n-- one\nselect 1\n", program.display());
        assert_eq!((ended.code(), ended.out(), ended.err()), (Some(7), expected, "note\n".to_owned()));
    }
}

/// A task graph is named by its folder, or by its file; other folders are errors that say what to type.
#[test]
fn a_task_graph_goes_to_the_program_as_it_is() {
    let folder = recorded("query-graph", SEEDS[0]);
    script(&folder.join("own"), SCRIPT);
    let graph = folder.join("run.graph");
    fs::create_dir_all(&graph).expect("writable");
    let query = |file: &str| run(alone(&folder).args(["query", file, "select 1"]));
    query("run.graph").check_error(2, &["there is no task graph in the folder run.graph", "workspan graph record"]);
    fs::write(graph.join("events.wsg"), "something else").expect("writable");
    query("run.graph").check_error(2, &["cannot read the task graph run.graph", "it is no task graph"]);
    fs::write(graph.join("events.wsg"), b"wspgraph\x06\0\0\0").expect("writable");
    for name in ["run.graph", "run.graph/events.wsg"] {
        let ended = query(name);
        assert!(ended.out().ends_with("--\nrun.graph\nselect 1\n"), "{}", ended.out());
        assert_eq!(ended.code(), Some(7));
    }
}

/// What lies in the working folder is not run, nor what cannot be.
#[test]
fn what_is_no_installation_is_not_run() {
    let folder = recorded("query-here", SEEDS[0]);
    script(&folder, SCRIPT);
    fs::create_dir_all(folder.join("path/workspan-query")).expect("writable");
    let unfit = script(&folder.join("second"), SCRIPT);
    fs::set_permissions(unfit, fs::Permissions::from_mode(0o644)).expect("ours");
    let path = std::env::join_paths(["", ".", "path", "second"]).expect("no colons");
    run(alone(&folder).env("PATH", path).args(["query", "select 1"])).check_error(2, &["cargo install"]);
}

#[test]
fn without_it_the_error_is_one_command() {
    let folder = recorded("query-missing", SEEDS[0]);
    let ended = run(alone(&folder).args(["query", "select 1"]));
    let source = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "-query"));
    ended.check_error(2, &["`workspan query` needs the program workspan-query", &folder.join("own").to_string_lossy()]);
    let line = ended.err();
    let command = format!("minutes: cargo install --locked --path {}\n", source.display());
    assert!(line.ends_with(&command) && ended.out().is_empty(), "{line}");
    assert!(source.join("Cargo.toml").is_file());
}

/// A program that cannot be started is named.
#[test]
fn a_program_of_another_machine_is_named() {
    let folder = recorded("query-broken", SEEDS[0]);
    let program = script(&folder.join("path"), "#!/nowhere/interpreter\n");
    run(alone(&folder).args(["query", "select 1"])).check_error(2, &["cannot run", &program.to_string_lossy()]);
}

/// What is wrong with the question or the recording is said first: installing would not help.
#[test]
fn usage_and_recordings_are_checked_first() {
    let folder = scratch("query-usage");
    run(alone(&folder).args(["query", "none.wspan", "select 1"]))
        .check_error(2, &["there is no none.wspan: record one with `--strands`"]);
    run(alone(&folder).args(["query"])).check_error(2, &["SQL"]);
}
