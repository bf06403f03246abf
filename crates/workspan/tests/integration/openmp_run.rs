//! Running OpenMP programs as the tests do: with the virtual clock, to their end, and what is said of many of them.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use workspan_store::folder_of;

use crate::command::workspan;

/// How a program runs.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Threads {
    /// So many threads.
    Real(u32),
    /// So many virtual cores, one running at a time.
    Virtual(u32),
}

impl Threads {
    pub(crate) fn count(self) -> u32 {
        match self {
            Threads::Real(count) | Threads::Virtual(count) => count,
        }
    }
}

/// Longer than any run takes; libomp itself hangs once in some hundred runs with dependences and untied tasks.
const LIMIT: Duration = Duration::from_secs(15);
/// So often is a run that hangs begun again.
const ATTEMPTS: u32 = 3;
/// What is said of one that always does.
pub(crate) const HANGS: &str = "it hangs";

/// Records a run with the virtual clock, and all strands if the cost of a steal is given. Returns whether it went well, and what
/// `look` makes of the recording at that path, beside which there is the report as JSON.
pub(crate) fn recorded<R>(
    program: &Path,
    arguments: &[&str],
    threads: Threads,
    strands: Option<i64>,
    look: impl FnOnce(&Path) -> R,
) -> (Result<(), String>, R) {
    static RUNS: AtomicUsize = AtomicUsize::new(0);
    let run = RUNS.fetch_add(1, Ordering::Relaxed);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("openmp-runs");
    fs::create_dir_all(&folder).expect("the target directory is writable");
    let file = |ending: &str| folder.join(format!("{run}.{ending}"));
    let mut command = workspan(&folder);
    command.args(["record", "--clock", "virtual", "-o"]).arg(file("wspan"));
    if let Some(steal) = strands {
        command.args(["--strands", "--steal", &steal.to_string()]);
    }
    let mut json = std::ffi::OsString::from("--json=");
    json.push(file("json"));
    command.arg(json);
    match threads {
        Threads::Real(count) => command.arg("--workers").arg(count.to_string()),
        Threads::Virtual(count) => command.arg("--logical-cores").arg(count.to_string()),
    };
    command.arg("--").arg(program).args(arguments);
    let ended = run_openmp(command, &file("stderr"));
    let seen = look(&file("wspan"));
    // Not all of them need exist.
    for ending in ["wspan", "json", "stderr"] {
        let _ = fs::remove_file(file(ending));
    }
    let _ = fs::remove_dir_all(folder_of(&file("wspan")));
    (ended, seen)
}

/// The report of a run with the virtual clock, or what went wrong.
pub(crate) fn record(program: &Path, arguments: &[&str], threads: Threads) -> Result<Value, String> {
    let (ended, report) = recorded(program, arguments, threads, None, |file| {
        let json = fs::read(file.with_extension("json")).ok();
        json.and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok())
    });
    ended?;
    let report = report.ok_or("no report")?;
    if report["program"]["complete"] != true {
        return Err(format!("incomplete: {}", report["warnings"]));
    }
    Ok(report)
}

/// Runs a case by itself.
pub(crate) fn native(program: &Path, case: &str, threads: u32) -> Result<(), String> {
    native_with(program, case, threads, Some("passive"))
}

/// The same with threads that wait in this way; `None`: as the runtime likes.
pub(crate) fn native_with(program: &Path, case: &str, threads: u32, wait_policy: Option<&str>) -> Result<(), String> {
    let mut command = Command::new(program);
    command.arg(case).env("OMP_NUM_THREADS", threads.to_string());
    match wait_policy {
        Some(policy) => command.env("OMP_WAIT_POLICY", policy),
        None => command.env_remove("OMP_WAIT_POLICY"),
    };
    let file = program.with_extension(format!("{case}-{threads}.stderr"));
    let ended = run_openmp(command, &file);
    let _ = fs::remove_file(&file);
    ended
}

/// Runs a command to its end, more than once if it hangs.
pub(crate) fn run_openmp(mut command: Command, stderr: &PathBuf) -> Result<(), String> {
    use std::os::unix::process::CommandExt;
    // Threads that wait must not keep the processor from those that work; teams must not depend on the machine.
    if command.get_envs().all(|(name, _)| name != "OMP_WAIT_POLICY") {
        command.env("OMP_WAIT_POLICY", "passive");
    }
    command.env("OMP_CANCELLATION", "true").env("KMP_TEAMS_THREAD_LIMIT", "64");
    command.stdin(Stdio::null()).stdout(Stdio::null()).process_group(0);
    for _ in 0..ATTEMPTS {
        command.stderr(File::create(stderr).expect("the target directory is writable"));
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let started = Instant::now();
        while started.elapsed() < LIMIT {
            if let Some(status) = child.try_wait().expect("it is our child") {
                let message = fs::read_to_string(stderr).unwrap_or_default();
                return if status.success() { Ok(()) } else { Err(format!("{status}: {}", message.trim())) };
            }
            thread::sleep(Duration::from_millis(2));
        }
        let group = nix::unistd::Pid::from_raw(-i32::try_from(child.id()).expect("a process id"));
        nix::sys::signal::kill(group, nix::sys::signal::Signal::SIGKILL).expect("it is our group");
        child.wait().expect("it is our child");
    }
    Err(format!("{HANGS}, {ATTEMPTS} times out of {ATTEMPTS}"))
}

/// Applies a check to each item, on several threads; what it has to say, in order.
pub(crate) fn each<T: Sync>(items: &[T], check: impl Fn(&T) -> Option<String> + Sync) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let said = Mutex::new(BTreeMap::new());
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(item) = items.get(at) else { break };
                if let Some(text) = check(item) {
                    said.lock().expect("no check has panicked").insert(at, text);
                }
            });
        }
    });
    said.into_inner().expect("no check has panicked").into_values().collect()
}

#[track_caller]
pub(crate) fn check_none(differences: &[String], what: &str) {
    let first = &differences[..differences.len().min(40)];
    assert!(differences.is_empty(), "{what}, {} differ:\n{}", differences.len(), first.join("\n"));
}

pub(crate) fn number(value: &Value) -> i64 {
    value.as_i64().unwrap_or_else(|| panic!("not a number: {value}"))
}

pub(crate) fn parse(text: &str) -> i64 {
    text.trim().parse().unwrap_or_else(|_| panic!("not a number: {text}"))
}
