//! Work inflation that was planted: two tasks that count in one cache line, and the same in two lines. There something else
//! stands first, which is inflated always and is a twentieth of the work.

use std::process::Command;

use anyhow::{ensure, Context};
use serde_json::Value;

use super::figure::{Figure, Target};
use super::spread::Spread;
use super::{build, table, Options};

const GROUP: &str = "inflation";
/// Each sample is of this number of serial and as many parallel runs.
const RUNS: u32 = 3;
const SAMPLES: usize = 5;
const WORKERS: u32 = 2;
/// The line of the tasks that share.
const PLANTED: &str = "|| count(first), || count(second)";

/// What one sample says of the planted place.
struct Sample {
    /// From 1.
    rank: f64,
    inflation: f64,
    /// Of all strands.
    matched: f64,
}

/// Measures the group.
pub(super) fn measure(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for (case, arguments) in [("sharing", [].as_slice()), ("sharing-fixed", &["fixed"])] {
        if !options.wants(GROUP, case) {
            continue;
        }
        if figures.is_empty() {
            table::group("Inflation: two counters in one cache line, and in two");
        }
        let samples = (0..SAMPLES).map(|_| sample(arguments)).collect::<anyhow::Result<Vec<Sample>>>()?;
        let fixed = !arguments.is_empty();
        let inflation = if fixed { Target::AtMost(1.1) } else { Target::AtLeast(1.2) };
        for (quantity, of, target) in [
            (
                "rank of the place",
                (|sample| sample.rank) as fn(&Sample) -> f64,
                Some(if fixed { Target::AtLeast(2.0) } else { Target::AtMost(1.0) }),
            ),
            ("its inflation", |sample| sample.inflation, Some(inflation)),
            ("strands matched", |sample| sample.matched, Some(Target::AtLeast(1.0))),
        ] {
            let spread = Spread::of(samples.iter().map(of));
            let figure = Figure {
                group: GROUP,
                case: case.to_owned(),
                workers: WORKERS,
                quantity,
                value: spread.median(),
                spread,
                target,
                behind: Vec::new(),
                remark: String::new(),
            };
            table::row(&figure);
            figures.push(figure);
        }
    }
    Ok(figures)
}

fn sample(arguments: &[&str]) -> anyhow::Result<Sample> {
    let program = build::program("sharing")?.hooked;
    let folder = build::folder().join("inflation");
    std::fs::create_dir_all(&folder)?;
    let answer = folder.join("answer.json");
    let mut command = Command::new(build::workspan()?);
    command.args(["inflation", "--workers", &WORKERS.to_string(), "--repeat", &RUNS.to_string()]);
    command.arg("-o").arg(folder.join("inflation.wspan")).arg(format!("--json={}", answer.display()));
    let ended = command.arg("--").arg(program).args(arguments).output().context("cannot run workspan")?;
    ensure!(ended.status.success(), "workspan inflation failed: {}", String::from_utf8_lossy(&ended.stderr));
    let answer: Value = serde_json::from_slice(&std::fs::read(answer)?)?;
    told(&answer, &format!("main.rs:{}", line()?)).context("the planted place is not in the answer")
}

/// Where the tasks that share are created.
fn line() -> anyhow::Result<usize> {
    let text = std::fs::read_to_string(build::root().join("programs/sharing/src/main.rs"))?;
    let at = text.lines().position(|line| line.contains(PLANTED)).context("programs/sharing has changed")?;
    Ok(at + 1)
}

fn told(answer: &Value, place: &str) -> Option<Sample> {
    let sites = answer["nodes"]["sites"].as_array()?;
    let at = sites.iter().position(|site| site["name"].as_str().is_some_and(|name| name.ends_with(place)))?;
    let count = |key: &str| answer["nodes"][key].as_u64().and_then(|count| u32::try_from(count).ok()).map(f64::from);
    Some(Sample {
        rank: f64::from(u32::try_from(at).ok()? + 1),
        inflation: sites[at]["critical"]["inflation"].as_f64()?,
        matched: count("matched")? / count("strands")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_is_found() {
        let site =
            |name: &str, inflation: f64| serde_json::json!({ "name": name, "critical": { "inflation": inflation } });
        let sites = [site("src/main.rs:9", 1.5), site("src/main.rs:37", 1.25)];
        let answer = serde_json::json!({ "nodes": { "sites": sites, "matched": 3, "strands": 4 } });
        let sample = told(&answer, "main.rs:37").expect("it is there");
        assert_eq!((sample.rank, sample.inflation, sample.matched), (2.0, 1.25, 0.75));
        assert!(told(&answer, "main.rs:3").is_none());
        assert!(line().is_ok_and(|line| line > 1));
    }
}
