//! What is printed meanwhile.

use super::figure::Figure;
use super::machine::Machine;

/// Before everything.
pub(super) fn heading(machine: &Machine) {
    println!("{}; load {}", machine.words, machine.load);
}

/// Before a group.
pub(super) fn group(title: &str) {
    println!("\n{title}");
    println!(
        "{:<22} {:>7}  {:<26} {:>8}  {:<17} {:>9}",
        "case", "workers", "quantity", "value", "half of them", "target"
    );
}

/// A figure.
pub(super) fn row(figure: &Figure) {
    let (low, high) = figure.spread.quartiles();
    let target = figure.target.map_or(String::new(), |target| target.to_string());
    let mark = match figure.target {
        None => "",
        Some(_) if figure.missed() => "  MISSED",
        Some(_) => "  met",
    };
    let digits = digits(figure.value);
    println!(
        "{:<22} {:>7}  {:<26} {:>8.digits$}  {:<17} {target:>9}{mark}  {}",
        figure.case,
        figure.workers,
        figure.quantity,
        figure.value,
        format!("{low:.digits$} – {high:.digits$}"),
        figure.remark,
    );
}

/// Digits after the point: four in all are plenty.
pub(super) fn digits(value: f64) -> usize {
    if value >= 20.0 {
        0
    } else {
        3
    }
}

/// After everything.
pub(super) fn verdict(targets: usize, missed: usize) {
    println!("\n{} of {targets} targets met", targets - missed);
}
