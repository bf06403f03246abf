//! Random programs of made-up instructions, and their runs.

use workspan_limits::op::{register, Flow, Move, Op};
use workspan_testkit::random::Random;

use crate::graph::{Access, Ran};

/// A program: blocks of instructions, and where each may go.
pub(crate) struct Code {
    blocks: Vec<(Vec<Op>, Vec<usize>)>,
}

/// A few functions, each a few blocks that branch among themselves; the last one of each returns.
pub(crate) fn code(random: &mut Random) -> Code {
    let functions = 1 + random.index(3);
    let sizes: Vec<usize> = (0..functions).map(|_| 2 + random.index(6)).collect();
    let firsts: Vec<usize> = sizes.iter().scan(0, |at, size| Some(std::mem::replace(at, *at + size))).collect();
    let mut blocks = Vec::new();
    let mut id = 0;
    for (function, size) in sizes.iter().enumerate() {
        let allocates = random.chance(30);
        for block in 0..*size {
            let mut ops: Vec<Op> = (0..random.below(4)).map(|_| plain(random)).collect();
            let here = firsts[function];
            let inside = |random: &mut Random| here + random.index(*size);
            let (last, next) = match () {
                () if block + 1 == *size => (ret(), Vec::new()),
                () if random.chance(25) => (call(), vec![firsts[random.index(functions)], here + block + 1]),
                () if random.chance(60) => (branch(random, Flow::Branch), vec![inside(random), here + block + 1]),
                () if random.chance(20) => {
                    (branch(random, Flow::Indirect), vec![inside(random), inside(random), here + block + 1])
                }
                () => (plain(random), vec![here + block + 1]),
            };
            ops.push(last);
            if let Some(first) = ops.first_mut().filter(|_| allocates && block == 0) {
                first.allocator = true;
            }
            for op in &mut ops {
                id += 1;
                op.id = id;
            }
            blocks.push((ops, next));
        }
    }
    Code { blocks }
}

/// A run of at most this number of instructions: blocks, each with its accesses.
pub(crate) fn run(code: &Code, random: &mut Random, most: usize) -> Vec<Vec<Ran>> {
    let mut ran = Vec::new();
    let (mut at, mut count) = (0, 0);
    let mut stack = 0x7fff_0000u64;
    let mut calls: Vec<usize> = Vec::new();
    while count < most {
        let (ops, next) = &code.blocks[at];
        let mut block = Vec::new();
        for op in ops {
            let mut accesses = Vec::new();
            if op.flow == Flow::Call {
                stack -= 8 + 8 * random.below(3);
                accesses.push(Access { address: stack, size: 8, store: true });
            } else if op.flow == Flow::Return {
                accesses.push(Access { address: stack, size: 8, store: false });
                stack += 8;
            } else if op.memory {
                for _ in 0..1 + random.below(2) {
                    accesses.push(access(random, stack));
                }
            }
            block.push(Ran::new(op.clone(), accesses));
        }
        count += block.len();
        ran.push(block);
        at = match ops.last().map(|op| op.flow) {
            Some(Flow::Call) if calls.len() < 12 => {
                calls.push(next[1]);
                next[0]
            }
            // So deep, nobody is called: it runs like a call that was made and came back at once, without its return.
            Some(Flow::Call) => {
                break;
            }
            Some(Flow::Return) => match calls.pop() {
                Some(back) => back,
                None => break,
            },
            _ => next[random.index(next.len())],
        };
    }
    ran
}

fn access(random: &mut Random, stack: u64) -> Access {
    let base = if random.chance(50) { 0x1000 } else { stack - 24 };
    let size = 1 << random.below(5);
    let unaligned = if random.chance(20) { random.below(8) } else { 0 };
    Access { address: base + size * random.below(64 / size) + unaligned, size, store: random.chance(50) }
}

fn any(random: &mut Random) -> u8 {
    register::GENERAL + u8::try_from(random.below(6)).unwrap_or(0)
}

fn plain(random: &mut Random) -> Op {
    let mut op = Op::default();
    if random.chance(20) {
        op.cycles = u8::try_from(2 + random.below(20)).unwrap_or(0);
    }
    for _ in 0..random.below(3) {
        op.reads(any(random));
    }
    for _ in 0..random.below(3) {
        op.writes(any(random));
    }
    if random.chance(30) {
        op.writes(register::FLAGS);
    }
    if random.chance(50) {
        op.memory = true;
        op.updates = random.chance(15);
        for _ in 0..random.below(3) {
            op.addresses.add(any(random));
        }
    }
    if random.chance(15) {
        let stack = register::STACK;
        op.addresses.retain(|address| address != stack);
        op.sources.retain(|source| source != stack);
        op.targets.retain(|target| target != stack);
        op.allocates = random.chance(50);
        if op.memory {
            op.moves.add(Move { to: stack, from: stack, allocates: op.allocates, address: true });
            if !op.allocates {
                op.addresses.add(stack);
            }
        } else {
            op.writes(stack);
        }
    }
    if random.chance(5) {
        let counter = any(random);
        op.targets.retain(|target| target != counter);
        op.moves.add(Move { to: counter, from: counter, allocates: false, address: false });
    }
    op
}

fn branch(random: &mut Random, flow: Flow) -> Op {
    let mut op = Op { flow, ..Op::default() };
    op.reads(if flow == Flow::Branch { register::FLAGS } else { any(random) });
    op
}

fn call() -> Op {
    let stack = register::STACK;
    let mut op = Op { flow: Flow::Call, memory: true, allocates: true, ..Op::default() };
    op.moves.add(Move { to: stack, from: stack, allocates: true, address: true });
    op
}

fn ret() -> Op {
    let stack = register::STACK;
    let mut op = Op { flow: Flow::Return, memory: true, ..Op::default() };
    op.addresses.add(stack);
    op.moves.add(Move { to: stack, from: stack, allocates: false, address: true });
    op
}
