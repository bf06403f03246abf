//! Runtimes of C and C++: a program for each is compiled as users compile theirs, and run.
//!
//! **Invariant:** neither a compiler nor a program is waited for longer than its limit, and nothing that they say is shown. What
//! is written lies in a temporary folder, which is removed.

use std::ffi::OsStr;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::Duration;
use std::{env, fs, thread};

use super::crossing::{self, Sample};
use super::plan;
use super::threshold::{SpawnRuntime, Unmeasured};
use crate::instrument::compiler::{self, Language};

const COMPILING: Duration = Duration::from_secs(20);
const RUNNING: Duration = Duration::from_secs(10);

/// What programs include.
const HEADER: (&str, &str) = ("fork.h", include_str!("fork.h"));
const OPENMP: (&str, &str) = ("openmp.c", include_str!("openmp.c"));
const TBB: (&str, &str) = ("tbb.cpp", include_str!("tbb.cpp"));

/// How names of variables begin that change how a runtime waits or places threads: users have the defaults.
const SETTINGS: [&str; 5] = ["OMP_", "GOMP_", "KMP_", "LIBOMP_", "TBB_"];

/// How to compile a runtime's program.
struct Recipe {
    compiler: PathBuf,
    source: (&'static str, &'static str),
    arguments: &'static [&'static str],
    install: &'static str,
}

/// All samples of a runtime.
pub(super) fn measure(runtime: SpawnRuntime) -> Result<Vec<Sample>, Unmeasured> {
    let recipe = recipe(runtime)?;
    let folder = tempfile::tempdir().map_err(|error| Unmeasured::because(format!("no temporary folder: {error}")))?;
    let program = compile(&recipe, folder.path())?;
    let mut command = Command::new(program);
    command.args([plan::ROUNDS, plan::FEWEST_ROUNDS].map(|rounds| rounds.to_string()));
    command.args([plan::LIMIT, plan::PATIENCE].map(|limit| limit.as_millis().to_string()));
    command.args(plan::sizes().iter().flat_map(|size| [size.iterations.to_string(), size.forks.to_string()]));
    let set = env::vars_os().map(|(name, _)| name);
    for name in set.filter(|name| SETTINGS.iter().any(|begin| name.as_encoded_bytes().starts_with(begin.as_bytes()))) {
        command.env_remove(name);
    }
    command.env("OMP_NUM_THREADS", "2");
    match within(&mut command, RUNNING) {
        Ok(Some((status, out))) if status.success() => {
            let samples = String::from_utf8(out).ok().and_then(|out| crossing::parse(&out));
            samples.ok_or_else(|| Unmeasured::because("cannot read what its program printed"))
        }
        Ok(Some((status, _))) => Err(Unmeasured::because(format!("its program failed: {status}"))),
        Ok(None) => Err(Unmeasured::because(format!("its program took more than {} s", RUNNING.as_secs()))),
        Err(error) => Err(Unmeasured::because(format!("cannot run its program: {error}"))),
    }
}

fn recipe(runtime: SpawnRuntime) -> Result<Recipe, Unmeasured> {
    Ok(match runtime {
        SpawnRuntime::Rayon => return Err(Unmeasured::because("it is measured without a compiler")),
        SpawnRuntime::Libgomp => Recipe {
            compiler: "gcc".into(),
            source: OPENMP,
            arguments: &["-O2", "-fopenmp"],
            install: "gcc (Debian, Ubuntu: `apt-get install gcc`)",
        },
        SpawnRuntime::Libomp => {
            let install = "clang and libomp (Debian, Ubuntu: `apt-get install clang-19 libomp-19-dev`)";
            let missing =
                |_| Unmeasured { reason: "no clang of LLVM 16 to 22 in PATH".to_owned(), install: Some(install) };
            let compiler = compiler::find(Language::C).map_err(missing)?;
            Recipe { compiler, source: OPENMP, arguments: &["-O2", "-fopenmp=libomp"], install }
        }
        SpawnRuntime::Tbb => Recipe {
            compiler: "g++".into(),
            source: TBB,
            arguments: &["-O2", "-std=c++17", "-ltbb"],
            install: "g++ and oneTBB (Debian, Ubuntu: `apt-get install g++ libtbb-dev`)",
        },
    })
}

/// The program, in `folder`.
fn compile(recipe: &Recipe, folder: &Path) -> Result<PathBuf, Unmeasured> {
    for (name, text) in [HEADER, recipe.source] {
        let written = fs::write(folder.join(name), text);
        written.map_err(|error| Unmeasured::because(format!("cannot write to the temporary folder: {error}")))?;
    }
    let program = folder.join("measure");
    let mut command = Command::new(&recipe.compiler);
    // The library comes after what needs it.
    command.current_dir(folder).arg(recipe.source.0).args(recipe.arguments).arg("-o").arg(&program);
    let name = recipe.compiler.file_name().unwrap_or(OsStr::new("the compiler")).to_string_lossy();
    let reason = match within(&mut command, COMPILING) {
        Ok(Some((status, _))) if status.success() => return Ok(program),
        Ok(Some(_)) => format!("{name} cannot build its program"),
        Ok(None) => return Err(Unmeasured::because(format!("{name} took more than {} s", COMPILING.as_secs()))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => format!("no {name} in PATH"),
        Err(error) => format!("cannot run {name}: {error}"),
    };
    Err(Unmeasured { reason, install: Some(recipe.install) })
}

/// How a command ended, and its standard output; `None` if it was ended because it took longer than `limit`.
fn within(command: &mut Command, limit: Duration) -> io::Result<Option<(ExitStatus, Vec<u8>)>> {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let (send, receive) = mpsc::channel();
    let out = child.stdout.take();
    let reader = thread::Builder::new().spawn(move || {
        let mut bytes = Vec::new();
        let read = out.map_or(Ok(0), |mut out| out.read_to_end(&mut bytes));
        // Nobody waits for it any more if the limit has passed.
        let _ = send.send(read.map(|_| bytes));
    });
    // Its output ends when it does, and with it all that it has started.
    let output = reader.map(|_| receive.recv_timeout(limit).ok());
    let Ok(Some(output)) = output else {
        child.kill()?;
        child.wait()?;
        return output.map(|_| None);
    };
    let status = child.wait()?;
    Ok(Some((status, output?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_not_waited_for_for_ever() {
        let mut sleeper = Command::new("sleep");
        assert!(within(sleeper.arg("1000"), Duration::from_millis(10)).expect("it is there").is_none());
        let mut talker = Command::new("sh");
        let (status, out) =
            within(talker.args(["-c", "echo a; echo b >&2; exit 3"]), RUNNING).expect("it is there").expect("it ends");
        assert_eq!((status.code(), out), (Some(3), b"a\n".to_vec()));
        assert!(within(&mut Command::new("/none"), RUNNING).is_err());
    }

    #[test]
    fn a_compiler_that_is_missing_or_fails_is_a_reason() {
        let folder = tempfile::tempdir().expect("writable");
        let with = |compiler: &str, source| {
            let recipe = Recipe { compiler: compiler.into(), source, arguments: &[], install: "it" };
            compile(&recipe, folder.path()).map_err(|error| (error.reason, error.install))
        };
        assert_eq!(with("/none/gcc", OPENMP), Err(("no gcc in PATH".to_owned(), Some("it"))));
        assert_eq!(with("false", OPENMP), Err(("false cannot build its program".to_owned(), Some("it"))));
    }
}
