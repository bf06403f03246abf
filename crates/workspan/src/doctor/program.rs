//! What a program allows.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use anyhow::Context;
use object::Object;

use super::check::Check;
use super::sections::{debug_info, linking, symbols};
use crate::rayon::BUILD;
use crate::record::target;
use crate::runtime::{self, FAMILIES};

const GROUP: &str = "program";

/// All of them.
pub(super) fn checks(program: &Path) -> anyhow::Result<Vec<Check>> {
    // A status of its own is for programs that are to be run.
    let path = target::find(program.as_os_str()).map_err(|error| anyhow::anyhow!("{error:#}"))?;
    let bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let name = path.display();
    if bytes.starts_with(b"#!") {
        return Ok(vec![Check::warn(GROUP, "program", format!("{name} is a script"))
            .means("Workspan profiles the first instrumented program that it starts.")
            .fix("look at the program that it starts")]);
    }
    let file = match object::File::parse(&*bytes) {
        Ok(file) if file.format() == object::BinaryFormat::Elf => file,
        _ => {
            return Ok(vec![Check::missing(GROUP, "program", format!("{name} is not an ELF executable"))
                .means("Only programs for Linux can be profiled.")
                .fix(BUILD)])
        }
    };
    let mut checks = vec![executable(&path, &file)];
    match runtime::look(&path, &file)? {
        Some(runtime) => checks.extend(runtime.doctor(&file)),
        None => {
            let known = FAMILIES.iter().find_map(|family| (family.without)(&file));
            let none = || {
                Check::missing(GROUP, "hooks", "none, and no sign of rayon, OpenMP, oneTBB or threads")
                    .means("There is nothing to profile: Rust programs must use rayon, programs in C, C++ and Fortran OpenMP, oneTBB or threads.")
                    .fix("make it use rayon, and build it with `cargo workspan build`; or build it with `-fopenmp`")
            };
            checks.extend([known.unwrap_or_else(none), debug_info(&file), symbols(&file), linking(&file)]);
        }
    }
    Ok(checks)
}

fn executable(path: &Path, file: &object::File<'_>) -> Check {
    let found = format!("{}, ELF for {:?}", path.display(), file.architecture());
    let mode = fs::metadata(path).map_or(0, |meta| meta.permissions().mode());
    if mode & 0o111 == 0 {
        return Check::missing(GROUP, "program", format!("{found}, without permission to execute"))
            .means("It cannot be run.")
            .fix(format!("chmod +x {}", path.display()));
    }
    if !matches!(file.kind(), object::ObjectKind::Executable | object::ObjectKind::Dynamic) {
        return Check::missing(GROUP, "program", format!("{found}, not linked"))
            .means("It cannot be run.")
            .fix("link it");
    }
    Check::ok(GROUP, "program", found)
}
