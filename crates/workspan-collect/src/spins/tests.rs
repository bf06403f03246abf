//! Loops as compilers write them, and what is none that polls.

use super::is_polling;

/// All of `code` is a loop, of which each instruction begins at one of `begins`; none polls, or all do.
#[track_caller]
fn check(code: &[u8], begins: &[usize], expected: bool) {
    // What lies behind it is not known.
    let code = [code, &[0xcc; 16]].concat();
    for begin in begins {
        // SAFETY: a whole loop, and what ends it.
        let found = unsafe { is_polling(code.as_ptr() as u64 + *begin as u64) };
        assert_eq!(found, expected, "at {begin}");
    }
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
    // A call: mov eax,[rdi]; call +0; test eax,eax; je
    check(&[0x8b, 0x07, 0xe8, 0, 0, 0, 0, 0x85, 0xc0, 0x74, 0xf5], &[0, 2, 7, 9], false);
    // Counts alone: sub eax,1; jne
    check(&[0x83, 0xe8, 0x01, 0x75, 0xfb], &[0, 3], false);
    // Tickets are taken: mov eax,1; lock xadd [rdi],eax; cmp eax,esi; jl
    check(&[0xb8, 1, 0, 0, 0, 0xf0, 0x0f, 0xc1, 0x07, 0x39, 0xf0, 0x7c, 0xf3], &[0, 5, 9, 11], false);
    // No loop.
    check(&[0x8b, 0x07, 0x39, 0xf0], &[0, 2], false);
}
