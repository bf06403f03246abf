//! From addresses to the workspace's own places.

use crate::code_map::CodeMap;
use crate::executable::Executable;
use crate::units::CompileUnit;

/// The folder into which sources of dependencies are copied, which may lie in the workspace.
const INSTRUMENTED: &str = "workspan/instrumented/";

/// Calls by address.
#[derive(Debug)]
pub struct Frames<'e>(CodeMap<'e>);

impl Executable<'_> {
    /// Prepares the look-up of addresses.
    pub fn frames(&self) -> Frames<'_> {
        // No other unit has code of the workspace in it.
        Frames(CodeMap::new(self, CompileUnit::is_of_workspace))
    }
}

impl Frames<'_> {
    /// The first place in a file of the workspace, file and line, in a chain of calls: return addresses, innermost first,
    /// as the executable has them when it is loaded at its own base. Calls that were inlined are seen.
    pub fn first_workspace_frame(&self, addresses: &[u64]) -> Option<(String, u32)> {
        // A return address may be the first of another line, or of another function.
        addresses.iter().find_map(|address| self.frame(address.checked_sub(1)?))
    }

    fn frame(&self, address: u64) -> Option<(String, u32)> {
        let details = self.0.details(address)?;
        let found = details.steps(address).find_map(|step| {
            let (file, line, _) = step.place?;
            let relative = file.relative.as_ref().filter(|path| !path.contains(INSTRUMENTED))?;
            Some((relative.clone(), line))
        });
        found
    }
}
