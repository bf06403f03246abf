//! What to write so that an algorithm of C++'s library runs in parallel: C++17 has most of them with an execution policy.

use std::fmt::Write as _;

use workspan_depend::profile::Loop;

use super::header::behind;

/// Those that take a policy as they are.
const WITH_POLICY: [&str; 28] = [
    "adjacent_difference",
    "all_of",
    "any_of",
    "copy",
    "copy_if",
    "copy_n",
    "count",
    "count_if",
    "equal",
    "fill",
    "fill_n",
    "for_each",
    "for_each_n",
    "generate",
    "generate_n",
    "max_element",
    "min_element",
    "minmax_element",
    "mismatch",
    "move",
    "none_of",
    "replace",
    "replace_copy",
    "replace_if",
    "reverse",
    "reverse_copy",
    "swap_ranges",
    "transform",
];
/// Those of them that call a function object and whose results are elements: one that combines them has none.
const WRITING: [&str; 6] = ["adjacent_difference", "copy_if", "generate", "generate_n", "replace_if", "transform"];
/// Those that another one stands for, which may take elements in any order.
const IN_ORDER: [(&str, &str); 2] = [("accumulate", "reduce"), ("inner_product", "transform_reduce")];

const POLICY: &str = "std::execution::par";

/// What to write in place of the algorithm that is called at the loop's place; nothing if none is.
pub(super) fn change(each: &Loop, text: &str) -> Option<String> {
    let here = behind(text, each.place.column)?;
    // A macro may have the name of an algorithm, but is given no iterators.
    let here = here.strip_prefix("std::").or_else(|| here.contains("begin(").then_some(here))?;
    let (here, of_ranges) = match here.strip_prefix("ranges::") {
        Some(rest) => (rest, true),
        None => (here, false),
    };
    let name = here.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default();
    let is_call = here[name.len()..].trim_start().starts_with(['(', '<']);
    let parallel = match IN_ORDER.iter().find(|(serial, _)| *serial == name) {
        _ if !is_call => return None,
        Some((_, parallel)) => parallel,
        None => WITH_POLICY.iter().find(|known| **known == name)?,
    };
    // What a function object updates; the algorithm's own variables have reserved names.
    let updated = each.reductions.iter().filter(|one| !one.variable.starts_with("__"));
    let updated: Vec<String> = updated.map(|one| format!("{} ({})", one.variable, one.operator)).collect();
    if !updated.is_empty() && WRITING.contains(&name) {
        return Some(format!("std::{name}({POLICY}, …), with {} as an atomic variable", updated.join(" and ")));
    }
    if !updated.is_empty() {
        return Some(format!(
            "std::transform_reduce({POLICY}, …) in place of std::{name}, with {}",
            updated.join(" and ")
        ));
    }
    let iterators = if of_ranges { " on iterators" } else { "" };
    let mut change = format!("std::{parallel}({POLICY}, …){iterators}");
    if *parallel != name {
        let _ = write!(change, " in place of std::{name}");
    }
    let own: Vec<&str> =
        each.private.iter().map(|one| one.variable.as_str()).filter(|name| !name.starts_with("__")).collect();
    if !own.is_empty() {
        let _ = write!(change, "; declare {} in the function object", own.join(", "));
    }
    Some(change)
}

#[cfg(test)]
mod tests {
    use workspan_depend::profile::Reduction;
    use workspan_depend::source::Place;

    use super::*;

    #[track_caller]
    fn check(text: &str, reductions: &[(&str, &str)], expected: &str) {
        let column = 1 + u32::try_from(text.len() - text.trim_start().len()).expect("short");
        let place = Place { file: "a.cpp".to_owned(), line: 1, column };
        let of = |(operator, variable): &(&str, &str)| Reduction {
            operator: (*operator).to_owned(),
            variable: (*variable).to_owned(),
            ..Reduction::default()
        };
        let each = Loop { place, reductions: reductions.iter().map(of).collect(), ..Loop::default() };
        assert_eq!(change(&each, text).unwrap_or_default(), expected, "{text}");
    }

    #[test]
    fn algorithms_take_a_policy() {
        check("  std::transform(a.begin(), a.end(), b.begin(), f);", &[], "std::transform(std::execution::par, …)");
        check("for_each(a.begin(), a.end(), f);", &[], "std::for_each(std::execution::par, …)");
        check("std::ranges::fill(a, 0);", &[], "std::fill(std::execution::par, …) on iterators");
        check(
            "std::accumulate(a.begin(), a.end(), 0.0);",
            &[("+", "__init")],
            "std::reduce(std::execution::par, …) in place of std::accumulate",
        );
        check(
            "std::for_each(a.begin(), a.end(), [&](double x) { s += x; });",
            &[("+", "s")],
            "std::transform_reduce(std::execution::par, …) in place of std::for_each, with s (+)",
        );
        for text in ["for (auto x : a) s += x;", "std::sort(a.begin(), a.end());", "for_each(i, n) {", "copy = 1;", ""]
        {
            check(text, &[], "");
        }
    }
}
