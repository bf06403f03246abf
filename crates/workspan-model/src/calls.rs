//! What is known of calls: of the instances of a site below another.
//!
//! Four sums over the outermost instances (Cilkprof ch. 2), and the strands of the site itself. Definitions:
//! `docs/methods/calls.md`.

use std::ops::AddAssign;

use crate::units::Nanos;

/// Metrics of a call site, or of one of its contexts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallMetrics {
    /// Instances.
    pub calls_on_work: u64,
    /// Sum of their work.
    pub work_on_work: Nanos,
    /// Sum of their spans.
    pub span_on_work: Nanos,
    /// Of the instances: those on the critical path.
    pub calls_on_span: u64,
    /// Sum of the work of these.
    pub work_on_span: Nanos,
    /// Sum of the spans of these.
    pub span_on_span: Nanos,
    /// Cost of strands of the site itself, in instances of any nesting.
    pub local_work: Nanos,
    /// What these add to the critical path.
    pub local_span: Nanos,
}

impl CallMetrics {
    /// Nothing.
    pub const ZERO: CallMetrics = CallMetrics {
        calls_on_work: 0,
        work_on_work: Nanos::ZERO,
        span_on_work: Nanos::ZERO,
        calls_on_span: 0,
        work_on_span: Nanos::ZERO,
        span_on_span: Nanos::ZERO,
        local_work: Nanos::ZERO,
        local_span: Nanos::ZERO,
    };
}

impl AddAssign for CallMetrics {
    fn add_assign(&mut self, other: CallMetrics) {
        self.calls_on_work += other.calls_on_work;
        self.work_on_work += other.work_on_work;
        self.span_on_work += other.span_on_work;
        self.calls_on_span += other.calls_on_span;
        self.work_on_span += other.work_on_span;
        self.span_on_span += other.span_on_span;
        self.local_work += other.local_work;
        self.local_span += other.local_span;
    }
}
