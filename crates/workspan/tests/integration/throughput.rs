//! What limits the throughput of threads that live as long as the program: `programs/threads/throughput.c`, in which it is planted.

use serde_json::Value;

use crate::build::scratch;
use crate::command::{report, run, workspan};
use crate::threads::threads;

/// Items: enough for shares to be those of the whole.
const COUNT: &str = "150";

/// The function that the threads of a node run.
fn function<'r>(report: &'r Value, id: &str) -> &'r str {
    let sites = report["sites"].as_array().expect("a list");
    let site = sites.iter().find(|site| site["id"] == id);
    site.and_then(|site| site["function"].as_str()).unwrap_or(if id == "main" { "main" } else { "?" })
}

/// The first bottleneck is these threads; their waits for each other are for locks, or there are none.
#[track_caller]
fn check(program: &str, expected: &str, locks: bool) {
    let folder = scratch(&format!("throughput-{program}"));
    let mut command = workspan(&folder);
    let ended = run(command.args(["record", "--"]).arg(threads("throughput")).args([program, COUNT]));
    let text = ended.check_success().err();
    let report = report(&folder, "workspan.wspan");
    let first = &report["threads"]["bottlenecks"][0];
    let nodes = first["threads"].as_array().unwrap_or_else(|| panic!("{:#}", report["threads"]));
    let functions: Vec<&str> = nodes.iter().filter_map(Value::as_str).map(|id| function(&report, id)).collect();
    assert_eq!(functions, [expected], "{:#}", report["threads"]);
    let locked = first["locked_share"].as_f64();
    assert_eq!(locked.is_some_and(|share| share > 0.9), locks, "{first:#}");
    // Everybody reads the same.
    let sentence = first["text"].as_str().expect("text");
    assert!(sentence.contains("throughput.c:") && text.contains(sentence), "{sentence}: {text}");
}

#[test]
fn the_slow_stage_of_a_pipeline() {
    check("pipeline", "transform", false);
}

#[test]
fn the_thread_that_all_servers_ask() {
    check("server", "look_up", false);
}

#[test]
fn the_last_of_those_who_wait_for_each_other() {
    check("chain", "back", false);
}

#[test]
fn threads_that_take_one_lock() {
    check("lock", "share", true);
}

/// Threads that only work wait for nobody.
#[test]
fn threads_that_do_not_wait() {
    let folder = scratch("throughput-none");
    let mut command = workspan(&folder);
    run(command.args(["record", "--"]).arg(threads("looks")).args(["busy", "spin", "1000000"])).check_success();
    assert_eq!(report(&folder, "workspan.wspan").get("threads"), None);
}
