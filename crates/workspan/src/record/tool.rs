//! `--tool`: a library that is loaded into the program and called at its task events.

use std::ffi::OsString;
use std::path::Path;

use anyhow::{bail, Context};
use workspan_read::{tool, Snapshot};

use crate::output;
use crate::runtime::Variable;

/// The variable that names it to the collector.
pub const ENV: &str = "WORKSPAN_TOOL";

/// Whether there is such a library at all.
pub fn check(library: &Path) -> anyhow::Result<()> {
    let found = library.metadata().with_context(|| format!("cannot load the tool {}", library.display()))?;
    if !found.is_file() {
        bail!("the tool {} is not a file", library.display());
    }
    Ok(())
}

/// What the program is given. The name must not be looked up where libraries are.
pub fn variable(library: &Path) -> Option<Variable> {
    Some((OsString::from(ENV), Some(std::path::absolute(library).ok()?.into())))
}

/// Reports whether it was loaded, and what it missed.
pub fn report(library: &Path, snapshot: &(impl Snapshot + ?Sized)) -> anyhow::Result<()> {
    let name = library.display();
    let state = tool::state(snapshot).context("cannot read the shared memory")?;
    let message = match state.loaded {
        tool::Loaded::Yes => match state.dropped {
            0 => return Ok(()),
            tasks => format!("the tool {name} missed {tasks} tasks: too many existed at a time"),
        },
        tool::Loaded::No => format!("the tool {name} was not loaded: the program removed WORKSPAN_TOOL from its environment"),
        tool::Loaded::Unfit => format!(
            "the tool {name} was not loaded: it is not a shared library for this machine, needs a library that is missing, \
             or does not define `workspan_tool_start`"
        ),
        tool::Loaded::NoMemory => format!("the tool {name} was not called: no memory was available for its tables"),
        tool::Loaded::Declined => format!("the tool {name} declined: its `workspan_tool_start` returned nothing"),
    };
    output::note(&format!("warning: {message}"));
    Ok(())
}
