//! The report of `workspan depend`, to be shown beside the limits that bound it.

use std::fs;
use std::path::Path;

use anyhow::Context;
use serde_json::Value;
use workspan_report::shown::shown;

/// The task model that waits for dependences alone, as an instruction does.
const MODEL: &str = "exact";

/// The command that it ran, and the parallelism of its calls as tasks.
pub fn read(file: &Path) -> anyhow::Result<(Vec<String>, f64)> {
    let name = file.display();
    let bytes = fs::read(file).with_context(|| format!("--depend: cannot read {name}"))?;
    let found = serde_json::from_slice::<Value>(&bytes).ok().and_then(|report| parallelism(&report));
    found.with_context(|| {
        format!("--depend: {name} is no report of `workspan depend`: write one with `workspan depend --json={name} -- ./prog`")
    })
}

fn parallelism(report: &Value) -> Option<(Vec<String>, f64)> {
    let model = report["models"].as_array()?.iter().find(|model| model["name"] == MODEL)?;
    let command = report["command"].as_array()?.iter();
    let command =
        command.map(|word| word.as_str().map(|word| shown(word).into_owned())).collect::<Option<Vec<String>>>()?;
    let parallelism = model["parallelism"].as_f64().filter(|value| value.is_finite() && *value >= 0.0)?;
    Some((command, parallelism))
}
