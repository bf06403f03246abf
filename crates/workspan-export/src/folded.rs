//! Folded stacks: a line for each stack, `program;site;site WEIGHT`, weights in nanoseconds. What `flamegraph.pl`, inferno and
//! others read.
//!
//! The format cannot quote: a semicolon in a name becomes a comma, what is no printable character a blank.

use std::io::{self, Write};

use crate::stacks::{Stacks, Weight};

/// Writes the stacks that weigh something.
pub fn write(stacks: &Stacks, weight: Weight, out: &mut dyn Write) -> io::Result<()> {
    let names: Vec<String> = stacks.frames.iter().map(|frame| clean(&frame.name)).collect();
    for (stack, own) in stacks.weighted(weight) {
        let frames = stacks.frames_of(stack);
        let frames: Vec<&str> = frames.iter().map(|frame| names[*frame].as_str()).collect();
        writeln!(out, "{} {}", frames.join(";"), own.0)?;
    }
    Ok(())
}

fn clean(name: &str) -> String {
    let clean = |c: char| match c {
        ';' => ',',
        c if c.is_control() || c.is_whitespace() => ' ',
        c => c,
    };
    let name: String = name.chars().map(clean).collect();
    if name.trim().is_empty() {
        "?".to_owned()
    } else {
        name
    }
}
