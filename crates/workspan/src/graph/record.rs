//! `workspan graph record`: runs a program, and writes its task graph while it runs.

use std::ffi::OsString;
use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context;
use nix::sys::memfd::{memfd_create, MFdFlags};
use workspan_collect::platform;
use workspan_graph::file::{End, Host, Meta, Recorder, Recording, NAME};
use workspan_graph::graph::Graph;
use workspan_graph::missing::problems;
use workspan_graph::sample::Sample;
use workspan_model::Exit;
use workspan_trace::drain::Memory;
use workspan_trace::shm;

use super::{drain, report, tables};
use crate::args::graph::GraphRecord;
use crate::exit::{Outcome, Status, FAILED};
use crate::instrument::{check, companion};
use crate::record::child;
use crate::{machine, output, rank};

/// Runs the verb.
pub fn run(args: &GraphRecord) -> anyhow::Result<Outcome> {
    anyhow::ensure!(
        !rank::is_launcher(&args.command),
        "{} starts the ranks: put it first, as in `mpirun -n 4 workspan graph record -- ./prog`",
        args.command[0].to_string_lossy()
    );
    let is_there = companion::find(Path::new(&args.command[0])).is_some();
    if is_there && args.command.iter().all(|word| check::is_native(Path::new(word))) {
        output::note(&format!(
            "{} carries no instrumentation: the graph will have no more than what libraries do that `workspan build` built",
            args.command[0].to_string_lossy()
        ));
    }
    let one_in = |one_in| Sample::new(one_in).context("a sample is one of 2, 4, 8, 16 or 32 lines: --sample 8");
    let sample = args.sample.map(one_in).transpose()?;
    let rank = rank::rank();
    let folder = &rank::place(&args.output, rank);
    make_room(folder)?;
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let (machine, _) = machine::describe();
    let meta = Meta {
        command: args.command.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        made_at: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs()),
        made_by: env!("CARGO_PKG_VERSION").to_owned(),
        ticks_per_second: machine.ticks_per_second,
    };
    let path = folder.join(NAME);
    let recorder = Recorder::create_of(&path, &meta, sample.as_ref())
        .with_context(|| format!("cannot write {}", path.display()))?;
    let file = File::from(memfd_create("workspan-trace", MFdFlags::MFD_CLOEXEC)?);
    let memory = Memory::new(&file, args.buffer).context("cannot map the shared memory (see `workspan doctor`)")?;
    let name: OsString = format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd()).into();
    let mut environment = vec![(OsString::from(shm::ENV), Some(name))];
    environment.extend(rank::environment(&args.command, rank)?.map(|(name, value)| (name, Some(value))));
    let (ended, drained) = drain::during(&memory, (recorder, sample), || child::run(&args.command, &environment));
    let ended = match ended {
        Ok(ended) => ended,
        Err(error) => {
            // Nothing ran: nothing is left behind.
            let _ = fs::remove_file(&path);
            let _ = fs::remove_dir(folder);
            return Err(error);
        }
    };
    let header = memory.header();
    if header.claimed.load(Relaxed) == 0 {
        let _ = fs::remove_file(&path);
        let _ = fs::remove_dir(folder);
        let program = args.command[0].to_string_lossy();
        let message = match header.other_version.load(Relaxed) {
            0 => format!("{program} was not built by `workspan build`: clean its build, type `workspan build -- COMMAND…` with the command that builds it, and run this again"),
            version => format!(
                "{program} was built by another workspan (events of version {version}, this one reads {}): build it again",
                workspan_trace::VERSION
            ),
        };
        return Err(Status { code: FAILED, message }.into());
    }
    if header.other_version.load(Relaxed) != 0 {
        output::note(&format!(
            "parts of {} were built by another workspan, and are missing from the graph: clean its build, and build it again",
            args.command[0].to_string_lossy()
        ));
    }
    let (status, signal) = match ended.exit {
        Exit::Code(code) => (i64::from(code), 0),
        Exit::Signal(signal) => (-1, signal.cast_unsigned()),
    };
    let rate = header.rate.load(Relaxed);
    let now = if rate == 0 { platform::ticks() } else { platform::monotonic_nanos() };
    let end = End {
        status,
        signal,
        ticks: now.saturating_sub(header.start.load(Relaxed)),
        gave_up: header.gave_up.load(Relaxed),
        untracked: header.untracked.load(Relaxed),
        refused: header.refused.load(Relaxed),
        unknown: drained.unknown,
    };
    let (start, machine, processors) = (header.start.load(Relaxed), rank::machine(), rank::processors());
    let host = Host { start, machine, rate, processors };
    let mut recorder = drained.recorder;
    let written = match drained.error {
        None => recorder.host(host).and_then(|()| recorder.finish(&end)).map(drop),
        Some(error) => Err(error),
    };
    if let Err(error) = written {
        output::note(&format!("cannot write {}: {error}; what was written before is kept", path.display()));
    }
    describe(folder)?;
    Ok(match ended.exit {
        Exit::Code(code) => Outcome::Code(code),
        Exit::Signal(signal) => Outcome::Signal(signal),
    })
}

/// Tables beside the events, and a few lines about them.
pub fn describe(folder: &Path) -> anyhow::Result<()> {
    let recording = Recording::open(&folder.join(NAME)).context("cannot read what was just written")?;
    let graph = Graph::of(&recording);
    if let Err(error) = tables::write(folder, &recording, &graph) {
        output::note(&format!("cannot write the tables of {}: {error:#}", folder.display()));
    }
    for problem in problems(&recording) {
        output::note(&problem);
    }
    output::note(&format!("wrote {}: {}", folder.display(), report::in_a_line(&recording, &graph)));
    let quoted = output::quoted(folder);
    output::note(&format!(
        "see `workspan graph report {quoted}`, `workspan graph cache {quoted}`, `workspan graph races {quoted}`"
    ));
    Ok(())
}

/// A former graph moves aside; anything else in its place is an error.
pub fn make_room(folder: &Path) -> anyhow::Result<()> {
    if !folder.exists() {
        return Ok(());
    }
    let is_empty = fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none());
    if is_empty {
        return Ok(());
    }
    anyhow::ensure!(
        folder.join(NAME).is_file(),
        "{} is there already, and is no task graph: name another folder with -o",
        folder.display()
    );
    let mut old = folder.as_os_str().to_owned();
    old.push(".old");
    let old = PathBuf::from(old);
    if old.join(NAME).is_file() {
        fs::remove_dir_all(&old).with_context(|| format!("cannot remove {}", old.display()))?;
    }
    fs::rename(folder, &old).with_context(|| format!("cannot move {} aside", folder.display()))
}
