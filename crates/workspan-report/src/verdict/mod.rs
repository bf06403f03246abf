//! The verdict's view.

#[cfg(test)]
mod tests;
mod words;

use workspan_analysis::verdict::{
    best_order, bounds, headline, judge, Basis, Evidence, Headline, Judged, Loss, Outcome, Why, PROCESSORS,
};
use workspan_analysis::Profile;
use workspan_model::{Recording, Run};

use crate::parts::id;
use crate::view::{self, Verdict};

/// On what a program is judged.
#[derive(Clone, Debug, PartialEq)]
pub struct Judging {
    /// The number of processors.
    pub processors: u32,
    /// Evidence of the typical run; from its totals if there is none.
    pub evidence: Option<Evidence>,
    /// Whether there are strands, be they of use or not.
    pub has_strands: bool,
}

impl Default for Judging {
    fn default() -> Judging {
        Judging { processors: PROCESSORS, evidence: None, has_strands: false }
    }
}

/// The verdict on a run.
pub(crate) fn of(recording: &Recording, run: &Run, profile: &Profile, judging: &Judging) -> Verdict {
    let first = headline(recording, run, profile);
    let main = match &first {
        Headline::Parallelism { main, .. } => *main,
        _ => None,
    };
    let verdict = Verdict {
        text: words::headline(recording, profile, &first),
        parallelism: profile.program.parallelism.map(|p| p.0),
        main: main.and_then(|main| id(recording, Some(main.site))),
        main_share: main.map(|main| main.share.0),
        processors: judging.processors,
        ..Verdict::default()
    };
    let evidence = match &judging.evidence {
        Some(evidence) => evidence.clone(),
        None => bounds(recording, run, profile, judging.processors),
    };
    let best = best_order(recording, run, profile);
    let judged = match &best {
        Some(best) => judge(recording, &best.run, &best.profile, &best.bounds(recording, &evidence)),
        None => judge(recording, run, profile, &evidence),
    };
    match judged {
        Some(judged) => Verdict {
            next: words::next(recording, &judged, main.as_ref(), judging.has_strands),
            ..with_losses(recording, &judged, verdict)
        },
        None => Verdict { outcome: "inconclusive".to_owned(), ..verdict },
    }
}

fn with_losses(recording: &Recording, judged: &Judged, verdict: Verdict) -> Verdict {
    let (outcome, why) = match &judged.outcome {
        Outcome::ScalesWell => ("scales-well", None),
        Outcome::Limited(_) => ("limited", None),
        Outcome::Inconclusive(why) => ("inconclusive", Some(why)),
    };
    let why = why.map(|why| match why {
        Why::NeverForks => "never-forks",
        Why::TooShort => "too-short",
        Why::Incomplete => "incomplete",
        Why::OnlyBounds => "only-bounds",
        Why::UnevenLoop(_) => "uneven-loop",
    });
    let basis = match judged.basis {
        Basis::Bounds => "at-least",
        Basis::Simulated => "predicted",
    };
    Verdict {
        outcome: outcome.to_owned(),
        why: why.map(str::to_owned),
        lines: words::lines(recording, judged),
        processors: judged.processors,
        basis: basis.to_owned(),
        time_ns: Some(judged.time.0),
        speedup: Some(judged.speedup.0),
        slowest: Some(judged.slowest.0),
        even_iterations: judged.loops.map(|_| true),
        losses: judged.losses.iter().map(|loss| loss_view(recording, loss)).collect(),
        ..verdict
    }
}

fn loss_view(recording: &Recording, loss: &Loss) -> view::Loss {
    let parts = loss.parts.iter().map(|part| view::LossPart {
        id: id(recording, part.site),
        reason: part.reason.code().to_owned(),
        text: words::reason(recording, part.site, &part.reason),
        time_ns: part.time.0,
        share: part.share.0,
        without: part.without.0,
    });
    view::Loss {
        cause: loss.cause.code().to_owned(),
        time_ns: loss.time.0,
        share: loss.share.0,
        speedup: loss.speedup.0,
        parts: parts.collect(),
    }
}
