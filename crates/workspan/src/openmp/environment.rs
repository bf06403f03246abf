//! The environment in which a program meets the collector.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::path::Path;
use std::{env, iter};

use anyhow::Context;
use nix::sys::resource::{getrlimit, Resource, RLIM_INFINITY};
use workspan_model::LARGEST_TEAM;
use workspan_wire::shm::MAX_THREADS;

use super::collector::{self, Collector};
use super::libomp;
use super::loading::Obstacle;
use super::program::{Program, Runtime};
use crate::args::RunOptions;
use crate::runtime::{Around, Environment, Variable, STAND_IN};

/// The program that may claim the memory at its start; others only when they use OpenMP.
const TARGET: &str = "WORKSPAN_TARGET";
const PRELOAD: &str = "LD_PRELOAD";
/// What [`PRELOAD`] was before: the collector brings it back, so that programs that this one starts are left alone.
const FORMER_PRELOAD: &str = "WORKSPAN_LD_PRELOAD";

/// The largest team: one slot is the collector's own, one is for a thread of the program besides the team.
pub const MOST_THREADS: u32 = LARGEST_TEAM;
const _: () = assert!(LARGEST_TEAM as usize + 2 == MAX_THREADS);

/// What the variables refer to.
#[derive(Debug)]
struct Loaded {
    _collector: Collector,
    _stand_in: Option<File>,
}

/// For `program`, which lies at `path`.
pub(super) fn of(program: &Program, path: &Path, around: Around<'_>) -> anyhow::Result<Environment> {
    let options = around.options;
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
    let stand_in =
        stand_in.map(|library| collector::name(&library).with_context(|| format!("cannot open {}", library.display())));
    let (stand_in, opened) = stand_in.transpose()?.map_or((None, None), |named| (Some(named.name), named.file));
    let (mut variables, collector) = collector(path, around, stand_in.clone())?;
    variables.push(set("OMP_TOOL", "enabled"));
    variables.extend(threads(options)?);
    if stand_in.is_some() {
        variables.push(set(STAND_IN, "1"));
        variables.extend(stacks());
    }
    let stand_in = stand_in.map(|library| (PRELOAD.into(), Some(preload(iter::once(library)))));
    Ok(Environment { variables, stand_in, holds: Some(Box::new(Loaded { _collector: collector, _stand_in: opened })) })
}

/// What has the collector loaded into the program at `path`, and after it what stands in for the program's runtime; and what this
/// refers to.
pub(crate) fn collector(
    path: &Path,
    around: Around<'_>,
    stand_in: Option<OsString>,
) -> anyhow::Result<(Vec<Variable>, Collector)> {
    if let Some(obstacle @ Obstacle::Musl) = Obstacle::of(path) {
        anyhow::bail!("{} cannot be profiled: {obstacle}", path.display());
    }
    let mut collector = if around.options.idle_only { Collector::of_idle_time()? } else { Collector::new()? };
    if around.wrapped {
        collector.inherit()?;
    }
    let target = path.canonicalize().with_context(|| format!("cannot find {}", path.display()))?;
    let variables = vec![
        // The collector's functions go on to those of what comes after it.
        (PRELOAD.into(), Some(preload(iter::once(collector.path().clone()).chain(stand_in)))),
        (FORMER_PRELOAD.into(), Some(env::var_os(PRELOAD).unwrap_or_default())),
        (TARGET.into(), Some(target.into())),
    ];
    Ok((variables, collector))
}

/// These libraries, before those that the user has loaded.
fn preload(libraries: impl Iterator<Item = OsString>) -> OsString {
    let former = env::var_os(PRELOAD).filter(|others| !others.is_empty());
    libraries.chain(former).collect::<Vec<_>>().join(OsStr::new(":"))
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

/// The stacks of workers: libomp's are smaller than libgomp's, which are as the system's limit says, and its tasks take more of
/// them. As the program's user has asked, or twice the limit.
fn stacks() -> Option<Variable> {
    const LLVMS: [&str; 2] = ["OMP_STACKSIZE", "KMP_STACKSIZE"];
    if LLVMS.iter().any(|name| env::var_os(name).is_some()) {
        return None;
    }
    if let Some(kilobytes) = env::var("GOMP_STACKSIZE").ok().filter(|text| !text.is_empty()) {
        // In kilobytes unless it says so, as LLVM's.
        return Some(set("OMP_STACKSIZE", &kilobytes));
    }
    let (soft, _) = getrlimit(Resource::RLIMIT_STACK).ok()?;
    (soft != RLIM_INFINITY).then(|| set("OMP_STACKSIZE", &format!("{}K", soft / 512)))
}

fn set(name: &str, value: &str) -> Variable {
    (OsString::from(name), Some(OsString::from(value)))
}
