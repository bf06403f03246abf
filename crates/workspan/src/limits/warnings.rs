//! What to know before relying on limits.

use workspan_limits::x86;
use workspan_report::words::signal_name;

use super::analysis::Analysed;
use super::places;
use super::run::Ended;
use super::tracer::Tracer;
use crate::args;

/// What a run brought to light.
pub fn warnings(ended: &Ended, analysed: &Analysed, tracer: &Tracer, args: &args::Limits) -> Vec<String> {
    let mut found = Vec::new();
    let remarks = &ended.remarks;
    let instructions = analysed.found.instructions;
    if !analysed.room {
        found.push("the program was stopped: a critical path is longer than the analysis can count".to_owned());
    } else if ended.stopped && args.limit.is_some_and(|limit| instructions >= limit) {
        found.push(format!("the program was stopped after {instructions} instructions (--limit)"));
    } else if ended.stopped {
        found.push("the program was stopped behind its region of interest (--roi)".to_owned());
    } else if let Some(signal) = ended.signal() {
        found.push(format!("the program was ended by {}", signal_name(signal)));
        found.extend(unknown_instruction(signal, analysed, tracer));
    } else if let Some(code) = ended.status.code().filter(|code| *code != 0) {
        found.push(format!("the program ended with status {code}"));
    }
    if remarks.replaced {
        found.push(
            "the program became another one (exec), which was not analysed: name that one on the command line"
                .to_owned(),
        );
    }
    if remarks.children > 0 {
        found.push(format!("processes that the program created were not analysed: {}", remarks.children));
    }
    if remarks.disordered > 0 {
        let times = remarks.disordered;
        found.push(format!("{times} times threads ran side by side: dependences between them may be missing"));
    }
    found.extend(tracer.warning().map(str::to_owned));
    if ended.lost > 0 {
        found.push(format!("{} instructions could not be read: their dependences are missing", ended.lost));
    }
    if analysed.program.changed() > 0 {
        let changed = analysed.program.changed();
        found.push(format!(
            "{changed} instructions were made or changed while the program ran: they have no source lines"
        ));
    }
    let (unknown, example) = analysed.program.unknown();
    if unknown > 0 {
        let place = analysed.program.place(example).map(|place| {
            let bytes: Vec<String> = place.bytes().iter().map(|byte| format!("{byte:02x}")).collect();
            format!(", the last at {:#x}: {}", place.address, bytes.join(" "))
        });
        let place = place.unwrap_or_default();
        found.push(format!(
            "{unknown} instructions of the code could not be decoded{place}: their dependences are missing"
        ));
    }
    if analysed.odd > 0 {
        found.push(format!("{} words of the trace made no sense: please report this", analysed.odd));
    }
    found
}

/// What the emulator may have refused to run.
fn unknown_instruction(signal: i32, analysed: &Analysed, tracer: &Tracer) -> Option<String> {
    if signal != signal_hook::consts::SIGILL {
        return None;
    }
    let program = &analysed.program;
    let id = analysed.last?;
    let place = program.place(id)?;
    let bytes = places::code_at(program, place.address).unwrap_or_else(|| place.bytes().to_vec());
    let (name, extension) = x86::name(place.address, &bytes)?;
    let source = places::one(id, program).map(|place| {
        let function = place.function.map(|name| format!("`{name}`, ")).unwrap_or_default();
        match place.line {
            0 => format!(" in {function}{}", place.file),
            line => format!(" in {function}{}:{line}", place.file),
        }
    });
    let advice = match tracer {
        Tracer::Step => "this processor does not know it",
        _ => {
            "the emulator may not know it; build the program for an older processor (`-march=x86-64-v3`, without \
             AVX-512), or run it on this processor, slowly (`--tracer step`)"
        }
    };
    Some(format!(
        "the last instruction was `{name}` ({extension}) at {:#x}{}: {advice}",
        place.address,
        source.unwrap_or_default()
    ))
}
