//! Which MPI starts ranks here.

use std::env;
use std::process::Command;

use super::check::Check;

const GROUP: &str = "mpi";

/// What `mpirun` is. Without one nothing is missing: most programs need none.
pub(super) fn check() -> Check {
    let means = "`mpirun -n 4 workspan graph record -- ./prog` records a graph for each rank.";
    let Some(version) = version() else {
        return Check::ok(GROUP, "mpi", "no mpirun in PATH")
            .means("Programs on MPI can only be recorded as a single rank.");
    };
    Check::ok(GROUP, "mpi", version).means(means)
}

/// The line of its answer that has a version.
fn version() -> Option<String> {
    let has_one = env::split_paths(&env::var_os("PATH")?).any(|folder| folder.join("mpirun").is_file());
    let output = Command::new("mpirun").arg("--version").output().ok().filter(|_| has_one)?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = |wanted: &str| text.lines().find(|line| line.contains(wanted));
    let last = |line: &str| line.split_whitespace().last().unwrap_or_default().to_owned();
    // MPICH's launcher, and those made of it, list how they were built.
    let hydra = line("HYDRA").and_then(|_| line("Version:")).map(|line| format!("mpirun of MPICH {}", last(line)));
    let open = || line("Open").map(|line| format!("mpirun of Open MPI {}", last(line)));
    Some(hydra.or_else(open).unwrap_or_else(|| "mpirun".to_owned()))
}
