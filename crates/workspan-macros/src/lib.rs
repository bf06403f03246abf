//! The attribute `#[workspan_probe::function]`; use it from there.
//!
//! All it does is to put one statement before the others of a function, so it reads tokens, not Rust: whatever else the
//! function has, known to this crate or not, stays as it is.

use std::str::FromStr;

use proc_macro::{Delimiter, Group, Span, TokenStream, TokenTree};

/// Makes each call of a function a region with the function's name, as by `workspan_probe::region`.
#[proc_macro_attribute]
pub fn function(arguments: TokenStream, item: TokenStream) -> TokenStream {
    if let Some(argument) = arguments.into_iter().next() {
        return error("`#[workspan_probe::function]` takes no arguments", argument.span());
    }
    let mut tokens: Vec<TokenTree> = item.into_iter().collect();
    let Some(name) = name(&tokens) else {
        return error("`#[workspan_probe::function]` belongs on a function", Span::call_site());
    };
    let before = &tokens[..name];
    if let Some(token) = before.iter().find(|token| is_word(token, "async") || is_word(token, "const")) {
        return error("calls of an `async` or `const` function are no region: mark what it calls", token.span());
    }
    let (name, span) = (tokens[name].to_string(), tokens[name].span());
    let Some(TokenTree::Group(body)) = tokens.last().filter(|last| is_block(last)) else {
        return error("`#[workspan_probe::function]` belongs on a function with a body", span);
    };
    let name = name.strip_prefix("r#").unwrap_or(&name);
    let guard = format!("let _workspan_region = ::workspan_probe::region(concat!(module_path!(), \"::{name}\"));");
    let Ok(guard) = TokenStream::from_str(&guard) else {
        return error("the function's name cannot be written as a text", span);
    };
    // The region's place is the function's name.
    let mut inside: TokenStream = guard.into_iter().map(|token| at(token, span)).collect();
    inside.extend(body.stream());
    let mut whole = Group::new(Delimiter::Brace, inside);
    whole.set_span(body.span());
    tokens.pop();
    tokens.into_iter().chain([TokenTree::Group(whole)]).collect()
}

/// Position of the function's name.
fn name(tokens: &[TokenTree]) -> Option<usize> {
    let keyword = tokens.iter().position(|token| is_word(token, "fn"))?;
    matches!(tokens.get(keyword + 1), Some(TokenTree::Ident(_))).then_some(keyword + 1)
}

fn is_word(token: &TokenTree, word: &str) -> bool {
    matches!(token, TokenTree::Ident(ident) if ident.to_string() == word)
}

fn is_block(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
}

/// The token as if it stood at `span`, written there by the user: of what a macro has written, the compiler reports the place
/// of the macro's use.
fn at(token: TokenTree, span: Span) -> TokenTree {
    let mut token = match token {
        TokenTree::Group(group) => {
            let stream = group.stream().into_iter().map(|token| at(token, span)).collect();
            TokenTree::Group(Group::new(group.delimiter(), stream))
        }
        other => other,
    };
    token.set_span(span);
    token
}

fn error(text: &str, span: Span) -> TokenStream {
    let stream = TokenStream::from_str(&format!("compile_error! {{ {text:?} }}")).unwrap_or_default();
    stream.into_iter().map(|token| at(token, span)).collect()
}
