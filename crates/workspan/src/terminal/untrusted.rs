//! What a recording says, made harmless where it comes in: every text in it is somebody else's.
//!
//! Names of functions and files, the command, even the processor's name come from a program, its debug information or a file
//! that may be made up. Whatever shows them may then take each for a part of a line. [`crate::output`] filters again what
//! comes from elsewhere.

use std::borrow::Cow;

use workspan_model::Recording;
use workspan_report::shown::shown;

/// Replaces what a terminal or a browser would obey in all texts of a recording.
pub fn make_harmless(recording: &mut Recording) {
    let Recording {
        command,
        directory,
        made_by,
        runtime,
        machine,
        debug_info_problem,
        sites,
        runs,
        ran,
        unseen_locks,
        ..
    } = recording;
    for text in [directory, made_by, runtime, &mut machine.processor, &mut machine.system] {
        clean(text);
    }
    command.iter_mut().chain(debug_info_problem).for_each(clean);
    for site in sites {
        for text in [&mut site.file, &mut site.type_name, &mut site.module] {
            clean(text);
        }
        if let Some((file, _)) = &mut site.via {
            clean(file);
        }
        if let Some(function) = &mut site.function {
            clean(&mut function.name);
        }
    }
    for ran in ran {
        clean(&mut ran.function);
        clean(&mut ran.file);
        ran.callees.iter_mut().for_each(|(function, _)| clean(function));
    }
    for lock in unseen_locks {
        clean(&mut lock.lock);
        clean(&mut lock.file);
    }
    for event in runs.iter_mut().flat_map(|run| &mut run.events) {
        clean(&mut event.name);
        event.refused.iter_mut().for_each(clean);
    }
}

fn clean(text: &mut String) {
    if let Cow::Owned(harmless) = shown(text) {
        *text = harmless;
    }
}

#[cfg(test)]
mod tests {
    use workspan_model::{Function, Site, SiteKind};

    use super::*;

    #[test]
    fn no_text_keeps_what_is_obeyed() {
        let bad = || "a\x1b[2J\n\u{202e}b".to_owned();
        let mut site = Site::at(SiteKind::Join, &bad(), 1, 1);
        site.type_name = bad();
        site.module = bad();
        site.via = Some((bad(), 1));
        site.function = Some(Function { name: bad(), from_debug_info: true, offset: None });
        let mut recording = Recording {
            command: vec![bad(), bad()],
            directory: bad(),
            made_by: bad(),
            runtime: bad(),
            debug_info_problem: Some(bad()),
            sites: vec![site],
            ..Recording::default()
        };
        recording.machine.processor = bad();
        recording.machine.system = bad();
        make_harmless(&mut recording);
        let text = format!("{recording:#?}");
        // `Debug` writes what is obeyed as an escape of its own.
        for escape in ["\\u{1b}", "\\n", "\\u{202e}"] {
            assert!(!text.contains(escape), "{text}");
        }
        assert_eq!(text.matches("a\\\\u001b[2J\\\\u000a\\\\u202eb").count(), 13);
    }
}
