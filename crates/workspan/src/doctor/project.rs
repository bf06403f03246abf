//! The project in the current folder, if there is one.

use workspan_instrument::Runtime;

use super::check::Check;
use crate::cargo::project::{Look, Project};

const GROUP: &str = "project";

/// Whether `cargo workspan run` could work here. Nothing is downloaded, built or written.
pub(super) fn check() -> Option<Check> {
    let project = match Project::look() {
        Look::None => return None,
        Look::Unresolved(reason) => {
            let check = Check::warn(GROUP, "project", format!("cargo cannot resolve it without the network: {reason}"));
            return Some(check.fix("run `cargo fetch`"));
        }
        Look::Found(project) => project,
    };
    let root = project.root().display().to_string();
    let runtimes = project.runtimes();
    if !runtimes.iter().any(|package| package.runtime == Runtime::RayonCore) {
        let check = Check::warn(GROUP, "project", format!("{root}: rayon is not among its dependencies"));
        return Some(check.means("There is nothing to profile yet: only rayon is supported for Rust programs."));
    }
    let versions: Vec<_> =
        runtimes.iter().map(|package| format!("{} {}", package.runtime.name(), package.version)).collect();
    let found = format!("{root}: {}", versions.join(", "));
    Some(match project.check(false) {
        Ok(()) => Check::ok(GROUP, "project", found),
        Err(error) => Check::missing(GROUP, "project", found)
            .means(format!("{error:#}."))
            .fix("use a supported version, or a newer workspan"),
    })
}
