//! `workspan depend what-if`: the span of a program with changed dependences, from its profile.

use std::path::Path;

use anyhow::Context;
use workspan_depend::paths::change::{At, Deed, Named};
use workspan_report::depend::what_if::{json, text, what_if, Asked, Unknown};

use super::report::read;
use crate::args::depend::DependWhatIf;
use crate::exit::Outcome;
use crate::{files, output};

/// Runs the verb.
pub fn run(args: &DependWhatIf) -> anyhow::Result<Outcome> {
    let asked = asked(args)?;
    let file = args.json.as_deref().filter(|file| *file != Path::new("-"));
    file.map_or(Ok(()), files::check_writable)?;
    let mut profile = read(&args.file)?;
    // Files are called as from here, like in the report.
    let here = files::here();
    let pieces = profile.paths.pieces.iter_mut().map(|each| &mut each.place);
    let places = pieces.chain(profile.paths.loops.iter_mut().map(|each| &mut each.place));
    for place in places.chain(profile.paths.contexts.iter_mut().map(|each| &mut each.call)) {
        place.file = workspan_report::place::below(&here, &place.file).to_owned();
    }
    let view = what_if(&profile.paths, &asked).map_err(|unknown| refuse(&unknown))?;
    match (&args.json, file) {
        (_, Some(file)) => files::replace(file, (json(&view) + "\n").as_bytes())
            .with_context(|| format!("cannot write {}", output::path(file)))?,
        (Some(_), None) => output::data(&(json(&view) + "\n"))?,
        (None, None) => output::data(&text(&view, args.top))?,
    }
    Ok(Outcome::OK)
}

fn asked(args: &DependWhatIf) -> anyhow::Result<Asked> {
    let mut asked = Asked::default();
    let all = [(Deed::Remove, &args.remove), (Deed::Private, &args.private), (Deed::ClosedForm, &args.closed_form)];
    for (deed, texts) in all {
        for text in texts {
            let named = Named::parse(text).with_context(|| {
                format!("cannot read {text:?}: write VARIABLE, VARIABLE@FILE:LINE, VARIABLE@FUNCTION, or FILE:LINE->FILE:LINE")
            })?;
            asked.deeds.push((deed, text.clone(), named));
        }
    }
    for text in &args.speed_up {
        let read = text.rsplit_once('=').and_then(|(at, factor)| {
            let factor: f64 = factor.trim_end_matches('x').parse().ok()?;
            Some((At::parse(at)?, factor)).filter(|_| factor > 0.0)
        });
        let (at, factor) = read.with_context(|| {
            format!("cannot read {text:?}: write FILE:LINE=FACTOR with a factor above 0, for example prog.c:12=2")
        })?;
        asked.faster.push((text.clone(), at, factor));
    }
    anyhow::ensure!(
        !asked.deeds.is_empty() || !asked.faster.is_empty(),
        "nothing is changed: name a change with --remove, --private, --closed-form or --speed-up"
    );
    Ok(asked)
}

fn refuse(unknown: &Unknown) -> anyhow::Error {
    let what = if unknown.is_line { "no line with instructions is at" } else { "there is no dependence" };
    let candidates = if unknown.candidates.is_empty() {
        "; the profile has none".to_owned()
    } else {
        format!("; those that matter most: {}", unknown.candidates.join(", "))
    };
    anyhow::anyhow!("{what} {:?}{candidates}", unknown.text)
}
