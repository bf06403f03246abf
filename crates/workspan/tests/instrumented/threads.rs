//! Shapes of the graphs of programs with threads: closed forms, and races, planted and fixed.

use serde_json::{json, Value};

use crate::support::{build_source, folder, json, record};

/// Tasks by type, and contexts.
pub(crate) fn shape(report: &Value) -> [u64; 6] {
    let count = |name: &str| report["tasks"][name].as_u64().expect("a number");
    let [work, create, join, sync, barrier] = ["work", "create", "join", "sync", "barrier"].map(count);
    [work, create, join, sync, barrier, report["contexts"].as_u64().expect("a number")]
}

#[track_caller]
fn check(folder: &std::path::Path, expected: [u64; 6]) {
    let report = json(folder, "report");
    assert_eq!(report["complete"], true, "{report:#}");
    assert_eq!(shape(&report), expected, "work, create, join, sync, barrier, contexts");
}

const HEAD: &str = "\
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t semaphore, two;
static long shared, waiting, ready, cells[9];
#define RELEASE __atomic_thread_fence(__ATOMIC_RELEASE)
#define ACQUIRE __atomic_thread_fence(__ATOMIC_ACQUIRE)
static inline void squares(void) {
    long *own = malloc(8000);
    for (long i = 0; i < 1000; i++) own[i] = i * i;
    __asm__ volatile(\"\" : : \"r\"(own) : \"memory\");
    free(own);
}
";

/// A program that starts threads which each run `body`, while the first runs `meanwhile`.
fn program(threads: usize, body: &str, meanwhile: &str) -> String {
    format!(
        "{HEAD}static void *run(void *argument) {{ long id = (long)argument; (void)id;\n{body}\n return 0; }}\n\
         int main(void) {{\n    pthread_t threads[{threads}];\n    pthread_barrier_init(&barrier, 0, {threads} + 1);\n    sem_init(&semaphore, 0, 0);\n    sem_init(&two, 0, 2);\n\
         for (long i = 0; i < {threads}; i++) pthread_create(&threads[i], 0, run, (void *)i);\n{meanwhile}\n\
         for (int i = 0; i < {threads}; i++) pthread_join(threads[i], 0);\n    printf(\"%ld\\n\", shared);\n    return 0;\n}}\n"
    )
}

const BUILD: &str = "cc -O2 -pthread";

#[test]
fn closed_forms() {
    for threads in [1_u64, 3, 8] {
        let folder = folder(&format!("forms-{threads}"));
        let build = |body: &str, meanwhile: &str| {
            build_source(&folder, "prog.c", &program(usize::try_from(threads).expect("few"), body, meanwhile), BUILD);
            record(&folder)
        };
        let (t, contexts) = (threads, threads + 1);
        // Each create and each join ends a work task of the first context.
        build("", "");
        check(&folder, [contexts + 2 * t, t, t, 0, 0, contexts]);
        // Ten critical sections each: a lock and an unlock.
        let printed = build(
            "for (int i = 0; i < 10; i++) { pthread_mutex_lock(&mutex); shared++; pthread_mutex_unlock(&mutex); }",
            "",
        );
        assert_eq!(printed.trim(), (10 * t).to_string());
        check(&folder, [contexts + 2 * t + 20 * t, t, t, 20 * t, 0, contexts]);
        // Five passages of all, one task each, and a work task for each context after each.
        let wait = "for (int i = 0; i < 5; i++) pthread_barrier_wait(&barrier);";
        build(wait, wait);
        check(&folder, [contexts + 2 * t + 5 * contexts, t, t, 0, 5, contexts]);
        // A semaphore: each posts once, the first takes them all.
        build("sem_post(&semaphore);", &format!("for (int i = 0; i < {t}; i++) sem_wait(&semaphore);"));
        check(&folder, [contexts + 2 * t + 2 * t, t, t, 2 * t, 0, contexts]);
    }
}

/// The first waits on a condition until all have come. How often it wakes is up to the system: each wake is three syncs.
#[test]
fn condition_variables() {
    let folder = folder("condition");
    let body = "pthread_mutex_lock(&mutex); ready++; pthread_cond_signal(&condition); pthread_mutex_unlock(&mutex);";
    let meanwhile =
        "pthread_mutex_lock(&mutex); while (ready < 4) { waiting++; pthread_cond_wait(&condition, &mutex); }\n\
                     shared = waiting; pthread_mutex_unlock(&mutex);";
    build_source(&folder, "prog.c", &program(4, body, meanwhile), BUILD);
    let waits: u64 = record(&folder).trim().parse().expect("a number");
    // The second and third sync of a wait follow the one before them directly.
    let (events, syncs) = (3 * 4 + 2 + waits, 3 * 4 + 2 + 3 * waits);
    check(&folder, [5 + 8 + events, 4, 4, syncs, 0, 5]);
}

/// Who is woken may end the program before the call that has woken it returns: here that never does.
#[test]
fn the_last_post_is_recorded() {
    let folder = folder("last-post");
    let slow = "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <semaphore.h>\n#include <unistd.h>\n\
                int sem_post(sem_t *semaphore) {\n    int (*own)(sem_t *) = dlvsym(RTLD_NEXT, \"sem_post\", \"GLIBC_2.34\");\n    \
                if (!own) own = dlsym(RTLD_NEXT, \"sem_post\");\n    int answer = own(semaphore);\n    for (;;) pause();\n    return answer;\n}\n";
    std::fs::write(folder.join("slow.c"), slow).expect("the folder is writable");
    let mut command = std::process::Command::new("gcc");
    command.current_dir(&folder).args(["-shared", "-fPIC", "-o", "libslow.so", "slow.c", "-ldl"]);
    assert!(command.status().expect("it runs").success());
    let source = format!(
        "{HEAD}static void *run(void *argument) {{ sem_post(&semaphore); return argument; }}\n\
         int main(void) {{\n    pthread_t thread;\n    sem_init(&semaphore, 0, 0);\n    \
         pthread_create(&thread, 0, run, 0);\n    sem_wait(&semaphore);\n    puts(\"0\");\n    return 0;\n}}\n"
    );
    let library = folder.display();
    build_source(
        &folder,
        "prog.c",
        &source,
        &format!("cc -O2 -pthread -L{library} -Wl,--no-as-needed,-rpath,{library} -lslow"),
    );
    record(&folder);
    // The post and the wait that takes it.
    assert_eq!(json(&folder, "report")["tasks"]["sync"], 2);
}

fn races(name: &str, body: &str, meanwhile: &str) -> Value {
    let folder = folder(name);
    build_source(&folder, "prog.c", &program(3, body, meanwhile), BUILD);
    record(&folder);
    json(&folder, "races")["races"].clone()
}

/// Body of the threads, what the first does meanwhile, and whether that races.
const CASES: &[(&str, &str, bool)] = &[
    ("shared += id;", "", true),
    ("shared += id;", "shared++;", true),
    ("", "shared++;", false),
    ("pthread_mutex_lock(&mutex); shared += id; pthread_mutex_unlock(&mutex);", "", false),
    ("pthread_mutex_lock(&mutex); shared += id; pthread_mutex_unlock(&mutex);", "shared++;", true),
    ("pthread_barrier_wait(&barrier); if (id == 1) shared = 3;", "shared = 1; pthread_barrier_wait(&barrier);", false),
    ("if (id == 1) shared = 3; pthread_barrier_wait(&barrier);", "pthread_barrier_wait(&barrier); shared = 1;", false),
    ("pthread_barrier_wait(&barrier); if (id == 1) shared = 3;", "pthread_barrier_wait(&barrier); shared = 1;", true),
    ("if (id == 0) { shared = 2; sem_post(&semaphore); }", "sem_wait(&semaphore); shared++;", false),
    ("if (id == 0) { sem_post(&semaphore); shared = 2; }", "sem_wait(&semaphore); shared++;", true),
    // Three threads and two permits: two may be inside at a time, at whatever times they came in this run.
    ("sem_wait(&two); shared += id; sem_post(&two);", "", true),
    ("usleep(id * 20000); sem_wait(&two); shared += id; sem_post(&two);", "", true),
    (
        "sem_wait(&two); pthread_mutex_lock(&mutex); shared += id; pthread_mutex_unlock(&mutex); sem_post(&two);",
        "",
        false,
    ),
    // Who takes as many as were posted knows of all posts; who takes one less, not of all.
    (
        "cells[id] = id; sem_post(&semaphore);",
        "for (int i = 0; i < 3; i++) sem_wait(&semaphore); shared = cells[0] + cells[1] + cells[2];",
        false,
    ),
    (
        "cells[id] = id; sem_post(&semaphore);",
        "usleep(20000); for (int i = 0; i < 2; i++) sem_wait(&semaphore); shared = cells[0] + cells[1] + cells[2];",
        true,
    ),
    // A queue of two places, and of one more than it has permits for.
    (
        "if (id == 0) for (int i = 0; i < 9; i++) { sem_wait(&two); cells[i % 2] = i; sem_post(&semaphore); }",
        "for (int i = 0; i < 9; i++) { sem_wait(&semaphore); shared += cells[i % 2]; sem_post(&two); }",
        false,
    ),
    (
        "if (id == 0) for (int i = 0; i < 9; i++) { sem_wait(&two); cells[0] = i; sem_post(&semaphore); }",
        "for (int i = 0; i < 9; i++) { sem_wait(&semaphore); shared += cells[0]; sem_post(&two); }",
        true,
    ),
    ("long *own = malloc(64); for (int i = 0; i < 8; i++) own[i] = id; free(own);", "", false),
    ("__atomic_fetch_add(&shared, id, __ATOMIC_RELAXED);", "", false),
    // What comes before a releasing fence is there for who has passed an acquiring one.
    (
        "if (id == 0) { shared = 2; RELEASE; __atomic_store_n(&ready, 1, __ATOMIC_RELAXED); }",
        "while (!__atomic_load_n(&ready, __ATOMIC_RELAXED)) {} ACQUIRE; shared++;",
        false,
    ),
    (
        "if (id == 0) { shared = 2; RELEASE; __atomic_store_n(&ready, 1, __ATOMIC_RELAXED); }",
        "while (!__atomic_load_n(&ready, __ATOMIC_RELAXED)) {} shared++; ACQUIRE;",
        true,
    ),
    (
        "if (id == 0) { shared = 2; __atomic_store_n(&ready, 1, __ATOMIC_RELAXED); RELEASE; }",
        "while (!__atomic_load_n(&ready, __ATOMIC_RELAXED)) {} ACQUIRE; shared++;",
        true,
    ),
    // All iterations of the loops between are one event.
    (
        "if (id == 0) { shared = 2; RELEASE; squares(); __atomic_store_n(&ready, 1, __ATOMIC_RELAXED); }",
        "while (!__atomic_load_n(&ready, __ATOMIC_RELAXED)) {} squares(); ACQUIRE; shared++;",
        false,
    ),
];

#[test]
fn races_are_found_where_they_are_and_nowhere_else() {
    for (number, (body, meanwhile, race)) in CASES.iter().enumerate() {
        let found = races(&format!("races-{number}"), body, meanwhile);
        let found = found.as_array().expect("a list");
        assert_eq!(!found.is_empty(), *race, "{body} | {meanwhile}: {found:#?}");
    }
}

/// Two threads that run this on a number of their own, and whether it races. Who waits for an atomic, libstdc++ counts in one place for
/// many of them: that orders nobody.
const WAITS: &[(&str, bool)] = &[
    ("barrier.arrive_and_wait(); shared += id; barrier.arrive_and_wait();", true),
    ("barrier.arrive_and_wait(); if (id == 1) shared = 3; barrier.arrive_and_wait(); if (id == 2) shared++;", false),
    ("meet(); shared += id; meet();", true),
    ("meet(); if (id == 1) shared = 3; meet(); if (id == 2) shared++;", false),
    ("latch.arrive_and_wait(); shared += id;", true),
    ("if (id == 1) shared = 3; latch.arrive_and_wait(); if (id == 2) shared++;", false),
    ("if (id == 1) { shared = 3; passed = 1; passed.notify_one(); } else { passed.wait(0); shared++; }", false),
    ("if (id == 1) { passed = 1; passed.notify_one(); shared = 3; } else { passed.wait(0); shared++; }", true),
    ("if (id == 1) { shared = 3; permits.release(); } else { permits.acquire(); shared++; }", false),
    ("if (id == 1) { permits.release(); shared = 3; } else { permits.acquire(); shared++; }", true),
];

#[test]
fn races_of_cpp_are_found_behind_waits_for_atomics() {
    for (number, (body, race)) in WAITS.iter().enumerate() {
        let text = format!(
            "#include <atomic>
#include <barrier>
#include <cstdio>
#include <latch>
#include <semaphore>
#include <thread>
static std::barrier barrier(2);
static std::latch latch(2);
static std::counting_semaphore permits(0);
static std::atomic<int> passed, came, round_;
static int shared;
static void meet() {{
    int own = round_.load(std::memory_order_acquire);
    if (came.fetch_add(1) == 1) {{
        came.store(0, std::memory_order_relaxed);
        round_.store(own + 1, std::memory_order_release);
        round_.notify_all();
    }} else {{
        round_.wait(own, std::memory_order_acquire);
    }}
}}
static void run(int id) {{
    (void)meet;
    {body}
}}
int main() {{
    std::thread one(run, 1), two(run, 2);
    one.join();
    two.join();
    std::printf(\"%d\\n\", shared);
}}
"
        );
        for level in ["-O0", "-O2"] {
            let folder = folder(&format!("races-of-waits-{number}{level}"));
            build_source(&folder, "prog.cpp", &text, &format!("c++ -std=c++20 {level} -pthread"));
            record(&folder);
            let found = json(&folder, "races")["races"].clone();
            assert_eq!(!found.as_array().expect("a list").is_empty(), *race, "{level}: {body}: {found:#?}");
        }
    }
}

#[test]
fn a_race_has_its_places_and_its_allocation() {
    let folder = folder("race-places");
    let text = "#include <pthread.h>
#include <stdlib.h>
static void *run(void *p) {
    ((int *)p)[2] = 7;
    return 0;
}
int main(void) {
    int *block = malloc(100);
    pthread_t thread;
    pthread_create(&thread, 0, run, block);
    int seen = block[2];
    pthread_join(thread, 0);
    free(block);
    return seen & 0;
}
";
    build_source(&folder, "prog.c", text, "cc -O0 -pthread");
    record(&folder);
    let races = json(&folder, "races")["races"].clone();
    let races = races.as_array().expect("a list");
    assert_eq!(races.len(), 1, "{races:#?}");
    let mut lines = [&races[0]["first"], &races[0]["second"]].map(|end| end["line"].as_u64().expect("a line"));
    lines.sort_unstable();
    assert_eq!(lines, [4, 11]);
    assert_eq!(races[0]["first"]["file"], "prog.c");
    assert_eq!(races[0]["allocation"], json!({ "bytes": 100, "offset": 8, "file": "prog.c", "line": 8 }));
}
