//! Insertions into a source text, anchored in short snippets of it.

use std::ops::Range;

use crate::source::{self, Function};

/// An insertion that found no place, or more than one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected} in {place}, found {found}")]
pub struct AnchorError {
    /// What was looked for.
    pub expected: String,
    /// In which function or block.
    pub place: String,
    /// How often it was there.
    pub found: usize,
}

/// A text and the insertions collected for it. Positions refer to the original text; nothing is applied until
/// [`Edits::finish`].
#[derive(Clone, Debug)]
pub struct Edits {
    text: String,
    blanked: String,
    changes: Vec<(Range<usize>, String)>,
}

/// A place to edit: a function's body or a block.
#[derive(Clone, Debug)]
pub struct Place {
    name: String,
    range: Range<usize>,
    line: usize,
    signature: Range<usize>,
}

impl Edits {
    /// Starts to edit `text`.
    pub fn new(text: String) -> Edits {
        let blanked = source::blanked(&text);
        Edits { text, blanked, changes: Vec::new() }
    }

    /// The whole text as a place.
    pub fn whole(&self) -> Place {
        Place { name: "the file".to_owned(), range: 0..self.text.len(), line: 0, signature: 0..0 }
    }

    /// The one function called `name`.
    pub fn function(&self, name: &str) -> Result<Place, AnchorError> {
        let found = source::functions(&self.blanked, 0..self.text.len(), name);
        one(found, || format!("`fn {name}`"), "the file").map(|f| place(name, f))
    }

    /// The one function called `name` in the one block whose header begins with `header`.
    pub fn method(&self, header: &str, name: &str) -> Result<Place, AnchorError> {
        let block = self.block(header)?;
        // Not helper functions inside of other methods.
        let outermost = |function: &Function| {
            let before = &self.blanked[block.range.start..function.signature.start];
            before.matches('{').count() == before.matches('}').count()
        };
        let mut found = source::functions(&self.blanked, block.range.clone(), name);
        found.retain(outermost);
        one(found, || format!("`fn {name}`"), header).map(|f| place(name, f))
    }

    /// All functions called `name` that have a body.
    pub fn functions(&self, name: &str) -> Vec<Place> {
        let found = source::functions(&self.blanked, 0..self.text.len(), name);
        found.into_iter().filter(|f| !f.body.is_empty()).map(|f| place(name, f)).collect()
    }

    /// The one block whose header begins with `header`.
    pub fn block(&self, header: &str) -> Result<Place, AnchorError> {
        let found = source::block(&self.blanked, header);
        let range = one(found, || format!("`{header} {{`"), "the file")?;
        Ok(Place { name: header.to_owned(), range, line: 0, signature: 0..0 })
    }

    /// The text of a place.
    pub fn text(&self, place: &Place) -> &str {
        &self.text[place.range.clone()]
    }

    /// The names of a function's type parameters.
    pub fn type_parameters(&self, function: &Place) -> Vec<String> {
        let signature = &self.blanked[function.signature.clone()];
        let Some(rest) = signature.strip_prefix(function.name.as_str()).and_then(|s| s.strip_prefix('<')) else {
            return Vec::new();
        };
        let mut depth = 1usize;
        let mut parameters = vec![String::new()];
        for c in rest.chars() {
            match c {
                '<' | '(' | '[' => depth += 1,
                '>' | ')' | ']' => depth -= 1,
                ',' if depth == 1 => {
                    parameters.push(String::new());
                    continue;
                }
                _ => {}
            }
            if depth == 0 {
                break;
            }
            if let Some(last) = parameters.last_mut() {
                last.push(c);
            }
        }
        let name = |p: &String| p.split(':').next().unwrap_or("").trim().to_owned();
        let is_type = |n: &String| !n.is_empty() && !n.starts_with('\'') && !n.starts_with("const ");
        parameters.iter().map(name).filter(is_type).collect()
    }

    /// Inserts at the start of a body.
    pub fn at_start(&mut self, place: &Place, insert: &str) {
        self.insert(place.range.start, &format!("\n{insert}"));
    }

    /// Inserts at the end of a body.
    pub fn at_end(&mut self, place: &Place, insert: &str) {
        self.insert(place.range.end, &format!("\n{insert}\n"));
    }

    /// Puts an attribute before a function.
    pub fn attribute(&mut self, function: &Place, attribute: &str) {
        self.insert(function.line, &format!("{attribute}\n"));
    }

    /// Inserts before the statement that contains the only `snippet`.
    pub fn before(&mut self, place: &Place, snippet: &str, insert: &str) -> Result<(), AnchorError> {
        let at = self.find(place, snippet)?;
        let start = self.statement(place, snippet, at)?.start;
        self.insert(start, &format!("{insert}\n"));
        Ok(())
    }

    /// Inserts after the statement that contains the only `snippet`.
    pub fn after(&mut self, place: &Place, snippet: &str, insert: &str) -> Result<(), AnchorError> {
        let at = self.find(place, snippet)?;
        let end = self.statement(place, snippet, at)?.end;
        self.insert(end, &format!("\n{insert}"));
        Ok(())
    }

    /// Inserts right before the only `snippet`.
    pub fn right_before(&mut self, place: &Place, snippet: &str, insert: &str) -> Result<(), AnchorError> {
        let at = self.find(place, snippet)?;
        self.insert(at, insert);
        Ok(())
    }

    /// Inserts right after the only `snippet`.
    pub fn right_after(&mut self, place: &Place, snippet: &str, insert: &str) -> Result<(), AnchorError> {
        let at = self.find(place, snippet)?;
        self.insert(at + snippet.len(), insert);
        Ok(())
    }

    /// Replaces the only `snippet`.
    pub fn replace(&mut self, place: &Place, snippet: &str, with: &str) -> Result<(), AnchorError> {
        let at = self.find(place, snippet)?;
        self.changes.push((at..at + snippet.len(), with.to_owned()));
        Ok(())
    }

    /// Replaces every `snippet`; there must be `count`.
    pub fn replace_all(&mut self, snippet: &str, with: &str, count: usize) -> Result<(), AnchorError> {
        let found: Vec<usize> = self.matches(&self.whole(), snippet);
        if found.len() != count {
            let expected = format!("{count} times `{snippet}`");
            return Err(AnchorError { expected, place: "the file".to_owned(), found: found.len() });
        }
        for at in found {
            self.changes.push((at..at + snippet.len(), with.to_owned()));
        }
        Ok(())
    }

    /// Appends to the text.
    pub fn append(&mut self, text: &str) {
        self.insert(self.text.len(), &format!("\n{text}"));
    }

    /// Applies everything.
    pub fn finish(mut self) -> String {
        // Stable: insertions at one place keep their order.
        self.changes.sort_by_key(|(range, _)| range.start);
        let mut out = String::with_capacity(self.text.len() * 2);
        let mut at = 0;
        for (range, insert) in &self.changes {
            out.push_str(&self.text[at..range.start]);
            out.push_str(insert);
            at = range.end;
        }
        out.push_str(&self.text[at..]);
        out
    }

    fn insert(&mut self, at: usize, text: &str) {
        self.changes.push((at..at, text.to_owned()));
    }

    /// Positions of `snippet` in code; where it has literals of its own, the literal text must match too.
    fn matches(&self, place: &Place, snippet: &str) -> Vec<usize> {
        let wanted = source::blanked(snippet);
        self.text[place.range.clone()]
            .match_indices(snippet)
            .map(|(i, _)| place.range.start + i)
            .filter(|at| self.blanked[*at..at + snippet.len()] == wanted)
            .collect()
    }

    fn find(&self, place: &Place, snippet: &str) -> Result<usize, AnchorError> {
        one(self.matches(place, snippet), || format!("`{snippet}`"), &place.name)
    }

    fn statement(&self, place: &Place, snippet: &str, at: usize) -> Result<Range<usize>, AnchorError> {
        source::statement(&self.blanked, &place.range, at).ok_or_else(|| AnchorError {
            expected: format!("a statement with `{snippet}`"),
            place: place.name.clone(),
            found: 0,
        })
    }
}

fn place(name: &str, function: Function) -> Place {
    Place { name: name.to_owned(), range: function.body, line: function.line, signature: function.signature }
}

fn one<T>(mut found: Vec<T>, expected: impl FnOnce() -> String, place: &str) -> Result<T, AnchorError> {
    match (found.pop(), found.len()) {
        (Some(only), 0) => Ok(only),
        (None, _) => Err(AnchorError { expected: expected(), place: place.to_owned(), found: 0 }),
        (Some(_), more) => Err(AnchorError { expected: expected(), place: place.to_owned(), found: more + 1 }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
impl A {
    pub fn f<T: Fn(u8, u8), 'a, const N: usize, U>(&self) {
        // call(x);
        let a = call(x);
        done(a)
    }
}
";

    #[test]
    fn inserts_around_statements() {
        let mut edits = Edits::new(TEXT.to_owned());
        let f = edits.method("impl A", "f").unwrap();
        edits.attribute(&f, "#[inline]");
        edits.at_start(&f, "start();");
        edits.before(&f, "call(x)", "before();").unwrap();
        edits.after(&f, "call(x)", "after();").unwrap();
        edits.replace(&f, "done(a)", "gone(a)").unwrap();
        assert_eq!(edits.type_parameters(&f), ["T", "U"]);
        let expected = "\
impl A {
#[inline]
    pub fn f<T: Fn(u8, u8), 'a, const N: usize, U>(&self) {
start();
        // call(x);
        before();
let a = call(x);
after();
        gone(a)
    }
}
";
        assert_eq!(edits.finish(), expected);
    }

    #[test]
    fn methods_are_found_however_they_are_laid_out() {
        let edits = Edits::new("impl A { fn g() { fn f() {} } fn f() { 1 } }".to_owned());
        assert_eq!(edits.text(&edits.method("impl A", "f").unwrap()), " 1 ");
        // What is no Rust is none of our business, but must not end in a panic.
        assert!(Edits::new("impl A { ) }\nfn f() {}".to_owned()).method("impl A", "f").is_err());
    }

    #[test]
    fn a_missing_or_ambiguous_anchor_is_an_error() {
        let mut edits = Edits::new(TEXT.to_owned());
        let f = edits.function("f").unwrap();
        assert_eq!(edits.before(&f, "nothing()", "x").unwrap_err().to_string(), "expected `nothing()` in f, found 0");
        assert_eq!(edits.replace(&f, "a", "x").unwrap_err().found, 3);
        assert!(edits.method("impl B", "f").is_err());
    }
}
