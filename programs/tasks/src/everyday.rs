//! What programs on rayon are made of, with nothing shared that is not ordered, and the same with one race planted.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{mpsc, Arc, Barrier, Condvar, LazyLock, Mutex, OnceLock, RwLock};

use rayon::prelude::*;

use crate::{Case, Shared, A, B, CELLS};

/// Each of its own, or all the same.
fn plant(racy: bool, i: usize) {
    if racy {
        A.add(1);
    } else {
        CELLS[i % CELLS.len()].add(1);
    }
}

fn plant_any(racy: bool) {
    if racy {
        A.add(1);
    }
}

fn numbers(n: i64) -> Vec<i64> {
    (0..n).map(|i| i * 7919 % 601).collect()
}

fn sum_of_range(racy: bool) {
    let sum: i64 = (0..300_usize).into_par_iter().map(|i| (plant(racy, i), i as i64 * 2).1).sum();
    B.set(sum);
}

fn sum_of_slice(racy: bool) {
    let all = numbers(600);
    B.set(all.par_iter().map(|number| (plant_any(racy), number * 3).1).sum::<i64>() + all.par_iter().sum::<i64>());
}

fn enumerate(racy: bool) {
    let all = vec![1; 300];
    let sums: Vec<AtomicUsize> = (0..300).map(|_| AtomicUsize::new(0)).collect();
    all.par_iter().enumerate().for_each(|(i, number)| {
        plant(racy, i);
        sums[i].store(i + number, Ordering::Relaxed);
    });
}

fn enumerate_mut(racy: bool) {
    let mut all = numbers(600);
    all.par_iter_mut().enumerate().for_each(|(i, number)| {
        plant_any(racy);
        *number += i as i64;
    });
    B.set(all[3]);
}

fn merge_sort(racy: bool) {
    fn sort(all: &mut [i64], other: &mut [i64], racy: bool) {
        if all.len() <= 16 {
            plant_any(racy);
            return all.sort_unstable();
        }
        let half = all.len() / 2;
        let ((a, b), (c, d)) = (all.split_at_mut(half), other.split_at_mut(half));
        rayon::join(|| sort(a, c, racy), || sort(b, d, racy));
        let (mut i, mut j) = (0, 0);
        for place in &mut *other {
            let of_first = j == b.len() || i < a.len() && a[i] <= b[j];
            let from = if of_first { (&a[i], &mut i) } else { (&b[j], &mut j) };
            *place = *from.0;
            *from.1 += 1;
        }
        all.copy_from_slice(other);
    }
    let mut all = numbers(600);
    sort(&mut all, &mut vec![0; 600], racy);
    assert!(all.is_sorted());
}

fn quicksort(racy: bool) {
    fn sort(all: &mut [i64], racy: bool) {
        let Some(last) = all.len().checked_sub(1) else {
            return;
        };
        plant_any(racy);
        let mut middle = 0;
        for i in 0..last {
            if all[i] < all[last] {
                all.swap(i, middle);
                middle += 1;
            }
        }
        all.swap(last, middle);
        let (a, b) = all.split_at_mut(middle);
        rayon::join(|| sort(a, racy), || sort(&mut b[1..], racy));
    }
    let mut all = numbers(300);
    sort(&mut all, racy);
    assert!(all.is_sorted());
}

fn chunks(racy: bool) {
    let mut all = numbers(600);
    all.par_chunks_mut(7).enumerate().for_each(|(i, chunk)| {
        plant(racy, i);
        chunk.iter_mut().for_each(|number| *number += i as i64);
    });
    B.set(all.par_chunks(9).zip(all.par_windows(3)).map(|(chunk, window)| chunk.len() + window.len()).sum::<usize>()
        as i64);
}

fn collect(racy: bool) {
    let squares: Vec<usize> = (0..300).into_par_iter().map(|i| (plant(racy, i), i * i).1).collect();
    let texts: Vec<String> = squares.par_iter().filter(|i| **i % 3 == 0).map(ToString::to_string).collect();
    let by_number: HashMap<usize, String> = texts.into_par_iter().map(|text| (text.len(), text)).collect();
    let all: Result<Vec<usize>, String> = squares.par_iter().map(|i| Ok(*i)).collect();
    let (some, others): (Vec<usize>, Vec<usize>) = all.expect("none fails").into_par_iter().partition(|i| i % 2 == 0);
    let (twice, halves): (Vec<usize>, Vec<usize>) = some.into_par_iter().map(|i| (i * 2, i / 2)).unzip();
    B.set((by_number.len() + others.len() + twice.len() + halves.len()) as i64);
}

fn reduce_and_fold(racy: bool) {
    let lists = (0..300).into_par_iter().map(|i| (plant(racy, i), vec![i]).1);
    let all = lists.reduce(Vec::new, |mut a, mut b| {
        a.append(&mut b);
        a
    });
    let counts = all.par_iter().fold(HashMap::new, |mut counts: HashMap<usize, i64>, i| {
        *counts.entry(i % 5).or_default() += 1;
        counts
    });
    B.set(counts.map(|counts| counts.values().sum::<i64>()).sum());
}

fn sorts(racy: bool) {
    let mut all: Vec<i64> = (0..6000).map(|i| i * 7919 % 6007).collect();
    all.par_sort();
    all.par_sort_by_key(|i| (plant_any(racy), i * 31 % 6007).1);
    all.par_sort_unstable_by(|a, b| b.cmp(a));
    B.set(all[0]);
}

fn searches(racy: bool) {
    let all = numbers(500);
    let found = all.par_iter().find_any(|i| (plant_any(racy), **i == -1).1);
    let largest = all.par_iter().max().expect("some");
    B.set(
        largest + all.par_iter().position_first(|i| *i == 100).map_or(0, |at| at as i64) + i64::from(found.is_some()),
    );
}

fn nested_iterators(racy: bool) {
    B.set(
        (0..40_usize)
            .into_par_iter()
            .flat_map(|i| {
                plant(racy, i);
                (0..i).into_par_iter().map(|i| i as i64)
            })
            .sum(),
    );
}

fn words(racy: bool) {
    let text = "one two three four five six seven eight nine ten ".repeat(20);
    let counts = Mutex::new(HashMap::<String, usize>::new());
    text.par_split_whitespace().for_each(|word| {
        plant_any(racy);
        *counts.lock().expect("sound").entry(word.to_owned()).or_default() += 1;
    });
    B.set(counts.into_inner().expect("sound")["ten"] as i64);
}

fn jacobi(racy: bool) {
    let (mut from, mut to) = (vec![1.0; 200], vec![0.0; 200]);
    for _ in 0..4 {
        to[1..199].par_iter_mut().enumerate().for_each(|(i, value)| {
            plant_any(racy);
            *value = (from[i] + from[i + 2]) / 2.0;
        });
        std::mem::swap(&mut from, &mut to);
    }
    B.set(from[7] as i64);
}

fn tree(racy: bool) {
    struct Node(Option<Box<Node>>, Option<Box<Node>>);
    fn make(depth: usize) -> Option<Box<Node>> {
        let (a, b) = (depth > 0).then(|| rayon::join(|| make(depth - 1), || make(depth - 1)))?;
        Some(Box::new(Node(a, b)))
    }
    fn count(node: &Option<Box<Node>>, racy: bool) -> i64 {
        plant_any(racy);
        node.as_ref().map_or(1, |node| {
            let (a, b) = rayon::join(|| count(&node.0, racy), || count(&node.1, racy));
            a + b
        })
    }
    B.set(count(&make(6), racy));
}

fn large_results(racy: bool) {
    let work = || (plant_any(racy), [3; 40]).1;
    let (list, (array, text)) =
        rayon::join(|| vec![work(); 9], || rayon::join(work, || (plant_any(racy), String::from("abc")).1));
    B.set(list.len() as i64 + array[39] + text.len() as i64);
}

fn owned_values(racy: bool) {
    let all: Vec<Box<i64>> = numbers(300).into_iter().map(Box::new).collect();
    B.set(all.into_par_iter().map(|number| (plant_any(racy), *number).1).sum());
}

fn scopes(racy: bool) {
    let mut parts = [0; 8];
    let total = AtomicUsize::new(0);
    rayon::scope(|scope| {
        for (i, part) in parts.iter_mut().enumerate() {
            let total = &total;
            scope.spawn(move |scope| {
                *part = i as i64;
                scope.spawn(move |_| {
                    plant_any(racy);
                    total.fetch_add(i, Ordering::Relaxed);
                });
            });
        }
    });
    B.set(parts.iter().sum::<i64>() + total.into_inner() as i64);
}

fn pools(racy: bool) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("a pool");
    let all = numbers(300);
    let sum: i64 = pool.install(|| all.par_iter().map(|number| (plant_any(racy), *number).1).sum());
    let (length, third) = pool.join(|| all.len(), || all[3]);
    B.set(sum + length as i64 + third);
}

fn channels(racy: bool) {
    let (sender, receiver) = mpsc::channel();
    for i in 0..8 {
        let sender = sender.clone();
        rayon::spawn(move || {
            plant_any(racy);
            sender.send(vec![i; 4]).expect("received");
        });
    }
    drop(sender);
    B.set(receiver.iter().flatten().sum());
}

fn bounded_channels(racy: bool) {
    let (sender, receiver) = mpsc::sync_channel::<Box<usize>>(2);
    let sums = std::thread::spawn(move || receiver.iter().map(|number| (plant_any(racy), *number).1).sum::<usize>());
    (0..40_usize).into_par_iter().for_each_with(sender, |sender, i| {
        sender.send(Box::new(i)).expect("received");
        plant_any(racy);
    });
    B.set(sums.join().expect("it ends") as i64);
}

fn locks(racy: bool) {
    let (list, map) = (Mutex::new(Vec::new()), RwLock::new(BTreeMap::new()));
    (0..100_usize).into_par_iter().for_each_init(
        || vec![0_usize; 4],
        |own, i| {
            own[0] += i;
            list.lock().expect("sound").push(own[0]);
            if i % 10 == 0 {
                map.write().expect("sound").insert(i, i);
            } else if let Some(known) = map.read().expect("sound").get(&i) {
                own[1] = *known;
            }
            plant_any(racy);
        },
    );
    B.set((list.into_inner().expect("sound").len() + map.into_inner().expect("sound").len()) as i64);
}

fn owned_lists(racy: bool) {
    let list = Arc::new(Mutex::new(vec![Box::new(1)]));
    rayon::scope(|scope| {
        for i in 0..6 {
            let list = Arc::clone(&list);
            scope.spawn(move |_| {
                list.lock().expect("sound").push(Box::new(i));
                plant_any(racy);
            });
        }
    });
    B.set(Arc::into_inner(list).expect("the last").into_inner().expect("sound").iter().map(|number| **number).sum());
}

/// Each task is spawned when the one before has done its work; what says so orders nothing.
fn late_spawns(racy: bool) {
    let (list, done) = (Arc::new(Mutex::new(Vec::new())), AtomicUsize::new(0));
    let done = &done;
    rayon::scope(|scope| {
        for i in 0..6 {
            while done.load(Ordering::Relaxed) < i {
                std::thread::yield_now();
            }
            let list = Arc::clone(&list);
            scope.spawn(move |_| {
                list.lock().expect("sound").push(i);
                plant_any(racy);
                drop(list);
                done.fetch_add(1, Ordering::Relaxed);
            });
        }
    });
    B.set(Arc::into_inner(list).expect("the last").into_inner().expect("sound").len() as i64);
}

fn once(racy: bool) {
    static ONCE: OnceLock<Vec<i64>> = OnceLock::new();
    static LAZY: LazyLock<Vec<i64>> = LazyLock::new(|| vec![2; 9]);
    B.set(
        (0..100_usize)
            .into_par_iter()
            .map(|i| {
                plant_any(racy);
                ONCE.get_or_init(|| vec![1; 10])[i % 10] + LAZY[i % 9]
            })
            .sum(),
    );
}

fn threads(racy: bool) {
    let mut all = vec![0; 64];
    std::thread::scope(|scope| {
        for part in all.chunks_mut(16) {
            scope.spawn(move || {
                let length = part.len() as i64;
                part.par_iter_mut().for_each(|number| *number = length);
                plant_any(racy);
            });
        }
    });
    B.set(all.iter().sum());
}

fn flag(racy: bool) {
    let (store, load) =
        if racy { (Ordering::Relaxed, Ordering::Relaxed) } else { (Ordering::Release, Ordering::Acquire) };
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            A.set(7);
            done.store(true, store);
        });
        while !done.load(load) {
            std::thread::yield_now();
        }
        B.set(A.get());
    });
}

fn condition(racy: bool) {
    let (ready, condition) = (Mutex::new(false), Condvar::new());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            if !racy {
                A.set(5);
            }
            *ready.lock().expect("sound") = true;
            condition.notify_all();
            if racy {
                A.set(5);
            }
        });
        drop(condition.wait_while(ready.lock().expect("sound"), |ready| !*ready).expect("sound"));
        B.set(A.get());
    });
}

fn barrier(racy: bool) {
    let barrier = Barrier::new(3);
    std::thread::scope(|scope| {
        for i in 0..3 {
            let barrier = &barrier;
            scope.spawn(move || {
                CELLS[i].set(1);
                if !racy {
                    barrier.wait();
                }
                CELLS[3 + i].set(CELLS[(i + 1) % 3].get());
            });
        }
    });
}

fn variables_of_threads(racy: bool) {
    thread_local!(static LIST: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) });
    thread_local!(static COUNT: Cell<usize> = Cell::new(1));
    thread_local!(static OWN: Box<Shared> = Box::new(Shared::new()));
    let count = |i| {
        plant_any(racy);
        COUNT.set(COUNT.get() + 1);
        OWN.with(|own| own.add(1));
        LIST.with_borrow_mut(|list| {
            list.push(i);
            list.len()
        })
    };
    B.set((0..200_usize).into_par_iter().map(count).sum::<usize>() as i64);
}

/// The variable of a thread is no longer its own where others have its address.
fn given_away(racy: bool) {
    thread_local!(static OWN: Shared = const { Shared::new() });
    OWN.with(|own| {
        std::thread::scope(|scope| {
            scope.spawn(|| own.set(1));
            if racy {
                own.set(2);
            }
        });
        B.set(own.get());
    });
}

pub const PAIRS: &[Case] = &[
    ("sum_of_range", sum_of_range),
    ("sum_of_slice", sum_of_slice),
    ("enumerate", enumerate),
    ("enumerate_mut", enumerate_mut),
    ("merge_sort", merge_sort),
    ("quicksort", quicksort),
    ("chunks", chunks),
    ("collect", collect),
    ("reduce_and_fold", reduce_and_fold),
    ("sorts", sorts),
    ("searches", searches),
    ("nested_iterators", nested_iterators),
    ("words", words),
    ("jacobi", jacobi),
    ("tree", tree),
    ("large_results", large_results),
    ("owned_values", owned_values),
    ("scopes", scopes),
    ("pools", pools),
    ("channels", channels),
    ("bounded_channels", bounded_channels),
    ("locks", locks),
    ("owned_lists", owned_lists),
    ("late_spawns", late_spawns),
    ("once", once),
    ("threads", threads),
    ("flag", flag),
    ("condition", condition),
    ("barrier", barrier),
    ("variables_of_threads", variables_of_threads),
    ("given_away", given_away),
];
