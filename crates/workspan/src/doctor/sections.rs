//! What the sections of a program's file allow.

use object::{Object, ObjectSection};

use super::check::Check;

const GROUP: &str = "program";

/// Whether addresses have lines, or at least functions.
pub fn places(file: &object::File<'_>) -> Check {
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

/// Whether sites' functions and callers have names.
pub fn debug_info(file: &object::File<'_>) -> Check {
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

/// Whether there is a table of symbols.
pub fn symbols(file: &object::File<'_>) -> Check {
    if has_section(file, &[".symtab"]) {
        Check::ok(GROUP, "symbols", "not stripped")
    } else {
        Check::ok(GROUP, "symbols", "stripped").means("Hooks and lines of sites are not affected.")
    }
}

/// How it is linked.
pub fn linking(file: &object::File<'_>) -> Check {
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

fn has_section(file: &object::File<'_>, names: &[&str]) -> bool {
    names.iter().any(|name| file.section_by_name(name).is_some_and(|section| section.size() > 0))
}
