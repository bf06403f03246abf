//! What goes beyond the seven models, for the view.

use workspan_limits::model::{Machine, Names, Reuse as Kind, BROADEST};
use workspan_limits::result::{Limits as Found, ModelLimit};
use workspan_limits::window::smoothability;

use super::models::shown;
use super::view::{Limits, Profile, Reuse, Slack, Smoothability, Waits, Width, Window};

/// Fills in what was analysed.
pub(super) fn fill(view: &mut Limits, found: &Found) {
    for model in &found.beyond {
        let (critical_path, parallelism) = (model.critical_path, ratio(model));
        match (model.model.machine, model.model.names) {
            (Machine::Window(size), _) => {
                view.windows.push(Window { window: 1 << size, critical_path, parallelism });
            }
            (Machine::Width(width), _) => {
                view.widths.push(Width { width: 1 << width, window: 1 << BROADEST, critical_path, parallelism });
            }
            (Machine::Latency, _) => view.latency.push(shown(model)),
            (Machine::Ideal, Names::Without(reuse)) => {
                view.names.push(Reuse { without: reuse_name(reuse).to_owned(), critical_path, parallelism });
            }
            (Machine::Ideal, _) => view.allocator.push(shown(model)),
        }
    }
    let cycles: Vec<(Machine, u64)> =
        found.beyond.iter().map(|model| (model.model.machine, model.critical_path)).collect();
    view.smoothability = smoothability(found.instructions, &cycles).map(|found| Smoothability {
        width: found.width,
        window: 1 << BROADEST,
        value: found.value,
    });
    view.slack = found.slack.as_ref().map(|slack| Slack {
        used: slack.waits.iter().sum(),
        unused: slack.unused,
        waits: slack.waits.iter().enumerate().filter(|(_, values)| **values > 0).map(waits).collect(),
    });
    for model in &found.models {
        let Some(profile) = &model.profile else { continue };
        let bars = profile.bars(model.critical_path);
        let highest =
            bars.iter().copied().max().unwrap_or(0) as f64 / profile.cycles().min(model.critical_path.max(1)) as f64;
        view.profile.push(Profile {
            model: model.name.to_owned(),
            cycles: profile.cycles(),
            instructions: bars.to_vec(),
            burstiness: profile.burstiness(model.critical_path),
            highest,
        });
    }
}

fn ratio(model: &ModelLimit) -> Option<f64> {
    (model.critical_path > 0).then(|| model.parallelism())
}

fn waits((bits, values): (usize, &u64)) -> Waits {
    let from = if bits == 0 { 0 } else { 1 << (bits - 1) };
    Waits { from, to: (1u64 << bits) - 1, values: *values }
}

fn reuse_name(reuse: Kind) -> &'static str {
    match reuse {
        Kind::Spill => "spill",
        Kind::Stack => "stack",
        Kind::Heap => "heap",
        Kind::Global => "global",
    }
}
