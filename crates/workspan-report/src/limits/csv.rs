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
    out
}
