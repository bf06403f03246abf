//! The engine against the graph, on random programs: no difference in any model.

use workspan_limits::model::{
    All, Beyond, Kind, Machine, Model, Single, Table, ALL, BEYOND, BEYOND_LANES, BEYOND_NAMED, BROADEST, LANES, NAMED,
    SEVEN, SEVEN_LANES, SEVEN_NAMED, TRU, WIDEST,
};
use workspan_limits::profile::Slack;
use workspan_limits::window::smoothability;
use workspan_limits::{Engine, Settings};
use workspan_testkit::random::Random;
use workspan_wire::trace;

use crate::graph::{answer, waits, Ran, HEAP};
use crate::random::{code, run};

/// Lengths of critical paths, and sizes of graphs. An engine that packs all memory after each block has the same.
pub(crate) fn measured<K: Kind, const N: usize, const T: usize>(
    models: [Model; N],
    blocks: &[Vec<Ran>],
) -> (Vec<(u64, u64)>, Engine<K, N, T>) {
    let engine = fed::<K, N, T>(models, blocks, 1 << 23);
    let packing = fed::<K, N, T>(models, blocks, 0);
    assert_eq!(packing.critical_paths(), engine.critical_paths());
    assert_eq!(packing.slack(), engine.slack());
    let of = |engine: &Engine<K, N, T>| {
        let (paths, last) = engine.paths();
        (0..N).map(|lane| paths.walk(last[lane], lane).collect()).collect::<Vec<Vec<_>>>()
    };
    assert_eq!(of(&packing), of(&engine));
    let ran = || blocks.iter().flatten();
    let size = |model: &Model| {
        ran().filter(|ran| !(model.addresses && engine.is_marked(ran.op.id) && !ran.op.memory)).count() as u64
    };
    let lengths = engine.critical_paths();
    let found = models.iter().zip(lengths).map(|(model, length)| (size(model), length)).collect();
    (found, engine)
}

/// An engine that has run blocks, with this number of bytes for cells that stand ready.
fn fed<K: Kind, const N: usize, const T: usize>(
    models: [Model; N],
    blocks: &[Vec<Ran>],
    ready: usize,
) -> Engine<K, N, T> {
    let mut engine = Engine::<K, N, T>::new(models, Settings { memory: 1 << 24, ready, paths: true });
    engine.heap(HEAP.0, HEAP.1);
    for block in blocks {
        let ops: Vec<_> = block.iter().map(|ran| ran.op.clone()).collect();
        let mut words = Vec::new();
        for (place, ran) in (0u64..).zip(block) {
            let word = |access: &crate::graph::Access| {
                trace::access(place, u64::from(access.size.trailing_zeros()), access.store, access.address)
            };
            words.extend(ran.accesses.iter().map(word));
        }
        engine.learn(&ops);
        assert_eq!(engine.run(0, &ops, &words), words.len());
    }
    engine
}

/// The same of the graph.
fn expected(models: &[Model], blocks: &[Vec<Ran>]) -> Vec<(u64, u64)> {
    let trace: Vec<Ran> = blocks.concat();
    models
        .iter()
        .map(|model| answer(&trace, *model))
        .map(|answer| (answer.instructions, answer.critical_path))
        .collect()
}

const PROGRAMS: u64 = 1200;

#[test]
fn random_traces_have_the_paths_of_their_graphs() {
    let mut instructions = 0;
    for seed in 1..=PROGRAMS {
        let mut random = Random::new(seed);
        let code = code(&mut random);
        let blocks = run(&code, &mut random, 20 + usize::try_from(seed).unwrap_or(0) % 100);
        let (found, engine) = measured::<All, LANES, NAMED>(ALL, &blocks);
        assert_eq!(found, expected(&ALL, &blocks), "seed {seed}");
        instructions += engine.instructions();
    }
    assert!(instructions > 30_000, "{instructions} instructions are too few to say much");
}

/// Kinds of reuse, the allocator, latencies, windows and widths: no difference to what their definitions say.
#[test]
fn what_goes_beyond_is_as_its_definitions_say() {
    let mut differ = [0; BEYOND_LANES];
    for seed in 1..=PROGRAMS {
        let mut random = Random::new(seed);
        let code = code(&mut random);
        // Long enough for windows to matter, now and then.
        let most = if seed % 60 == 0 { 1500 } else { 60 + usize::try_from(seed).unwrap_or(0) % 100 };
        let mut blocks = run(&code, &mut random, most);
        while most == 1500 && blocks.iter().map(Vec::len).sum::<usize>() < most {
            blocks.extend(run(&code, &mut random, most));
        }
        let (found, _) = measured::<Beyond, BEYOND_LANES, BEYOND_NAMED>(BEYOND, &blocks);
        let wanted = expected(&BEYOND, &blocks);
        for (lane, model) in BEYOND.iter().enumerate() {
            assert_eq!(found[lane], wanted[lane], "{} {:?} of seed {seed}", model.name, model.machine);
        }
        let (plain, _) = measured::<All, LANES, NAMED>(ALL, &blocks);
        for (lane, model) in BEYOND.iter().enumerate() {
            let plain = match () {
                () if lane < BEYOND_NAMED => plain[1],
                () if model.spaghetti => plain[7],
                () => plain[6],
            };
            differ[lane] += u32::from(found[lane] != plain);
        }
    }
    // Each model differs from the one without it somewhere, but for windows that are longer than any run here.
    for (lane, model) in BEYOND.iter().enumerate().filter(|(_, model)| !matches!(model.machine, Machine::Window(8..))) {
        assert!(differ[lane] > 0 || matches!(model.machine, Machine::Width(4..)), "{} {:?}", model.name, model.machine);
    }
}

/// Each bar of a profile has the instructions that the graph has in its cycles; values wait as long as the graph says.
#[test]
fn profiles_add_up() {
    for seed in 1..=200 {
        let mut random = Random::new(seed);
        let code = code(&mut random);
        let blocks = run(&code, &mut random, 600);
        let (found, engine) = measured::<All, LANES, NAMED>(ALL, &blocks);
        for lane in [0, 6, 7] {
            let profile = engine.profile(lane).expect("it is kept");
            let bars = profile.bars(found[lane].1);
            assert_eq!(bars.iter().sum::<u64>(), engine.instructions());
            assert!(bars.len() as u64 * profile.cycles() >= found[lane].1);
            let trace: Vec<Ran> = blocks.concat();
            let mut wanted = vec![0; bars.len()];
            let cycles = crate::graph::cycles(&trace, ALL[lane]);
            cycles.iter().for_each(|cycle| wanted[usize::try_from((cycle - 1) / profile.cycles()).unwrap_or(0)] += 1);
            assert_eq!(bars, wanted, "seed {seed}");
            // Burstiness, by its definition, of the bars that are whole.
            let whole = usize::try_from(found[lane].1 / profile.cycles()).unwrap_or(0);
            let bars: Vec<f64> = wanted[..whole].iter().map(|bar| *bar as f64).collect();
            let mean = bars.iter().sum::<f64>() / bars.len().max(1) as f64;
            let squares = bars.iter().map(|bar| (bar - mean) * (bar - mean)).sum::<f64>();
            let wanted = if bars.len() < 2 { 0.0 } else { (squares / bars.len() as f64).sqrt() / mean };
            let found = profile.burstiness(found[lane].1);
            assert!((found - wanted).abs() < 1e-9, "{found}, not {wanted}, seed {seed}");
        }
    }
}

/// Values in registers wait for their first use as long as the graph says.
#[test]
fn values_wait_as_long_as_in_the_graph() {
    let (mut used, mut unused, mut longest) = (0, 0, 0);
    for seed in 1..=PROGRAMS {
        let mut random = Random::new(seed);
        let code = code(&mut random);
        let blocks = run(&code, &mut random, 200);
        let (_, engine) = measured::<All, LANES, NAMED>(ALL, &blocks);
        let mut wanted = Slack::default();
        for wait in waits(&blocks.concat(), TRU[0]) {
            match wait {
                // The class of a wait: none, 1, 2 to 3, 4 to 7, and so on.
                Some(wait) => wanted.waits[(0..).find(|class| wait < 1 << class).unwrap_or(31)] += 1,
                None => wanted.unused += 1,
            }
            longest = longest.max(wait.unwrap_or(0));
        }
        assert_eq!(engine.slack(), Some(&wanted), "seed {seed}");
        used += wanted.waits.iter().sum::<u64>();
        unused += wanted.unused;
    }
    assert!(used > 10_000 && unused > 1000 && longest > 30, "{used} used, {unused} unused, the longest {longest}");
}

/// Smoothability is what the graphs of its two machines say.
#[test]
fn smoothability_is_that_of_the_graphs() {
    let mut values = Vec::new();
    for seed in 1..=200 {
        let mut random = Random::new(seed);
        let code = code(&mut random);
        let blocks = run(&code, &mut random, 300);
        let trace = blocks.concat();
        let (found, _) = measured::<Beyond, BEYOND_LANES, BEYOND_NAMED>(BEYOND, &blocks);
        let models: Vec<(Machine, u64)> =
            BEYOND.iter().zip(&found).map(|(model, (_, path))| (model.machine, *path)).collect();
        let found = smoothability(trace.len() as u64, &models).expect("there are widths");
        let on = |machine| answer(&trace, Model { machine, ..TRU[0] }).critical_path;
        let free = on(Machine::Window(BROADEST));
        let width = (0..=WIDEST).find(|width| free << width >= trace.len() as u64).expect("1024 are enough");
        assert_eq!(found.width, 1 << width, "seed {seed}");
        let wanted = free as f64 / on(Machine::Width(width)) as f64;
        assert!((found.value - wanted).abs() < 1e-12, "{} instead of {wanted}, seed {seed}", found.value);
        values.push(wanted);
    }
    assert!(values.iter().any(|value| *value < 0.9) && values.iter().all(|value| *value <= 1.0), "{values:?}");
}

/// Engines with fewer lanes have the same numbers.
#[test]
fn fewer_models_change_nothing() {
    for seed in 1..=100 {
        let mut random = Random::new(seed);
        let code = code(&mut random);
        let blocks = run(&code, &mut random, 120);
        let (seven, _) = measured::<Table, SEVEN_LANES, SEVEN_NAMED>(SEVEN, &blocks);
        assert_eq!(seven, expected(&SEVEN, &blocks), "seed {seed}");
        let (tru, _) = measured::<Single, 1, 0>(TRU, &blocks);
        assert_eq!(tru, expected(&TRU, &blocks), "seed {seed}");
    }
}

/// The nodes of a path of a short run are its instructions, each once, and each model's own.
#[test]
fn paths_of_short_runs_are_whole() {
    for seed in 1..=200 {
        let mut random = Random::new(seed);
        let code = code(&mut random);
        let blocks = run(&code, &mut random, 100);
        let (found, engine) = measured::<All, LANES, NAMED>(ALL, &blocks);
        let (paths, last) = engine.paths();
        for lane in 0..LANES {
            let on_it = paths.walk(last[lane], lane).count() as u64;
            assert_eq!(on_it, found[lane].1, "{} of seed {seed}", ALL[lane].name);
        }
    }
}

/// With too little memory paths only become longer, and the engine says so.
#[test]
fn little_memory_makes_no_path_shorter() {
    let mut coarse = 0;
    for seed in 1..=100 {
        let mut random = Random::new(seed);
        let code = code(&mut random);
        let blocks = run(&code, &mut random, 400);
        let mut small = Engine::<All, LANES, NAMED>::new(ALL, Settings { memory: 0, ready: 1 << 30, paths: false });
        let mut used = 0u64;
        for (at, block) in (0u64..).zip(&blocks) {
            let ops: Vec<_> = block.iter().map(|ran| ran.op.clone()).collect();
            // Memory far apart, so that there are more cells than there is room for.
            let words: Vec<u64> = (0u64..)
                .zip(block)
                .flat_map(|(place, ran)| ran.accesses.iter().map(move |access| (place, *access)))
                .map(|(place, access)| {
                    let far = access.address + (at % 40) * 4096;
                    trace::access(place, u64::from(access.size.trailing_zeros()), access.store, far)
                })
                .collect();
            small.learn(&ops);
            used += small.run(0, &ops, &words) as u64;
        }
        assert!(used > 0);
        coarse += u64::from(small.memory().1);
        assert!(small.memory().0 < 1 << 20, "{} bytes", small.memory().0);
    }
    assert!(coarse > 0, "no run needed more than there was");
}
