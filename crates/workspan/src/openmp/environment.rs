//! The environment in which a program meets the collector.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::{env, iter};

use anyhow::Context;
use workspan_wire::shm::MAX_THREADS;

use super::collector::Collector;
use super::libomp;
use super::program::{Program, Runtime};
use crate::args::RunOptions;
use crate::runtime::{Environment, Variable};

/// The program that may claim the memory at its start; others only when they use OpenMP.
const TARGET: &str = "WORKSPAN_TARGET";
const PRELOAD: &str = "LD_PRELOAD";
/// What [`PRELOAD`] was before: the collector brings it back, so that programs that this one starts are left alone.
const FORMER_PRELOAD: &str = "WORKSPAN_LD_PRELOAD";

/// The largest team: one slot is the collector's own, one is for a thread of the program besides the team.
#[expect(clippy::cast_possible_truncation, reason = "a few hundred")]
pub const MOST_THREADS: u32 = MAX_THREADS as u32 - 2;

/// For `program`, which lies at `path`.
pub(super) fn of(program: &Program, path: &Path, options: &RunOptions) -> anyhow::Result<Environment> {
    if let Some(obstacle) = program.obstacle() {
        anyhow::bail!("{} cannot be profiled: {obstacle} (link it dynamically)", path.display());
    }
    let stand_in = match &program.runtime {
        Runtime::Gcc { stand_in: Ok(library) } => Some(library.path.clone()),
        Runtime::Gcc { stand_in: Err(missing) } => anyhow::bail!(
            "{} uses gcc's OpenMP runtime, which has no interface for tools. LLVM's can replace it for the run, but {missing}: {}",
            path.display(),
            libomp::FIX
        ),
        Runtime::Shared { .. } | Runtime::Linked { .. } => None,
    };
    let collector = if options.idle_only { Collector::of_idle_time()? } else { Collector::new()? };
    let target = path.canonicalize().with_context(|| format!("cannot find {}", path.display()))?;
    // The collector's functions go on to those of what comes after it.
    let libraries = iter::once(collector.path().clone())
        .chain(stand_in.map(PathBuf::into_os_string))
        .chain(env::var_os(PRELOAD).filter(|others| !others.is_empty()));
    let preload = libraries.collect::<Vec<_>>().join(OsStr::new(":"));
    let mut variables = vec![
        (PRELOAD.into(), Some(preload)),
        (FORMER_PRELOAD.into(), Some(env::var_os(PRELOAD).unwrap_or_default())),
        (TARGET.into(), Some(target.into())),
        set("OMP_TOOL", "enabled"),
    ];
    variables.extend(threads(options)?);
    Ok(Environment { variables, holds: Some(Box::new(collector)) })
}

/// The size of teams; with virtual cores a team of that size, of which one thread runs at a time.
fn threads(options: &RunOptions) -> anyhow::Result<Vec<Variable>> {
    let Some(cores) = options.logical_cores.filter(|cores| *cores > 0) else {
        return Ok(options.workers.map(|workers| set("OMP_NUM_THREADS", &workers.to_string())).into_iter().collect());
    };
    anyhow::ensure!(
        cores <= MOST_THREADS,
        "--logical-cores {cores}: at most {MOST_THREADS} for a program that uses OpenMP"
    );
    Ok(vec![
        set("OMP_NUM_THREADS", &cores.to_string()),
        ("OMP_THREAD_LIMIT".into(), None),
        set("OMP_DYNAMIC", "false"),
        // Whoever waits must leave the CPU to the one that runs.
        set("OMP_WAIT_POLICY", "passive"),
        set("KMP_BLOCKTIME", "0"),
    ])
}

fn set(name: &str, value: &str) -> Variable {
    (OsString::from(name), Some(OsString::from(value)))
}
