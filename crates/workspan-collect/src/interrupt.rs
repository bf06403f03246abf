//! What a strand cost that met an interrupt.
//!
//! The kernel's CPU clock includes the time of interrupts unless it was built to account for them; on a virtual
//! machine a timer interrupt takes some 20 µs. Such a strand would be the longest among equal ones, and the span a
//! maximum over noise. We know *that* an interrupt came (`platform::interrupt_witness`), not how long it took; the runner
//! has measured how long interrupts take on this machine. So the true cost lies in an interval. If that explains by how much
//! the strand is longer than the longest undisturbed one of the same context, it counts as long as that one: equal strands
//! stay equal. If it does not, the strand is really longer, and loses what an interrupt usually takes. So does a strand
//! in which interrupts are to be expected: no strand of its length is undisturbed.
//!
//! **Bias:** at most the width of the interval (on the machine of `docs/methods`: some 15 µs), only for strands that met
//! an interrupt. A strand of `n` expected interrupts loses their expected sum.

/// Lengths and frequency of this machine's interrupts, in ticks.
#[derive(Clone, Copy, Debug)]
pub struct Interrupts {
    /// 10th percentile of the length.
    pub low: i64,
    /// Median length.
    pub median: i64,
    /// 90th percentile of the length.
    pub high: i64,
    /// Mean time between two; 0 if unknown.
    pub period: i64,
}

/// What the strand is compared with.
#[derive(Clone, Copy, Debug)]
pub struct Peers {
    /// Longest undisturbed strand of the context; 0 for none.
    pub clean_max: i64,
    /// Page faults that the strand took: they too look like interrupts, but their cost is the program's own. Whether there
    /// was an interrupt besides is not known, so it is left to what is to be expected.
    pub faults: u64,
}

/// The ticks of interrupts in a strand that took `ticks`, interrupts included.
pub fn disturbance(ticks: i64, interrupts: &Interrupts, peers: &Peers) -> i64 {
    if ticks <= 0 || interrupts.median <= 0 {
        return 0;
    }
    let expected = if interrupts.period > 0 { ticks / interrupts.period } else { 0 };
    if peers.faults > 0 {
        return expected.saturating_mul(interrupts.median).min(ticks);
    }
    let excess = ticks - peers.clean_max;
    let is_explained = peers.clean_max > 0 && expected == 0 && excess <= interrupts.high;
    // The witness was triggered, so there was at least one.
    let wanted =
        if is_explained { excess.max(interrupts.low) } else { expected.max(1).saturating_mul(interrupts.median) };
    wanted.min(ticks)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MACHINE: Interrupts = Interrupts { low: 44_000, median: 52_000, high: 80_000, period: 10_400_000 };

    #[track_caller]
    fn check(ticks: i64, clean_max: i64, faults: u64, expected: i64) {
        assert_eq!(disturbance(ticks, &MACHINE, &Peers { clean_max, faults }), expected);
    }

    #[test]
    fn equal_strands_stay_equal() {
        // 72 µs of work and an interrupt of 25 µs, among strands of 72 µs.
        check(187_200 + 65_000, 187_200, 0, 65_000);
    }

    #[test]
    fn a_longer_strand_stays_longer() {
        check(1_000_000, 187_200, 0, 52_000);
        check(150_000, 187_200, 0, 44_000);
    }

    #[test]
    fn where_interrupts_are_expected_short_strands_are_no_peers() {
        check(17_250_000, 187_200, 0, 52_000);
        check(17_250_000, 17_200_000, 0, 52_000);
    }

    #[test]
    fn without_peers_the_median_is_taken() {
        check(1_000_000, 0, 0, 52_000);
    }

    #[test]
    fn a_long_strand_loses_the_expected_sum() {
        check(104_000_000, 0, 0, 520_000);
        check(104_000_000, 50_000_000, 3, 520_000);
    }

    #[test]
    fn page_faults_alone_cost_nothing() {
        check(20_000, 18_000, 1, 0);
        check(20_000, 0, 1, 0);
    }

    #[test]
    fn an_unknown_machine_is_left_alone() {
        let none = Interrupts { low: 0, median: 0, high: 0, period: 0 };
        assert_eq!(disturbance(100_000, &none, &Peers { clean_max: 10, faults: 0 }), 0);
    }
}
