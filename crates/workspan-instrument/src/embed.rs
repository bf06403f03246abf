//! Our own modules, as text to be compiled inside the instrumented rayon-core.
//!
//! The crates `workspan-wire`, `workspan-collect` and `workspan-rayon` become the modules `wire`, `collect` and `hooks`
//! of `rayon_core::workspan`. Their crate-level attributes are dropped and the names of the crates become paths.

use std::path::Path;
use std::{fs, io};

use workspan_model::hash::Hash;

use crate::hooks::Hooks;

/// Files of a crate: path below its `src`, text.
type Files = &'static [(&'static str, &'static str)];

macro_rules! files {
    ($krate:literal: $($file:literal)*) => {
        &[$(($file, include_str!(concat!("../../", $krate, "/src/", $file)))),*]
    };
}

const WIRE: Files = files!("workspan-wire": "lib.rs" "asked.rs" "config.rs" "events.rs" "histogram.rs" "log.rs" "path.rs" "records.rs" "segment.rs" "shm.rs" "site.rs" "stash.rs" "sync.rs" "task.rs" "trace.rs" "wait.rs");

const COLLECT: Files = files!("workspan-collect":
    "lib.rs" "asked.rs" "batch.rs" "beside.rs" "blocked.rs" "calls.rs" "candidate.rs" "clock.rs" "counters.rs" "drain.rs" "ends.rs" "events.rs" "exclude.rs" "first_use.rs" "free.rs" "futex.rs" "group.rs" "handoff.rs" "idle.rs" "intern.rs" "interposed.rs" "interrupt.rs" "join.rs" "left.rs" "log.rs" "looks.rs"
    "memory.rs" "modules.rs" "origin.rs" "outside.rs" "page.rs" "path.rs" "pause.rs" "polls.rs" "process.rs" "region.rs"
    "resource.rs" "ring.rs" "role.rs" "root.rs" "run_delay.rs" "sampled.rs" "segment.rs" "shared.rs" "spare.rs" "spins/mod.rs" "spins/operands.rs" "spins/tests.rs" "spins/values.rs" "stack.rs" "strand.rs" "tables.rs" "task.rs" "text.rs" "thread.rs" "ticks.rs" "timed.rs" "tool.rs"
    "wait_graph.rs" "waiting.rs" "waits.rs"
    "platform/mod.rs" "platform/aarch64.rs" "platform/linux.rs" "platform/no_kernel.rs" "platform/no_perf.rs" "platform/no_rseq.rs" "platform/objects.rs"
    "platform/perf.rs" "platform/portable.rs" "platform/rseq.rs" "platform/x86_64.rs");

const HOOKS: Files = files!("workspan-rayon":
    "lib.rs" "bridge.rs" "join.rs" "link.rs" "marks.rs" "probe.rs" "region.rs" "registry.rs" "scope.rs" "split.rs" "start.rs" "threads.rs");

/// The root module of what is added to rayon-core.
const ROOT: &str = "\
pub mod collect;
pub mod hooks;
pub mod wire;
";

/// What the hooks of iterators need besides.
const INNER: &str = "
/// Joins that belong to the region around them: for rayon's own use.
pub mod inner {
    pub use crate::join::workspan_join_within as join_context;

    #[inline]
    pub fn join<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
    where
        A: FnOnce() -> RA + Send,
        B: FnOnce() -> RB + Send,
        RA: Send,
        RB: Send,
    {
        join_context(move |_| a(), move |_| b())
    }
}
";

/// Allowed in our modules whatever the crate around them denies.
const ALLOW: &str = "#![allow(warnings, missing_docs, missing_debug_implementations, unreachable_pub, clippy::all)]\n";

/// Identifies what [`write()`] writes: it changes whenever a text or a recipe does.
pub fn fingerprint() -> u64 {
    let recipes = [
        include_str!("copy.rs"),
        include_str!("edit.rs"),
        include_str!("graph.rs"),
        include_str!("hooks.rs"),
        include_str!("rayon_core.rs"),
        include_str!("rayon.rs"),
        include_str!("source.rs"),
        ROOT,
        INNER,
    ];
    let texts = [WIRE, COLLECT, HOOKS].into_iter().flatten().flat_map(|(name, text)| [*name, *text]);
    let mut hash = Hash::new();
    texts.chain(recipes).for_each(|text| hash.feed(text.as_bytes()));
    hash.long()
}

/// Writes the module tree into `folder`, to be declared as `mod workspan`.
pub fn write(folder: &Path, hooks: Hooks) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let inner = if hooks == Hooks::All { INNER } else { "" };
    fs::write(folder.join("mod.rs"), format!("{ALLOW}{ROOT}{inner}"))?;
    for (module, files) in [("wire", WIRE), ("collect", COLLECT), ("hooks", HOOKS)] {
        for (name, text) in files {
            let name = if *name == "lib.rs" { "mod.rs" } else { name };
            let path = folder.join(module).join(name);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            fs::write(path, adapted(text, hooks))?;
        }
    }
    Ok(())
}

/// Says in `hooks::start` which hooks there are.
const ALL_HOOKS: &str = "const IDLE_ONLY: bool = false;";
const IDLE_HOOKS: &str = "const IDLE_ONLY: bool = true;";

fn adapted(text: &str, hooks: Hooks) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines().filter(|line| !line.starts_with("#![")) {
        out.push_str(
            &line
                .replace("workspan_wire::", "crate::workspan::wire::")
                .replace("workspan_collect::", "crate::workspan::collect::")
                .replace(ALL_HOOKS, if hooks == Hooks::All { ALL_HOOKS } else { IDLE_HOOKS }),
        );
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_collectors_is_embedded() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for (krate, files) in [("workspan-wire", WIRE), ("workspan-collect", COLLECT), ("workspan-rayon", HOOKS)] {
            let source = root.join(krate).join("src");
            let mut there = Vec::new();
            list(&source, &source, &mut there);
            let mut embedded: Vec<String> = files.iter().map(|(name, _)| (*name).to_owned()).collect();
            there.sort();
            embedded.sort();
            assert_eq!(there, embedded, "{krate}");
        }
    }

    fn list(root: &Path, folder: &Path, into: &mut Vec<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                list(root, &path, into);
            } else {
                into.push(path.strip_prefix(root).unwrap().to_string_lossy().into_owned());
            }
        }
    }

    #[test]
    fn crate_names_become_paths() {
        assert_eq!(adapted("#![no_std]\nuse workspan_wire::shm;\n", Hooks::All), "use crate::workspan::wire::shm;\n");
    }
}
