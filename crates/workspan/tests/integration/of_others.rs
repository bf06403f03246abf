//! What programs of others showed, by small programs of this repository and by the real clock: properties that hold at any load.

use std::path::Path;

use serde_json::Value;

use crate::build::scratch;
use crate::command::{report, run, warnings, workspan};
use crate::openmp_build::{openmp, Compiler};

/// The report of a run of a case with these workers, a unit being this number of nanoseconds.
fn timed(folder: &Path, program: &Path, case: &str, nanos: &str, workers: &str) -> Value {
    let mut command = workspan(folder);
    command.args(["record", "--workers", workers, "--"]).arg(program).args([case, nanos]);
    run(&mut command).check_success();
    report(folder, "workspan.wspan")
}

/// Regions of a few microseconds are named, as many of them take longer than what they do; a region of many iterations is not.
#[test]
fn short_regions_are_named() {
    let folder = scratch("short-regions");
    for compiler in [Compiler::Clang, Compiler::Gcc] {
        let program = openmp("static.c", compiler);
        for workers in ["1", "2"] {
            let often = timed(&folder, &program, "often", "1", workers);
            assert!(warnings(&often).contains(&"short-regions"), "{compiler:?}, {workers}: {often:#}");
            let even = timed(&folder, &program, "even", "100", workers);
            assert!(!warnings(&even).contains(&"short-regions"), "{compiler:?}, {workers}: {even:#}");
        }
    }
}

/// A thread alone waits for no lock, whatever else the machine does.
#[test]
fn one_thread_waits_for_no_lock() {
    let folder = scratch("no-lock");
    for compiler in [Compiler::Clang, Compiler::Gcc] {
        let found = timed(&folder, &openmp("scaling.c", compiler), "convoy", "2000", "1");
        let sites = found["sites"].as_array().expect("a list");
        let locks: Vec<&Value> = sites.iter().filter(|site| site["kind"] == "critical").collect();
        assert_eq!(locks.len(), 1, "{compiler:?}: {found:#}");
        assert_eq!(locks[0]["instances"], 64, "{compiler:?}");
        assert_eq!(locks[0]["contended_ns"], 0, "{compiler:?}");
    }
}
