//! `workspan limits --csv`: a row for each model.

use std::fmt::Write;

use super::view::Limits;
use crate::words::csv_cell;

/// Names first.
pub fn csv(view: &Limits) -> String {
    let mut out = String::from("model,kind,instructions,critical_path,parallelism,meaning\n");
    let table = view.models.iter().map(|model| ("table", model));
    for (kind, model) in table.chain(view.control.iter().map(|model| ("control", model))) {
        // A string takes any text.
        let _ = writeln!(
            out,
            "{},{kind},{},{},{},{}",
            model.name,
            model.instructions,
            model.critical_path,
            model.parallelism.map(|value| value.to_string()).unwrap_or_default(),
            csv_cell(&model.meaning)
        );
    }
    let mut row = |name: String, kind: &str, critical_path: u64, parallelism: Option<f64>| {
        let parallelism = parallelism.map(|value| value.to_string()).unwrap_or_default();
        let _ = writeln!(out, "{name},{kind},{},{critical_path},{parallelism},", view.instructions);
    };
    for model in view.allocator.iter().chain(&view.latency) {
        row(model.name.clone(), "beyond", model.critical_path, model.parallelism);
    }
    for reuse in &view.names {
        row(format!("TruNam-{}", reuse.without), "names", reuse.critical_path, reuse.parallelism);
    }
    for window in &view.windows {
        row(format!("Tru-window-{}", window.window), "window", window.critical_path, window.parallelism);
    }
    for width in &view.widths {
        row(format!("Tru-width-{}", width.width), "width", width.critical_path, width.parallelism);
    }
    out
}
