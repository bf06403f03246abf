//! The environment in which such a program meets the collector.

use std::path::Path;

use crate::openmp::environment as preload;
use crate::runtime::{Around, Environment};

/// How many threads libtbb is to take.
const WORKERS: &str = "WORKSPAN_TBB_WORKERS";

/// For the program at `path`.
pub(super) fn of(path: &Path, around: Around<'_>) -> anyhow::Result<Environment> {
    let (mut variables, holds) = preload::collector(path, around, None)?;
    let workers = around.options.workers;
    variables.extend(workers.map(|workers| (WORKERS.into(), Some(workers.to_string().into()))));
    Ok(Environment { variables, stand_in: None, holds: Some(Box::new(holds)) })
}
