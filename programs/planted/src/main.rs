//! Programs that do not scale, each for one known reason, and the same with that reason removed.
//!
//! * `planted list`: the names;
//! * `planted NAME [fixed]`: runs one; a unit is a tick of the virtual clock;
//! * `planted NAME [fixed] NANOS`: a unit is this number of nanoseconds of CPU time.
//!
//! The reasons are those of the case studies of TaskProf, and stand with the programs in `causes.rs`; those of
//! `scaling.rs` are judged on 16 processors.

mod causes;
#[path = "../../shapes/src/cost.rs"]
mod cost;
mod scaling;

fn all() -> impl Iterator<Item = &'static causes::Cause> {
    causes::CAUSES.iter().chain(scaling::CAUSES)
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut words = arguments.iter().map(String::as_str);
    let name = words.next().unwrap_or_default();
    if name == "list" {
        all().for_each(|cause| println!("{}", cause.name));
        return;
    }
    let Some(cause) = all().find(|cause| cause.name == name) else {
        eprintln!("usage: planted list | planted NAME [fixed] [NANOS]");
        std::process::exit(2);
    };
    let mut next = words.next();
    let fixed = next == Some("fixed");
    if fixed {
        next = words.next();
    }
    if let Some(nanos) = next {
        cost::in_nanos(nanos);
    }
    if fixed {
        (cause.fixed)();
    } else {
        (cause.run)();
    }
}
