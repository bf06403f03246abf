//! Running commands, for a limited time.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{mpsc, LazyLock};
use std::thread;

use nix::sys::signal::{kill, Signal};
use nix::unistd::Pid;
use workspan_testkit::patience::LIMIT;

/// How a command ended, and what it said.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

impl Ended {
    pub(crate) fn code(&self) -> Option<i32> {
        self.status.code()
    }

    pub(crate) fn signal(&self) -> Option<i32> {
        self.status.signal()
    }

    pub(crate) fn out(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// But for what cargo says when another cargo is at work.
    pub(crate) fn err(&self) -> String {
        let text = String::from_utf8_lossy(&self.stderr);
        text.split_inclusive('\n').filter(|line| !line.contains("Blocking waiting for file lock on")).collect()
    }

    /// It failed with this status, for a reason that names all of `words`, and nothing panicked.
    #[track_caller]
    pub(crate) fn check_error(&self, code: i32, words: &[&str]) {
        let err = self.err();
        assert_eq!(self.code(), Some(code), "{err}");
        assert!(!err.contains("panicked"), "{err}");
        for word in words {
            assert!(err.contains(word), "`{word}` is not in: {err}");
        }
    }

    #[track_caller]
    pub(crate) fn check_success(&self) -> &Ended {
        assert!(self.status.success(), "{:?}: {}", self.status, self.err());
        self
    }
}

/// `workspan` in a folder.
pub(crate) fn workspan(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_workspan"));
    command.current_dir(folder).env_remove("WORKSPAN_DISABLE");
    command
}

/// `workspan record OPTIONS -- PROGRAM…`, with the virtual clock.
pub(crate) fn record(folder: &Path, options: &[&str], program: &Path, arguments: &[&str]) -> Command {
    let mut command = workspan(folder);
    command.args(["record", "--clock", "virtual", "--workers", "2"]).args(options);
    command.arg("--").arg(program).args(arguments);
    command
}

/// The same command, free of what the test run was started with: a shell starts what is put in the background (`&` in a script)
/// with SIGINT ignored, `nohup` with SIGHUP, and by design so do `workspan` and the program go on. A test that ends them by such
/// a signal would wait for ever.
pub(crate) fn with_default_signals(command: &Command) -> Command {
    let mut env = Command::new("env");
    env.arg("--default-signal").arg(command.get_program()).args(command.get_args());
    env.current_dir(command.get_current_dir().expect("set"));
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => env.env(name, value),
            None => env.env_remove(name),
        };
    }
    env
}

/// Runs a command to its end.
pub(crate) fn run(command: &mut Command) -> Ended {
    start(command).wait()
}

/// A command that runs.
pub(crate) struct Running {
    child: Child,
    output: mpsc::Receiver<(Stream, Vec<u8>)>,
    lines: mpsc::Receiver<String>,
}

#[derive(Clone, Copy, PartialEq)]
enum Stream {
    Out,
    Err,
}

/// Starts a command in a process group of its own.
pub(crate) fn start(command: &mut Command) -> Running {
    use std::os::unix::process::CommandExt;
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let (send, output) = mpsc::channel();
    let (send_line, lines) = mpsc::channel();
    let stdout = child.stdout.take().expect("it is piped");
    let mut stderr = child.stderr.take().expect("it is piped");
    let send_err = send.clone();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let mut stdout = BufReader::new(stdout);
        let mut from = 0;
        while stdout.read_until(b'\n', &mut bytes).expect("a pipe can be read") > 0 {
            // Whoever does not wait for lines does not listen.
            let _ = send_line.send(String::from_utf8_lossy(&bytes[from..]).into_owned());
            from = bytes.len();
        }
        let _ = send.send((Stream::Out, bytes));
    });
    thread::spawn(move || {
        let mut bytes = Vec::new();
        stderr.read_to_end(&mut bytes).expect("a pipe can be read");
        let _ = send_err.send((Stream::Err, bytes));
    });
    Running { child, output, lines }
}

impl Running {
    /// Process id of the command.
    pub(crate) fn pid(&self) -> Pid {
        Pid::from_raw(i32::try_from(self.child.id()).expect("a process id"))
    }

    /// Sends a signal to the command alone.
    pub(crate) fn signal(&self, signal: Signal) {
        kill(self.pid(), signal).expect("it is our child");
    }

    /// Sends a signal to the command and all that it has started, as a terminal does.
    pub(crate) fn signal_group(&self, signal: Signal) {
        kill(Pid::from_raw(-self.pid().as_raw()), signal).expect("it is our group");
    }

    /// Waits until the program says `ready PID`, and returns that.
    pub(crate) fn wait_until_ready(&self) -> Pid {
        loop {
            let line = self.lines.recv_timeout(LIMIT).expect("the program gets ready");
            if let Some(pid) = line.strip_prefix("ready ") {
                return Pid::from_raw(pid.trim().parse().expect("a process id"));
            }
        }
    }

    /// Waits for the end.
    pub(crate) fn wait(mut self) -> Ended {
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        for _ in 0..2 {
            match self.output.recv_timeout(LIMIT) {
                Ok((Stream::Out, bytes)) => stdout = bytes,
                Ok((Stream::Err, bytes)) => stderr = bytes,
                Err(_) => {
                    self.signal_group(Signal::SIGKILL);
                    panic!("it did not end");
                }
            }
        }
        // Its output is closed, so this is a matter of moments.
        let status = self.child.wait().expect("it is our child");
        Ended { status, stdout, stderr }
    }
}

/// The report of a recording, as JSON that is as its schema says.
#[track_caller]
pub(crate) fn report(folder: &Path, file: impl AsRef<OsStr>) -> serde_json::Value {
    static SCHEMA: LazyLock<jsonschema::Validator> = LazyLock::new(|| {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/format/report.schema.json");
        let text = std::fs::read(file).expect("it is there");
        jsonschema::validator_for(&serde_json::from_slice(&text).expect("JSON")).expect("a schema")
    });
    let ended = run(workspan(folder).args(["report", "--json"]).arg(file));
    let report = serde_json::from_slice(&ended.check_success().stdout).expect("JSON on stdout, and nothing else");
    let errors: Vec<String> = SCHEMA.iter_errors(&report).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    report
}

/// The codes of a report's warnings.
pub(crate) fn warnings(report: &serde_json::Value) -> Vec<&str> {
    let warnings = report["warnings"].as_array().expect("a list");
    warnings.iter().filter_map(|warning| warning["code"].as_str()).collect()
}
