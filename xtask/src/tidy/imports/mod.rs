//! The files of a crate use one another in one direction.
//!
//! Files that use each other are one concept in two places: who reads or changes one must know all. So no crate has a
//! circle of imports; a pair that has to be one is in a list, with its reason.

mod graph;
mod paths;

use graph::{Circle, Graph};

use super::{Repository, Violation};

/// Pairs of files that use each other, and why that has to be.
const PAIRS: &[(&str, &str, &str)] = &[];

/// No circles.
pub(super) fn circles(repository: &Repository) -> Vec<Violation> {
    judged(repository, PAIRS)
}

/// Prints how the files of each crate use one another.
pub(crate) fn print(repository: &Repository) {
    println!("{:20} {:>6} {:>7} {:>8} {:>8}", "crate", "files", "arrows", "circles", "largest");
    let mut sums = [0; 4];
    for (name, _) in repository.crates() {
        let graph = graph(repository, name);
        let circles = graph.circles();
        let largest = circles.iter().map(|circle| circle.files.len()).max().unwrap_or(0);
        let row = [graph.files(), graph.arrows(), circles.len(), largest];
        print_row(name, row);
        for (sum, value) in sums.iter_mut().zip(row).take(3) {
            *sum += value;
        }
        sums[3] = sums[3].max(largest);
    }
    print_row("all", sums);
    for (name, _) in repository.crates() {
        for circle in graph(repository, name).circles() {
            println!("\n{name}: {} files", circle.files.len());
            circle.files.iter().for_each(|(file, uses)| print_uses(file, uses));
        }
    }
}

fn print_row(name: &str, [files, arrows, circles, largest]: [usize; 4]) {
    println!("{name:20} {files:6} {arrows:7} {circles:8} {largest:8}");
}

fn print_uses(file: &str, uses: &[(&str, &graph::Use)]) {
    for (to, found) in uses {
        let names: Vec<&str> = found.names.iter().map(String::as_str).collect();
        println!("  {file}:{} uses {to}: {}", found.line, names.join(", "));
    }
}

fn graph(repository: &Repository, name: &str) -> Graph {
    let source = if name == "xtask" { "xtask/src/".to_owned() } else { format!("crates/{name}/src/") };
    Graph::of(&source, repository.product(name))
}

fn judged(repository: &Repository, pairs: &[(&str, &str, &str)]) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut met = vec![false; pairs.len()];
    for (name, _) in repository.crates() {
        let graph = graph(repository, name);
        let circles = graph.circles();
        for circle in &circles {
            let files: Vec<&str> = circle.files.iter().map(|(file, _)| *file).collect();
            match pairs.iter().position(|(first, second, _)| files == [*first, *second]) {
                Some(known) => met[known] = true,
                None => found.extend(violation(circle)),
            }
        }
    }
    for ((first, second, _), _) in pairs.iter().zip(met).filter(|(_, met)| !met) {
        found.push(Violation::new(first, 1, format!("it makes no circle with {second}: take the pair from PAIRS")));
    }
    found
}

/// At the first file of the circle, with a way around.
fn violation(circle: &Circle<'_>) -> Option<Violation> {
    let (file, uses) = circle.files.first()?;
    let (to, found) = uses.first()?;
    let names: Vec<&str> = found.names.iter().map(String::as_str).collect();
    let others: Vec<&str> = circle.files.iter().skip(1).map(|(file, _)| *file).collect();
    let text = format!(
        "it uses {to} ({}), and is used by it in turn: a circle with {}; `cargo xtask imports` shows its arrows",
        names.join(", "),
        others.join(", ")
    );
    Some(Violation::new(file, found.line, text))
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;
    use super::*;

    const FILES: &[(&str, &str)] = &[
        ("crates/a/Cargo.toml", ""),
        ("crates/a/src/lib.rs", "mod one; mod two; mod three; pub use one::One;\n"),
        ("crates/a/src/one.rs", "\nuse super::two::Two;\npub struct One(Two);\n"),
        ("crates/a/src/two.rs", "use super::three;\npub struct Two; fn f() { three::call() }\n"),
        ("crates/a/src/three.rs", "pub fn call() -> crate::One {}\n#[cfg(test)]\nmod tests { use crate::two::Two; }\n"),
    ];

    #[test]
    fn a_circle_is_found_by_way_of_modules_that_hand_on() {
        check(circles, FILES, &["crates/a/src/one.rs:2: it uses crates/a/src/two.rs (Two)"]);
        check(circles, &FILES[..4], &[]);
    }

    #[test]
    fn exceptions_hold_as_long_as_they_are_needed() {
        let repository = Repository::of(FILES);
        let pair = ("crates/a/src/one.rs", "crates/a/src/two.rs", "why");
        // Of three files, a pair explains nothing; without a circle, the pair is out of date.
        assert_eq!(judged(&repository, &[pair]).len(), 2);
        let two = Repository::of(&[FILES[0], FILES[1], FILES[2], ("crates/a/src/two.rs", "use crate::One;\n")]);
        assert_eq!(judged(&two, &[pair]), []);
    }
}
