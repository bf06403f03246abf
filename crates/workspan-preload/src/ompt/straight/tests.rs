//! Headers of loops as gcc compiles them, and what is none.

use super::*;

const RAX: usize = 0;
const RSP: usize = 4;
const RBP: usize = 5;

#[track_caller]
fn check(code: &[u8], registers: &[(usize, u64)], divisor: u64, expected: Option<u64>) {
    follow(code, registers, Member { of: divisor, number: Some(0) }, &mut Known::default(), expected);
}

#[track_caller]
fn follow(code: &[u8], registers: &[(usize, u64)], member: Member, known: &mut Known, expected: Option<u64>) {
    let mut values: Registers = [None; 16];
    registers.iter().for_each(|(register, value)| values[*register] = Some(*value));
    // An instruction that is not known ends it.
    let code = [code, &[0xcc; 16]].concat();
    // SAFETY: the code reads no memory but what these registers point at, which is there.
    let found = unsafe { iterations(code.as_ptr() as u64, values, member, known) };
    assert_eq!(found.map(|found| found.iterations), expected);
}

const RBX: usize = 3;
const R12: usize = 12;

/// As gcc 12 compiles headers of loops.
#[test]
fn headers_of_loops() {
    // mov ebx,eax; mov eax,[r12]; cdq; idiv ebp
    let count = 1000i32;
    let at = &raw const count as u64;
    let header = [0x89, 0xc3, 0x41, 0x8b, 0x04, 0x24, 0x99, 0xf7, 0xfd];
    check(&header, &[(RAX, 0), (R12, at), (RBP, 4)], 4, Some(1000));
    check(&header, &[(RAX, 0), (R12, at), (RBP, 4)], 5, None);
    check(&header, &[(RAX, 0), (RBP, 4)], 4, None);
    // xor edx,edx; mov r13d,eax; mov eax,12; idiv r14d
    let header = [0x31, 0xd2, 0x41, 0x89, 0xc5, 0xb8, 0x0c, 0, 0, 0, 0x41, 0xf7, 0xfe];
    check(&header, &[(RAX, 1), (14, 2)], 2, Some(12));
    // movsxd rsi,eax; mov rax,[rbp+8]; lea rcx,[rax+1]; movabs rax,0x5555555555555556; sub rcx,r13; imul rcx;
    // sar rcx,63; mov rax,rdx; sub rax,rcx; cqo; idiv rbx: (102 + 1 - 4) / 3 iterations
    let data = [0u64, 102];
    let header = [
        0x48, 0x63, 0xf0, 0x48, 0x8b, 0x45, 0x08, 0x48, 0x8d, 0x48, 0x01, 0x48, 0xb8, 0x56, 0x55, 0x55, 0x55, 0x55,
        0x55, 0x55, 0x55, 0x4c, 0x29, 0xe9, 0x48, 0xf7, 0xe9, 0x48, 0xc1, 0xf9, 0x3f, 0x48, 0x89, 0xd0, 0x48, 0x29,
        0xc8, 0x48, 0x99, 0x48, 0xf7, 0xfb,
    ];
    let registers = [(RAX, 0), (RBP, &raw const data as u64), (13, 4), (RBX, 8)];
    check(&header, &registers, 8, Some(33));
    // movsxd rcx,ebx; xor edx,edx; movsxd rbp,eax; mov rax,r12; div rcx
    let header = [0x48, 0x63, 0xcb, 0x31, 0xd2, 0x48, 0x63, 0xe8, 0x4c, 0x89, 0xe0, 0x48, 0xf7, 0xf1];
    check(&header, &[(RAX, 0), (RBX, 3), (R12, 64)], 3, Some(64));
}

/// The header is computed once, before a loop around; behind a barrier the bounds alone are compared.
#[test]
fn loops_that_are_met_again() {
    // idiv ebx; cmp esi,edx; jl +2; imul esi,eax
    let header = [0x99, 0xf7, 0xfb, 0x39, 0xd6, 0x7c, 0x03, 0x0f, 0xaf, 0xf0];
    let mut known = Known::default();
    let member = Member { of: 2, number: Some(1) };
    follow(&header, &[(RAX, 64), (6, 1), (RBX, 2)], member, &mut known, Some(64));
    assert_eq!(known, [64, 0, 0]);
    // add ebp,1; cmp r14d,ebp; je +4; nop; cmp [rsp+4],r13d; jle
    let end = [0u32, 64];
    let again = [0x83, 0xc5, 0x01, 0x41, 0x39, 0xee, 0x74, 0x01, 0x90, 0x44, 0x39, 0x6c, 0x24, 0x04, 0x7e, 0x00];
    let registers = |begin| [(RBP, 7), (14, 500), (13, begin), (RSP, &raw const end as u64)];
    follow(&again, &registers(32), member, &mut known, Some(64));
    follow(&again, &registers(31), member, &mut known, None);
    // The first of 64 is one more than the others; of 65 the first two are.
    let three = Member { of: 3, number: Some(1) };
    assert_eq!((three.part(64), three.part(65)), (Some((22, 43)), Some((22, 44))));
    // sub ebp,1; jne +4; nop; cmp r14d,r13d
    let again = [0x83, 0xed, 0x01, 0x75, 0x01, 0x90, 0x45, 0x39, 0xee];
    follow(&again, &[(RBP, 7), (14, 64), (13, 32)], member, &mut known, Some(64));
    // What the branch depends on is not known.
    follow(&again, &registers(32)[..1], member, &mut known, None);
}

#[test]
fn what_is_no_header() {
    // ret
    check(&[0xc3], &[(RAX, 0)], 1, None);
    // mov [r12],eax; mov ecx,[r12]; mov eax,ecx; cdq; idiv ebx: the store is kept aside
    let mut memory = 7u32;
    let at = &raw mut memory as u64;
    let code = [0x41, 0x89, 0x04, 0x24, 0x41, 0x8b, 0x0c, 0x24, 0x89, 0xc8, 0x99, 0xf7, 0xfb];
    check(&code, &[(RAX, 30), (R12, at), (RBX, 3)], 3, Some(30));
    assert_eq!(memory, 7);
    // The same where it is not known what is stored where.
    check(&code, &[(R12, at), (RBX, 3)], 3, None);
    // cmovle eax,ecx; cdq; idiv ebx: depends on flags.
    check(&[0x0f, 0x4e, 0xc1, 0x99, 0xf7, 0xfb], &[(RAX, 30), (1, 2), (RBX, 3)], 3, None);
    // cmp ecx,ebx before: they are known.
    check(&[0x39, 0xd9, 0x0f, 0x4e, 0xc1, 0x99, 0xf7, 0xfb], &[(RAX, 30), (1, 2), (RBX, 3)], 3, Some(2));
    check(&[0x39, 0xd9, 0x0f, 0x4f, 0xc1, 0x99, 0xf7, 0xfb], &[(RAX, 30), (1, 2), (RBX, 3)], 3, Some(30));
    // No iterations: cdq; idiv ebx
    check(&[0x99, 0xf7, 0xfb], &[(RAX, 0), (RBX, 3)], 3, Some(0));
}

/// As gcc 12 compiles headers of loops with a chunk size, up to the branch that passes by the loop.
#[test]
fn loops_with_a_chunk_size() {
    #[track_caller]
    fn check(code: &[u8], count: u64, others: &[(usize, u64)], expected: Option<(u64, u64)>) {
        let registers = |number: u64| {
            let mut values: Registers = [None; 16];
            others
                .iter()
                .chain(&[(RAX, number), (RBX, count), (RBP, count)])
                .for_each(|(at, value)| values[*at] = Some(*value));
            values
        };
        let code = [code, &[0xcc; 16]].concat();
        // SAFETY: the code reads no memory.
        let found = unsafe { chunks(code.as_ptr() as u64, registers) };
        assert_eq!(found.map(|found| (found.iterations, found.chunk)), expected);
    }
    // lea r10d,[rax*4+0]; lea r9d,[r10+4]; cmp r9d,ebx; cmovg r9d,ebx; cmp ebx,r10d; jle
    let by_four = [
        0x44, 0x8d, 0x14, 0x85, 0, 0, 0, 0, 0x45, 0x8d, 0x4a, 0x04, 0x41, 0x39, 0xd9, 0x44, 0x0f, 0x4f, 0xcb, 0x44,
        0x39, 0xd3, 0x7e, 0x7d,
    ];
    check(&by_four, 100, &[], Some((100, 4)));
    check(&by_four, 3, &[], Some((3, 4)));
    check(&by_four, 0, &[], None);
    // cmp ebp,eax; jle: a chunk is an iteration
    check(&[0x39, 0xc5, 0x7e, 0x47], 7, &[], Some((7, 1)));
    // mov edi,r13d; imul edi,eax; cmp ebx,edi; jle: a size that is known when it runs
    let late = [0x44, 0x89, 0xef, 0x0f, 0xaf, 0xf8, 0x39, 0xfb, 0x7e, 0x20];
    check(&late, 64, &[(13, 5)], Some((64, 5)));
    check(&late, 64, &[], None);
    // cmp eax,63; jg: the last iteration is compared
    check(&[0x83, 0xf8, 0x3f, 0x7f, 0x20], 0, &[], Some((64, 1)));
    // add eax,3; cmp ebp,eax; jle: the first member does not begin at the first iteration
    check(&[0x83, 0xc0, 0x03, 0x39, 0xc5, 0x7e, 0x20], 64, &[], None);
    // xor eax,eax; cmp ebp,eax; jle: the same for all members
    check(&[0x31, 0xc0, 0x39, 0xc5, 0x7e, 0x20], 64, &[], None);
}

/// Rounds of a loop whose bounds are compared before the first one alone.
#[test]
fn rounds_of_a_loop() {
    #[track_caller]
    fn check(code: &[u8], round: u64, within: core::ops::Range<u64>, expected: bool) {
        let mut values: Registers = [None; 16];
        values[14] = Some(round);
        let code = [code, &[0xcc; 16]].concat();
        let begin = code.as_ptr() as u64;
        // SAFETY: the code reads no memory.
        let found = unsafe { comes_into(begin + 4, values, begin + within.start..begin + within.end) };
        assert_eq!(found, expected, "round {round}");
    }
    // nop; nop; nop; nop; add r14d,1; cmp r14d,5; jne to the beginning
    let code = [0x90, 0x90, 0x90, 0x90, 0x41, 0x83, 0xc6, 0x01, 0x41, 0x83, 0xfe, 0x05, 0x75, 0xf2];
    check(&code, 3, 0..4, true);
    check(&code, 4, 0..4, false);
    check(&code, 3, 20..24, false);
}
