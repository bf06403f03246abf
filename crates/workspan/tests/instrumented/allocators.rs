//! Programs that bring an allocator with them: Rust's `#[global_allocator]`, and libraries that C and C++ programs are linked with.

use std::collections::HashSet;
use std::path::Path;

use workspan_graph::events::{Access, Control};
use workspan_graph::file::{Recording, NAME};
use workspan_graph::replay::{replay, Consumer, Executed};
use workspan_trace::control::Kind;

use crate::depend_rust::{package, run};
use crate::support::{build, folder, json, record_as};

/// The allocator gives the block again that came back last, to any thread. The lock around its list is its own business.
const PROGRAM: &str = "\
use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};

struct Pool;
static LOCK: AtomicBool = AtomicBool::new(false);
static mut FREE: [*mut u8; 1000] = [std::ptr::null_mut(); 1000];
static mut COUNT: usize = 0;
static mut SHARED: u64 = 0;

fn locked<T>(action: impl FnOnce() -> T) -> T {
    while LOCK.swap(true, Ordering::Acquire) {}
    let result = action();
    LOCK.store(false, Ordering::Release);
    result
}

fn is_small(layout: Layout) -> bool {
    layout.size() == 32 && layout.align() == 8
}

unsafe impl GlobalAlloc for Pool {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let taken = || unsafe {
            (is_small(layout) && COUNT > 0).then(|| {
                COUNT -= 1;
                FREE[COUNT]
            })
        };
        locked(taken).unwrap_or_else(|| unsafe { System.alloc(layout) })
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        let kept = || unsafe {
            let keeps = is_small(layout) && COUNT < 1000;
            if keeps {
                FREE[COUNT] = pointer;
                COUNT += 1;
            }
            keeps
        };
        if !locked(kept) {
            unsafe { System.dealloc(pointer, layout) }
        }
    }
}

#[global_allocator]
static POOL: Pool = Pool;

fn main() {
    let racy = std::env::args().nth(1).is_some_and(|word| word == \"racy\");
    let all_begin = std::sync::Barrier::new(4);
    let all_begin = &all_begin;
    std::thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || {
                all_begin.wait();
                for i in 0..50 {
                    let own = black_box(Box::new([i, thread, 0, 0]));
                    black_box(own.iter().sum::<u64>());
                }
                if racy {
                    unsafe { SHARED += 1 };
                }
            });
        }
    });
    black_box(unsafe { SHARED });
    let mut results = vec![0; 64];
    for i in 0..64 { // each has a block
        let mut own = Box::new([i as u64; 4]);
        own[black_box(i) % 4] += 3;
        results[i] = own.iter().sum();
    }
    println!(\"{}\", results[black_box(9)]);
}
";

/// Blocks of 32 bytes that were given, and those that were not taken back.
#[derive(Default)]
struct Blocks {
    given: usize,
    kept: HashSet<u64>,
}

impl Consumer for Blocks {
    fn segment(&mut self, _: Executed<'_>, _: &[Access]) {}

    fn control(&mut self, _: u32, control: Control) {
        let [address, size, ..] = control.slots;
        if control.kind == Kind::Allocate && size == 32 {
            self.given += 1;
            self.kept.insert(address);
        } else if control.kind == Kind::Free {
            self.kept.remove(&address);
        }
    }
}

fn blocks(folder: &Path) -> Blocks {
    let recording = Recording::open(&folder.join("run.graph").join(NAME)).expect("a graph");
    let mut blocks = Blocks::default();
    replay(&recording, &mut blocks).expect("readable");
    blocks
}

#[test]
fn memory_that_is_given_again_is_other_memory() {
    let folder = package("own-allocator", PROGRAM);
    build(&folder, "cargo build --release");
    let program = format!("./target/{}-unknown-linux-gnu/release/prog", std::env::consts::ARCH);
    for kind in ["fixed", "racy"] {
        assert_eq!(record_as(&folder, &[&program, kind]), "39\n");
        let races = json(&folder, "races")["races"].clone();
        let places: Vec<&str> =
            races.as_array().expect("a list").iter().filter_map(|race| race["first"]["file"].as_str()).collect();
        assert_eq!(places.is_empty(), kind == "fixed", "{kind}: {races:#}");
        assert!(places.iter().all(|file| *file == "src/main.rs"), "{kind}: {races:#}");
        // What is taken back is seen where the call would be inlined, too.
        let Blocks { given, kept } = blocks(&folder);
        assert!(given > 200 && kept.len() < 4, "{kind}: {} of {given} were not taken back", kept.len());
    }
    let profile = run(&folder);
    let line = 1 + PROGRAM.lines().position(|line| line.ends_with("each has a block")).expect("it is there");
    let loops = profile["loops"].as_array().expect("a list");
    let found = loops.iter().find(|found| found["line"] == line).expect("it ran");
    assert_eq!(found["parallel"], "yes", "{found:#}");
}

/// An allocator in a library of its own, for C and C++. It gives the block again that came back last, to any thread, and ends the program
/// if something comes back that it has not given.
const LIBRARY: &str = r#"
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct block { size_t size; uint64_t mark; struct block *next; uint64_t fill; };
static struct block *kept[64];
static char *rest, *end;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const uint64_t ours = 0x6f757273;

static void *take(size_t align, size_t size)
{
    size = (size + 63) / 64 * 64;
    pthread_mutex_lock(&lock);
    struct block *found = size / 64 < 64 && align <= 16 ? kept[size / 64] : NULL;
    if (found != NULL) {
        kept[size / 64] = found->next;
    } else {
        size_t most = size + align + sizeof *found;
        if ((size_t)(end - rest) < most) {
            size_t more = most > 1 << 22 ? most : 1 << 22;
            rest = mmap(NULL, more, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            end = rest + more;
        }
        uintptr_t at = (uintptr_t)rest + sizeof *found;
        at = (at + align - 1) / align * align;
        rest = (char *)at + size;
        found = (struct block *)at - 1;
        found->size = size;
    }
    found->mark = ours;
    pthread_mutex_unlock(&lock);
    return found + 1;
}

static void give(void *p)
{
    if (p == NULL)
        return;
    struct block *block = (struct block *)p - 1;
    if (block->mark != ours)
        abort();
    pthread_mutex_lock(&lock);
    block->mark = 0;
    if (block->size / 64 < 64) {
        block->next = kept[block->size / 64];
        kept[block->size / 64] = block;
    }
    pthread_mutex_unlock(&lock);
}

void *malloc(size_t size) { return take(16, size); }
void free(void *p) { give(p); }
void *calloc(size_t count, size_t size) { return memset(take(16, count * size), 0, count * size); }
void *memalign(size_t align, size_t size) { return take(align < 16 ? 16 : align, size); }
void *aligned_alloc(size_t align, size_t size) { return memalign(align, size); }
int posix_memalign(void **to, size_t align, size_t size) { *to = memalign(align, size); return 0; }
void *realloc(void *p, size_t size)
{
    void *to = take(16, size);
    if (p != NULL) {
        size_t had = ((struct block *)p - 1)->size;
        memcpy(to, p, had < size ? had : size);
        give(p);
    }
    return to;
}
void *_Znwm(size_t size) { return take(16, size); }
void _ZdlPv(void *p) { give(p); }
void _ZdlPvm(void *p, size_t size) { give(p); }

/* The loader has a text of this allocator, and gives it back where it is asked next. */
__attribute__((constructor)) static void begin(void) { dlsym(RTLD_DEFAULT, "nobody_defines_this"); }
"#;

/// Threads that use, in their turn, what others have given back. `NEW` and `DELETE` differ between C and C++.
const USER: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct node { long values[6]; };
static pthread_barrier_t all;
static int racy;
static long shared;

static void *work(void *number)
{
    long sum = 0;
    pthread_barrier_wait(&all);
    for (int i = 0; i < 200; i++) {
        struct node *own = NEW;
        for (int k = 0; k < 6; k++)
            own->values[k] = i + k;
        sum += own->values[i % 6];
        DELETE;
    }
    if (racy)
        shared += sum;
    return number;
}

int main(int count, char **words)
{
    (void)words;
    racy = count > 1;
    pthread_t threads[4];
    pthread_barrier_init(&all, NULL, 4);
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    puts("done");
    return 0;
}
"#;

#[test]
fn allocators_of_libraries_get_back_what_they_gave() {
    let folder = folder("allocator-library");
    let library = ["-O1", "-shared", "-fPIC", "-fno-builtin", "-w", "library.c", "-o", "libown.so"];
    std::fs::write(folder.join("library.c"), LIBRARY).expect("writable");
    let made = std::process::Command::new("cc").args(library).current_dir(&folder).status().expect("a compiler");
    assert!(made.success());
    let link = format!("-L. -Wl,-rpath,{}", folder.display());
    for (compiler, file, new, delete) in
        [("cc", "prog.c", "malloc(sizeof(struct node))", "free(own)"), ("c++", "prog.cpp", "new node", "delete own")]
    {
        let text = USER.replace("NEW", new).replace("DELETE", delete);
        std::fs::write(folder.join(file), text).expect("writable");
        build(&folder, &format!("{compiler} -O1 {file} -o prog {link} -lown -lpthread"));
        for (command, is_racy) in [(vec!["./prog"], false), (vec!["./prog", "racy"], true)] {
            assert_eq!(record_as(&folder, &command), "done\n", "{file}");
            let races = json(&folder, "races");
            assert_eq!(races["races"].as_array().is_some_and(|all| !all.is_empty()), is_racy, "{file}: {races:#}");
        }
    }
}
