//! The worked examples of the thesis, in x86-64: figures 3.2, and 3.3 with 3.5.

use workspan_limits::model::{All, ALL, LANES, NAMED};
use workspan_limits::x86::Decode;

use crate::graph::{answer, Access, Ran};
use crate::oracle::measured;

/// A run: instructions by their bytes, with their numbers in the program, and accesses: address, and whether it is a store.
fn ran(decode: &mut Decode, id: u32, bytes: &[u8], accesses: &[(u64, bool)]) -> Ran {
    let mut op = decode.op(0x40_0000 + u64::from(id) * 16, bytes).expect("an instruction");
    op.id = id;
    let accesses = accesses.iter().map(|(address, store)| Access { address: *address, size: 8, store: *store });
    Ran::new(op, accesses.collect())
}

fn of(found: &[(u64, u64)], name: &str) -> (u64, u64) {
    found[ALL.iter().position(|model| model.name == name).expect("a model")]
}

/// Figure 3.2: the factorial of 5 by a loop. `mov eax,1; mov ecx,5; l: imul eax,ecx; dec ecx; jnz l`.
#[test]
fn the_factorial_of_five() {
    let mut decode = Decode::default();
    let mut blocks = Vec::new();
    let mut block = vec![ran(&mut decode, 1, &[0xb8, 1, 0, 0, 0], &[]), ran(&mut decode, 2, &[0xb9, 5, 0, 0, 0], &[])];
    for _ in 0..5 {
        block.push(ran(&mut decode, 3, &[0x0f, 0xaf, 0xc1], &[]));
        block.push(ran(&mut decode, 4, &[0xff, 0xc9], &[]));
        block.push(ran(&mut decode, 5, &[0x75, 0xf9], &[]));
        blocks.push(std::mem::take(&mut block));
    }
    let (found, _) = measured::<All, LANES, NAMED>(ALL, &blocks);
    // 17 instructions. The counter: mov, five dec, and the last jnz; the product beside it: mov, five imul.
    assert_eq!(of(&found, "Tru"), (17, 7));
    assert_eq!(of(&found, "TruNam"), (17, 7));
    // Each round waits for the branch before it: dec and jnz, five times, behind the mov.
    assert_eq!(of(&found, "TruCtl"), (17, 11));
    assert_eq!(of(&found, "TruNamCtl"), (17, 11));
}

/// Figures 3.3 and 3.5: two calls of the same function. On one stack the second waits for the first; with a spaghetti
/// stack they run side by side, and the path is half as long.
#[test]
fn two_calls_side_by_side() {
    let mut decode = Decode::default();
    let top = 0x7fff_0000;
    let mut blocks = Vec::new();
    let mut call = |site: u32| {
        // call f; f: sub rsp, 32; a chain of ten additions in a variable of the frame; add rsp, 32; ret
        blocks.push(vec![ran(&mut decode, site, &[0xe8, 0, 0, 0, 0], &[(top - 8, true)])]);
        let mut body = vec![ran(&mut decode, 10, &[0x48, 0x83, 0xec, 0x20], &[])];
        body.push(ran(&mut decode, 11, &[0x48, 0xc7, 0x04, 0x24, 0, 0, 0, 0], &[(top - 40, true)]));
        for n in 0..10 {
            body.push(ran(&mut decode, 12 + n, &[0x48, 0x83, 0x04, 0x24, 1], &[(top - 40, false), (top - 40, true)]));
        }
        body.push(ran(&mut decode, 30, &[0x48, 0x83, 0xc4, 0x20], &[]));
        body.push(ran(&mut decode, 31, &[0xc3], &[(top - 8, false)]));
        blocks.push(body);
    };
    call(1);
    call(2);
    let (found, _) = measured::<All, LANES, NAMED>(ALL, &blocks);
    let instructions = 2 * (1 + 1 + 1 + 10 + 2);
    // On one stack the pointer goes through call, sub, add, ret, call, sub, and then the second chain follows: 4 + 2 + 11.
    assert_eq!(of(&found, "Tru"), (instructions, 17));
    // Its variables lie where those of the first lay: the second store waits for the first chain, which begins behind call
    // and sub: 2 + 11, then 11 more.
    assert_eq!(of(&found, "TruNam"), (instructions, 24));
    // With frames from a heap each chain begins at once: sub, mov, ten additions.
    assert_eq!(of(&found, "TruSp"), (instructions, 12));
    assert_eq!(of(&found, "TruNamSp"), (instructions, 12));
    // Addresses are known: without the two subs and the two adds, the mov and ten additions are left.
    assert_eq!(of(&found, "TruNoAddr"), (instructions - 4, 11));
}

/// The blocks of a call of `tree(n)`, `n < 2 ? n : tree(n - 1) + tree(n - 2)`, as gcc compiles it with `-O1`: one end for both
/// ways, before which the registers that the caller keeps are restored. `stack` is the stack pointer before the call.
fn tree(decode: &mut Decode, blocks: &mut Vec<Vec<Ran>>, n: u32, stack: u64) {
    let mut of = |id: u32, bytes: &[u8], accesses: &[(u64, bool)]| ran(decode, id, bytes, accesses);
    let (rbp, rbx) = (stack - 16, stack - 24);
    let epilogue = vec![
        of(7, &[0x89, 0xd8], &[]),              // mov eax, ebx
        of(8, &[0x48, 0x83, 0xc4, 0x08], &[]),  // add rsp, 8
        of(9, &[0x5b], &[(rbx, false)]),        // pop rbx
        of(10, &[0x5d], &[(rbp, false)]),       // pop rbp
        of(11, &[0xc3], &[(stack - 8, false)]), // ret
    ];
    let first = vec![
        of(12, &[0x8d, 0x7f, 0xff], &[]),                 // lea edi, [rdi - 1]
        of(13, &[0xe8, 0, 0, 0, 0], &[(rbx - 16, true)]), // call
    ];
    let second = vec![
        of(14, &[0x89, 0xc5], &[]),                       // mov ebp, eax
        of(15, &[0x8d, 0x7b, 0xfe], &[]),                 // lea edi, [rbx - 2]
        of(16, &[0xe8, 0, 0, 0, 0], &[(rbx - 16, true)]), // call
    ];
    let sum = vec![
        of(17, &[0x8d, 0x5c, 0x05, 0x00], &[]), // lea ebx, [rbp + rax]
        of(18, &[0xeb, 0xdf], &[]),             // jmp
    ];
    blocks.push(vec![
        of(1, &[0x55], &[(rbp, true)]),        // push rbp
        of(2, &[0x53], &[(rbx, true)]),        // push rbx
        of(3, &[0x48, 0x83, 0xec, 0x08], &[]), // sub rsp, 8
        of(4, &[0x89, 0xfb], &[]),             // mov ebx, edi
        of(5, &[0x83, 0xff, 0x01], &[]),       // cmp edi, 1
        of(6, &[0x7f, 0x09], &[]),             // jg
    ]);
    if n >= 2 {
        blocks.push(first);
        tree(decode, blocks, n - 1, rbx - 8);
        blocks.push(second);
        tree(decode, blocks, n - 2, rbx - 8);
        blocks.push(sum);
    }
    blocks.push(epilogue);
}

/// Calls that are independent of each other run side by side where each has a frame of its own, also if branches hold back
/// what they decide: a call that ends gives its caller the stack pointer back that the caller had. If the pointer came out of
/// the call's own `ret`, which waits for the branches around it, each call would wait for the one before.
#[test]
fn a_tree_of_calls() {
    let mut decode = Decode::default();
    let mut paths = Vec::new();
    for n in [6, 9, 12] {
        let mut blocks = vec![vec![ran(&mut decode, 20, &[0xe8, 0, 0, 0, 0], &[(0x7fff_0000 - 8, true)])]];
        tree(&mut decode, &mut blocks, n, 0x7fff_0000);
        let (found, _) = measured::<All, LANES, NAMED>(ALL, &blocks);
        let trace = blocks.concat();
        for (model, found) in ALL.iter().zip(&found) {
            let wanted = answer(&trace, *model);
            assert_eq!(*found, (wanted.instructions, wanted.critical_path), "{}, n = {n}", model.name);
        }
        paths.push((of(&found, "TruMerge"), of(&found, "TruMergeSp"), of(&found, "TruSp")));
    }
    // Instructions, and cycles, for n = 6, 9, 12. Through `ret`, TruMergeSp would take 68, 333 and 1482 cycles.
    let wanted = [
        ((360, 200), (360, 37), (360, 32)),
        ((1578, 872), (1578, 56), (1578, 50)),
        ((6740, 3720), (6740, 80), (6740, 68)),
    ];
    assert_eq!(paths, wanted);
}
