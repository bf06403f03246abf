//! Whether instruction traces are possible.

use super::check::Check;
use crate::limits::{emulator, plugin, tracer};

const GROUP: &str = "limits";

/// All of them.
pub(super) fn checks() -> Vec<Check> {
    if !plugin::is_built() {
        return vec![Check::warn(GROUP, "emulator", "this workspan has no plugin for emulators")
            .means("`workspan limits` cannot run programs.")
            .fix("use a workspan that was built for Linux with glibc")];
    }
    let fallback = match tracer::valgrind() {
        Some(found) => format!("`workspan limits` uses {} instead, which takes 20 times as long.", found.text()),
        None => "`workspan limits` cannot run programs, but step by step (`--tracer step`).".to_owned(),
    };
    vec![match emulator::find(None) {
        Ok(found) => Check::ok(GROUP, "emulator", format!("{}: {}", found.version, found.path.display())),
        Err(missing) => Check::warn(GROUP, "emulator", missing).means(&fallback).fix(emulator::FIX),
    }]
}
