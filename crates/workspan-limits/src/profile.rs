//! Parallelism over the run, and how long values wait.
//!
//! The *profile* says how many instructions each cycle has, if every instruction runs as early as its dependences allow
//! (Austin and Sohi). The *slack* of a value is the number of cycles between its being there and its first use; here of
//! values in registers.

/// Bars of a profile, at most.
const BARS: usize = 256;

/// Instructions by the cycle in which they run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Instructions of each bar; the last may be for fewer cycles.
    bars: Vec<u64>,
    /// Cycles of a bar, as a power of two.
    shift: u32,
}

impl Default for Profile {
    fn default() -> Profile {
        Profile { bars: vec![0; BARS], shift: 0 }
    }
}

impl Profile {
    /// An instruction runs in this cycle; the first is 1.
    #[inline(always)]
    pub fn add(&mut self, cycle: u64) {
        let cycle = cycle.saturating_sub(1);
        let mut bar = cycle >> self.shift;
        if bar >= BARS as u64 {
            self.widen(cycle);
            bar = cycle >> self.shift;
        }
        self.bars[bar as usize % BARS] += 1;
    }

    #[cold]
    fn widen(&mut self, cycle: u64) {
        while cycle >> self.shift >= BARS as u64 {
            for bar in 0..BARS / 2 {
                self.bars[bar] = self.bars[2 * bar] + self.bars[2 * bar + 1];
            }
            self.bars[BARS / 2..].fill(0);
            self.shift += 1;
        }
    }

    /// Cycles of a bar.
    pub fn cycles(&self) -> u64 {
        1 << self.shift
    }

    /// Instructions of each bar, for a run of this number of cycles.
    pub fn bars(&self, cycles: u64) -> &[u64] {
        let bars = cycles.div_ceil(self.cycles()).min(BARS as u64);
        &self.bars[..bars as usize]
    }

    /// How uneven the bars are: their standard deviation over their mean; 0 of less than two.
    pub fn burstiness(&self, cycles: u64) -> f64 {
        // The last bar may be shorter than the others.
        let whole = (cycles >> self.shift).min(BARS as u64) as usize;
        let bars = &self.bars[..whole];
        if bars.len() < 2 {
            return 0.0;
        }
        let mean = bars.iter().sum::<u64>() as f64 / bars.len() as f64;
        let variance = bars.iter().map(|bar| (*bar as f64 - mean).powi(2)).sum::<f64>() / bars.len() as f64;
        variance.sqrt() / mean.max(f64::MIN_POSITIVE)
    }
}

/// How long values wait for their first use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slack {
    /// Values by the cycles that they wait: none, 1, 2 to 3, 4 to 7, and so on.
    pub waits: [u64; 32],
    /// Values that nobody uses.
    pub unused: u64,
}

impl Slack {
    /// A value is gone, which was there at the end of cycle `made`, and was used first in cycle `used`, if it was.
    #[inline(always)]
    pub fn add(&mut self, made: u64, used: Option<u64>) {
        match used {
            Some(used) => {
                let waited = used.saturating_sub(made + 1);
                self.waits[(u64::BITS - waited.leading_zeros()).min(31) as usize] += 1;
            }
            None => self.unused += 1,
        }
    }
}
