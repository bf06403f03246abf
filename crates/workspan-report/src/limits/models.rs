//! A model for the view, and what counts in it, in words.

use workspan_limits::result::ModelLimit;

use super::view::Model;

/// For the view.
pub(super) fn shown(model: &ModelLimit) -> Model {
    Model {
        name: model.name.to_owned(),
        meaning: meaning(model.name).to_owned(),
        instructions: model.instructions,
        critical_path: model.critical_path,
        parallelism: (model.critical_path > 0).then(|| model.parallelism()),
    }
}

fn meaning(name: &str) -> &'static str {
    match name {
        "TruNamCtl" => "values, memory used again, and the last branch",
        "TruCtl" => "values and the last branch",
        "TruNam" => "values and memory used again",
        "Tru" => "values alone",
        "TruNamSp" => "values and memory used again, each call with its own frame",
        "TruSp" => "values alone, each call with its own frame",
        "TruNoAddr" => "values alone, addresses known beforehand",
        "TruNamMerge" => "as TruNamCtl, but a branch holds back only what depends on its outcome",
        "TruMerge" => "as TruCtl, but a branch holds back only what depends on its outcome",
        "TruMergeSp" => "as TruMerge, each call with its own frame",
        "TruNamMiss" => "as TruNamCtl, but only branches that a predictor gets wrong",
        "TruMiss" => "as TruCtl, but only branches that a predictor gets wrong",
        "TruMalloc" => "as Tru, calls of malloc and free in any order",
        "TruMallocSp" => "as TruSp, calls of malloc and free in any order",
        "TruLatency" => "as Tru, with the cycles that instructions take",
        "TruCtlLatency" => "as TruCtl, with the cycles that instructions take",
        "TruSpLatency" => "as TruSp, with the cycles that instructions take",
        _ => "",
    }
}
