//! Loops as compilers write them, and what is none that polls.

use super::{look, Spot, WORDS};

/// All of `code` is a loop, of which each instruction begins at one of `begins`; none polls, or all do.
#[track_caller]
fn check(code: &[u8], begins: &[usize], expected: bool) {
    for begin in begins {
        assert_eq!(polls(code, *begin, None, &[]), expected, "at {begin}");
    }
}

/// A thread is at `begin` in `code`, where the frame pointer is `frame` bytes from the stack pointer, and the stack begins with `words`:
/// places in the code, or anything.
fn polls(code: &[u8], begin: usize, frame: Option<u64>, words: &[Option<u64>]) -> bool {
    const STACK: u64 = 0x7000_0000;
    // What lies behind it is not known.
    let code = [code, &[0xcc; 16]].concat();
    let at = |place: u64| code.as_ptr() as u64 + place;
    let mut stack = [0; WORDS];
    for (word, known) in stack.iter_mut().zip(words) {
        *word = known.map_or(0, at);
    }
    let spot = Spot { at: at(begin as u64), frame: frame.map_or(0, |far| STACK + far), stack: STACK, words: stack };
    // SAFETY: a whole loop, and what ends it; calls lead to it.
    unsafe { look(&spot, |to| to != 0) }.polls
}

#[test]
fn loops_that_look() {
    // mov eax,[rdi]; cmp eax,esi; jne
    check(&[0x8b, 0x07, 0x39, 0xf0, 0x75, 0xfa], &[0, 2, 4], true);
    // pause; movzx eax,byte [rip+100]; test al,al; je
    check(&[0xf3, 0x90, 0x0f, 0xb6, 0x05, 100, 0, 0, 0, 0x84, 0xc0, 0x74, 0xf3], &[0, 2, 9, 11], true);
    // cmp dword [rdi],0; je
    check(&[0x83, 0x3f, 0x00, 0x74, 0xfb], &[0, 3], true);
    // mov rax,[rdi+8]; mov eax,[rax]; cmp eax,r12d; jge: through a pointer
    check(&[0x48, 0x8b, 0x47, 0x08, 0x8b, 0x00, 0x44, 0x39, 0xe0, 0x7d, 0xf5], &[0, 4, 6, 9], true);
    // mov eax,1; xchg eax,[rdi]; test eax,eax; jne: a lock
    check(&[0xb8, 1, 0, 0, 0, 0x87, 0x07, 0x85, 0xc0, 0x75, 0xf5], &[0, 5, 7, 9], true);
    // xor eax,eax; lock cmpxchg [rdi],ecx; jne
    check(&[0x31, 0xc0, 0xf0, 0x0f, 0xb1, 0x0f, 0x75, 0xf8], &[0, 2, 6], true);
    // At most so often: mov ecx,[rdi]; test ecx,ecx; jne +5; dec edx; jne
    check(&[0x8b, 0x0f, 0x85, 0xc9, 0x75, 0x04, 0xff, 0xca, 0x75, 0xf6], &[0, 2, 4, 6, 8], true);
    // pause; sub eax,1; jne
    check(&[0xf3, 0x90, 0x83, 0xe8, 0x01, 0x75, 0xf9], &[0, 2, 5], true);
}

#[test]
fn loops_that_work() {
    // A walk through an array: cmp byte [rdi],0; lea rdi,[rdi+1]; jne
    check(&[0x80, 0x3f, 0x00, 0x48, 0x8d, 0x7f, 0x01, 0x75, 0xf7], &[0, 3, 7], false);
    // Through a list: mov rax,[rax]; test rax,rax; jne
    check(&[0x48, 0x8b, 0x00, 0x48, 0x85, 0xc0, 0x75, 0xf8], &[0, 3, 6], false);
    // A sum: add eax,[rdi+rcx*4]; inc rcx; cmp rcx,rdx; jne
    check(&[0x03, 0x04, 0x8f, 0x48, 0xff, 0xc1, 0x48, 0x39, 0xd1, 0x75, 0xf5], &[0, 3, 6, 9], false);
    // A sum of one and the same: add eax,[rdi]; dec rcx; jne
    check(&[0x03, 0x07, 0x48, 0xff, 0xc9, 0x75, 0xf9], &[0, 2, 5], false);
    // Numbers alone: imul eax,eax,3; dec ecx; jne
    check(&[0x6b, 0xc0, 0x03, 0xff, 0xc9, 0x75, 0xf9], &[0, 3, 5], false);
    // xor eax,edx; shl eax,1; dec ecx; jne
    check(&[0x31, 0xd0, 0xd1, 0xe0, 0xff, 0xc9, 0x75, 0xf8], &[0, 2, 4, 6], false);
    // A store: mov eax,[rdi]; mov [rsi],eax; test eax,eax; je
    check(&[0x8b, 0x07, 0x89, 0x06, 0x85, 0xc0, 0x74, 0xf8], &[0, 2, 4, 6], false);
    // A call of what is not known: mov eax,[rdi]; call *rdx; test eax,eax; je
    check(&[0x8b, 0x07, 0xff, 0xd2, 0x85, 0xc0, 0x74, 0xf8], &[0, 2, 4, 6], false);
    // Counts alone: sub eax,1; jne
    check(&[0x83, 0xe8, 0x01, 0x75, 0xfb], &[0, 3], false);
    // Tickets are taken: mov eax,1; lock xadd [rdi],eax; cmp eax,esi; jl
    check(&[0xb8, 1, 0, 0, 0, 0xf0, 0x0f, 0xc1, 0x07, 0x39, 0xf0, 0x7c, 0xf3], &[0, 5, 9, 11], false);
    // No loop.
    check(&[0x8b, 0x07, 0x39, 0xf0], &[0, 2], false);
}

/// `int comes(int value) { return flag == value; }`, and a loop that calls it, by gcc with -O1.
const CALLS: [u8; 24] = [
    0x89, 0xdf, // mov edi,ebx
    0xe8, 0x05, 0, 0, 0, // call comes
    0x85, 0xc0, // test eax,eax
    0x74, 0xf5, // je
    0xc3, // ret
    0x8b, 0x05, 100, 0, 0, 0, // comes: mov eax,[rip+100]
    0x39, 0xf8, // cmp eax,edi
    0x0f, 0x94, 0xc0, // sete al
    0xc3,
];

#[test]
fn loops_that_call() {
    for begin in [0, 2, 7, 9] {
        assert!(polls(&CALLS, begin, None, &[]), "at {begin}");
    }
    for begin in [12, 18, 20, 23] {
        assert!(polls(&CALLS, begin, None, &[Some(7)]), "at {begin}, called by the loop");
        assert!(!polls(&CALLS, begin, None, &[]), "at {begin}, called by what is not known");
        assert!(!polls(&CALLS, begin, None, &[Some(11)]), "at {begin}, called by what is no loop");
    }
    // The same, and what the loop counts is kept by others: inc dword [rsi].
    let counts = [&[0xff, 0x06][..], &[0x89, 0xdf, 0xe8, 5, 0, 0, 0, 0x85, 0xc0, 0x74, 0xf3], &CALLS[11..]].concat();
    for begin in [0, 2, 4, 9, 11] {
        assert!(!polls(&counts, begin, None, &[]), "at {begin}");
    }
    assert!(!polls(&counts, 14, None, &[Some(9)]), "in the function");
}

/// The same unoptimised: `while (!comes(value))` with `value` at [rbp-4].
const UNOPTIMISED: [u8; 38] = [
    0x8b, 0x45, 0xfc, // mov eax,[rbp-4]
    0x89, 0xc7, // mov edi,eax
    0xe8, 0x05, 0, 0, 0, // call comes
    0x85, 0xc0, // test eax,eax
    0x74, 0xf2, // je
    0xc3, // ret
    0x55, // comes: push rbp
    0x48, 0x89, 0xe5, // mov rbp,rsp
    0x89, 0x7d, 0xfc, // mov [rbp-4],edi
    0x8b, 0x05, 100, 0, 0, 0, // mov eax,[rip+100]
    0x39, 0x45, 0xfc, // cmp [rbp-4],eax
    0x0f, 0x94, 0xc0, // sete al
    0x0f, 0xb6, 0xc0, // movzx eax,al
    0x5d, // pop rbp
];

#[test]
fn loops_that_keep_all_on_the_stack() {
    let code = [&UNOPTIMISED[..], &[0xc3]].concat();
    for begin in [0, 3, 5, 10, 12] {
        assert!(polls(&code, begin, Some(32), &[]), "at {begin}");
    }
    assert!(polls(&code, 15, Some(40), &[Some(10)]), "at the function's begin");
    assert!(polls(&code, 16, Some(40), &[None, Some(10)]), "behind push");
    for begin in [19, 22, 28, 31, 34, 37] {
        assert!(polls(&code, begin, Some(0), &[None, Some(10)]), "at {begin}");
    }
    assert!(polls(&code, 38, Some(40), &[Some(10)]), "at its end");
    // for (int i = 0; i < 1000; i++): mov eax,[rbp-4]; add eax,1; mov [rbp-4],eax; cmp dword [rbp-4],999; jle
    let counts = [0x8b, 0x45, 0xfc, 0x83, 0xc0, 1, 0x89, 0x45, 0xfc, 0x81, 0x7d, 0xfc, 0xe7, 3, 0, 0, 0x7e, 0xee];
    // The same to a limit that is read: mov eax,[rip+100]; cmp [rbp-4],eax; jl
    let to_limit = [0x83, 0x45, 0xfc, 1, 0x8b, 0x05, 100, 0, 0, 0, 0x39, 0x45, 0xfc, 0x7c, 0xf1];
    // while (a[i++]): mov eax,[rbp-4]; lea edx,[rax+1]; mov [rbp-4],edx; mov rdx,[rbp-16]; mov eax,[rdx+rax*4]; test eax,eax; jne
    let walk = [
        0x8b, 0x45, 0xfc, 0x8d, 0x50, 1, 0x89, 0x55, 0xfc, 0x48, 0x8b, 0x55, 0xf0, 0x8b, 0x04, 0x82, 0x85, 0xc0, 0x75,
        0xec,
    ];
    // x ^= x << 13: mov rax,[rbp-8]; shl rax,13; xor [rbp-8],rax; cmp dword [rip+100],0; je
    let mixes =
        [0x48, 0x8b, 0x45, 0xf8, 0x48, 0xc1, 0xe0, 13, 0x48, 0x31, 0x45, 0xf8, 0x83, 0x3d, 100, 0, 0, 0, 0, 0x74, 0xeb];
    for (code, what) in [(&counts[..], "counts"), (&to_limit, "to a limit"), (&walk, "walks"), (&mixes, "mixes")] {
        assert!(!polls(code, 0, Some(32), &[]), "{what}");
    }
    // while (flags[i] == 0): mov eax,[rbp-4]; lea rdx,[rax*4+0]; mov rax,[rbp-16]; add rax,rdx; mov eax,[rax]; test eax,eax; je
    let one_of_many = [
        0x8b, 0x45, 0xfc, 0x48, 0x8d, 0x14, 0x85, 0, 0, 0, 0, 0x48, 0x8b, 0x45, 0xf0, 0x48, 0x01, 0xd0, 0x8b, 0x00,
        0x85, 0xc0, 0x74, 0xe8,
    ];
    assert!(polls(&one_of_many, 0, Some(32), &[]));
    // At most so often: add dword [rbp-4],1; cmp dword [rbp-4],999; jg out; mov eax,[rip+100]; test eax,eax; je; out:
    let bounded = [
        0x83, 0x45, 0xfc, 1, 0x81, 0x7d, 0xfc, 0xe7, 3, 0, 0, 0x7f, 10, 0x8b, 0x05, 100, 0, 0, 0, 0x85, 0xc0, 0x74,
        0xe9,
    ];
    assert!(polls(&bounded, 0, Some(32), &[]));
}
