//! Whether a loop may stand behind a directive of OpenMP: its text says.
//!
//! A canonical loop begins, compares and steps one counter in its header, or goes over a range. Any other one does not compile there.

/// What a loop of C or C++ is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Header {
    /// A directive can stand before it, as far as its text is known.
    Canonical,
    /// A `for` before which none can.
    OtherFor,
    /// `while`, `do`, or a label.
    NoFor,
}

/// Lines that a header has at most.
const LINES: u32 = 12;

/// The line of a loop, and those after it that its header goes on to.
pub(super) fn whole(of: u32, line: impl Fn(u32) -> Option<String>) -> Option<String> {
    let mut text = line(of)?;
    let is_open = |text: &str| text.matches('(').count() > text.matches(')').count();
    for next in of + 1..of + LINES {
        if !is_open(&text) {
            break;
        }
        let Some(more) = line(next) else { break };
        text = text + "\n" + &more;
    }
    Some(text)
}

/// The loop at a column of a line; without its text, nothing is known against it.
pub(super) fn of_c(text: &str, column: u32) -> Header {
    let here = behind(text, column);
    let begin = match here.map(|here| (here, word(here))) {
        Some((here, "for")) => here,
        Some((_, "while" | "do" | "goto")) => return Header::NoFor,
        // A macro, or the place of something in the header.
        _ => match text.match_indices("for").find(|(at, _)| is_word(text, *at, "for")) {
            Some((at, _)) => &text[at..],
            None if text.trim().is_empty() => return Header::Canonical,
            None => return Header::NoFor,
        },
    };
    match parenthesis(begin) {
        Some(header) if !is_canonical(header) => Header::OtherFor,
        _ => Header::Canonical,
    }
}

/// True for a `do` with a counter; without its text, nothing is known against it.
pub(super) fn of_fortran(text: &str, column: u32) -> bool {
    let text = text.to_ascii_lowercase();
    let is_counted = |text: &str| {
        let Some(rest) = text.strip_prefix("do") else { return false };
        // `do 20 j = 1, n`, `do 20, j = 1, n`.
        let rest = rest.trim_start().trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
        let rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
        let (counter, begin) = rest.split_once('=').unwrap_or_default();
        is_name(counter.trim()) && begin.contains(',')
    };
    let statement = text.trim().trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
    let named = statement.split_once(':').map(|(_, rest)| rest.trim_start());
    let here = behind(&text, column).unwrap_or_default();
    statement.is_empty() || [Some(statement), named, Some(here)].into_iter().flatten().any(is_counted)
}

/// What stands from a column on.
pub(super) fn behind(text: &str, column: u32) -> Option<&str> {
    text.get((column as usize).checked_sub(1)?..)
}

fn word(text: &str) -> &str {
    text.split(|c: char| !is_letter(c)).next().unwrap_or_default()
}

fn is_letter(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn is_word(text: &str, at: usize, name: &str) -> bool {
    let (before, after) = (&text[..at], &text[at + name.len()..]);
    !before.ends_with(is_letter) && !after.starts_with(is_letter)
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_') && text.chars().all(is_letter)
}

/// What the first parenthesis of a text has in it.
fn parenthesis(text: &str) -> Option<&str> {
    let begin = text.find('(')? + 1;
    let mut depth = 1;
    for (at, letter) in text[begin..].char_indices() {
        depth += match letter {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        if depth == 0 {
            return Some(&text[begin..begin + at]);
        }
    }
    None
}

/// Parts of a text between those of its separators that stand in no brackets.
fn parts(text: &str, separator: char) -> Vec<&str> {
    let (mut found, mut begin, mut depth) = (Vec::new(), 0, 0);
    for (at, letter) in text.char_indices() {
        match letter {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ if letter == separator && depth == 0 => {
                found.push(&text[begin..at]);
                begin = at + letter.len_utf8();
            }
            _ => {}
        }
    }
    found.push(&text[begin..]);
    found
}

fn is_canonical(header: &str) -> bool {
    let all = parts(header, ';');
    let [first, condition, step] = all.as_slice() else {
        // Over a range of C++.
        return all.len() == 1 && parts(header, ':').len() > 1;
    };
    let Some(counter) = begun(first) else { return false };
    compares(condition, counter) && steps(step, counter)
}

/// The counter that a header begins: `i = 0`, `int i = 0`, `auto it = v.begin()`.
fn begun(first: &str) -> Option<&str> {
    if has_commas(first) {
        return None;
    }
    let (left, right) = first.split_once('=').unwrap_or_else(|| {
        // `int i{0}`, `int i(0)`.
        let at = first.find(['{', '(']).unwrap_or(first.len());
        first.split_at(at)
    });
    let counter = left.trim_end().rsplit(|c: char| !is_letter(c)).next()?;
    (is_name(counter) && !right.trim().is_empty() && !left.contains(['[', '.'])).then_some(counter)
}

/// True if a text has a comma between expressions; those of templates' arguments are none.
fn has_commas(text: &str) -> bool {
    let plain = parts(text, ',');
    let mut angles = 0_i32;
    plain.iter().take(plain.len() - 1).any(|part| {
        let count = |c: char| i32::try_from(part.matches(c).count()).unwrap_or(0);
        angles += count('<') - count('>');
        angles <= 0
    })
}

fn compares(condition: &str, counter: &str) -> bool {
    let condition = condition.trim();
    if condition.contains("&&") || condition.contains("||") || parts(condition, ',').len() > 1 {
        return false;
    }
    ["<=", ">=", "!=", "<", ">"].iter().any(|sign| {
        let side = |text: &str| text.trim() == counter;
        condition.split_once(sign).is_some_and(|(left, right)| side(left) || side(right))
    })
}

fn steps(step: &str, counter: &str) -> bool {
    let plain: String = step.chars().filter(|c| !c.is_whitespace()).collect();
    let rest = |sign: &str| plain.strip_prefix(counter).and_then(|rest| rest.strip_prefix(sign));
    let once = ["++", "--"].iter().any(|sign| rest(sign) == Some("") || plain.strip_prefix(sign) == Some(counter));
    let own = |text: &str| text.split(|c: char| !is_letter(c)).filter(|word| *word == counter).count();
    let by = ["+=", "-="].iter().filter_map(|sign| rest(sign)).any(|step| own(step) == 0 && !step.is_empty());
    let sum = || {
        let value = rest("=").filter(|value| !value.starts_with('='))?;
        let behind = value.strip_prefix(counter).is_some_and(|rest| rest.starts_with(['+', '-']));
        let before = value.strip_suffix(counter).is_some_and(|rest| rest.ends_with('+'));
        Some(own(value) == 1 && (behind || before))
    };
    parts(step, ',').len() == 1 && (once || by || sum() == Some(true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_loops_have_one_counter() {
        for text in [
            "for (int i = 0; i < n; i++) {",
            "  for (i = n - 1; i >= 0; --i)",
            "for (size_t i = 0; n > i; i += 2) a[i] = f(i, 2);",
            "for (auto it = v.begin(); it != v.end(); ++it)",
            "for (std::map<int, int>::iterator it = m.begin(); it != m.end(); ++it)",
            "for (const auto &x : f(v, w))",
            "for (std::size_t i{0}; i < n; i = i + 1)",
            "for (p = a; p < a + f(n, 1); p = 2 + p)",
            "for (i = 0; i < max(a, b);\n     i -= step)",
            "FOR_EACH(i) { for (int i = 0; i < n; i++) x; }",
            "for (int i = 0; i < n",
            "",
        ] {
            assert_eq!(of_c(text, 1), Header::Canonical, "{text}");
        }
    }

    #[test]
    fn others_do_not_compile_behind_a_directive() {
        for text in [
            "for (i = 0, j = 0; i < n; i++) {",
            "for (int i = 0, j = 0; i < n; i++) {",
            "for (i = 0; i < n; i++, j += 2)",
            "for (; i < n; i++)",
            "for (i = 0; ; i++)",
            "for (;;)",
            "for (i = 0; i < n;)",
            "for (i = 0; i * i < n; i++)",
            "for (i = 0; i < n && a[i]; i++)",
            "for (i = 0; i < n; i *= 2)",
            "for (i = 0; i < n; i += i)",
            "for (i = 0; i < n; i = next(i))",
            "for (a[0] = 0; a[0] < n; a[0]++)",
            "for (p = head; p; p = p->next)",
            "for (i = 0; j < n; i++)",
        ] {
            assert_eq!(of_c(text, 1), Header::OtherFor, "{text}");
        }
        for text in ["while (i < n) { for (k = 0; k < 3; k++) x; }", "do {", "again: x++;", "while (information)"] {
            assert_eq!(of_c(text, 1), Header::NoFor, "{text}");
        }
        assert_eq!(of_c("for (i = 0; i < n; i++) while (j--) x;", 25), Header::NoFor);
        assert_eq!(of_c("while (j--) for (i = 0; i < n; i++) x;", 13), Header::Canonical);
    }

    #[test]
    fn loops_of_fortran_have_a_counter() {
        for text in
            ["  do i = 1, n", "DO 20 J = 1,N", "      do 30, i = 1, n, 2", "rows: do i = 1, n", "10 do i=1,n", ""]
        {
            assert!(of_fortran(text, 1), "{text}");
        }
        assert!(of_fortran("k = 0; do i = 1, n", 8));
        for text in
            ["do while (i < n)", "do", "do concurrent (i = 1:n)", "a = b + c", "a(2:n, 1) = 0", "where (a > 0) a = 1"]
        {
            assert!(!of_fortran(text, 1), "{text}");
        }
    }

    #[test]
    fn headers_go_on_to_further_lines() {
        let lines = ["for (i = 0;", "     i < f(n);", "     i++)", "  x();"];
        let line = |number: u32| lines.get(number as usize - 1).map(|line| (*line).to_owned());
        assert_eq!(whole(1, line).as_deref(), Some("for (i = 0;\n     i < f(n);\n     i++)"));
        assert_eq!(whole(4, line).as_deref(), Some("  x();"));
        assert_eq!(whole(5, line), None);
    }
}
