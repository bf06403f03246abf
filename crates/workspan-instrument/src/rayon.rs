//! Where the hooks go in rayon, the crate of parallel iterators. The anchors hold for 1.6 to 1.12; each is tested.

use crate::edit::{AnchorError, Edits, Place};
use crate::rayon_core::Recipes;

/// Oldest and newest tested minor version of 1.x.
pub const TESTED: std::ops::RangeInclusive<u64> = 6..=12;

/// The files to edit.
pub const FILES: Recipes = &[
    ("iter/mod.rs", iterators),
    ("iter/extend.rs", extend),
    ("iter/chain.rs", chain),
    ("iter/par_bridge.rs", par_bridge),
    ("iter/plumbing/mod.rs", plumbing),
    ("slice/mod.rs", slice),
];

/// The files to edit where there are any: their names changed between versions.
pub const OPTIONAL_FILES: Recipes =
    &[("iter/blocks.rs", blocks), ("slice/sort.rs", sort), ("slice/mergesort.rs", sort), ("slice/quicksort.rs", sort)];

/// Methods that drive a parallel iterator to its end.
const CONSUMERS: &[&str] = &[
    "for_each",
    "for_each_with",
    "for_each_init",
    "try_for_each",
    "try_for_each_with",
    "try_for_each_init",
    "count",
    "reduce",
    "reduce_with",
    "try_reduce",
    "try_reduce_with",
    "sum",
    "product",
    "min",
    "min_by",
    "min_by_key",
    "max",
    "max_by",
    "max_by_key",
    "find_any",
    "find_first",
    "find_last",
    "find_map_any",
    "find_map_first",
    "find_map_last",
    "any",
    "all",
    "collect",
    "unzip",
    "partition",
    "partition_map",
    "collect_into_vec",
    "unzip_into_vecs",
    "cmp",
    "partial_cmp",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "position_any",
    "position_first",
    "position_last",
];

/// Consumers that not all versions have.
const NEWER_CONSUMERS: &[&str] = &["collect_vec_list"];

const SORTS: &[&str] = &[
    "par_sort",
    "par_sort_by",
    "par_sort_by_key",
    "par_sort_by_cached_key",
    "par_sort_unstable",
    "par_sort_unstable_by",
    "par_sort_unstable_by_key",
];

/// Makes a function a region of its caller.
fn region(edits: &mut Edits, function: &Place, kind: &str, with_self: bool) {
    let mut types = if with_self { vec!["Self".to_owned()] } else { Vec::new() };
    types.extend(edits.type_parameters(function));
    let types = types.iter().map(|t| format!("{t},")).collect::<String>();
    edits.attribute(function, "#[track_caller]");
    edits.at_start(
        function,
        &format!(
            "let _workspan = rayon_core::workspan::hooks::region::region(\
             rayon_core::workspan::wire::site::SiteKind::{kind}, core::any::type_name::<({types})>, || {{ \
             rayon_core::workspan_num_threads(); }});"
        ),
    );
}

fn iterators(edits: &mut Edits) -> Result<(), AnchorError> {
    for name in CONSUMERS {
        let function = consumer(edits, name)?;
        region(edits, &function, "ParIter", true);
    }
    for name in NEWER_CONSUMERS {
        if let Ok(function) = consumer(edits, name) {
            region(edits, &function, "ParIter", true);
        }
    }
    Ok(())
}

fn consumer(edits: &Edits, name: &str) -> Result<Place, AnchorError> {
    edits
        .method("pub trait ParallelIterator", name)
        .or_else(|_| edits.method("pub trait IndexedParallelIterator", name))
}

fn extend(edits: &mut Edits) -> Result<(), AnchorError> {
    let functions = edits.functions("par_extend");
    if functions.is_empty() {
        return Err(AnchorError { expected: "`fn par_extend`".to_owned(), place: "the file".to_owned(), found: 0 });
    }
    for function in functions {
        region(edits, &function, "ParIter", true);
    }
    Ok(())
}

fn slice(edits: &mut Edits) -> Result<(), AnchorError> {
    for name in SORTS {
        let function = edits.method("pub trait ParallelSliceMut", name)?;
        // `Self` is unsized there for slices, the type parameters are not.
        region(edits, &function, "ParSort", false);
    }
    Ok(())
}

fn chain(edits: &mut Edits) -> Result<(), AnchorError> {
    let whole = edits.whole();
    edits.replace(&whole, "use rayon_core::join;", "use rayon_core::workspan::inner::join;")
}

fn sort(edits: &mut Edits) -> Result<(), AnchorError> {
    let uses = edits.text(&edits.whole()).matches("        rayon_core::join(").count()
        + edits.text(&edits.whole()).matches("\n    rayon_core::join(").count();
    edits.replace_all("rayon_core::join(", "rayon_core::workspan::inner::join(", uses.max(1))
}

fn blocks(edits: &mut Edits) -> Result<(), AnchorError> {
    let whole = edits.whole();
    edits.replace(
        &whole,
        "crate::current_num_threads()",
        "rayon_core::workspan::hooks::split::threads(rayon_core::workspan_num_threads())",
    )
}

fn plumbing(edits: &mut Edits) -> Result<(), AnchorError> {
    let whole = edits.whole();
    edits.replace(&whole, "use crate::join_context;", "use rayon_core::workspan::inner::join_context;")?;
    let new = edits.method("impl Splitter", "new")?;
    edits.replace(
        &new,
        "crate::current_num_threads()",
        "rayon_core::workspan::hooks::split::threads(rayon_core::workspan_num_threads())",
    )?;
    let try_split = edits.method("impl Splitter", "try_split")?;
    edits.at_start(&try_split, "let stolen = rayon_core::workspan::hooks::split::stolen(stolen);");
    for name in ["bridge", "bridge_producer_consumer", "bridge_unindexed"] {
        let function = edits.function(name)?;
        region(edits, &function, "ParIter", false);
    }
    Ok(())
}

fn par_bridge(edits: &mut Edits) -> Result<(), AnchorError> {
    let whole = edits.whole();
    edits.replace(
        &whole,
        "use crate::{current_num_threads, current_thread_index};",
        "use crate::current_thread_index;\nuse rayon_core::workspan_num_threads as current_num_threads;",
    )?;
    let fields = edits.block("struct IterParallelProducer")?;
    edits.right_after(
        &fields,
        "split_count: AtomicUsize,",
        "\n    workspan: rayon_core::workspan::hooks::bridge::Resource,",
    )?;
    let drive = edits.function("drive_unindexed")?;
    edits.replace(
        &drive,
        "split_count: AtomicUsize::new(num_threads),",
        "split_count: AtomicUsize::new(rayon_core::workspan::hooks::split::threads(num_threads)),\n\
         workspan: rayon_core::workspan::hooks::bridge::Resource::new(),",
    )?;
    let fold = edits.function("fold_with")?;
    edits.right_before(
        &fold,
        "loop {",
        "let workspan = rayon_core::workspan::hooks::bridge::Turns::new(&self.workspan);\n        ",
    )?;
    edits.right_after(&fold, "if let Ok(mut iter) = self.iter.lock() {", "\n workspan.begin();")?;
    edits.replace(
        &fold,
        "if let Some(it) = iter.next() {",
        "let workspan_next = iter.next();\n workspan.end(workspan_next.is_some());\n if let Some(it) = workspan_next {",
    )?;
    edits.after(&fold, "folder = folder.consume(it);", "workspan.item_done();")
}
