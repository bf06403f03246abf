//! `workspan limits` on programs of the distribution, against graphs that are built edge by edge: no difference in any model,
//! window or width.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use workspan::limits::{emulator, region, run};
use workspan_limits::model::{All, Beyond, Kind, Model, ALL, BEYOND, BEYOND_LANES, BEYOND_NAMED, LANES, NAMED};
use workspan_limits::op::Op;
use workspan_limits::program::Program;
use workspan_limits::roi::{Wanted, Watch};
use workspan_limits::system::Call;
use workspan_limits::{Engine, Settings, Stream};
use workspan_wire::trace;

use crate::build::scratch;
use crate::limits_graph::{answer, Access, Before, Ran};

/// The trace of a program that runs under the emulator: chunks of words, up to this number of words.
fn traced(folder: &Path, command: &[&str], words: usize) -> Vec<Vec<u64>> {
    let emulator = emulator::find(None).expect("apt-get install qemu-user");
    let program = emulator::program(command[0].as_ref()).expect("it is installed");
    // The emulator's folder is that of this process, so that files have whole names.
    let command: Vec<OsString> =
        command.iter().map(|word| word.replace("HERE", &folder.display().to_string()).into()).collect();
    let mut chunks: Vec<Vec<u64>> = Vec::new();
    let mut count = 0;
    run::run(&emulator, &program, &command, &mut |thread, words_of_it: &[u64]| {
        assert_eq!(thread, 0, "a program with one thread");
        count += words_of_it.len();
        chunks.push(words_of_it.to_vec());
        count < words
    })
    .expect("it runs");
    chunks
}

/// The critical paths that the analysis finds in instructions `from..to` of a trace.
fn found<K: Kind, const N: usize, const T: usize>(
    models: [Model; N],
    chunks: &[Vec<u64>],
    (from, to): (u64, u64),
    ready: usize,
) -> Vec<(u64, u64)> {
    let settings = Settings { memory: 1 << 30, ready, paths: true };
    let watch = Watch::new(Wanted::Count(from, to));
    let engine = Engine::<K, N, T>::new(models, settings);
    let mut stream = Stream::new(engine, u64::MAX, watch, region::look_up(None));
    chunks.iter().for_each(|words| stream.feed(0, words));
    stream.finish();
    assert_eq!(stream.odd(), 0);
    let limits = workspan_limits::result::limits(&stream.engine, &stream.program);
    limits.models.iter().map(|model| (model.instructions, model.critical_path)).collect()
}

/// The instructions of a trace one by one.
struct Decoder {
    program: Program,
    ran: Vec<Ran>,
    before: Before,
    /// A system call that has not come back: its instruction, and what it is.
    called: Option<(Op, Option<Call>)>,
    heap: Option<u64>,
    seen: u64,
    wanted: (u64, u64),
}

impl Decoder {
    fn words(&mut self, words: &[u64]) {
        let mut look_up = region::look_up(None);
        let mut at = 0;
        while at < words.len() {
            let (kind, low) = (trace::kind(words[at]), trace::low(words[at]));
            at += 1;
            let len = if kind == trace::BLOCK { 0 } else { usize::try_from(low).expect("small") };
            let body = &words[at..at + len];
            at += len;
            match kind {
                trace::BLOCK => at += self.block(low, &words[at..]),
                trace::CODE => {
                    let id = self.program.code(body).expect("a block");
                    let ops = &self.program.blocks()[id].ops;
                    let pairs = ops.windows(2).filter(|pair| pair[0].flow == workspan_limits::op::Flow::Next);
                    self.before.learned.extend(pairs.map(|pair| (pair[0].id, pair[1].id)));
                }
                trace::FILE => {
                    let found = self.program.file(body).map(&mut look_up).unwrap_or_default();
                    self.program.allocators(found.allocators);
                }
                trace::CALL => {
                    let call = Call { number: body[0], arguments: body[1..7].try_into().expect("six") };
                    if let Some((_, known)) = &mut self.called {
                        *known = Some(call);
                    }
                    if call.is_last() {
                        self.come_back(None);
                    }
                }
                trace::RETURN => self.come_back(Some(body[1])),
                _ => panic!("no record"),
            }
        }
    }

    fn block(&mut self, id: u64, words: &[u64]) -> usize {
        self.come_back(None);
        let ops = self.program.block(id).expect("it is known").ops.clone();
        let count = words.iter().take_while(|word| trace::kind(**word) == trace::ACCESS).count();
        let counts = (self.wanted.0..self.wanted.1).contains(&self.seen);
        self.seen += ops.len() as u64;
        if !counts {
            return count;
        }
        for (place, op) in (0..).zip(ops) {
            if op.system {
                self.called = Some((op, None));
                continue;
            }
            let of_it = words[..count].iter().filter(|word| (**word >> trace::PLACE_SHIFT) & 0x1ff == place);
            let access = |word: &u64| Access {
                address: trace::address(*word),
                size: trace::size(*word),
                store: word & trace::STORE != 0,
            };
            let before = std::mem::take(&mut self.before);
            self.ran.push(Ran { op, accesses: of_it.map(access).collect(), before });
        }
        count
    }

    /// A system call has come back with this result, or never will.
    fn come_back(&mut self, result: Option<u64>) {
        let Some((op, call)) = self.called.take() else { return };
        let mut before = std::mem::take(&mut self.before);
        let effect = call.zip(result).map(|(call, result)| call.effect(result)).unwrap_or_default();
        before.mapped = effect.mapped;
        before.heap = effect.end_of_heap.map(|end| (*self.heap.get_or_insert(end), end));
        let accesses = effect.ranges.iter();
        let accesses = accesses.map(|range| Access { address: range.address, size: range.len, store: range.store });
        self.ran.push(Ran { op, accesses: accesses.collect(), before });
    }
}

#[test]
fn real_programs_have_the_paths_of_their_graphs() {
    let folder = scratch("limits-traces");
    let text: String = (0..400u64).map(|n| format!("{} line {n}\n", n * 7919 % 1009)).collect();
    fs::write(folder.join("text"), &text).expect("writable");
    let of_interest = "{ for (i = 1; i <= NF; i++) n[$i]++ } END { for (w in n) s += n[w]; exit s != 1200 }";
    let programs: [(&[&str], (u64, u64)); 5] = [
        // The loader of dynamic programs.
        (&["gzip", "-k", "HERE/text"], (0, 25_000)),
        (&["gzip", "-kf", "HERE/text"], (200_000, 225_000)),
        (&["sha256sum", "HERE/text"], (150_000, 175_000)),
        (&["sort", "-n", "-o", "HERE/sorted", "HERE/text"], (250_000, 275_000)),
        (&["mawk", of_interest, "HERE/text"], (200_000, 225_000)),
    ];
    for (command, wanted) in programs {
        let chunks = traced(&folder, command, 4_000_000);
        let mut decoder = Decoder {
            program: Program::new(),
            ran: Vec::new(),
            before: Before::default(),
            called: None,
            heap: None,
            seen: 0,
            wanted,
        };
        chunks.iter().for_each(|words| decoder.words(words));
        decoder.come_back(None);
        assert!(decoder.ran.len() > 20_000, "{command:?} ran {} instructions in all", decoder.seen);
        // Packing all memory after each block changes nothing.
        let of = |ready| {
            let all = found::<All, LANES, NAMED>(ALL, &chunks, wanted, ready);
            [all, found::<Beyond, BEYOND_LANES, BEYOND_NAMED>(BEYOND, &chunks, wanted, ready)].concat()
        };
        let found = of(1 << 28);
        for (model, found) in ALL.iter().chain(&BEYOND).zip(&found) {
            let wanted = answer(&decoder.ran, *model);
            let wanted = (wanted.instructions, wanted.critical_path);
            assert_eq!(*found, wanted, "{command:?} {} {:?}", model.name, model.machine);
        }
        assert_eq!(of(0), found, "{command:?}");
    }
}
