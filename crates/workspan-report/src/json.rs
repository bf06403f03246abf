//! JSON.

use crate::view::Report;
use crate::{advice, calls, depend, diff, inflation, limits, merged, parts, predict, scale, what_if};

/// The report as indented JSON.
pub fn write(report: &Report) -> String {
    parts::indented(report)
}

/// The schema of [`write()`]'s output: `docs/format/report.schema.json`.
pub fn schema() -> String {
    parts::schema::<Report>()
}

/// The schemas of all verbs' answers that are made here, by verb.
pub fn schemas() -> Vec<(&'static str, String)> {
    vec![
        ("record", schema()),
        ("report", schema()),
        ("what-if", parts::schema::<what_if::Answer>()),
        ("advise", parts::schema::<advice::Answer>()),
        ("predict", parts::schema::<predict::Answer>()),
        ("calls", parts::schema::<calls::Answer>()),
        ("diff", parts::schema::<diff::Answer>()),
        ("scale", scale::schema()),
        ("inflation", parts::schema::<inflation::Answer>()),
        ("depend", depend::schema()),
        ("limits", limits::schema()),
        ("merge", parts::schema::<merged::Answer>()),
    ]
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use serde_json::Value;

    fn root() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
    }

    /// To accept a change: `WORKSPAN_BLESS=1 cargo test -p workspan-report schema`.
    #[test]
    fn the_schema_is_up_to_date() {
        let file = root().join("docs/format/report.schema.json");
        if std::env::var_os("WORKSPAN_BLESS").is_some() {
            fs::write(&file, super::schema()).expect("the documents are writable");
        }
        assert!(fs::read_to_string(file).expect("it is there") == super::schema(), "the schema has changed: bless it");
    }

    /// Of every stored recording, also of those that no program made.
    #[test]
    fn reports_are_as_the_schema_says() {
        let schema: Value = serde_json::from_str(&super::schema()).expect("JSON");
        let schema = jsonschema::validator_for(&schema).expect("a schema");
        let mut seen = 0;
        for folder in ["crates/workspan/tests/fixtures", "crates/workspan-read/tests/golden"] {
            for file in fs::read_dir(root().join(folder)).expect("it is there") {
                let path = file.expect("it is there").path();
                if path.extension().is_none_or(|extension| extension != "wspan") {
                    continue;
                }
                let bytes = fs::read(&path).expect("it is there");
                let (recording, _) = workspan_read::decode(&bytes).expect("it can be read");
                let report = crate::report(&recording).expect("it holds a run");
                let report = serde_json::from_str(&super::write(&report)).expect("JSON");
                let errors: Vec<String> = schema.iter_errors(&report).map(|error| error.to_string()).collect();
                assert!(errors.is_empty(), "{}: {errors:?}", path.display());
                seen += 1;
            }
        }
        assert!(seen > 5);
    }

    /// Every field of these answers stands in its section of `docs/cli.md`; what `inflation` shares with `diff`, in that one's.
    #[test]
    fn fields_of_answers_are_documented() {
        let document = fs::read_to_string(root().join("docs/cli.md")).expect("it is there");
        let section = |verb: &str| {
            let from = document.split(&format!("\n## `{verb} --json`\n")).nth(1).expect("a section");
            from.split("\n## ").next().unwrap_or_default()
        };
        let words = |text: &str| -> Vec<String> {
            text.split(|c: char| !c.is_alphanumeric() && c != '_').map(str::to_owned).collect()
        };
        for (verb, sections) in [("diff", &["diff", "what-if"][..]), ("inflation", &["inflation", "diff", "what-if"])] {
            let schemas = super::schemas();
            let (_, schema) = schemas.iter().find(|(name, _)| *name == verb).expect("a schema");
            let schema: Value = serde_json::from_str(schema).expect("JSON");
            let told: Vec<String> = sections.iter().flat_map(|verb| words(section(verb))).collect();
            let parts = schema["$defs"].as_object().expect("parts").values().chain([&schema]);
            let fields = parts.filter_map(|part| part["properties"].as_object()).flat_map(|fields| fields.keys());
            let missing: Vec<&String> = fields.filter(|field| !told.contains(field)).collect();
            assert!(missing.is_empty(), "not in docs/cli.md, `{verb} --json`: {missing:?}");
        }
    }

    /// Every number of the report has its definition in `docs/methods`.
    #[test]
    fn every_field_is_documented() {
        let schema: Value = serde_json::from_str(&super::schema()).expect("JSON");
        let documents = fs::read_dir(root().join("docs/methods")).expect("it is there");
        let documents: String =
            documents.map(|file| fs::read_to_string(file.expect("it is there").path()).expect("text")).collect();
        let mut missing = Vec::new();
        for (kind, part) in [
            ("Verdict", "verdict"),
            ("Loss", "losses"),
            ("LossPart", "parts"),
            ("Program", "program"),
            ("Region", "regions"),
            ("Site", "sites"),
            ("EventTotal", "events"),
            ("EventSite", "sites"),
            ("TaskSizes", "task_ns"),
            ("Context", "contexts"),
            ("Warning", "warnings"),
            ("Spread", "spread"),
            ("Recorded", "recorded"),
            ("WhatIf", "what_if"),
            ("ThreadNode", "threads.nodes"),
            ("ThreadWaits", "threads.waits"),
            ("Bottleneck", "threads.bottlenecks"),
        ] {
            let fields = schema["$defs"][kind]["properties"].as_object().unwrap_or_else(|| panic!("{kind} has fields"));
            let names = fields.keys().map(|name| format!("`{part}.{name}`"));
            missing.extend(names.filter(|name| !documents.contains(name)));
        }
        assert!(missing.is_empty(), "not in docs/methods: {missing:?}");
    }
}
