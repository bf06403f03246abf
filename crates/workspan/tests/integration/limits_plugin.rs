//! The plugin of `workspan limits` under emulators of all versions of the plugin interface: programs stand for them.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::build::{root, scratch};
use crate::command::{run, workspan};

/// Versions of the interface from QEMU 7.2 on.
const KNOWN: std::ops::RangeInclusive<u32> = 1..=6;

fn under(version: u32) -> (crate::command::Ended, std::path::PathBuf) {
    let folder = scratch(&format!("limits-plugin-{version}"));
    let source = root().join("crates/workspan/tests/integration/emulator.c");
    let mut gcc = Command::new("gcc");
    gcc.args(["-O1", "-w", "-rdynamic"]).arg(format!("-DVERSION={version}")).arg("-o").arg(folder.join("emulator"));
    let done = gcc.arg(source).arg("-ldl").output().expect("gcc is installed: cargo xtask setup");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let options = ["limits", "--json=limits.json", "--emulator", "./emulator", "--", "/bin/true"];
    (run(workspan(&folder).args(options)), folder)
}

#[test]
fn all_versions_of_the_interface() {
    for version in KNOWN {
        let (ended, folder) = under(version);
        ended.check_success();
        let answer: Value =
            serde_json::from_slice(&fs::read(folder.join("limits.json")).expect("written")).expect("JSON");
        assert_eq!((&answer["instructions"], &answer["conditions"]["exit_code"]), (&20.into(), &120.into()));
        let tru = answer["models"].as_array().expect("a list").iter().find(|model| model["name"] == "Tru");
        assert_eq!(tru.expect("a model")["critical_path"], 8, "version {version}");
        assert!(!answer["warnings"].to_string().contains("decode"), "{}", answer["warnings"]);
    }
}

/// Version 7 has other callbacks: the plugin does not load, and the command says why.
#[test]
fn a_version_that_is_not_known() {
    let (ended, _) = under(7);
    ended.check_error(2, &["version 7 of the plugin interface", "1 to 6", "--emulator", "--tracer valgrind"]);
}
