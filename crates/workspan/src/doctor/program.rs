//! What a program allows.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use anyhow::Context;
use object::{Object, ObjectSection};
use workspan_wire::shm::WIRE_VERSION;

use super::check::Check;
use super::openmp;
use crate::record::target::{self, Runtime};

const GROUP: &str = "program";
const BUILD: &str = "build it with `cargo workspan build`, and look at the program that it names";

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
    let runtime = target::look(&path)?;
    let mut checks = vec![executable(&path, &file)];
    match &runtime {
        Some(Runtime::Openmp(program)) => checks.extend([openmp::of_program(program), places(&file), linking(&file)]),
        _ => checks.extend([hooks(runtime, &file), debug_info(&file), symbols(&file), linking(&file)]),
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

fn hooks(runtime: Option<Runtime>, file: &object::File<'_>) -> Check {
    match runtime {
        Some(Runtime::Rayon(hooks)) if hooks.wire_version == WIRE_VERSION => {
            Check::ok(GROUP, "hooks", format!("in {} (wire version {WIRE_VERSION})", hooks.runtime))
        }
        Some(Runtime::Rayon(hooks)) => {
            Check::missing(GROUP, "hooks", format!("of wire version {}", hooks.wire_version))
                .means(format!("This workspan understands version {WIRE_VERSION} only."))
                .fix("build it again with `cargo workspan build`, or use the workspan that built it")
        }
        _ if mentions_rayon(file) => Check::missing(GROUP, "hooks", "none, although it uses rayon")
            .means("The program was built without `cargo workspan`: a run would report nothing.")
            .fix(BUILD),
        _ => Check::missing(GROUP, "hooks", "none, and no sign of rayon or OpenMP")
            .means("There is nothing to profile: Rust programs must use rayon, programs in C, C++ and Fortran OpenMP.")
            .fix("make it use rayon, and build it with `cargo workspan build`; or build it with `-fopenmp`"),
    }
}

/// Whether addresses have lines, or at least functions.
fn places(file: &object::File<'_>) -> Check {
    if has_section(file, &[".debug_line", ".zdebug_line"]) && has_section(file, &[".debug_info", ".zdebug_info"]) {
        return Check::ok(GROUP, "debug-info", "functions and lines");
    }
    let found = if has_section(file, &[".gnu_debuglink"]) { "in another file" } else { "none" };
    let check = Check::warn(GROUP, "debug-info", found);
    let check = if has_section(file, &[".symtab"]) {
        check.means("Places are shown as functions and offsets.")
    } else {
        check.means("Places are shown as addresses.")
    };
    check.fix("compile with `-g` besides the options for optimisation, and do not strip the program")
}

/// Whether texts or symbols of rayon are in it.
fn mentions_rayon(file: &object::File<'_>) -> bool {
    [".strtab", ".rodata"]
        .iter()
        .filter_map(|name| file.section_by_name(name)?.data().ok())
        .any(|data| data.windows(10).any(|window| window == b"rayon_core" || window == b"rayon-core"))
}

fn has_section(file: &object::File<'_>, names: &[&str]) -> bool {
    names.iter().any(|name| file.section_by_name(name).is_some_and(|section| section.size() > 0))
}

fn debug_info(file: &object::File<'_>) -> Check {
    let lines = has_section(file, &[".debug_line", ".zdebug_line"]);
    let info = has_section(file, &[".debug_info", ".zdebug_info"]);
    if lines && info {
        return Check::ok(GROUP, "debug-info", "functions and lines");
    }
    let found = if has_section(file, &[".gnu_debuglink"]) { "in another file" } else { "none" };
    Check::warn(GROUP, "debug-info", found)
        .means("Sites still have their lines; functions are named after closure types, callers are unknown.")
        .fix("build it with `cargo workspan build`, which adds line tables, and do not strip it")
}

fn symbols(file: &object::File<'_>) -> Check {
    if has_section(file, &[".symtab"]) {
        Check::ok(GROUP, "symbols", "not stripped")
    } else {
        Check::ok(GROUP, "symbols", "stripped").means("Hooks and lines of sites are not affected.")
    }
}

fn linking(file: &object::File<'_>) -> Check {
    let loader = file.section_by_name(".interp").and_then(|section| section.data().ok().map(<[u8]>::to_vec));
    match loader.map(|name| String::from_utf8_lossy(&name).trim_end_matches('\0').to_owned()) {
        Some(loader) if loader.contains("musl") => Check::warn(GROUP, "linking", format!("dynamic, by {loader}"))
            .means("Programs for musl are untested; Workspan recognises only in long strands that a thread was switched out.")
            .fix("build for a target with glibc"),
        Some(loader) => Check::ok(GROUP, "linking", format!("dynamic, by {loader}")),
        None => Check::warn(GROUP, "linking", "static")
            .means("Workspan recognises only in long strands that a thread was switched out: use an idle machine.")
            .fix("link it dynamically with glibc"),
    }
}
