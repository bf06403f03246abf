//! `workspan doctor`: what Workspan can measure on this machine, for this project and program, and the fix for what is missing.
//!
//! Exit status: [`exit::OK`] if nothing essential is missing, [`exit::MISSING`] if something is, [`exit::FAILED`] if the
//! program cannot be looked at. What is only worse than it could be (`warn`) is no failure.
//!
//! The JSON form is `{"schema_version", "ok", "checks": [{"id", "group", "state", "found", "means", "fix"}]}`; ids are
//! stable, and `fix` is null where there is nothing to do.

pub mod check;
mod limits;
mod machine;
mod mpi;
mod program;
mod project;
pub mod sections;
mod spawn;
mod tools;

use serde_json::json;

use crate::exit::{self, Outcome};
use crate::runtime::FAMILIES;
use crate::{args, output};
use check::{Check, State};

/// Runs the verb.
pub fn run(args: &args::Doctor) -> anyhow::Result<Outcome> {
    let mut checks = machine::checks();
    checks.extend(spawn::checks());
    checks.extend(tools::checks(args.program.is_some()));
    checks.extend(FAMILIES.iter().flat_map(|family| (family.doctor)()));
    checks.extend(limits::checks());
    checks.push(mpi::check());
    match &args.program {
        Some(program) => checks.extend(program::checks(program)?),
        None => checks.extend(project::check()),
    }
    let missing = checks.iter().any(|check| check.state == State::Missing);
    let text = if args.json {
        let checks: Vec<_> = checks.iter().map(Check::as_json).collect();
        format!("{:#}\n", json!({ "schema_version": 1, "ok": !missing, "checks": checks }))
    } else {
        check::as_text(&checks, output::colour_stdout())
    };
    output::data(&text)?;
    Ok(if missing { Outcome::Code(i32::from(exit::MISSING)) } else { Outcome::OK })
}
