//! The spawn threshold of each runtime: the least size from which on a task is worth spawning on this machine.
//!
//! After J. Mak, *Facilitating Program Parallelisation: A Profiling-Based Approach*, Fig. 5.8: fork and join two equal tasks
//! again and again, once as plain calls and once on two threads, for growing sizes ([`plan`]). The threshold is the least size
//! from which on two threads are always faster ([`crossing`]). Rayon is measured in this process ([`in_process`]), the others by
//! programs that are compiled for it ([`compiled`]).
//!
//! **Cost:** about half a second for each runtime, and the compilers' time. What was measured is [`kept`] until the machine
//! starts again; what could not be measured is tried again by the next call.

mod compiled;
mod crossing;
mod in_process;
mod kept;
mod plan;
mod threshold;

pub use threshold::{SpawnRuntime, SpawnThreshold, Unmeasured};

/// The thresholds that were measured before. Measures nothing.
pub fn known_thresholds() -> Vec<SpawnThreshold> {
    kept::read(&super::name()).unwrap_or_default()
}

/// The threshold of each runtime. Measures those that are not kept yet, and keeps them.
pub fn spawn_thresholds() -> Vec<(SpawnRuntime, Result<SpawnThreshold, Unmeasured>)> {
    let name = super::name();
    let mut known = known_thresholds();
    let before = known.len();
    let mut found = Vec::new();
    for runtime in SpawnRuntime::ALL {
        let threshold = match known.iter().find(|known| known.runtime == runtime) {
            Some(known) => Ok(*known),
            None if name.cpus < 2 => Err(Unmeasured::because("Workspan may use only one processor")),
            None => measure(runtime),
        };
        if let Ok(threshold) = threshold.as_ref().copied() {
            known.retain(|known| known.runtime != runtime);
            known.push(threshold);
        }
        found.push((runtime, threshold));
    }
    if known.len() > before {
        kept::write(&name, &known);
    }
    found
}

fn measure(runtime: SpawnRuntime) -> Result<SpawnThreshold, Unmeasured> {
    let samples = match runtime {
        SpawnRuntime::Rayon => in_process::measure()?,
        SpawnRuntime::Libgomp | SpawnRuntime::Libomp | SpawnRuntime::Tbb => compiled::measure(runtime)?,
    };
    let crossing = crossing::find(&samples).map_err(Unmeasured::because)?;
    let instructions = plan::INSTRUCTIONS * crossing.iterations;
    Ok(SpawnThreshold { runtime, instructions, nanos: crossing.nanos })
}
