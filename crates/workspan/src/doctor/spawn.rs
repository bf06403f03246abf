//! From which size on a task is worth spawning, for each runtime.

use workspan_model::Nanos;

use super::check::Check;
use crate::machine::{spawn_thresholds, SpawnRuntime, SpawnThreshold, Unmeasured};

const GROUP: &str = "spawn threshold";

/// A row for each runtime. Without a compiler nothing is missing: no profile needs a threshold.
pub(super) fn checks() -> Vec<Check> {
    spawn_thresholds().into_iter().map(|(runtime, threshold)| check(runtime, threshold)).collect()
}

fn check(runtime: SpawnRuntime, threshold: Result<SpawnThreshold, Unmeasured>) -> Check {
    let id = match runtime {
        SpawnRuntime::Rayon => "spawn-rayon",
        SpawnRuntime::Libgomp => "spawn-libgomp",
        SpawnRuntime::Libomp => "spawn-libomp",
        SpawnRuntime::Tbb => "spawn-onetbb",
    };
    match threshold {
        Ok(SpawnThreshold { instructions, nanos, .. }) => {
            let time = Nanos(i64::try_from(nanos).unwrap_or(i64::MAX));
            let found = format!("a task is worth spawning if it takes {time} or more ({instructions} instructions)");
            Check::ok(GROUP, id, found)
        }
        Err(Unmeasured { reason, install }) => {
            let check = Check::ok(GROUP, id, format!("not measured: {reason}"));
            check.means(install.map_or(String::new(), |install| format!("To measure it, install {install}.")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::check::as_text;
    use super::*;

    #[test]
    fn rows() {
        let threshold = SpawnThreshold { runtime: SpawnRuntime::Rayon, instructions: 5792, nanos: 1210 };
        let missing = Unmeasured { reason: "no gcc in PATH".to_owned(), install: Some("gcc") };
        let busy = Unmeasured { reason: "this machine is busy".to_owned(), install: None };
        let checks = [
            check(SpawnRuntime::Rayon, Ok(threshold)),
            check(SpawnRuntime::Libgomp, Err(missing)),
            check(SpawnRuntime::Tbb, Err(busy)),
        ];
        insta::assert_snapshot!(as_text(&checks, false), @r"
        spawn threshold
        ok       spawn-rayon    a task is worth spawning if it takes 1.21 µs or more (5792 instructions)
        ok       spawn-libgomp  not measured: no gcc in PATH
                                To measure it, install gcc.
        ok       spawn-onetbb   not measured: this machine is busy

        all is well
        ");
    }
}
