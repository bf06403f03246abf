//! From limits to the view model.

use std::collections::BTreeMap;

use workspan_limits::model::TABLE;
use workspan_limits::path;
use workspan_limits::result::{Limits as Found, ModelLimit};

use super::beyond;
use super::models::shown;
use super::view::{Analysis, Branches, Conditions, Depend, Limits, Line, Link, Variable};
use crate::place::short_file;

/// Where an instruction of the program comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// File; the executable or library if the line is not known.
    pub file: String,
    /// Line; 0 if it is not known.
    pub line: u32,
    /// Function.
    pub function: Option<String>,
}

/// What is shown.
#[derive(Debug)]
pub struct Input<'a> {
    /// What was run, and how.
    pub conditions: &'a Conditions,
    /// The limits.
    pub found: &'a Found,
    /// Where an instruction comes from, by its number.
    pub places: &'a BTreeMap<u32, Place>,
    /// Names of variables, by addresses in them.
    pub variables: &'a BTreeMap<u64, String>,
    /// What `workspan depend` found, if that is known: its command, and the parallelism of calls as tasks.
    pub depend: Option<&'a (Vec<String>, f64)>,
    /// False if the run was cut short.
    pub complete: bool,
    /// From the program's start to the end of the analysis, in nanoseconds.
    pub wall_ns: u64,
    /// What the run brought to light.
    pub warnings: &'a [String],
}

/// The view.
pub fn limits(input: &Input<'_>) -> Limits {
    let Input { conditions, found, places, variables: names, depend, complete, wall_ns, warnings } = input;
    let of = |name: &str| found.models.iter().find(|model| model.name == name);
    let table: Vec<&ModelLimit> = TABLE.iter().filter_map(|name| of(name)).collect();
    let others: Vec<&ModelLimit> = found.models.iter().filter(|model| !TABLE.contains(&model.name)).collect();
    let (mut lines, mut links, mut variables) = (Vec::new(), Vec::new(), Vec::new());
    for model in table.iter().chain(&others) {
        lines.extend(lines_of(model, places, names));
        links.extend(links_of(model));
        variables.extend(variables_of(model, names));
    }
    let text = headline(&table, &lines);
    let mut warnings = warnings.to_vec();
    if found.coarse {
        warnings.push(
            "memory for the analysis was used up: critical paths may be longer than those of the program (--memory-limit)"
                .to_owned(),
        );
    }
    let mut view = Limits {
        schema_version: 1,
        text,
        complete: *complete,
        conditions: (*conditions).clone(),
        instructions: found.instructions,
        models: table.iter().map(|model| shown(model)).collect(),
        control: others.iter().map(|model| shown(model)).collect(),
        names: Vec::new(),
        allocator: Vec::new(),
        latency: Vec::new(),
        windows: Vec::new(),
        widths: Vec::new(),
        smoothability: None,
        slack: None,
        profile: Vec::new(),
        branches: Branches { ran: found.branches.0, missed: found.branches.1 },
        lines,
        links,
        variables,
        depend: depend.map(|depend| beside(depend, found)),
        exact_paths: found.exact,
        analysis: Analysis { wall_ns: *wall_ns, memory_bytes: found.bytes, coarse: found.coarse },
        warnings,
    };
    beyond::fill(&mut view, found);
    view
}

/// The model that bounds the parallelism of calls as tasks: a task waits for values, and has a frame of its own.
const BOUND: &str = "TruSp";

fn beside((command, parallelism): &(Vec<String>, f64), found: &Found) -> Depend {
    let bound = found.models.iter().find(|model| model.name == BOUND && model.critical_path > 0);
    Depend {
        command: command.clone(),
        parallelism: *parallelism,
        model: bound.map(|model| model.name.to_owned()),
        bound: bound.map(ModelLimit::parallelism),
        within: bound.map(|model| *parallelism <= model.parallelism()),
    }
}

fn key(link: path::Link) -> &'static str {
    match link {
        path::Link::Begin => "begin",
        path::Link::Register => "register",
        path::Link::StackPointer => "stack-pointer",
        path::Link::Address => "address",
        path::Link::StackValue => "stack-value",
        path::Link::MemoryValue => "memory-value",
        path::Link::StackName => "stack-name",
        path::Link::MemoryName => "memory-name",
        path::Link::Control => "control",
    }
}

fn lines_of(model: &ModelLimit, places: &BTreeMap<u32, Place>, names: &BTreeMap<u64, String>) -> Vec<Line> {
    let nowhere = Place::default();
    let mut found: BTreeMap<&Place, BTreeMap<path::Link, f64>> = BTreeMap::new();
    let mut variables: BTreeMap<&Place, BTreeMap<&str, f64>> = BTreeMap::new();
    for step in &model.path {
        let place = places.get(&step.op).unwrap_or(&nowhere);
        *found.entry(place).or_default().entry(step.link).or_default() += step.weight;
        if let Some(name) = names.get(&step.address) {
            *variables.entry(place).or_default().entry(name).or_default() += step.weight;
        }
    }
    let length = (model.critical_path as f64).max(1.0);
    let mut lines: Vec<Line> = found
        .into_iter()
        .map(|(place, links)| {
            let instructions: f64 = links.values().sum();
            let most = links.iter().max_by(|a, b| a.1.total_cmp(b.1)).map_or(path::Link::Begin, |(link, _)| *link);
            let variable = variables.get(place).and_then(|names| names.iter().max_by(|a, b| a.1.total_cmp(b.1)));
            Line {
                model: model.name.to_owned(),
                file: place.file.clone(),
                line: place.line,
                function: place.function.clone(),
                variable: variable.map(|(name, _)| (*name).to_owned()),
                instructions_on_path: instructions,
                share: instructions / length,
                link: key(most).to_owned(),
            }
        })
        .collect();
    lines.sort_by(|a, b| b.instructions_on_path.total_cmp(&a.instructions_on_path));
    lines
}

fn links_of(model: &ModelLimit) -> Vec<Link> {
    let mut found: BTreeMap<path::Link, f64> = BTreeMap::new();
    for step in &model.path {
        *found.entry(step.link).or_default() += step.weight;
    }
    let length = (model.critical_path as f64).max(1.0);
    let mut links: Vec<Link> = found
        .into_iter()
        .map(|(link, instructions)| Link {
            model: model.name.to_owned(),
            link: key(link).to_owned(),
            instructions_on_path: instructions,
            share: instructions / length,
        })
        .collect();
    links.sort_by(|a, b| b.instructions_on_path.total_cmp(&a.instructions_on_path));
    links
}

fn variables_of(model: &ModelLimit, names: &BTreeMap<u64, String>) -> Vec<Variable> {
    let mut found: BTreeMap<(&str, path::Link), f64> = BTreeMap::new();
    for step in &model.path {
        if let Some(name) = names.get(&step.address) {
            *found.entry((name, step.link)).or_default() += step.weight;
        }
    }
    let length = (model.critical_path as f64).max(1.0);
    let of = |((name, link), instructions): ((&str, path::Link), f64)| Variable {
        model: model.name.to_owned(),
        variable: name.to_owned(),
        link: key(link).to_owned(),
        instructions_on_path: instructions,
        share: instructions / length,
    };
    let mut variables: Vec<Variable> = found.into_iter().map(of).collect();
    variables.sort_by(|a, b| b.instructions_on_path.total_cmp(&a.instructions_on_path));
    variables
}

/// The limits in one line, and what sets them: the step from one model to the next that gains most.
fn headline(table: &[&ModelLimit], lines: &[Line]) -> String {
    let of = |name: &str| table.iter().find(|model| model.name == name).map_or(0.0, |model| model.parallelism());
    let [all, names, tru, frames, free] = ["TruNamCtl", "TruNam", "Tru", "TruSp", "TruNoAddr"].map(of);
    if all == 0.0 {
        return "nothing ran".to_owned();
    }
    let steps = [
        (names / all, "the outcome of branches"),
        (tru / names, "memory that is used again for other values"),
        (frames / tru, "the order of calls on one stack"),
        (free / frames, "the computation of addresses"),
    ];
    let most = steps.iter().max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(gain, _)| *gain >= 1.5);
    let cause = match most {
        Some((_, cause)) => format!("what limits it most is {cause}"),
        None => "what limits it is the values that its instructions pass on".to_owned(),
    };
    let numbers = [all, tru, frames].map(number);
    let line = lines.iter().find(|line| line.model == "Tru" && line.line > 0 && line.share >= 0.25);
    let place = line.map(|line| {
        let function = line.function.as_ref().map(|name| format!("`{name}`, ")).unwrap_or_default();
        let share = (100.0 * line.share).round();
        let in_memory = line.link.ends_with("-value");
        let variable = line.variable.as_ref().filter(|name| in_memory && !name.starts_with('['));
        let variable = variable.map(|name| format!(", through `{name}`")).unwrap_or_default();
        format!(
            "; {share} % of the longest chain of values is in {function}{}:{}{variable}",
            short_file(&line.file),
            line.line
        )
    });
    format!(
        "parallelism {} with all dependences, {} with those of values alone, {} with a frame for each call: {cause}{}",
        numbers[0],
        numbers[1],
        numbers[2],
        place.unwrap_or_default()
    )
}

/// Three digits.
pub(super) fn number(value: f64) -> String {
    match value {
        value if value >= 99.95 => format!("{value:.0}"),
        value if value >= 9.995 => format!("{value:.1}"),
        value => format!("{value:.2}"),
    }
}
