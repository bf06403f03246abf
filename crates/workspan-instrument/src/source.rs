//! Just enough reading of Rust source to find functions, blocks and statements: comments, strings and character
//! literals are blanked, then brackets are matched.

use std::ops::Range;

/// `text` with comments and the contents of literals replaced by spaces; the same length in bytes.
pub fn blanked(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = bytes.to_vec();
    let mut i = 0;
    while i < bytes.len() {
        let rest = &bytes[i..];
        let end = if rest.starts_with(b"//") {
            i + rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len())
        } else if rest.starts_with(b"/*") {
            i + block_comment(rest)
        } else if let Some(length) = raw_string(bytes, i) {
            i + length
        } else if rest[0] == b'"' {
            i + quoted(rest)
        } else if let (b'\'', Some(length)) = (rest[0], character(rest)) {
            i + length
        } else {
            i += 1;
            continue;
        };
        for byte in &mut out[i..end] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        i = end.max(i + 1);
    }
    // Only ASCII was put in place of whole tokens, so this is valid.
    String::from_utf8(out).unwrap_or_else(|_| " ".repeat(text.len()))
}

fn block_comment(text: &[u8]) -> usize {
    let (mut depth, mut i) = (0, 0);
    while i < text.len() {
        if text[i..].starts_with(b"/*") {
            depth += 1;
            i += 2;
        } else if text[i..].starts_with(b"*/") {
            depth -= 1;
            i += 2;
            if depth == 0 {
                return i;
            }
        } else {
            i += 1;
        }
    }
    text.len()
}

fn raw_string(text: &[u8], at: usize) -> Option<usize> {
    let before = at.checked_sub(1).map(|i| text[i]);
    if before.is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_') {
        return None;
    }
    let rest = &text[at..];
    let start = match rest {
        [b'r', ..] => 1,
        [b'b', b'r', ..] => 2,
        _ => return None,
    };
    let hashes = rest[start..].iter().take_while(|b| **b == b'#').count();
    if rest.get(start + hashes) != Some(&b'"') {
        return None;
    }
    let close: Vec<u8> = std::iter::once(b'"').chain(std::iter::repeat_n(b'#', hashes)).collect();
    let body = &rest[start + hashes + 1..];
    let end = body.windows(close.len()).position(|w| w == close).map_or(body.len(), |i| i + close.len());
    Some(start + hashes + 1 + end)
}

fn quoted(text: &[u8]) -> usize {
    let mut i = 1;
    while i < text.len() {
        match text[i] {
            b'\\' => i += 2,
            b'"' => return i + 1,
            _ => i += 1,
        }
    }
    text.len()
}

/// Length of a character literal; `None` for the quote of a lifetime.
fn character(text: &[u8]) -> Option<usize> {
    match text {
        [_, b'\\', ..] => text.iter().skip(3).position(|b| *b == b'\'').map(|i| i + 4),
        _ => {
            // One character of any width, then a quote.
            let width = std::str::from_utf8(&text[1..text.len().min(5)])
                .or_else(|e| std::str::from_utf8(&text[1..1 + e.valid_up_to()]))
                .ok()
                .and_then(|s| s.chars().next())
                .map_or(1, char::len_utf8);
            (text.get(1 + width) == Some(&b'\'')).then_some(width + 2)
        }
    }
}

/// Position after the bracket that closes the one at `open`.
pub fn closing(blanked: &str, open: usize) -> Option<usize> {
    let bytes = blanked.as_bytes();
    let mut depth = 0usize;
    for (i, byte) in bytes.iter().enumerate().skip(open) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(i + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// A function found in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Start of the line with the word `fn`.
    pub line: usize,
    /// From the name to the body's brace.
    pub signature: Range<usize>,
    /// Between the braces of the body; empty where there is no body.
    pub body: Range<usize>,
}

/// All functions called `name` within `range`.
pub fn functions(blanked: &str, range: Range<usize>, name: &str) -> Vec<Function> {
    let mut found = Vec::new();
    let text = &blanked[range.clone()];
    for (at, _) in text.match_indices("fn ") {
        let at = range.start + at;
        let starts_word = !blanked[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let after = &blanked[at + 3..];
        let Some(rest) = after.strip_prefix(name) else {
            continue;
        };
        if !starts_word || rest.starts_with(|c: char| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let signature_start = at + 3;
        let Some(stop) = signature_end(blanked, signature_start) else {
            continue;
        };
        let body = if blanked.as_bytes()[stop] == b'{' {
            match closing(blanked, stop) {
                Some(end) => stop + 1..end - 1,
                None => continue,
            }
        } else {
            stop..stop
        };
        let line = blanked[..at].rfind('\n').map_or(0, |i| i + 1);
        found.push(Function { line, signature: signature_start..stop, body });
    }
    found
}

/// Position of the brace that opens the body, or of the semicolon of a declaration.
fn signature_end(blanked: &str, from: usize) -> Option<usize> {
    let bytes = blanked.as_bytes();
    let mut i = from;
    while i < bytes.len() {
        match bytes[i] {
            b'{' | b';' => return Some(i),
            b'(' | b'[' => i = closing(blanked, i)?,
            _ => i += 1,
        }
    }
    None
}

/// The inside of the block whose header, with white space normalised, begins with `header`.
pub fn block(blanked: &str, header: &str) -> Vec<Range<usize>> {
    let keyword = header.split_whitespace().next().unwrap_or(header);
    let mut found = Vec::new();
    for (at, _) in blanked.match_indices(keyword) {
        if blanked[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let Some(open) = blanked[at..].find('{').map(|i| at + i) else {
            continue;
        };
        let text = blanked[at..open].split_whitespace().collect::<Vec<_>>().join(" ");
        let rest = text.strip_prefix(header);
        if !rest.is_some_and(|r| r.is_empty() || !r.starts_with(|c: char| c.is_alphanumeric() || c == '_')) {
            continue;
        }
        if let Some(end) = closing(blanked, open) {
            found.push(open + 1..end - 1);
        }
    }
    found
}

/// The statement around `at` within `body`: from its first character to after its semicolon.
pub fn statement(blanked: &str, body: &Range<usize>, at: usize) -> Option<Range<usize>> {
    let bytes = blanked.as_bytes();
    // Backwards to the end of the previous statement or the start of the enclosing block.
    let mut start = at;
    let mut depth = 0usize;
    while start > body.start {
        match bytes[start - 1] {
            b')' | b']' | b'}' => depth += 1,
            b'(' | b'[' | b'{' if depth > 0 => depth -= 1,
            b'(' | b'[' => {}
            b'{' => break,
            b';' if depth == 0 => break,
            _ => {}
        }
        // A block that ends a line before the statement ends a statement too.
        if bytes[start - 1] == b'}'
            && depth == 1
            && blanked[start..at].contains('\n')
            && only_space(&blanked[start..first_of_line(blanked, at)])
        {
            break;
        }
        start -= 1;
    }
    let start = start + (blanked[start..].len() - blanked[start..].trim_start().len());
    let mut end = start;
    while end < body.end {
        match bytes[end] {
            b'(' | b'[' | b'{' => end = closing(blanked, end)?,
            b';' => return Some(start..end + 1),
            _ => end += 1,
        }
    }
    None
}

fn only_space(text: &str) -> bool {
    text.trim().is_empty()
}

fn first_of_line(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |i| i + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_blanked(text: &str, expected: &str) {
        assert_eq!(blanked(text), expected);
    }

    #[test]
    fn literals_and_comments_are_blanked() {
        check_blanked("a // b {\nc", "a       \nc");
        check_blanked("a /* { /* } */ */ b", "a                 b");
        check_blanked(r#"f("}\"{", '{', '\'', 'a: loop)"#, "f(      ,    ,     , 'a: loop)");
        check_blanked(r##"r#"{"# b"}""##, "       b   ");
        check_blanked("'ä' x", "     x");
    }

    #[test]
    fn finds_functions_and_blocks() {
        let text = "impl A { fn f(&self) -> [u8; 2] { g({ 1 }) } } impl Ab { fn f() {} } fn fg() {}";
        let b = blanked(text);
        let blocks = block(&b, "impl A");
        assert_eq!(blocks.len(), 1);
        let found = functions(&b, blocks[0].clone(), "f");
        assert_eq!(found.len(), 1);
        assert_eq!(&text[found[0].body.clone()], " g({ 1 }) ");
        assert_eq!(functions(&b, 0..b.len(), "f").len(), 2);
    }

    #[test]
    fn finds_statements() {
        let text = "{ let a = f(|x| { x; y }); let b = g(1,\n h(2)); while p() { q(); } r(); }";
        let b = blanked(text);
        let body = 1..text.len() - 1;
        let of = |needle: &str| statement(&b, &body, text.find(needle).unwrap()).map(|r| &text[r]);
        assert_eq!(of("f(|x|"), Some("let a = f(|x| { x; y });"));
        assert_eq!(of("h(2)"), Some("let b = g(1,\n h(2));"));
        assert_eq!(of("q()"), Some("q();"));
    }
}
