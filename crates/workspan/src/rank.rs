//! Programs on MPI: which rank a process is, where its files go, and the library that stands in for MPI's functions.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::instrument::library;
use crate::openmp::elf;
use crate::record::target;

/// Variables in which launchers put the rank of a process: Open MPI's, MPICH's and those made of it, MVAPICH's, Cray's, PMIx's.
const VARIABLES: [&str; 5] = ["OMPI_COMM_WORLD_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "PALS_RANKID", "PMIX_RANK"];
/// What programs on MPI call.
const FUNCTIONS: [&str; 6] =
    ["MPI_Init", "MPI_Init_thread", "mpi_init_", "mpi_init_thread_", "mpi_init_f08_", "mpi_init_thread_f08_"];
const PRELOAD: &str = "LD_PRELOAD";

/// The rank of this process, if a launcher of MPI has started it.
pub fn rank() -> Option<u32> {
    VARIABLES.iter().find_map(|name| env::var(name).ok()?.parse().ok())
}

/// True for a program that starts ranks, which must come first.
pub fn is_launcher(command: &[OsString]) -> bool {
    let name = command.first().and_then(|program| Path::new(program).file_name()).unwrap_or_default().to_string_lossy();
    ["mpirun", "mpiexec", "orterun", "prterun", "srun"].contains(&name.split('.').next().unwrap_or_default())
}

/// Where the file or folder of a rank goes: `NAME.graph` becomes `NAME.RANK.graph`.
pub fn place(path: &Path, rank: Option<u32>) -> PathBuf {
    let Some(rank) = rank else {
        return path.to_owned();
    };
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(format!(".{rank}"));
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

/// What a program on MPI needs in its environment. Nothing for others.
pub fn environment(command: &[OsString], rank: Option<u32>) -> anyhow::Result<Option<(OsString, OsString)>> {
    let is_of_mpi = || {
        let program = command.first().and_then(|program| target::find(program).ok());
        program.is_some_and(|program| elf::calls(&program, &FUNCTIONS))
    };
    if rank.is_none() && !is_of_mpi() {
        return Ok(None);
    }
    let mut value = library::install()?.mpi.into_os_string();
    if let Some(former) = env::var_os(PRELOAD).filter(|former| !former.is_empty()) {
        value.push(":");
        value.push(former);
    }
    Ok(Some((PRELOAD.into(), value)))
}

/// A number of this machine since its last start; 0 if it has none.
pub fn machine() -> u64 {
    let text = fs::read("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let hash = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    if text.is_empty() {
        0
    } else {
        text.iter().fold(0xcbf2_9ce4_8422_2325, hash) | 1
    }
}

/// Processors of this machine, whichever of them this rank may use; 0: unknown.
pub fn processors() -> u32 {
    let online = fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    count(online.trim()).unwrap_or(0)
}

/// Members of a list of ranges, as `0-3,8`.
fn count(list: &str) -> Option<u32> {
    list.split(',').try_fold(0_u32, |sum, range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        sum.checked_add(last.checked_sub(first)?)?.checked_add(1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_counted() {
        assert_eq!(["0", "0-1", "0-3,8", "", "3-1", "a"].map(count), [Some(1), Some(2), Some(5), None, None, None]);
    }

    #[test]
    fn each_rank_has_its_own_file() {
        let place = |name: &str, rank| super::place(Path::new(name), rank).display().to_string();
        assert_eq!(place("a/run.graph", Some(3)), "a/run.3.graph");
        assert_eq!(place("r.wspan", Some(12)), "r.12.wspan");
        assert_eq!(place("run", Some(0)), "run.0");
        assert_eq!(place("a/run.graph", None), "a/run.graph");
    }
}
