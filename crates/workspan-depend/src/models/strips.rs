//! Strips against their lines, one by one: [`Program`] and what goes through many of them.

use proptest::prelude::*;

use super::{Child, Clock, Program, Run, Wait, MODELS};

/// A line: number, cost, whether a condition ends it, whether it goes on with the one before, and what it waits for.
type Line = (u32, u32, (bool, bool), Vec<(u8, u32)>);

fn child(kind: u8, number: u32) -> Child {
    match kind % 3 {
        0 => Child::Call(number),
        1 => Child::Loop(number),
        _ => Child::Line(number),
    }
}

fn lines() -> impl Strategy<Value = Vec<Line>> {
    prop::collection::vec(
        (0_u32..4, 1_u32..9, any::<(bool, bool)>(), prop::collection::vec((0_u8..3, 0_u32..4), 0..3)),
        1..5,
    )
}

/// Calls and loops that have ended before, and what they cost.
fn before() -> impl Strategy<Value = Vec<(u8, u32, u64)>> {
    prop::collection::vec((0_u8..2, 0_u32..4, 1_u64..60), 0..4)
}

fn begin(run: &mut Run, before: &[(u8, u32, u64)]) -> u64 {
    let mut work = 0;
    run.begin(work);
    for (kind, number, cost) in before {
        run.line(1, (false, false), work);
        work += 1;
        run.begin(work);
        work += cost;
        run.end(child(*kind, *number), work);
    }
    if run.model.loops {
        run.begin(work);
        run.begin(work);
    }
    work
}

fn one_by_one(run: &mut Run, lines: &[Line], needs: &[(u32, Child)], work: &mut u64) {
    for (level, child) in needs {
        run.depend(*level as usize, *child, Clock { work: *work, line: 0 });
    }
    for (number, cost, branches, waits) in lines {
        run.line(*number, *branches, *work);
        *work += u64::from(*cost);
        let top = run.depth() - 1;
        for (kind, number) in waits {
            run.depend(top, child(*kind, *number), Clock { work: *work, line: (*cost).into() });
        }
    }
}

/// Part of the waits is known of the strip, the others are further ones.
fn program(lines: &[Line], known: usize) -> (Program, Vec<Wait>) {
    let (mut program, mut further) = (Program::default(), Vec::new());
    for (at, (number, cost, branches, waits)) in (1..).zip(lines) {
        program.line(*number, *cost, *branches);
        for (place, (kind, number)) in waits.iter().enumerate() {
            if place < known {
                (0..super::COUNT).for_each(|model| program.wait(model, at, child(*kind, *number)));
            } else {
                further.push(Wait { line: at, child: child(*kind, *number) });
            }
        }
    }
    program.plan();
    (program, further)
}

/// Lines that show when others were ready.
fn behind(run: &mut Run, work: &mut u64) {
    let waits = (0..4).flat_map(|number| [(0, number), (1, number), (2, number)]).collect();
    one_by_one(run, &[(5, 1, (true, false), waits), (6, 1, (false, false), vec![(2, 5)])], &[], work);
}

/// Places of models that run at once, and their numbers.
const PLACES: [(usize, usize); super::COUNT] = [(0, 1), (1, 3), (2, 5), (3, 6), (4, 7), (5, 8)];

proptest! {
    #[test]
    fn strips_are_as_good_as_lines(
        before in before(), lines in lines(), known in 0_usize..4, times in 1_u64..30, follows in any::<bool>(), needs in any::<bool>(),
    ) {
        let cost: u64 = lines.iter().map(|line| u64::from(line.1)).sum();
        let (program, further) = program(&lines, known);
        for (place, number) in PLACES {
            let mut runs = [(); 3].map(|()| Run::new(MODELS[number]));
            let mut works = runs.each_mut().map(|run| begin(run, &before));
            // Iterations wait for those before, and tasks for what has ended around.
            let mut all = Vec::new();
            if MODELS[number].loops {
                all.extend(follows.then_some((2, Child::Iteration)));
                all.extend(needs.then_some((1, Child::Loop(1))));
            }
            for turn in 0..times {
                if turn > 0 && MODELS[number].loops {
                    runs.iter_mut().zip(works).take(2).for_each(|(run, work)| run.turn(work));
                }
                one_by_one(&mut runs[0], &lines, &all, &mut works[0]);
                all.iter().for_each(|(level, child)| runs[1].need(*level as usize, *child));
                runs[1].whole(&program, place, works[1], &further);
                works[1] += cost;
            }
            // The first two, and all others at once.
            let [_, _, run] = &mut runs;
            for turn in 0..times.min(2) {
                if turn > 0 && run.model.loops {
                    run.turn(works[2]);
                }
                all.iter().for_each(|(level, child)| run.need(*level as usize, *child));
                run.whole(&program, place, works[2], &further);
                works[2] += cost;
            }
            if let Some(left @ 1..) = times.checked_sub(2) {
                let last = works[2] + (left - 1) * cost;
                if run.model.loops {
                    run.skip(cost, left - 1, follows, works[2]);
                    run.turn(last);
                    all.iter().for_each(|(level, child)| run.need(*level as usize, *child));
                    run.whole(&program, place, last, &further);
                } else if run.model.lines {
                    run.jump(&program, place, (works[2], left), &further);
                } else if run.model.hoist {
                    run.whole(&program, place, last, &further);
                }
                works[2] = last + cost;
            }
            let spans = runs.iter_mut().zip(&mut works).map(|(run, work)| {
                if run.model.loops {
                    run.end(Child::Iteration, *work);
                    run.end(Child::Loop(3), *work);
                }
                behind(run, work);
                run.finish(*work)
            });
            let spans: Vec<u64> = spans.collect();
            prop_assert_eq!(spans[0], spans[1], "{}, {}", MODELS[number].name, "a strip");
            prop_assert_eq!(spans[0], spans[2], "{}, {}", MODELS[number].name, "many");
        }
    }

    #[test]
    fn a_strip_can_be_cut_anywhere(before in before(), lines in lines(), known in 0_usize..4, cut in 0_u32..5) {
        let (program, further) = program(&lines, known);
        let count = program.count();
        let cut = cut.min(count);
        for (place, number) in PLACES {
            let mut runs = [(); 3].map(|()| Run::new(MODELS[number]));
            let works = runs.each_mut().map(|run| begin(run, &before));
            runs[0].whole(&program, place, works[0], &further);
            let (first, second): (Vec<Wait>, Vec<Wait>) = further.iter().partition(|wait| wait.line <= cut);
            runs[1].lines(&program, place, (0, cut), works[1], &first);
            runs[1].lines(&program, place, (cut, count), works[1], &second);
            let mut work = works[2];
            one_by_one(&mut runs[2], &lines, &[], &mut work);
            let spans = runs.each_mut().map(|run| {
                let mut work = work;
                // A call on the last line, which waits for what the line waits for.
                run.begin(work);
                work += 50;
                run.end(Child::Call(1), work);
                behind(run, &mut work);
                run.finish(work)
            });
            prop_assert_eq!(spans[0], spans[1], "{}", MODELS[number].name);
            prop_assert_eq!(spans[0], spans[2], "{}", MODELS[number].name);
        }
    }
}
