//! `cargo workspan`: build a project with an instrumented rayon, and run it.
//!
//! Cargo does everything as ever, with four differences: a target directory of its own, line tables, ourselves as
//! rustc's wrapper ([`wrapper`]), which compiles the instrumented copies in place of rayon-core and rayon, and ourselves
//! as runner of the program (`workspan record`). The resolver sees nothing of it, so manifest and lock file stay as they
//! are, and vendored, offline, git and path sources all work.

mod call;
mod depend;
mod memory;
pub mod profile;
mod programs;
pub mod project;
pub mod split;
mod with_pass;
pub mod wrapper;

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};

use workspan_instrument::IDLE_ONLY_FOLDER;

use crate::args::depend::DependOptions;
use crate::args::{groups, InflationOptions, RunOptions, ScaleOptions};
use crate::exit::Outcome;
use crate::{exit, output, record};
use programs::{cargo, runner};
use project::Project;

/// Instrument, build and run a Rust program that uses rayon; report how parallel it is.
#[derive(Debug, Parser)]
#[command(name = "cargo workspan", bin_name = "cargo workspan", version, max_term_width = 100, after_help = EXAMPLES)]
struct Cargo {
    #[command(subcommand)]
    verb: Verb,
}

const EXAMPLES: &str = "\
`depend` profiles any Rust program, also one without rayon. Options of Workspan and of cargo may be mixed; options that Workspan does not know go to cargo.

Examples:
  cargo workspan run --release -- input.txt
  cargo workspan run --release --workers 4 --repeat 5 --html report.html --bin server -- --port 80
  cargo workspan test --release some_test
  cargo workspan scale --release --workers 1,2,4 --svg scale.svg -- input.txt
  cargo workspan inflation --release --workers 8 -- input.txt
  cargo workspan depend --release -- input.txt
  cargo workspan build --release && workspan record -- target/workspan/release/prog
  cargo workspan build --memory --release   # prints the command that records the task graph";

const ONLY_BUILDS: &str = "\
The program runs later, by `workspan record OPTIONS -- PROGRAM`. `cargo workspan build` puts it into target/workspan: \
the program of `cargo build` stays as it is. With --memory it is run by `workspan graph record -- PROGRAM`, and lies in \
target/workspan-memory.";

#[derive(Debug, Subcommand)]
enum Verb {
    /// Build and run; report work, span, parallelism and what limits it.
    Run(Passed),
    /// Build only; `workspan record -- PROGRAM` then runs it anywhere.
    Build(PassedBuild),
    /// Run the tests; report each test executable, but no documentation tests.
    Test(Passed),
    /// Run the benchmarks; report each benchmark executable.
    Bench(Passed),
    /// Build; measure speedup on 1, 2, 4, … workers and attribute what is lost.
    Scale(PassedScale),
    /// Build; run on 1 and on N workers; list the code that N workers slow down.
    #[command(alias = "inflate")]
    Inflation(PassedInflation),
    /// Build; show which loops and calls could be parallel, and what forbids it.
    Depend(PassedDepend),
    /// Install a program instrumented, as `cargo install` does.
    Install(Passed),
}

#[derive(Args, Debug)]
struct Passed {
    #[command(flatten)]
    options: RunOptions,
    /// Options of cargo, then `--` and the program's arguments.
    #[arg(value_name = "CARGO OPTIONS", trailing_var_arg = true, allow_hyphen_values = true)]
    cargo: Vec<OsString>,
}

#[derive(Args, Debug)]
struct PassedBuild {
    /// Build for `workspan graph record`, which writes down every task and its memory accesses.
    #[arg(long)]
    memory: bool,
    #[command(flatten)]
    options: RunOptions,
    /// Options of cargo, then `--` and the program's arguments.
    #[arg(value_name = "CARGO OPTIONS", trailing_var_arg = true, allow_hyphen_values = true)]
    cargo: Vec<OsString>,
}

#[derive(Args, Debug)]
struct PassedScale {
    #[command(flatten)]
    options: ScaleOptions,
    /// Options of cargo, then `--` and the program's arguments.
    #[arg(value_name = "CARGO OPTIONS", trailing_var_arg = true, allow_hyphen_values = true)]
    cargo: Vec<OsString>,
}

#[derive(Args, Debug)]
struct PassedInflation {
    #[command(flatten)]
    options: InflationOptions,
    /// Options of cargo, then `--` and the program's arguments.
    #[arg(value_name = "CARGO OPTIONS", trailing_var_arg = true, allow_hyphen_values = true)]
    cargo: Vec<OsString>,
}

#[derive(Args, Debug)]
struct PassedDepend {
    #[command(flatten)]
    options: DependOptions,
    /// Options of cargo, then `--` and the program's arguments.
    #[arg(value_name = "CARGO OPTIONS", trailing_var_arg = true, allow_hyphen_values = true)]
    cargo: Vec<OsString>,
}

/// Commands and their options, with help by groups.
pub fn command() -> clap::Command {
    let only_builds = |command: clap::Command| {
        // How to run a program is for the command that runs it.
        let of_runs = |arg: clap::Arg| if is_of_builds(&arg) { arg } else { arg.hide(true) };
        command.mut_args(of_runs).after_help(ONLY_BUILDS)
    };
    let cargo = Cargo::command().mut_subcommand("build", only_builds).mut_subcommand("install", only_builds);
    groups::grouped(cargo, groups::CARGO)
}

/// An argument that means something where nothing runs.
fn is_of_builds(arg: &clap::Arg) -> bool {
    ["cargo", "memory"].contains(&arg.get_id().as_str())
}

fn parse(arguments: &[OsString]) -> Result<Cargo, clap::Error> {
    let mut command = command();
    let matches = command.try_get_matches_from_mut(arguments)?;
    if let Some(option) = of_runs(&command, &matches) {
        let message = format!(
            "--{option} is for the run, and this command only builds: type `workspan record --{option} … -- PROGRAM` afterwards\n"
        );
        return Err(command.error(ErrorKind::ArgumentConflict, message));
    }
    Cargo::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

/// An option for the run that was given to a command that only builds.
fn of_runs(command: &clap::Command, matches: &clap::ArgMatches) -> Option<String> {
    let (name, given) = matches.subcommand().filter(|(name, _)| matches!(*name, "build" | "install"))?;
    let mut options = command.find_subcommand(name)?.get_arguments().filter(|arg| !is_of_builds(arg));
    let is_given = |arg: &&clap::Arg| given.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine);
    options.find(is_given).and_then(|arg| arg.get_long()).map(str::to_owned)
}

/// The `workspan` that cargo is to run programs by.
fn runner_words(verb: &Verb) -> anyhow::Result<Vec<String>> {
    let (verb, options) = match verb {
        Verb::Run(passed) | Verb::Test(passed) | Verb::Bench(passed) | Verb::Install(passed) => {
            (vec!["record", "--from-cargo"], passed.options.to_arguments()?)
        }
        Verb::Build(passed) => (vec!["record", "--from-cargo"], passed.options.to_arguments()?),
        Verb::Scale(passed) => (vec!["scale", "--from-cargo"], passed.options.to_arguments()?),
        Verb::Inflation(passed) => (vec!["inflation"], passed.options.to_arguments()?),
        Verb::Depend(passed) => (vec!["depend"], passed.options.to_arguments()?),
    };
    Ok(verb.into_iter().map(str::to_owned).chain(options).collect())
}

/// Runs a verb.
pub fn run(arguments: Vec<OsString>) -> anyhow::Result<Outcome> {
    let split = match split::split(&command(), arguments) {
        Some(split) => split,
        // No verb, `--help`, `--version`: clap knows what to say.
        None => split::Split { ours: env::args_os().filter(|a| a != "workspan").collect(), ..Default::default() },
    };
    let parsed = match parse(&split.ours) {
        Ok(parsed) => parsed,
        Err(error) => {
            let code = if error.use_stderr() { exit::FAILED } else { exit::OK };
            output::usage(&error, &command());
            return Ok(Outcome::Code(i32::from(code)));
        }
    };
    let verb = match parsed.verb {
        Verb::Run(_) | Verb::Scale(_) | Verb::Inflation(_) => "run",
        Verb::Build(PassedBuild { memory: true, .. }) => return memory::build(&split),
        Verb::Build(_) => "build",
        Verb::Test(_) => "test",
        Verb::Bench(_) => "bench",
        Verb::Install(_) => return install(&split),
        Verb::Depend(_) => return call::run(&mut depend::command(runner_words(&parsed.verb)?, &split)?),
    };
    let project = Project::find(&split.cargo)?;
    project.check(verb == "run")?;
    let words = runner_words(&parsed.verb)?;
    if let Verb::Scale(passed) = &parsed.verb {
        if !passed.options.no_sites {
            // For where idle time and inflation arise.
            let alone = split::Split { program: Vec::new(), ..split.clone() };
            let plan = Plan::new("build", Vec::new(), FULL, &alone, &project)?;
            plan.prepare()?;
            project.instrument(&plan.sources)?;
            let built = call::run(&mut plan.command())?;
            if built != Outcome::OK {
                return Ok(built);
            }
        }
    }
    let folders = if matches!(parsed.verb, Verb::Scale(_)) { IDLE_ONLY } else { FULL };
    let plan = Plan::new(verb, words, folders, &split, &project)?;
    plan.prepare()?;
    project.instrument(&plan.sources)?;
    if verb == "build" {
        return call::build(&mut plan.command(), report_built);
    }
    call::run(&mut plan.command())
}

/// The folder below the target directory, and in it that of the instrumented copies.
type Folders = (&'static str, &'static str);

/// With all hooks.
const FULL: Folders = ("workspan", "instrumented");
/// With those that account for idle time alone.
const IDLE_ONLY: Folders = ("workspan-idle", IDLE_ONLY_FOLDER);

/// The same program with all hooks, if `program` was built for idle accounting alone.
pub fn with_all_hooks(program: &Path) -> PathBuf {
    let part = |part: std::path::Component<'_>| match part.as_os_str() == IDLE_ONLY.0 {
        true => OsString::from(FULL.0),
        false => part.as_os_str().to_owned(),
    };
    program.components().map(part).collect()
}

/// How cargo is called.
struct Plan {
    arguments: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
    target: PathBuf,
    sources: PathBuf,
}

impl Plan {
    fn new(
        verb: &str,
        runner_words: Vec<String>,
        folders: Folders,
        split: &split::Split,
        project: &Project,
    ) -> anyhow::Result<Plan> {
        let target = split
            .cargo_value("--target-dir")
            .map_or_else(|| project.target_directory.clone(), PathBuf::from)
            .join(folders.0);
        let sources = target.join(folders.1);
        let profile = profile::name(verb, split);
        let mut arguments: Vec<OsString> = vec![verb.into()];
        arguments.extend(split.cargo_without("--target-dir"));
        arguments.push("--target-dir".into());
        arguments.push(target.clone().into());
        if project.has_lock_file && !split.has_any(&["--locked", "--frozen"]) {
            arguments.push("--locked".into());
        }
        for setting in profile::settings(&profile, &project.manifest()?) {
            arguments.push("--config".into());
            arguments.push(setting.into());
        }
        let mut environment = wrapper::environment(&sources)?;
        if verb != "build" {
            // The first wins over a runner of the user's for this platform; the second serves where a configuration
            // file names another platform to build for.
            for platform in [split.target_triple()?, "'cfg(all())'".to_owned()] {
                arguments.push("--config".into());
                arguments.push(runner(&runner_words, &platform)?.into());
            }
            if verb != "run" {
                environment.push((record::output::PER_PROGRAM.into(), record::output::session()));
            }
        }
        if !split.program.is_empty() {
            arguments.push("--".into());
            arguments.extend(split.program.iter().cloned());
        }
        Ok(Plan { arguments, environment, target, sources })
    }

    /// Makes cargo forget what was compiled from other hooks than ours.
    fn prepare(&self) -> anyhow::Result<()> {
        wrapper::forget_stale(&self.target, &self.sources)
            .with_context(|| format!("cannot use the target directory {}", self.target.display()))
    }

    fn command(&self) -> Command {
        let mut command = Command::new(cargo());
        command.args(&self.arguments).envs(self.environment.iter().cloned());
        command
    }
}

/// Hooks are in every executable, or it is said which lacks them.
fn report_built(programs: Vec<PathBuf>) -> anyhow::Result<()> {
    let mut any = false;
    for program in programs {
        let name = program.display();
        match record::target::look(&program)?.as_ref().and_then(|runtime| runtime.hooks()) {
            Some(hooks) => {
                any = true;
                let program = output::quoted(&program);
                output::note(&format!("built instrumented ({hooks}); run it: workspan record -- {program}"));
            }
            _ => output::note(&format!("warning: {name} does not use rayon: it is not instrumented")),
        }
    }
    anyhow::ensure!(any, "no executable was built that uses rayon");
    Ok(())
}

/// `cargo install`, in a target directory of its own: in another, cargo would take what it has compiled without hooks.
fn install(split: &split::Split) -> anyhow::Result<Outcome> {
    let mut manifest = toml::Table::new();
    let mut target = split.cargo_value("--target-dir").map(|target| PathBuf::from(target).join("workspan"));
    if let Some(path) = split.cargo_value("--path") {
        let options: [OsString; 2] = ["--manifest-path".into(), Path::new(&path).join("Cargo.toml").into()];
        let project = Project::find(&options)?;
        project.check(true)?;
        manifest = project.manifest()?;
        target.get_or_insert_with(|| project.target_directory.join("workspan"));
    }
    // Of a name that nobody can guess, and nobody else's; it goes when we end.
    let temporary = match target {
        Some(_) => None,
        None => Some(tempfile::Builder::new().prefix("workspan-install-").tempdir().context("cannot make a folder")?),
    };
    let target =
        target.or_else(|| Some(temporary.as_ref()?.path().to_owned())).context("there is no target directory")?;
    let sources = target.join("instrumented");
    wrapper::forget_stale(&target, &sources)
        .with_context(|| format!("cannot use the target directory {}", target.display()))?;
    let mut command = Command::new(cargo());
    command.arg("install").args(split.cargo_without("--target-dir")).arg("--target-dir").arg(&target);
    for setting in profile::settings(&profile::name("install", split), &manifest) {
        command.arg("--config").arg(setting);
    }
    command.envs(wrapper::environment(&sources)?);
    // Cargo moves it there, if it is not from a folder.
    let bin = install_root(split).context("neither CARGO_HOME nor HOME is set")?.join("bin");
    let place = |program: PathBuf| bin.join(program.file_name().unwrap_or_default());
    call::build(&mut command, |programs| report_built(programs.into_iter().map(place).collect()))
}

/// Where `cargo install` puts programs; a configuration file that says otherwise is not looked at.
fn install_root(split: &split::Split) -> Option<PathBuf> {
    let set = |name| env::var_os(name).filter(|value| !value.is_empty());
    let root = split.cargo_value("--root").or_else(|| set("CARGO_INSTALL_ROOT")).or_else(|| set("CARGO_HOME"));
    root.map(PathBuf::from).or_else(|| Some(Path::new(&set("HOME")?).join(".cargo")))
}
