//! The commands `workspan` and `cargo workspan`. The only crate that prints or exits.
//!
//! stdout is data, stderr is messages. Exit status: of `record` and the cargo verbs the program's own (cargo's, if there is
//! no program yet); of `doctor` also [`exit::MISSING`], of `advise`, `diff` and `inflation` [`exit::FOUND`];
//! otherwise [`exit::OK`], or
//! [`exit::FAILED`] with a message on stderr.

pub mod args;
mod ask;
pub mod cargo;
mod compare;
pub mod counters;
pub mod depend;
mod disk;
pub mod doctor;
pub mod graph;
pub mod guide;
pub mod instrument;
pub mod limits;
pub mod machine;
pub mod native;
pub mod openmp;
pub mod rank;
pub mod rayon;
pub mod record;
pub mod runtime;
pub mod scale;
mod terminal;

// Folders show the flow; names stay short.
pub use ask::{advise, calls, evidence, info, parts, predict, query, report, simulated, strands, what_if};
pub use compare::{diff, differential, gate, inflation, merge};
pub use disk::{cache, export, files, known, overwrite, source};
pub use terminal::{exit, output, signals, status_line, time, untrusted, usage};

pub use workspan_report::table;

use std::ffi::OsString;
use std::process::ExitCode;

/// `workspan …`, or rustc's wrapper if cargo calls us as that.
pub fn main_workspan() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    if let Some(code) = cargo::wrapper::run_if_asked(&arguments) {
        return code;
    }
    if let Some(code) = instrument::driver::run_if_asked(&arguments) {
        return code;
    }
    if let Some(code) = instrument::archive::run_if_asked(&arguments) {
        return code;
    }
    let args = match args::parse(arguments) {
        Ok(args) => args,
        Err(error) => return usage(&error),
    };
    if let Err(error) = signals::survive_file_size_limit() {
        return exit::code(Err(error.into()));
    }
    exit::code(match args.verb {
        args::Verb::Record(options) => record::run(&options),
        args::Verb::Report(options) => report::run(&options),
        args::Verb::Info(options) => info::run(&options),
        args::Verb::Doctor(options) => doctor::run(&options),
        args::Verb::WhatIf(options) => what_if::run(&options),
        args::Verb::Advise(options) => advise::run(&options),
        args::Verb::Predict(options) => predict::run(&options),
        args::Verb::Calls(options) => calls::run(&options),
        args::Verb::Diff(options) => diff::run(&options),
        args::Verb::Scale(options) => scale::run(&options),
        args::Verb::Inflation(options) => inflation::run(&options),
        args::Verb::Limits(options) => limits::run(&options),
        args::Verb::Merge(options) => merge::run(&options),
        args::Verb::Export(options) => export::run(&options),
        args::Verb::Guide(options) => guide::run(&options),
        args::Verb::Build(options) => instrument::run(&options),
        args::Verb::Graph(options) => graph::run(&options),
        args::Verb::Depend(options) => depend::run(&options),
        args::Verb::Query(options) => query::run(&options),
    })
}

/// `cargo workspan …`.
pub fn main_cargo() -> ExitCode {
    let mut arguments: Vec<OsString> = std::env::args_os().collect();
    if let Some(code) = cargo::wrapper::run_if_asked(&arguments) {
        return code;
    }
    // Cargo passes the subcommand's name on.
    if arguments.get(1).is_some_and(|a| a == "workspan") {
        arguments.remove(1);
    }
    exit::code(cargo::run(arguments))
}

fn usage(error: &clap::Error) -> ExitCode {
    let help = !error.use_stderr();
    output::usage(error, &args::command());
    ExitCode::from(if help { exit::OK } else { exit::FAILED })
}
