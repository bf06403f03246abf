//! A sample of the time of a run, for small caches: windows at equal distances.
//!
//! Small caches forget soon what they saw: within a window their misses are counted once its first half has filled them. What
//! a cache holds when a window begins is what the last one left.
//!
//! **Estimate.** With `m` misses among `a` accesses in the counted half of a window, `r = Σm/Σa` is the share of all accesses:
//! a ratio estimate (Cochran, *Sampling Techniques*, 1977, chapter 6). Its error is that of the differences
//! `d = m − r a` between neighbouring windows, as fits samples at equal distances of what changes slowly (chapter 8):
//! `(1 − f) n Σ(d − d')² / 2 (n − 1)`, for a share `f` of the time. **Bias:** what a cache of `C` lines would still hold from
//! before a window, and has lost, is missed once: at most `C` of the accesses of a window's second half.

/// Accesses of a window: 64 for each line of the largest cache that is sampled so, with 64-byte lines.
const WINDOW: u64 = 1 << 15;
/// Windows that must fit into a run for it to be sampled.
const LEAST: u64 = 16;
/// One of how many accesses is looked at, at most: where fewer than [`MANY`] windows would be left, and otherwise.
const SHARE: u64 = 16;
const MANY: u64 = 128;
/// Quantile of Student's distribution, for 16 windows.
const QUANTILE: f64 = 2.13;

/// Which accesses are looked at, and what was counted.
#[derive(Clone, Debug)]
pub(crate) struct Windows {
    /// Accesses from the beginning of a window to that of the next.
    period: u64,
    /// Accesses to come until the state changes.
    left: u64,
    state: State,
    /// Misses so far of each cache, when the second half of a window began, and accesses then.
    began: (Vec<u64>, u64),
    /// Of each window: misses of each cache, and accesses.
    found: Vec<(Vec<u64>, u64)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The caches are filled.
    Fills,
    /// Misses count.
    Counts,
    /// Nothing is looked at.
    Rests,
}

impl Windows {
    /// One of `one_in` accesses of a run that has `accesses`, but more of a short one; nothing if they are too few.
    pub(crate) fn new(accesses: u64, one_in: u64) -> Option<Windows> {
        let most = (accesses / WINDOW / MANY).max(1).ilog2();
        let period = WINDOW * one_in.min((1 << most).max(SHARE));
        let fits = accesses / period >= LEAST;
        fits.then(|| Windows {
            period,
            left: WINDOW / 2,
            state: State::Fills,
            began: (Vec::new(), 0),
            found: Vec::new(),
        })
    }

    /// The same, before the first access.
    pub(crate) fn fresh(&self) -> Windows {
        Windows { left: WINDOW / 2, state: State::Fills, began: (Vec::new(), 0), found: Vec::new(), ..*self }
    }

    /// True if the caches see what comes.
    #[inline]
    pub(crate) fn open(&self) -> bool {
        self.state != State::Rests
    }

    /// Accesses until the state has to change.
    #[inline]
    pub(crate) fn left(&self) -> u64 {
        self.left
    }

    /// Counts accesses. True if the state has to [change](Windows::turn).
    #[inline]
    pub(crate) fn pass(&mut self, accesses: u64) -> bool {
        self.left = self.left.saturating_sub(accesses);
        self.left == 0
    }

    /// Goes on to the next state. `misses`: of each cache, so far.
    pub(crate) fn turn(&mut self, misses: &[u64], accesses: u64) {
        (self.state, self.left) = match self.state {
            State::Rests => (State::Fills, WINDOW / 2),
            State::Fills => {
                self.began = (misses.to_vec(), accesses);
                (State::Counts, WINDOW / 2)
            }
            State::Counts => {
                let new = misses.iter().zip(&self.began.0).map(|(now, before)| now - before).collect();
                self.found.push((new, accesses - self.began.1));
                (State::Rests, self.period - WINDOW)
            }
        };
    }

    pub(crate) fn add(&mut self, other: Windows) {
        self.found.extend(other.found);
    }

    /// Misses of a cache and their error, if there were `accesses` accesses in all.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an estimate; saturates"
    )]
    pub(crate) fn estimate(&self, cache: usize, accesses: u64) -> (u64, u64) {
        let found: Vec<(f64, f64)> = self
            .found
            .iter()
            .map(|(misses, seen)| (misses.get(cache).map_or(0.0, |m| *m as f64), *seen as f64))
            .collect();
        let (count, all) = (found.len() as f64, accesses as f64);
        let (misses, seen) = found.iter().fold((0.0, 0.0), |sum, each| (sum.0 + each.0, sum.1 + each.1));
        if count < LEAST as f64 / 2.0 || seen == 0.0 {
            // Threads that take turns may leave no whole window.
            return (accesses / 2, accesses.div_ceil(2));
        }
        let ratio = misses / seen;
        let differences: Vec<f64> = found.iter().map(|(misses, seen)| misses - ratio * seen).collect();
        let squares: f64 = differences.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).sum();
        let share = (seen / all).min(1.0);
        let deviation = ((1.0 - share) * count * squares / (2.0 * (count - 1.0))).sqrt() / seen;
        ((all * ratio).round() as u64, (QUANTILE * all * deviation).ceil() as u64)
    }
}
