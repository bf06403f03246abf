//! Running OpenMP programs as the tests do: with the virtual clock, to their end, and what is said of many of them.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;
use std::time::Duration;
use std::{fmt, mem, thread};

use serde_json::Value;
use workspan::openmp::program::{look, Program, Runtime};
use workspan_store::folder_of;
use workspan_testkit::patience::within;

use crate::build::scratch;
use crate::command::workspan;
use crate::rows;

/// How a program runs.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Threads {
    /// This number of threads.
    Real(u32),
    /// This number of virtual cores, one running at a time.
    Virtual(u32),
}

impl Threads {
    pub(crate) fn count(self) -> u32 {
        match self {
            Threads::Real(count) | Threads::Virtual(count) => count,
        }
    }
}

/// A run that takes longer hangs: the longest takes a second on a machine that does nothing else.
const LIMIT: Duration = Duration::from_secs(120);
/// Runs without Workspan by which a fault is known to be the runtime's.
const CONTROLS: u32 = 40;

/// How a run went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It did not end.
    Hang,
    /// It ended by a signal, or with this status, and said this.
    Death(String),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Hang => write!(f, "it hangs (for {} s)", LIMIT.as_secs()),
            Fault::Death(how) => f.write_str(how),
        }
    }
}

/// Why a profiled run is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// By a fault of Workspan's: this fails a test, once and for all.
    Ours(String),
    /// The program hangs or dies without Workspan, too, with the same runtime, threads and settings.
    Runtimes(String),
}

impl From<String> for Wrong {
    fn from(message: String) -> Wrong {
        Wrong::Ours(message)
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Wrong::Ours(message) | Wrong::Runtimes(message)) = self;
        f.write_str(message)
    }
}

/// Records a run with the virtual clock, and all strands if the cost of a steal is given. Returns whether it went well, and what
/// `look` makes of the recording at that path, beside which there is the report as JSON.
pub(crate) fn recorded<R>(
    program: &Path,
    arguments: &[&str],
    threads: Threads,
    strands: Option<i64>,
    look: impl FnOnce(&Path) -> R,
) -> (Result<(), Wrong>, R) {
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
    let mut json = OsString::from("--json=");
    json.push(file("json"));
    command.arg(json);
    match threads {
        Threads::Real(count) => command.arg("--workers").arg(count.to_string()),
        Threads::Virtual(count) => command.arg("--logical-cores").arg(count.to_string()),
    };
    command.arg("--").arg(program).args(arguments);
    let ended = run_openmp(command, &file("stderr"));
    let ended = ended.map_err(|fault| whose(&fault, program, arguments, threads, &file("control")));
    let seen = look(&file("wspan"));
    // Not all of them need exist.
    for ending in ["wspan", "json", "stderr", "control"] {
        let _ = fs::remove_file(file(ending));
    }
    let _ = fs::remove_dir_all(folder_of(&file("wspan")));
    (ended, seen)
}

/// The report of a run with the virtual clock, or what went wrong.
pub(crate) fn record(program: &Path, arguments: &[&str], threads: Threads) -> Result<Value, Wrong> {
    let (ended, report) = recorded(program, arguments, threads, None, |file| {
        let json = fs::read(file.with_extension("json")).ok();
        json.and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok())
    });
    ended?;
    let report = report.ok_or_else(|| "no report".to_owned())?;
    if report["program"]["complete"] != true {
        return Err(Wrong::Ours(format!("incomplete: {}", report["warnings"])));
    }
    if let Some(wrong) = rows::wrong(&report) {
        return Err(Wrong::Ours(wrong));
    }
    Ok(report)
}

/// Runs of a program without Workspan show at whose fault a profiled run has hung or died.
fn whose(fault: &Fault, program: &Path, arguments: &[&str], threads: Threads, stderr: &Path) -> Wrong {
    let same = |found: &Fault| mem::discriminant(found) == mem::discriminant(fault);
    let natively = (1..=CONTROLS).find(|_| {
        let ended = run_openmp(control(program, arguments, threads), stderr);
        ended.is_err_and(|found| same(&found))
    });
    match natively {
        Some(run) => Wrong::Runtimes(format!("{fault}, and without Workspan in the control run number {run}, too")),
        None => Wrong::Ours(format!("{fault}, in none of {CONTROLS} control runs without Workspan")),
    }
}

/// Runs a case by itself, on its own runtime.
pub(crate) fn native(program: &Path, case: &str, threads: u32) -> Result<(), Fault> {
    let mut command = Command::new(program);
    command.arg(case).env("OMP_NUM_THREADS", threads.to_string());
    let file = program.with_extension(format!("{case}-{threads}.stderr"));
    let ended = run_openmp(command, &file);
    let _ = fs::remove_file(&file);
    ended
}

/// The program by itself, with the runtime that the profiled one has, and as many threads that wait in the same way.
fn control(program: &Path, arguments: &[&str], threads: Threads) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).env("OMP_NUM_THREADS", threads.count().to_string());
    if let Some(Program { runtime: Runtime::Gcc { stand_in: Ok(library) }, .. }) =
        look(program).expect("its libraries can be read")
    {
        command.env("LD_PRELOAD", library.path);
    }
    if let Threads::Virtual(_) = threads {
        command.env_remove("OMP_THREAD_LIMIT").env("OMP_DYNAMIC", "false").env("KMP_BLOCKTIME", "0");
    }
    command
}

/// Runs a command to its end, once.
pub(crate) fn run_openmp(mut command: Command, stderr: &Path) -> Result<(), Fault> {
    use std::os::unix::process::CommandExt;
    // Threads that wait must not keep the processor from those that work; teams must not depend on the machine.
    command.env("OMP_WAIT_POLICY", "passive").env("OMP_CANCELLATION", "true").env("KMP_TEAMS_THREAD_LIMIT", "64");
    command.stdin(Stdio::null()).stdout(Stdio::null()).process_group(0);
    command.stderr(File::create(stderr).expect("the target directory is writable"));
    let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let Some(status) = within(LIMIT, || child.try_wait().expect("it is our child")) else {
        let group = nix::unistd::Pid::from_raw(-i32::try_from(child.id()).expect("a process id"));
        nix::sys::signal::kill(group, nix::sys::signal::Signal::SIGKILL).expect("it is our group");
        child.wait().expect("it is our child");
        return Err(Fault::Hang);
    };
    if status.success() {
        return Ok(());
    }
    let message = fs::read_to_string(stderr).unwrap_or_default();
    Err(Fault::Death(format!("{status}: {}", message.trim())))
}

/// Checks programs of several seeds that run one after another in one process: what is wrong, if anything is. Where the
/// runtime is at fault for how that ended, each is checked by itself.
pub(crate) fn check_seeds(first: u64, count: u64, check: impl Fn(u64, u64) -> Result<(), Wrong>) -> Option<String> {
    let wrong = check(first, count).err()?;
    let alone: String = (first..first + count)
        .filter_map(|seed| match check(seed, 1).err()? {
            Wrong::Ours(message) => Some(format!("\n  seed {seed}: {message}")),
            Wrong::Runtimes(message) => excused(&format!("seed {seed}"), &message),
        })
        .collect();
    match wrong {
        Wrong::Ours(message) => Some(format!("seeds {first} to {}: {message}{alone}", first + count - 1)),
        Wrong::Runtimes(message) => {
            excused(&format!("seeds {first} to {}", first + count - 1), &message);
            (!alone.is_empty()).then_some(alone)
        }
    }
}

/// Says where the runtime is at fault; no fault of Workspan.
#[expect(clippy::print_stderr, reason = "shown with `--nocapture`, and beside what fails")]
pub(crate) fn excused(what: &str, message: &str) -> Option<String> {
    eprintln!("fault of the runtime: {what}: {message}");
    None
}

/// Applies a check to each item, on several threads; what it has to say, in order.
pub(crate) fn each<T: Sync>(items: &[T], check: impl Fn(&T) -> Option<String> + Sync) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let take = || {
        let at = next.fetch_add(1, Ordering::Relaxed);
        items.get(at).map(|item| (at, item))
    };
    let said = Mutex::new(BTreeMap::new());
    let work = || {
        while let Some((at, item)) = take() {
            if let Some(text) = check(item) {
                said.lock().expect("no check has panicked").insert(at, text);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(work);
        }
    });
    said.into_inner().expect("no check has panicked").into_values().collect()
}

#[track_caller]
pub(crate) fn check_none(differences: &[String], what: &str) {
    let first = &differences[..differences.len().min(40)];
    if let Some(one) = first.first() {
        // Not captured: a log that is cut has it beside the name of the test.
        let _ = writeln!(io::stderr(), "{what}: {}", one.chars().take(2000).collect::<String>());
    }
    assert!(differences.is_empty(), "{what}, {} differ:\n{}", differences.len(), first.join("\n"));
}

pub(crate) fn number(value: &Value) -> i64 {
    value.as_i64().unwrap_or_else(|| panic!("not a number: {value}"))
}

pub(crate) fn parse(text: &str) -> i64 {
    text.trim().parse().unwrap_or_else(|_| panic!("not a number: {text}"))
}

/// By itself, one of these programs dies, the other does not; none of them hangs.
#[test]
fn a_fault_is_ours_unless_the_program_has_it_by_itself() {
    let stderr = scratch("openmp-whose").join("stderr");
    let judge = |fault: &Fault, program: &str| whose(fault, Path::new(program), &[], Threads::Real(2), &stderr);
    let death = Fault::Death("signal: 11: at seed 7".to_owned());
    let wrong = judge(&death, "/bin/true");
    assert!(
        matches!(&wrong, Wrong::Ours(message) if message.contains("seed 7, in none of 40 control runs")),
        "{wrong}"
    );
    let wrong = judge(&death, "/bin/false");
    assert!(matches!(&wrong, Wrong::Runtimes(message) if message.contains("control run number 1")), "{wrong}");
    assert!(matches!(judge(&Fault::Hang, "/bin/false"), Wrong::Ours(_)));
}

#[test]
fn what_is_wrong_fails_once_and_names_its_seed() {
    let ours = |seed: u64| {
        move |first: u64, count: u64| {
            let hit = (first..first + count).contains(&seed);
            if hit {
                Err(Wrong::Ours("it hangs".to_owned()))
            } else {
                Ok(())
            }
        }
    };
    assert_eq!(check_seeds(8, 4, ours(3)), None);
    assert_eq!(check_seeds(8, 4, ours(10)).as_deref(), Some("seeds 8 to 11: it hangs\n  seed 10: it hangs"));
    // Seen only together: wrong all the same.
    let together = |_, count| if count > 1 { Err(Wrong::Ours("it hangs".to_owned())) } else { Ok(()) };
    assert_eq!(check_seeds(8, 4, together).as_deref(), Some("seeds 8 to 11: it hangs"));
    // Where the runtime is at fault for all of them, each is looked at.
    let of_runtime = |first, count| match (first, count) {
        (_, 4) => Err(Wrong::Runtimes("it hangs".to_owned())),
        (9, _) => Err(Wrong::Ours("work 1, not 2".to_owned())),
        _ => Ok(()),
    };
    assert_eq!(check_seeds(8, 4, of_runtime).as_deref(), Some("\n  seed 9: work 1, not 2"));
    assert_eq!(check_seeds(12, 4, of_runtime), None);
}
