//! Paths in the names of Rust types and functions, as the compiler and the demangler print them.
//!
//! One pass over the text, in time linear in its length; nesting is bounded by [`MAX_DEPTH`]. Text that ends too early,
//! as long type names in a recording do, gives what was complete.

/// Deepest nesting of brackets that is read.
const MAX_DEPTH: u32 = 100;

/// Words of types that are not part of a path.
const KEYWORDS: &[&str] = &["as", "const", "dyn", "extern", "fn", "for", "impl", "mut", "unsafe", "where"];

/// The function in whose body the first closure of the program's own stands, by the name of a type.
///
/// Closures of the standard library, rayon and crossbeam are passed over: those crates wrap the program's. `None` if there
/// is no closure, for then the type says nothing about the code around the call.
///
/// ```
/// use workspan_symbols::function_from_type_name;
///
/// let name = "rayon_core::join::join::call<u64, fib::fib::{{closure}}>::{{closure}}";
/// assert_eq!(function_from_type_name(name).as_deref(), Some("fib::fib"));
/// assert_eq!(function_from_type_name("fn(u64) -> u64"), None);
/// ```
pub fn function_from_type_name(type_name: &str) -> Option<String> {
    let paths = Parser::parse(type_name).paths;
    paths.into_iter().find(|path| path.closure && path.own && !path.text.is_empty()).map(|path| path.text)
}

/// A name without generic arguments and without the closures in it: that of the function around them. Empty if the text
/// names nothing but closures.
pub(crate) fn simplify(name: &str) -> String {
    let mut text = Parser::parse(name).out;
    // What the compiler or the linker has appended: `.cold`, `.llvm.123`.
    if let Some(suffix) = text.find('.').filter(|at| *at > 0) {
        text.truncate(suffix);
    }
    text
}

/// The last part of a path.
pub(crate) fn last_segment(path: &str) -> &str {
    path.rsplit("::").next().unwrap_or(path)
}

/// True for crates whose code is not the program's own.
fn is_foreign(name: &str) -> bool {
    matches!(name, "core" | "std" | "alloc" | "rayon" | "rayon_core" | "crossbeam") || name.starts_with("crossbeam_")
}

#[derive(Debug, Default)]
struct Path {
    /// Without generic arguments and closures.
    text: String,
    /// Defined in the program, as far as the name reports.
    own: bool,
    closure: bool,
}

/// Reads text, and writes it to `out` without generic arguments and closures.
struct Parser<'t> {
    text: &'t str,
    at: usize,
    depth: u32,
    out: String,
    /// In the order in which they begin.
    paths: Vec<Path>,
}

impl<'t> Parser<'t> {
    fn parse(text: &'t str) -> Parser<'t> {
        let mut parser = Parser { text, at: 0, depth: 0, out: String::new(), paths: Vec::new() };
        while parser.at < text.len() {
            parser.types();
            // A bracket that nothing opened.
            parser.copy_char();
        }
        parser
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip(&mut self, length: usize) -> &'t str {
        let skipped = self.rest().get(..length).unwrap_or(self.rest());
        self.at += skipped.len();
        skipped
    }

    fn copy(&mut self, length: usize) {
        let text = self.skip(length);
        self.out.push_str(text);
    }

    fn copy_char(&mut self) {
        self.copy(self.rest().chars().next().map_or(0, char::len_utf8));
    }

    fn word_length(&self) -> usize {
        self.rest().bytes().take_while(|b| is_word(*b)).count()
    }

    /// Types up to the bracket that closes them, which is left. Returns the number of paths before the last `as` or `for`
    /// between them.
    fn types(&mut self) -> Option<usize> {
        if self.depth == MAX_DEPTH {
            self.at = self.text.len();
            return None;
        }
        self.depth += 1;
        let mut split = None;
        while let Some(byte) = self.peek() {
            match byte {
                b'>' | b')' | b']' => break,
                b'(' | b'[' => self.group(),
                b'<' | b'{' => self.path(),
                b'-' if self.rest().starts_with("->") => self.copy(2),
                b'\'' | b'"' => self.quoted(),
                _ if is_word(byte) => {
                    let word = &self.rest()[..self.word_length()];
                    let keyword = KEYWORDS.contains(&word);
                    if keyword && matches!(word, "as" | "for") {
                        split = Some(self.paths.len());
                    }
                    if keyword || byte.is_ascii_digit() {
                        self.copy(word.len());
                        if word == "for" && self.peek() == Some(b'<') {
                            self.generics();
                        }
                    } else {
                        self.path();
                    }
                }
                _ => self.copy_char(),
            }
        }
        self.depth -= 1;
        split
    }

    fn group(&mut self) {
        self.copy(1);
        self.types();
        self.copy(1);
    }

    /// Generic arguments: read for the paths in them, and dropped.
    fn generics(&mut self) {
        let mark = self.out.len();
        self.skip(1);
        self.types();
        self.skip(1);
        self.out.truncate(mark);
    }

    /// A lifetime, a character or a string. The latter may hold brackets.
    fn quoted(&mut self) {
        let rest = self.rest();
        let mut chars = rest.char_indices().skip(1);
        let quote = rest.chars().next().unwrap_or('"');
        let escaped = rest.as_bytes().get(1) == Some(&b'\\');
        let character = rest.char_indices().nth(2).is_some_and(|(_, c)| c == '\'');
        if quote == '\'' && !escaped && !character {
            self.copy(1);
            self.copy(self.word_length());
            return;
        }
        while let Some((at, c)) = chars.next() {
            if c == '\\' {
                chars.next();
            } else if c == quote {
                self.copy(at + 1);
                return;
            }
        }
        self.copy(rest.len());
    }

    fn path(&mut self) {
        let slot = self.paths.len();
        self.paths.push(Path::default());
        let start = self.out.len();
        let mut path = Path::default();
        if self.peek() == Some(b'<') {
            path.own = self.qualified();
        } else {
            let first = &self.rest()[..self.word_length()];
            path.own = !is_foreign(first);
            path.closure = self.segment(start);
        }
        loop {
            if self.rest().starts_with("::<impl ") {
                self.copy(2);
                self.qualified();
            } else if self.rest().starts_with("::<") {
                self.skip(2);
                self.generics();
            } else if self.peek() == Some(b'<') {
                self.generics();
            } else if self.rest().starts_with("::") {
                self.skip(2);
                path.closure |= self.segment(start);
            } else {
                break;
            }
        }
        path.text = self.out.get(start..).unwrap_or("").to_owned();
        self.paths[slot] = path;
    }

    /// One part of the path that begins at `start` of the output; true for a closure, which is not written.
    fn segment(&mut self, start: usize) -> bool {
        let word = self.skip(self.word_length());
        if !word.is_empty() {
            if self.out.len() > start {
                self.out.push_str("::");
            }
            self.out.push_str(word);
        }
        self.peek() == Some(b'{') && self.braces()
    }

    /// `{{closure}}`, `{closure#0}`, `{{vtable.shim}}`: never written. True for a closure.
    fn braces(&mut self) -> bool {
        let mut open = 0_usize;
        for (at, byte) in self.rest().bytes().enumerate() {
            match byte {
                b'{' => open += 1,
                b'}' => open -= 1,
                _ => {}
            }
            if open == 0 {
                let text = self.skip(at + 1);
                return text.trim_start_matches('{').starts_with("closure");
            }
        }
        self.at = self.text.len();
        false
    }

    /// `<Type as Trait>`, `<impl Trait for Type>` or `<Type>`. True if the type or the trait is the program's own.
    fn qualified(&mut self) -> bool {
        let open = self.out.len();
        self.copy(1);
        let first = self.paths.len();
        // Tuples, slices and functions belong to no crate, whatever they are made of.
        let inner = self.rest().trim_start_matches(['&', '*']);
        let named = inner.bytes().next().is_some_and(|b| is_word(b) || b == b'<') && !inner.starts_with("fn(");
        let split = self.types();
        let own = |index: usize| self.paths.get(index).is_some_and(|path| path.own);
        let result = named && own(first) || split.is_some_and(own);
        let plain = |text: &str| text.bytes().all(|b| is_word(b) || b == b':');
        if split.is_none() && self.out.get(open + 1..).is_some_and(plain) {
            self.out.remove(open);
            self.skip(1);
        } else {
            self.copy(1);
        }
        result
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || !byte.is_ascii()
}

#[cfg(test)]
#[path = "path_tests.rs"]
mod tests;
