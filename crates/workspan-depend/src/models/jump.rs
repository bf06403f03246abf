//! Many iterations of an innermost loop at once.
//!
//! **Argument:** what an iteration does to the times of a model is made of sums with constants and of maxima, so each time after it is a
//! convex function of those before. Let two iterations in a row have moved all times by the same steps. After n more such steps, what
//! another iteration does differs from one more step by a convex function of n, which is 0 at n = -1 and n = 0, so it is nowhere
//! negative afterwards; where it is 0 again at n = N, it is 0 in between. So one iteration behind a jump over N checks all of them.

use super::{Run, Times};

/// Iterations that are not worth a jump.
const FEW: u64 = 6;

/// The same iteration, `times` times; `cost`: its work; `work`: that of the program so far, which `once` adds to. `of`: what has the run.
pub fn jump<R: AsMut<Run>>(
    of: &mut R,
    work: &mut u64,
    mut times: u64,
    cost: u64,
    mut once: impl FnMut(&mut R, &mut u64),
) {
    let (mut seen, mut check) = std::mem::take(&mut of.as_mut().seen);
    let mut most = u64::MAX;
    while times > FEW {
        of.as_mut().times(&mut seen[0], *work);
        once(of, work);
        of.as_mut().times(&mut seen[1], *work);
        once(of, work);
        of.as_mut().times(&mut seen[2], *work);
        times -= 2;
        let many = most.min(times - 1);
        if most < FEW || !Times::continues(&seen) {
            continue;
        }
        let before = *work;
        *work += many * cost;
        of.as_mut().shift(&seen, many, *work);
        of.as_mut().times(&mut check[0], *work);
        once(of, work);
        of.as_mut().times(&mut check[1], *work);
        if check[1].follows(&check[0], &seen) {
            times -= many + 1;
        } else {
            // As it was: each iteration sets the same times.
            *work = before;
            of.as_mut().shift(&seen, 0, before);
            most = many / 2;
        }
    }
    of.as_mut().seen = (seen, check);
    for _ in 0..times {
        once(of, work);
    }
}
