//! `workspan limits`: how parallel a program could be.

pub mod emulator;
pub mod plugin;
pub mod run;

use workspan_limits::model::{ALL, LANES, NAMED};
use workspan_limits::result::limits;
use workspan_limits::{Engine, Settings, Stream};

use crate::args;
use crate::exit::Outcome;
use crate::output;

/// Runs the verb.
pub fn run(args: &args::Limits) -> anyhow::Result<Outcome> {
    let emulator =
        emulator::find(args.emulator.as_deref()).map_err(|missing| anyhow::anyhow!("{missing}: {}", emulator::FIX))?;
    let program = emulator::program(&args.command[0])?;
    let engine = Engine::<LANES, NAMED, true>::new(ALL, Settings::default());
    let mut stream = Stream::new(engine, u64::MAX);
    let ended = run::run(&emulator, &program, &args.command, &mut stream)?;
    let found = limits(&stream.engine, &stream.program);
    output::note(&format!("{ended:?} odd {} bytes {} branches {:?}", stream.odd(), found.bytes, found.branches));
    for model in &found.models {
        output::data(&format!(
            "{:12} {:12} {:12} {:10.2}\n",
            model.name,
            model.instructions,
            model.critical_path,
            model.parallelism()
        ))?;
    }
    Ok(Outcome::OK)
}
