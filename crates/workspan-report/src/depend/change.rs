//! What to write so that a loop runs in parallel.

use std::fmt::Write as _;

use workspan_depend::profile::{Loop, Reduction};

use super::algorithm;
use super::header::{self, Header};

/// Of a loop that runs in parallel already.
pub(super) const ALREADY: &str = "nothing: it is a loop of OpenMP already";

/// True if the text at a loop's place is a directive that shares it out.
fn is_directive(text: &str) -> bool {
    let line = text.lines().next().unwrap_or_default().trim().to_ascii_lowercase();
    let words = line.strip_prefix("#pragma omp ").or_else(|| line.strip_prefix("!$omp ")).unwrap_or_default();
    words.split([' ', '(']).any(|word| matches!(word, "for" | "do" | "loop" | "distribute" | "taskloop"))
}

/// The line to insert, or what takes the loop's place. `text`: the loop's line and what follows of its header, if that is known.
/// `body`: all of it.
pub(super) fn change(each: &Loop, text: Option<&str>, body: &str) -> String {
    let text = text.unwrap_or_default();
    if is_directive(text) {
        return ALREADY.to_owned();
    }
    let mut each = each.clone();
    for one in &mut each.private {
        // No clause before the loop knows what begins in it.
        if is_static(body, &one.variable) {
            one.variable = format!("the static variable {}", one.variable);
        } else if one.reached && is_c(&each.place.file) && leads_on(body, &one.variable) {
            // A copy of a pointer, or a new container, has none of the memory.
            one.variable = format!("what {} leads to", one.variable);
        }
    }
    let each = &each;
    let file = each.place.file.as_str();
    if has(file, &["rs"]) {
        return rust(each, text.lines().next().unwrap_or_default().trim());
    }
    if let Some(parallel) = algorithm::change(each, text) {
        return parallel;
    }
    let (is_canonical, first) = if is_fortran(file) {
        (header::of_fortran(text, each.place.column), "write it as a `do` loop with a counter, then ")
    } else {
        match header::of_c(text, each.place.column) {
            Header::Canonical => (true, ""),
            Header::OtherFor => (
                false,
                "write it as a canonical `for` loop, with one counter that the header begins, compares and steps, then ",
            ),
            Header::NoFor => (false, "write it as a `for` loop with one counter, then "),
        }
    };
    let directive = if is_fortran(file) { "!$omp parallel do" } else { "#pragma omp parallel for" };
    let first = if is_canonical { "" } else { first };
    let first = match stepped(each) {
        Some(names) => first.replace(" and steps,", &format!(" and steps ({names} in the body),")),
        None => first.to_owned(),
    };
    first + &before(each) + directive + &clauses(each)
}

/// Gives exclusive or of Fortran's logical variables its own name: one instruction serves for theirs and for that of bits. `body`: the text
/// of the loop.
pub(super) fn name_logical(each: &mut Loop, body: &str) {
    if !is_fortran(&each.place.file) {
        return;
    }
    let body = body.to_ascii_lowercase();
    for one in each.reductions.iter_mut().filter(|one| one.operator == "^") {
        let name = one.variable.to_ascii_lowercase();
        let own: Vec<&str> = body.lines().filter(|line| has_word(line, &name)).collect();
        // A statement may go on behind the line that has the name.
        if let Some(operator) = logical(&own.join("\n")).or_else(|| logical(&body)) {
            one.operator = operator.to_owned();
        }
    }
}

/// The operator of logical variables that Fortran's text has, in small letters, if it has none of bits.
fn logical(text: &str) -> Option<&'static str> {
    let has = |word: &str| text.contains(word);
    let is_different = has(".not.") || has(".neqv.");
    match (is_different, has(".eqv.")) {
        _ if has("ieor") => None,
        (true, _) => Some(".neqv."),
        (false, true) => Some(".eqv."),
        (false, false) => None,
    }
}

/// True if C's or C++'s text declares a variable `static`.
fn is_static(text: &str, name: &str) -> bool {
    let mut all = text.split("static ").skip(1).map(|rest| rest.split([';', '=']).next().unwrap_or_default());
    all.any(|declared| has_word(declared, name))
}

/// True if C's or C++'s text goes on from a variable to memory elsewhere. A reference has no mark, and a clause copies what it stands for.
fn leads_on(text: &str, name: &str) -> bool {
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(name).any(|(at, _)| {
        let (before, behind) = (&text[..at], &text[at + name.len()..]);
        let is_word = !before.ends_with(is_letter) && !behind.starts_with(is_letter);
        let (before, behind) = (before.trim_end(), behind.trim_start());
        // What a value stands before is a product.
        let is_value = |text: &str| text.trim_end().ends_with(|c: char| is_letter(c) || c == ')' || c == ']');
        let is_dereferenced = before.strip_suffix('*').is_some_and(|before| !is_value(before));
        is_word && (behind.starts_with('[') || behind.starts_with("->") || is_dereferenced)
    })
}

/// True if a name stands in a text by itself.
fn has_word(text: &str, name: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name)
}

/// Counters beside the loop's own one.
fn stepped(each: &Loop) -> Option<String> {
    let names: Vec<&str> = each.inductions.iter().map(|(name, _)| name.as_str()).collect();
    (!names.is_empty()).then(|| names.join(" and "))
}

/// A clause names variables, no parts of them.
fn is_part(reduction: &Reduction) -> bool {
    !reduction.in_calls && (reduction.part || !is_name(&reduction.variable))
}

fn is_name(text: &str) -> bool {
    text.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
}

/// Names of the local variables that take the place of parts, by number of the reduction.
fn local(each: &Loop, number: usize) -> String {
    let parts = each.reductions.iter().filter(|one| is_part(one)).count();
    let before = each.reductions.iter().take(number).filter(|one| is_part(one)).count();
    if parts > 1 {
        format!("local{}", before + 1)
    } else {
        "local".to_owned()
    }
}

/// What has to be changed before a directive does.
fn before(each: &Loop) -> String {
    let mut out = String::new();
    for (number, reduction) in each.reductions.iter().enumerate().filter(|(_, one)| is_part(one)) {
        let of = if reduction.part && is_name(&reduction.variable) { "the element of " } else { "" };
        let _ =
            write!(out, "keep {of}{} in a variable {} during the loop, then ", reduction.variable, local(each, number));
    }
    for one in each.reductions.iter().filter(|one| one.in_calls) {
        let (name, sign) = (&one.variable, sign(&one.operator, &each.place.file));
        let _ = write!(
            out,
            "give each thread a copy of {name} (called functions update it), combine the copies by {sign}, then "
        );
    }
    let global: Vec<&str> = each.private.iter().filter(|one| one.in_calls).map(|one| one.variable.as_str()).collect();
    if !global.is_empty() {
        let (names, its) = (global.join(" and "), if global.len() > 1 { "their" } else { "its" });
        let _ = write!(out, "make {names} threadprivate (called functions use {its} name), then ");
    }
    for one in each.private.iter().filter(|one| !one.in_calls && !is_name(&one.variable)) {
        let last = if one.last { ", and keep the last one's value" } else { "" };
        let _ = write!(out, "give each iteration its own copy of {}{last}, then ", one.variable);
    }
    let unknown: Vec<&str> =
        each.inductions.iter().filter(|(_, step)| *step == 0).map(|(name, _)| name.as_str()).collect();
    if !unknown.is_empty() {
        let grows = if unknown.len() > 1 { "they grow" } else { "it grows" };
        let names = unknown.join(" and ");
        let _ = write!(out, "compute {names} from the counter ({grows} by the same step in each iteration), then ");
    }
    out
}

fn has(file: &str, endings: &[&str]) -> bool {
    file.rsplit_once('.').is_some_and(|(_, ending)| endings.contains(&ending))
}

/// What is neither Fortran nor Rust.
fn is_c(file: &str) -> bool {
    !is_fortran(file) && !has(file, &["rs"])
}

fn is_fortran(file: &str) -> bool {
    has(file, &["f", "F", "for", "FOR", "f90", "F90", "f95", "F95", "f03", "F03", "f08", "F08"])
}

/// An operator as OpenMP writes it in the language of a file.
pub(super) fn sign<'o>(operator: &'o str, file: &str) -> &'o str {
    match operator {
        _ if !is_fortran(file) => operator,
        "&&" => ".and.",
        "||" => ".or.",
        "&" => "iand",
        "|" => "ior",
        "^" => "ieor",
        _ => operator,
    }
}

/// Clauses of OpenMP, each after a space.
pub(super) fn clauses(each: &Loop) -> String {
    let mut out = String::new();
    for (number, reduction) in each.reductions.iter().enumerate().filter(|(_, one)| !one.in_calls) {
        let Reduction { operator, elements, .. } = reduction;
        let variable = if is_part(reduction) { local(each, number) } else { reduction.variable.clone() };
        // C wants to know which elements a pointer reaches: their number is the reader's to write. An array is named as a whole.
        let section = if *elements && reduction.reached && !is_fortran(&each.place.file) { "[:]" } else { "" };
        let _ = write!(out, " reduction({}:{variable}{section})", sign(operator, &each.place.file));
    }
    let mut list = |name: &str, all: Vec<&str>| {
        if !all.is_empty() {
            let _ = write!(out, " {name}({})", all.join(", "));
        }
    };
    let own = each.private.iter().filter(|one| !one.in_calls && is_name(&one.variable));
    let of = |last: bool| own.clone().filter(move |one| one.last == last).map(|one| one.variable.as_str());
    list("private", of(false).collect());
    list("lastprivate", of(true).collect());
    // Without a step the clause would take 1.
    for (variable, step) in each.inductions.iter().filter(|(_, step)| *step != 0) {
        let _ = write!(out, " linear({variable}:{step})");
    }
    out
}

/// Ways to begin an iterator, and rayon's.
const ITERATORS: [(&str, &str); 8] = [
    (".into_iter()", ".into_par_iter()"),
    (".iter_mut()", ".par_iter_mut()"),
    (".iter()", ".par_iter()"),
    (".chunks_mut(", ".par_chunks_mut("),
    (".chunks_exact(", ".par_chunks_exact("),
    (".chunks_exact_mut(", ".par_chunks_exact_mut("),
    (".chunks(", ".par_chunks("),
    (".windows(", ".par_windows("),
];

fn rust(each: &Loop, text: &str) -> String {
    let mut change = match of_for(text) {
        Some((pattern, iterator)) => {
            let closure = format!("|{pattern}|");
            match each.reductions.first().map(|each| if each.elements { "" } else { each.operator.as_str() }) {
                // Elements: a copy for each thread, added up in the end.
                Some("") => {
                    let of = &each.reductions[0];
                    let (name, sign) = (&of.variable, &of.operator);
                    format!("{iterator}.fold(a copy of {name}, {closure} …).reduce(…, add the copies by {sign})")
                }
                None => format!("{iterator}.for_each({closure} …)"),
                Some("+") => format!("{iterator}.map({closure} …).sum()"),
                Some("*") => format!("{iterator}.map({closure} …).product()"),
                Some("min") => format!("{iterator}.map({closure} …).min()"),
                Some("max") => format!("{iterator}.map({closure} …).max()"),
                // Not `all` and `any`, which end early: the loop may do more than that.
                Some("&&") => format!("{iterator}.map({closure} …).reduce(|| true, |a, b| a && b)"),
                Some("||") => format!("{iterator}.map({closure} …).reduce(|| false, |a, b| a || b)"),
                Some(operator) => format!("{iterator}.map({closure} …).reduce(…, |a, b| a {operator} b)"),
            }
        }
        None => match ITERATORS.iter().find(|(serial, _)| text.contains(serial)) {
            Some((serial, parallel)) => {
                format!("{} in place of {}", parallel.trim_end_matches(['(', ')']), serial.trim_end_matches(['(', ')']))
            }
            None if text.starts_with("while") || text.starts_with("loop") => {
                "write it as a `for` over a range, then .into_par_iter().for_each(…)".to_owned()
            }
            None => "rayon: .into_par_iter() on what it iterates over".to_owned(),
        },
    };
    for (last, besides) in [(false, ""), (true, ", and return the last iteration's")] {
        let own = each.private.iter().filter(|one| one.last == last).map(|one| one.variable.as_str());
        let own: Vec<&str> = own.collect();
        if !own.is_empty() {
            let _ = write!(change, "; declare {} inside the loop{besides}", own.join(", "));
        }
    }
    if !each.inductions.is_empty() {
        let all: Vec<&str> = each.inductions.iter().map(|(variable, _)| variable.as_str()).collect();
        let _ = write!(change, "; compute {} from the iteration's number", all.join(", "));
    }
    if each.reductions.len() > 1 {
        let all: Vec<String> = each.reductions.iter().map(|of| format!("{} ({})", of.variable, of.operator)).collect();
        let _ = write!(change, "; reduce {} together, as a tuple", all.join(" and "));
    }
    change
}

/// Pattern and rayon's iterator of `for PATTERN in EXPRESSION {`.
fn of_for(text: &str) -> Option<(&str, String)> {
    let rest = text.split_once("for ")?.1;
    let (pattern, rest) = rest.split_once(" in ")?;
    let expression = rest.split_once('{').map_or(rest, |(before, _)| before).trim();
    // All that is zipped must be parallel.
    let mut all = expression.split(".zip(");
    let first = all.next().map(|first| of_rayon(first).unwrap_or_else(|| begun(first)))?;
    let others = all.map(|other| of_rayon(other).unwrap_or_else(|| other.to_owned()));
    let parallel = std::iter::once(first).chain(others).collect::<Vec<String>>().join(".zip(");
    Some((pattern.trim(), parallel))
}

/// With rayon's iterator in place of the first one, if that is no closure's.
fn of_rayon(expression: &str) -> Option<String> {
    let places = ITERATORS.iter().filter_map(|both| Some((expression.find(both.0)?, both)));
    let (at, (serial, parallel)) = places.min_by_key(|(at, _)| *at)?;
    let (before, after) = expression.split_at(at);
    (!before.contains('|')).then(|| format!("{before}{parallel}{}", &after[serial.len()..]))
}

/// Rayon's iterator of what is none by itself.
fn begun(expression: &str) -> String {
    if let Some(object) = expression.strip_prefix("&mut ") {
        format!("{object}.par_iter_mut()")
    } else if let Some(object) = expression.strip_prefix('&') {
        format!("{object}.par_iter()")
    } else if let Some(end) = closing(expression) {
        // A range, with something after it.
        let (range, after) = expression.split_at(end + 1);
        format!("{range}.into_par_iter(){after}")
    } else if expression.contains("..") {
        format!("({expression}).into_par_iter()")
    } else {
        format!("{expression}.into_par_iter()")
    }
}

/// Where the parenthesis closes that a text begins with.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return (at > 0).then_some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use workspan_depend::profile::Private;
    use workspan_depend::source::Place;

    use super::*;

    #[test]
    fn loops_of_openmp_have_their_directive() {
        for text in ["#pragma omp parallel for reduction(+:s)\n", "  #pragma omp for", "!$omp parallel do"] {
            assert!(is_directive(text), "{text}");
        }
        for text in ["#pragma omp parallel", "for (int i = 0; i < n; i++)", "#pragma omp simd", ""] {
            assert!(!is_directive(text), "{text}");
        }
    }

    /// A reduction; of elements if the name ends in `[]`, which a pointer reaches if it begins with `*`.
    fn of(operator: &str, variable: &str) -> Reduction {
        let name = variable.trim_matches(['[', ']', '*']);
        let (elements, reached) = (variable.ends_with(']'), variable.starts_with('*'));
        Reduction {
            operator: operator.to_owned(),
            variable: name.to_owned(),
            elements,
            reached,
            ..Reduction::default()
        }
    }

    fn private(name: &str, last: bool) -> Private {
        Private { variable: name.to_owned(), last, ..Private::default() }
    }

    /// A loop with a reduction, `t` private, `u` with its last value, and a second counter `k`.
    fn with_clauses(file: &str, reduction: Reduction) -> Loop {
        Loop {
            place: Place { file: file.to_owned(), line: 1, column: 1 },
            reductions: vec![reduction],
            private: vec![private("t", false), private("u", true)],
            inductions: vec![("k".to_owned(), 2)],
            ..Loop::default()
        }
    }

    #[track_caller]
    fn check(file: &str, text: &str, reductions: &[(&str, &str)], expected: &str) {
        let place = Place { file: file.to_owned(), line: 1, column: 1 };
        let reductions = reductions.iter().map(|(operator, variable)| of(operator, variable)).collect();
        let each = Loop { place, reductions, ..Loop::default() };
        assert_eq!(change(&each, Some(text), ""), expected);
    }

    #[test]
    fn loops_of_rust_become_iterators_of_rayon() {
        check("a.rs", "for i in 0..n {", &[], "(0..n).into_par_iter().for_each(|i| …)");
        check("a.rs", "for x in &mut v {", &[], "v.par_iter_mut().for_each(|x| …)");
        check("a.rs", "for (i, x) in v.iter().enumerate() {", &[], "v.par_iter().enumerate().for_each(|(i, x)| …)");
        check("a.rs", "for x in &v {", &[("+", "s")], "v.par_iter().map(|x| …).sum()");
        check(
            "a.rs",
            "for i in (0..n).rev() {",
            &[("^", "s")],
            "(0..n).into_par_iter().rev().map(|i| …).reduce(…, |a, b| a ^ b)",
        );
        let zipped = [
            ("y.iter_mut().zip(x.iter())", "y.par_iter_mut().zip(x.par_iter())"),
            ("a.chunks_exact(3).zip(b.iter_mut())", "a.par_chunks_exact(3).zip(b.par_iter_mut())"),
            ("a.chunks_exact(w).zip(b.chunks_exact_mut(w))", "a.par_chunks_exact(w).zip(b.par_chunks_exact_mut(w))"),
            ("(1..g.len() - 1).step_by(2)", "(1..g.len() - 1).into_par_iter().step_by(2)"),
            ("(0..n).zip(&v)", "(0..n).into_par_iter().zip(&v)"),
            ("(0..n).map(|i| v[i].iter().sum())", "(0..n).into_par_iter().map(|i| v[i].iter().sum())"),
            ("pairs(a, b)", "pairs(a, b).into_par_iter()"),
        ];
        for (serial, parallel) in zipped {
            check("a.rs", &format!("for x in {serial} {{"), &[], &format!("{parallel}.for_each(|x| …)"));
        }
        check("a.rs", "let s: f64 = v.iter().map(f).sum();", &[("+", "s")], ".par_iter in place of .iter");
        check("a.rs", "while i < n {", &[], "write it as a `for` over a range, then .into_par_iter().for_each(…)");
    }

    #[test]
    fn loops_of_rust_keep_what_they_leave() {
        let each = with_clauses("a.rs", of("||", "any"));
        let expected = "v.par_iter_mut().map(|x| …).reduce(|| false, |a, b| a || b); declare t inside the loop; declare u inside the loop, and \
                        return the last iteration's; compute k from the iteration's number";
        assert_eq!(change(&each, Some("for x in &mut v {"), ""), expected);
    }

    #[test]
    fn truths_of_fortran_have_an_operator_of_their_own() {
        let place = Place { file: "a.f90".to_owned(), line: 1, column: 1 };
        let each = Loop { place, reductions: vec![of("^", "k")], ..Loop::default() };
        for (body, operator) in [
            ("if (a(i) > 12) k = .NOT. k", ".neqv."),
            ("k = k .neqv. b(i)", ".neqv."),
            ("k = ieor(k, a(i))", "ieor"),
            ("if (.not. b(i)) k = IEOR(k, a(i))", "ieor"),
            ("k = k .eqv. b(i)", ".eqv."),
            ("k = k .eqv. b(i)\nkind = kind .neqv. b(i)", ".eqv."),
            ("K = K .EQV. b(i)", ".eqv."),
            ("k = k &\n .eqv. b(i)", ".eqv."),
            ("", "ieor"),
        ] {
            let expected = format!("!$omp parallel do reduction({operator}:k)");
            let mut named = each.clone();
            name_logical(&mut named, body);
            assert_eq!(change(&named, Some("do i = 1, n"), body), expected, "{body}");
        }
    }

    #[test]
    fn what_a_pointer_leads_to_needs_a_copy_of_its_own() {
        let place = Place { file: "a.cpp".to_owned(), line: 1, column: 1 };
        let reached = vec![Private { reached: true, ..private("p", false) }];
        let each = Loop { place, private: reached, ..Loop::default() };
        let of_body = |body: &str| change(&each, Some("for (i = 0; i < n; i++) {"), body);
        for body in ["p[k] = x;", "y = -*p;", "p->x = 1;", "*p++ = x;"] {
            let expected = "give each iteration its own copy of what p leads to, then #pragma omp parallel for";
            assert_eq!(of_body(body), expected, "{body}");
        }
        // A reference, which a clause copies.
        for body in ["p = x;", "y = 2 * p;", "y = f(x) * p + up[k];"] {
            assert_eq!(of_body(body), "#pragma omp parallel for private(p)", "{body}");
        }
    }

    #[test]
    fn loops_of_c_get_a_directive() {
        let each = with_clauses("a.c", of("+", "s"));
        let directive = "#pragma omp parallel for reduction(+:s) private(t) lastprivate(u) linear(k:2)";
        assert_eq!(change(&each, Some("for (i = 0; i < n; i++)"), ""), directive);
        assert_eq!(change(&each, None, ""), directive);
        let first = "write it as a `for` loop with one counter, then ";
        assert_eq!(change(&each, Some("while (p < end)"), ""), format!("{first}{directive}"));
        let first = "write it as a canonical `for` loop, with one counter that the header begins, compares and steps \
                     (k in the body), then ";
        assert_eq!(change(&each, Some("for (i = 0; i < n; i++, k += 2)"), ""), format!("{first}{directive}"));
        // A step that is not known is none of 1.
        let each = Loop { inductions: vec![("k".to_owned(), 0)], ..each };
        let expected = "compute k from the counter (it grows by the same step in each iteration), then \
                        #pragma omp parallel for reduction(+:s) private(t) lastprivate(u)";
        assert_eq!(change(&each, None, ""), expected);
        let place = Place { file: "a.c".to_owned(), line: 1, column: 1 };
        let of_members = vec![private("s->n", true), private("t", false), private("s->buf", false)];
        let each = Loop { place, private: of_members, ..Loop::default() };
        let expected = "give each iteration its own copy of s->n, and keep the last one's value, then \
                        give each iteration its own copy of s->buf, then #pragma omp parallel for private(t)";
        assert_eq!(change(&each, None, ""), expected);
        let text = "for (i = 0; i < n; i++) { static double row[9], old; row[0] = t;";
        let expected =
            "give each iteration its own copy of the static variable row, then #pragma omp parallel for private(t)";
        let all = vec![private("row", false), private("t", false)];
        assert_eq!(change(&Loop { private: all, ..each }, Some("for (i = 0; i < n; i++) {"), text), expected);
        check("a.f90", "do i = 1, n", &[("max", "m")], "!$omp parallel do reduction(max:m)");
        check("a.f90", "do i = 1, n", &[("+", "h[]")], "!$omp parallel do reduction(+:h)");
        check("a.f90", "do i = 1, n", &[("&&", "all")], "!$omp parallel do reduction(.and.:all)");
        check("a.f90", "a = b + c", &[], "write it as a `do` loop with a counter, then !$omp parallel do");
        check("a.c", "for (i = 0; i < n; i++)", &[("+", "*h[]")], "#pragma omp parallel for reduction(+:h[:])");
        check("a.c", "for (i = 0; i < n; i++)", &[("+", "h[]")], "#pragma omp parallel for reduction(+:h)");
        let copies = "v.par_iter().fold(a copy of h, |x| …).reduce(…, add the copies by +)";
        check("a.rs", "for x in &v {", &[("+", "h[]")], copies);
    }
}
