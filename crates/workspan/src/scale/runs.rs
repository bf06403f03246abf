//! Running what is planned, round by round, until it is done or somebody stops it.

use std::cell::OnceCell;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

use anyhow::Context;
use nix::sys::memfd::{memfd_create, MFdFlags};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use workspan_analysis::factored::{Measured, Point, Sample};
use workspan_model::{Exit, Nanos};
use workspan_report::words::percent;

use super::pin::Processors;
use super::plan::{Kind, Plan, Task};
use super::progress::Progress;
use crate::args::ScaleOptions;
use crate::exit::Outcome;
use crate::record::child::{self, Streams};
use crate::record::idle::Watched;
use crate::record::profiled::Profiler;

/// What the rounds have given.
#[derive(Debug, Default)]
pub struct Measurement {
    /// By task, in the order of the plan.
    samples: Vec<Vec<Sample>>,
    /// CPU times of the same runs.
    cpu: Vec<Vec<Nanos>>,
    /// What to know before believing it.
    pub warnings: Vec<String>,
    /// The signal that stopped it.
    pub stopped: Option<i32>,
    /// Runtime, in words.
    pub runtime: String,
}

/// Whoever stops one run stops them all; asked beforehand, because the program may survive it.
#[derive(Debug)]
pub struct Stop(Arc<AtomicUsize>);

const STOPS: [i32; 4] = [SIGINT, SIGQUIT, SIGTERM, SIGHUP];

impl Stop {
    /// From now on, requests to end are noted.
    pub fn new() -> anyhow::Result<Stop> {
        let signal = Arc::new(AtomicUsize::new(0));
        for stop in STOPS {
            signal_hook::flag::register_usize(stop, Arc::clone(&signal), usize::try_from(stop)?)?;
        }
        Ok(Stop(signal))
    }

    /// The signal, if one has come.
    pub fn asked(&self) -> Option<i32> {
        i32::try_from(self.0.load(Ordering::Relaxed)).ok().filter(|signal| *signal != 0)
    }

    /// The signal that stops it all, now that a run has ended in this way.
    fn after(&self, exit: Exit) -> Option<i32> {
        match exit {
            Exit::Signal(signal) if STOPS.contains(&signal) => Some(signal),
            _ => self.asked(),
        }
    }
}

/// How runs are done.
#[derive(Debug)]
pub struct Runner<'r> {
    options: &'r ScaleOptions,
    processors: Option<Processors>,
    errors: File,
    stop: Stop,
    /// How the first run ended, and which it was.
    status: OnceCell<(i32, String)>,
}

impl<'r> Runner<'r> {
    /// With these options.
    pub fn new(options: &'r ScaleOptions) -> anyhow::Result<Runner<'r>> {
        let processors = options.pin.then(Processors::find).transpose()?;
        Ok(Runner { options, processors, errors: errors_file()?, stop: Stop::new()?, status: OnceCell::new() })
    }

    fn streams(&self) -> Streams<'_> {
        if self.options.show_output {
            Streams::Messages
        } else {
            Streams::Errors(&self.errors)
        }
    }

    /// Runs one task: on its processors, with what it writes forgotten before.
    fn on_processors<T>(&self, workers: u32, run: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<T> {
        self.errors.set_len(0)?;
        (&self.errors).rewind()?;
        let _pinned = self.processors.as_ref().map(|processors| processors.pin(workers)).transpose()?;
        run()
    }

    /// An error if a run did not end as the first one did, with the end of what it wrote. A status other than 0 may be the
    /// program's answer: a search that found nothing, say.
    fn check(&self, task: &Task, exit: Exit) -> anyhow::Result<()> {
        let how = match exit {
            Exit::Code(code) => {
                let (first, name) = self.status.get_or_init(|| (code, task.name()));
                if *first == code {
                    return Ok(());
                }
                let how = |code, name: &str| format!("ended with status {code} ({name})");
                format!("{}, but the first run {}", how(code, &task.name()), how(*first, name))
            }
            Exit::Signal(signal) => format!("was ended by signal {signal} ({})", task.name()),
        };
        // Without its words, the status must do.
        let text = end_of(&self.errors).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        let last = lines[lines.len().saturating_sub(LINES)..].join("; ");
        let wrote = if last.is_empty() { String::new() } else { format!("; it wrote: {last}") };
        let program = task.command[0].to_string_lossy().into_owned();
        anyhow::bail!("{program} {how}: only runs that end alike can be compared{wrote}")
    }

    /// What to know of how all runs ended.
    pub fn status_warning(&self) -> Option<String> {
        let (code, _) = self.status.get().filter(|(code, _)| *code != 0)?;
        Some(format!("all runs ended with status {code}: if that is an error, the times are those of the error"))
    }

    /// Runs everything.
    pub fn measure(
        &self,
        plan: &Plan,
        ticks_per_second: u64,
        further: usize,
    ) -> anyhow::Result<(Measurement, Progress)> {
        let rounds = self.options.warm_up + self.options.repeat;
        let mut watched = Vec::new();
        for task in &plan.tasks {
            watched.push(match task.kind {
                Kind::Baseline | Kind::Elision => None,
                _ => Some(Watched::new(&task.command, task.workers, ticks_per_second)?),
            });
        }
        let mut done = Measurement {
            samples: vec![Vec::new(); plan.tasks.len()],
            cpu: vec![Vec::new(); plan.tasks.len()],
            ..Measurement::default()
        };
        done.runtime = watched.iter().flatten().next().map(Watched::runtime).unwrap_or_default();
        let runs = plan.tasks.len() * usize::try_from(rounds)? + further;
        let mut progress = Progress::new(runs, self.options.show_output);
        for round in 0..rounds {
            for at in plan.round(round) {
                let task = &plan.tasks[at];
                progress.before(&task.name(), round + 1, rounds);
                let run = self.on_processors(task.workers, || self.one(task, watched[at].as_ref(), &mut done))?;
                let Some((sample, cpu)) = run.filter(|_| done.stopped.is_none()) else {
                    return Ok((done, progress));
                };
                if round >= self.options.warm_up {
                    done.samples[at].push(sample);
                    done.cpu[at].push(cpu);
                }
            }
        }
        Ok((done, progress))
    }

    fn one(
        &self,
        task: &Task,
        watched: Option<&Watched<'_>>,
        done: &mut Measurement,
    ) -> anyhow::Result<Option<(Sample, Nanos)>> {
        if let Some(signal) = self.stop.asked() {
            done.stopped = Some(signal);
            return Ok(None);
        }
        let Some(watched) = watched else {
            let environment = crate::cargo::wrapper::restored_environment();
            let ended = child::run_with(&task.command, &environment, self.streams())?;
            done.stopped = self.stop.after(ended.exit);
            if done.stopped.is_none() {
                self.check(task, ended.exit)?;
            }
            return Ok(Some((Sample { time: ended.wall, ..Sample::default() }, ended.cpu)));
        };
        let run = watched.run(self.streams())?;
        done.stopped = self.stop.after(run.exit);
        if done.stopped.is_some() {
            return Ok(None);
        }
        self.check(task, run.exit)?;
        let (Some(busy), Some(idle)) = (run.busy, run.idle(task.workers)) else {
            anyhow::bail!("{}", watched.silence());
        };
        done.warn(worker_warning(task, busy.workers, watched.runtime_name())?);
        if busy.dropped > 0 {
            done.warn(Some(format!("{} threads did not fit: what they did counts as idle time", busy.dropped)));
        }
        let off = (run.time * i64::from(task.workers) - idle - run.cpu).at_least_zero();
        Ok(Some((Sample { time: run.time, idle, off }, run.cpu)))
    }

    /// Profiles `plan` in full with one worker and with the most, this number of times each; `None` if it was stopped.
    /// `program`: where a program is that has all hooks.
    pub fn profile(
        &self,
        plan: &Plan,
        program: &dyn Fn(&OsStr) -> OsString,
        times: u32,
        progress: &mut Progress,
    ) -> anyhow::Result<Option<Profiled>> {
        let most = plan.workers.last().copied().unwrap_or(1);
        let (Some(one), Some(many)) =
            (plan.find(Kind::OneWorker(if plan.varies { most } else { 1 }), 1), plan.find(Kind::Parallel, most))
        else {
            return Ok(None);
        };
        let mut profiler = Profiler::new();
        for round in 0..times {
            for task in [one, many] {
                progress.before(&format!("{}, profiled", task.name()), round + 1, times);
                if self.stop.asked().is_some() {
                    return Ok(None);
                }
                let mut command = task.command.clone();
                command[0] = program(&command[0]);
                let run = || profiler.run(&command, task.workers, self.streams());
                let outcome = self.on_processors(task.workers, run)?;
                let exit = match outcome {
                    Outcome::Code(code) => Exit::Code(code),
                    Outcome::Signal(signal) => Exit::Signal(signal),
                };
                if self.stop.after(exit).is_some() {
                    return Ok(None);
                }
                self.check(task, exit)?;
            }
        }
        let count = usize::try_from(times)?;
        Ok(Some(Profiled {
            recording: profiler.finish(&program(&one.command[0]))?,
            one: (0..count).map(|n| 2 * n).collect(),
            many: (0..count).map(|n| 2 * n + 1).collect(),
        }))
    }
}

/// A file without a name, on disk if there is a place: a program may write more than fits into memory.
fn errors_file() -> anyhow::Result<File> {
    if let Ok(file) = tempfile::tempfile() {
        return Ok(file);
    }
    Ok(memfd_create("workspan-errors", MFdFlags::MFD_CLOEXEC).context("cannot make a file in memory")?.into())
}

/// The last lines of a file, of which only the end is read.
fn end_of(mut file: &File) -> io::Result<String> {
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(END)))?;
    let mut bytes = Vec::new();
    file.take(END).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Bytes of a failing program's errors that are looked at.
const END: u64 = 1 << 16;

/// Runs in full: which of the recording's are with one worker, and which with many.
#[derive(Debug)]
pub struct Profiled {
    /// All of them.
    pub recording: workspan_model::Recording,
    /// With one worker.
    pub one: Vec<usize>,
    /// With the most.
    pub many: Vec<usize>,
}

/// Work on no processor below this share is not worth a word.
const OFF: f64 = 0.05;

/// Lines of a failing program's errors that are shown.
const LINES: usize = 10;

/// A program that has more workers than requested would be compared with itself.
fn worker_warning(task: &Task, found: u32, runtime: &str) -> anyhow::Result<Option<String>> {
    let asked = task.workers;
    anyhow::ensure!(
        found <= asked,
        "{} ran {found} workers, not {asked} as requested: it sets the number itself. If it has an argument for the \
         number, write {{workers}} there",
        task.command[0].to_string_lossy(),
    );
    Ok(match found {
        0 if asked > 1 => Some(format!(
            "the program started no workers of {runtime}: it ran serially, or on threads that it created itself, whose \
             work counts as idle time"
        )),
        found if found < asked && found > 0 => {
            Some(format!("the program ran {found} workers, not {asked}: the others count as idle"))
        }
        _ => None,
    })
}

impl Measurement {
    fn warn(&mut self, warning: Option<String>) {
        self.warnings.extend(warning.filter(|warning| !self.warnings.contains(warning)));
    }

    /// Kinds of runs whose threads had work but no processor: what would be reported twice is reported for the first only.
    pub fn off_processor(&self, plan: &Plan) -> Option<String> {
        let share = |(task, (samples, cpu)): (&Task, (&Vec<Sample>, &Vec<Nanos>))| {
            let work: Nanos = samples.iter().map(|run| run.time * i64::from(task.workers) - run.idle).sum();
            let off = (work - cpu.iter().copied().sum()).over(work)?;
            (off.0 > OFF).then(|| format!("{} of the work of {}", percent(off), task.name()))
        };
        let found: Vec<String> = plan.tasks.iter().zip(self.samples.iter().zip(&self.cpu)).filter_map(share).collect();
        (!found.is_empty()).then(|| {
            format!(
                "at least {} was on no processor: the program was blocked, or others were at work here; beyond that with one worker it is a \
                 cause of its own, and no inflation",
                found.join(", ")
            )
        })
    }

    /// The samples, for the analysis.
    pub fn measured(&self, plan: &Plan) -> Measured {
        let of = |wanted: Kind, workers: u32| {
            let tasks = plan.tasks.iter().zip(&self.samples);
            let found = tasks.filter(|(task, _)| task.kind == wanted && task.workers == workers);
            found.flat_map(|(_, samples)| samples.iter().copied()).collect::<Vec<Sample>>()
        };
        let times = |samples: Vec<Sample>| samples.into_iter().map(|sample| sample.time).collect::<Vec<_>>();
        let point = |p: &u32| {
            let one_worker = of(Kind::OneWorker(if plan.varies { *p } else { 1 }), 1);
            Point {
                workers: *p,
                runs: if *p == 1 { of(Kind::OneWorker(1), 1) } else { of(Kind::Parallel, *p) },
                one_worker_off: one_worker.iter().map(|sample| sample.off).collect(),
                one_worker: times(one_worker),
            }
        };
        Measured {
            baseline: times(of(Kind::Baseline, 1)),
            elision: times(of(Kind::Elision, 1)),
            points: plan.workers.iter().map(point).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn only_the_end_of_what_a_program_writes_is_read() {
        let mut file = errors_file().expect("there is a place");
        for (written, expected) in [(0, 0), (100, 103), (1 << 20, END)] {
            file.set_len(0).and_then(|()| file.rewind()).expect("it is ours");
            file.write_all(&vec![b'x'; written]).expect("there is room");
            file.write_all(if written > 0 { b"end" } else { b"" }).expect("there is room");
            let text = end_of(&file).expect("it can be read");
            assert_eq!(text.len() as u64, expected);
            assert!(written == 0 || text.ends_with("xend"));
        }
    }
}
