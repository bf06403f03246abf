//! A file's code: what of its text the rules for code look at.

use workspan_instrument::source::{blanked, closing};

/// Code without comments, contents of literals, and inline modules of tests; lines stay where they are.
pub(super) fn product(text: &str) -> String {
    let mut code = blanked(text);
    while let Some(at) = code.find("#[cfg(test)]\nmod ") {
        let end = code[at..].find('{').and_then(|open| closing(&code, at + open)).unwrap_or(code.len());
        let lines = code[at..end].matches('\n').count();
        code.replace_range(at..end, &"\n".repeat(lines));
    }
    code
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_no_product() {
        let text = "a\n#[cfg(test)]\nmod tests {\n { }\n}\nb // c\n";
        assert_eq!(product(text), "a\n\n\n\n\nb     \n");
    }
}
