//! The environment in which such a program meets the collector.

use std::path::Path;

use crate::openmp::environment as preload;
use crate::runtime::{Around, Environment};

/// For the program at `path`.
pub(super) fn of(path: &Path, around: Around<'_>) -> anyhow::Result<Environment> {
    let (variables, holds) = preload::collector(path, around, None)?;
    Ok(Environment { variables, stand_in: None, holds: Some(Box::new(holds)) })
}
