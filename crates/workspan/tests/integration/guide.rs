//! `workspan guide` explains every command, and names no field that does not exist.

use std::fs;

use clap::CommandFactory;
use serde_json::Value;
use workspan::guide::text::{TOPICS, VERBS};

use crate::build::{root, scratch};
use crate::strand_verbs::{ask, recorded, SEEDS};

/// All of them: a verb that is added needs an entry in `workspan::guide::text`.
#[test]
fn every_verb_is_in_the_guide() {
    let command = workspan::args::Workspan::command();
    let verbs: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
    let missing: Vec<&&str> = verbs.iter().filter(|verb| !VERBS.iter().any(|entry| entry.name == **verb)).collect();
    assert!(missing.is_empty(), "verbs without an entry in workspan::guide::text::VERBS: {missing:?}");
    let unknown = VERBS.iter().map(|entry| entry.name).filter(|name| !verbs.contains(name));
    assert_eq!(unknown.collect::<Vec<_>>(), Vec::<&str>::new(), "entries without a verb");
}

/// Each verb has JSON, but for rows and examples of how to call it.
#[test]
fn every_verb_has_json_and_examples() {
    for verb in workspan::args::Workspan::command().get_subcommands() {
        // `build` writes what the build writes; of `graph`, `record` and `merge` write graphs, and `export` has other formats.
        let has_none = verb.get_name() == "build" || verb.has_subcommands();
        for below in verb.get_subcommands().filter(|below| !matches!(below.get_name(), "record" | "merge" | "export")) {
            assert!(
                below.get_arguments().any(|option| option.get_long() == Some("json")),
                "{} --json",
                below.get_name()
            );
        }
        assert!(
            has_none || verb.get_arguments().any(|option| option.get_long() == Some("json")),
            "{} --json",
            verb.get_name()
        );
        let help = verb.get_after_help().map(ToString::to_string).unwrap_or_default();
        let example = format!("workspan {}", verb.get_name());
        assert!(help.contains("Examples:") && help.contains(&example), "{} --help has no examples", verb.get_name());
    }
}

/// The part of a schema, or of JSON, that a path leads to.
fn find<'v>(root: &'v Value, mut at: &'v Value, path: &str) -> Option<&'v Value> {
    for part in path.split('.') {
        let (name, list) = part.strip_suffix("[]").map_or((part, false), |name| (name, true));
        at = match at.get("properties") {
            Some(fields) => resolved(root, fields.get(name)?),
            None => at.get(name)?,
        };
        if list {
            at = match at.get("items") {
                Some(items) => resolved(root, items),
                None => at.as_array()?.first()?,
            };
        }
    }
    Some(at)
}

/// References followed, and of what may be null the rest.
fn resolved<'v>(root: &'v Value, mut at: &'v Value) -> &'v Value {
    loop {
        if let Some(name) = at["$ref"].as_str().and_then(|name| name.strip_prefix("#/$defs/")) {
            at = &root["$defs"][name];
        } else if let Some(some) = at["anyOf"].as_array().and_then(|any| any.iter().find(|any| any["type"] != "null")) {
            at = some;
        } else {
            return at;
        }
    }
}

#[test]
fn every_field_that_it_names_exists() {
    let folder = recorded("guide", SEEDS[0]);
    let schemas = workspan_report::json::schemas();
    let mut checked = 0;
    for verb in VERBS.iter().filter(|verb| !verb.fields.is_empty()) {
        let schema = schemas.iter().find(|(name, _)| *name == verb.name);
        let told: Value = match schema {
            Some((_, schema)) => serde_json::from_str(schema).expect("JSON"),
            None => {
                let arguments: &[&str] = match verb.name {
                    "export" => &["-f", "perfetto", "-o", "trace.json"],
                    _ => &[],
                };
                let ended = ask(&folder, &[&[verb.name], arguments, &["--json"]].concat());
                serde_json::from_slice(&ended.stdout).unwrap_or_else(|error| panic!("{}: {error}", verb.name))
            }
        };
        for field in verb.fields {
            assert!(find(&told, &told, field).is_some(), "`{field}` is not in the JSON of {}", verb.name);
            assert!(find(&told, &told, &format!("{field}x")).is_none());
            checked += 1;
        }
    }
    assert!(checked > 80, "{checked}");
}

#[test]
fn the_guide() {
    let folder = scratch("guide-text");
    let all = ask(&folder, &["guide"]).check_success().out();
    for topic in TOPICS {
        assert!(all.contains(topic.text));
    }
    let wide: Vec<&str> = all.lines().filter(|line| line.chars().count() > 125).collect();
    assert!(wide.is_empty(), "{wide:#?}");
    let one = ask(&folder, &["guide", "what-if"]).check_success().out();
    assert!(
        one.starts_with("workspan what-if\n----------------\nHow much faster would") && all.contains(&one),
        "{one}"
    );
    let json: Value = serde_json::from_str(&ask(&folder, &["guide", "--json"]).check_success().out()).expect("JSON");
    assert_eq!(json["verbs"].as_array().map(Vec::len), Some(VERBS.len()));
    ask(&folder, &["guide", "nothing"]).check_error(2, &["nothing on `nothing`", "what-if", "statuses"]);
    // Statuses are those of the commands.
    let statuses = fs::read_to_string(root().join("docs/cli.md")).expect("it is there");
    let rows = |document: &str, status: &str| -> Vec<String> {
        let rows = document.lines().map(|line| line.trim_matches(['|', ' ']).to_owned());
        rows.filter(|row| row.split_whitespace().next() == Some(status)).collect()
    };
    for status in ["0", "1", "2", "126", "127"] {
        let (documented, told) = (rows(&statuses, status), rows(TOPICS[3].text, status));
        assert!(!documented.is_empty() && told.len() == 1, "{status}: {documented:?}, {told:?}");
        for row in documented {
            // In backticks, in the row's second cell.
            let verbs = row.split('|').nth(1).unwrap_or_default().split('`').skip(1).step_by(2);
            for verb in verbs {
                assert!(told[0].contains(verb), "{status} of {verb} is not in the guide: {}", told[0]);
            }
        }
    }
}
