//! `--tool`: a library that is loaded into the program and told of its tasks.

use std::ffi::OsString;
use std::path::Path;

use anyhow::{bail, Context};
use workspan_read::{tool, Snapshot};

use super::child::Variable;
use crate::output as talk;

/// The variable that tells the collector of it.
pub const ENV: &str = "WORKSPAN_TOOL";

/// Whether there is such a library at all.
pub fn check(library: &Path) -> anyhow::Result<()> {
    let found = library.metadata().with_context(|| format!("no tool {}", library.display()))?;
    if !found.is_file() {
        bail!("the tool {} is not a file", library.display());
    }
    Ok(())
}

/// What the program is given. The name must not be looked up where libraries are.
pub fn variable(library: &Path) -> Option<Variable> {
    Some((OsString::from(ENV), Some(std::path::absolute(library).ok()?.into())))
}

/// Tells what became of it.
pub fn report(library: &Path, snapshot: &(impl Snapshot + ?Sized)) -> anyhow::Result<()> {
    let name = library.display();
    let told = tool::state(snapshot).context("cannot read the shared memory")?;
    let message = match told.loaded {
        tool::Loaded::Yes => match told.dropped {
            0 => return Ok(()),
            tasks => format!("the tool {name} was told nothing of {tasks} tasks: too many were there at a time"),
        },
        tool::Loaded::No => format!("the tool {name} was not asked for by the collector: the program hides its environment"),
        tool::Loaded::Unfit => format!(
            "the tool {name} was not loaded: it is no shared library for this machine, misses a library itself, or does not \
             define `workspan_tool_start`"
        ),
        tool::Loaded::NoMemory => format!("the tool {name} was not told of anything: the system gave no memory for it"),
        tool::Loaded::Declined => format!("the tool {name} chose not to be told of anything"),
    };
    talk::note(&format!("warning: {message}"));
    Ok(())
}
