//! Pieces that several processors run together.
//!
//! A piece whose extent is less than its time is run in parts as long as its extent, the last one what is left. So no
//! schedule is shorter than the extent, and all of the work is done. Of a piece without extent, or next to none, there are as many
//! parts as there may be processors; fewer, if those of all pieces together would be more than [`BUDGET`].

/// Processors that a schedule may have.
pub const MOST_PROCESSORS: u32 = 1024;

/// Parts of all pieces.
const BUDGET: i64 = 1 << 24;

/// How pieces are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parts {
    most: i64,
    /// Some piece has more than one.
    pub(super) any: bool,
}

impl Parts {
    /// As long as nobody has looked.
    pub(super) fn none() -> Parts {
        Parts { most: i64::from(MOST_PROCESSORS), any: false }
    }

    /// Of pieces as they are handed over, each with its time and extent; they are read again as long as there are too
    /// many parts.
    pub(super) fn of<I: Iterator<Item = (i64, i64)>>(pieces: impl Fn() -> I) -> Parts {
        let mut parts = Parts::none();
        loop {
            let divided = pieces().filter(|(time, extent)| extent < time && *time > 0);
            let sum = divided.fold(0i64, |sum, (time, extent)| sum.saturating_add(parts.divide(time, extent).0));
            parts.any = sum > 0;
            if sum <= BUDGET || parts.most == 1 {
                return parts;
            }
            parts.most /= 2;
        }
    }

    /// Into how many parts, and how long each but the last is.
    pub(super) fn divide(self, time: i64, extent: i64) -> (i64, i64) {
        if extent >= time || time <= 1 {
            return (1, time.max(0));
        }
        let length = extent.max((time - 1) / self.most + 1).max(1);
        ((time - 1) / length + 1, length)
    }
}
