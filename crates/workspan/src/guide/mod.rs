//! `workspan guide`: for people, scripts and language models.

pub mod text;

use std::fmt::Write;

use anyhow::bail;
use serde_json::json;

use crate::args::Guide;
use crate::exit::Outcome;
use crate::output;
use text::{Topic, Verb, TOPICS, VERBS};

/// Runs the command.
pub fn run(args: &Guide) -> anyhow::Result<Outcome> {
    let (topics, verbs) = chosen(args.verb.as_deref())?;
    let text = if args.json { json(&topics, &verbs) } else { words(&topics, &verbs) };
    output::data(&text)?;
    Ok(Outcome::OK)
}

/// What is requested: everything, a topic, or a command.
fn chosen(name: Option<&str>) -> anyhow::Result<(Vec<&'static Topic>, Vec<&'static Verb>)> {
    let Some(name) = name else {
        return Ok((TOPICS.iter().collect(), VERBS.iter().collect()));
    };
    let topics: Vec<_> = TOPICS.iter().filter(|topic| topic.name == name).collect();
    let verbs: Vec<_> = VERBS.iter().filter(|verb| verb.name == name).collect();
    if topics.is_empty() && verbs.is_empty() {
        let names = TOPICS.iter().map(|topic| topic.name).chain(VERBS.iter().map(|verb| verb.name));
        bail!("the guide has nothing on `{name}`; it has {}", names.collect::<Vec<_>>().join(", "));
    }
    Ok((topics, verbs))
}

fn words(topics: &[&Topic], verbs: &[&Verb]) -> String {
    let mut out = String::new();
    for topic in topics {
        section(&mut out, &topic.name.to_uppercase(), topic.text);
    }
    for verb in verbs {
        section(&mut out, &format!("workspan {}", verb.name), verb.question);
        let _ = writeln!(out, "\n{}", verb.text);
        if !verb.fields.is_empty() {
            let _ = writeln!(out, "\nIn --json:");
            for field in verb.fields {
                let _ = writeln!(out, "  {field}");
            }
        }
    }
    out
}

fn section(out: &mut String, title: &str, text: &str) {
    let blank = if out.is_empty() { "" } else { "\n" };
    let _ = writeln!(out, "{blank}{title}\n{}\n{text}", "-".repeat(title.chars().count()));
}

fn json(topics: &[&Topic], verbs: &[&Verb]) -> String {
    let topics = topics.iter().map(|topic| json!({ "topic": topic.name, "text": topic.text }));
    let verbs = verbs
        .iter()
        .map(|verb| json!({ "verb": verb.name, "question": verb.question, "text": verb.text, "fields": verb.fields }));
    let answer = json!({
        "schema_version": 1,
        "topics": topics.collect::<Vec<_>>(),
        "verbs": verbs.collect::<Vec<_>>(),
    });
    format!("{answer:#}\n")
}
