//! Frames of the stack: which call an address belongs to.
//!
//! A frame begins where a call stores its return address, and ends where the next one begins. Every call makes a new frame,
//! also where another one was: that is what a spaghetti stack distinguishes.
//!
//! The trace does not say how far the stack extends. The emulator gives it 8 MiB, has the program's data some 16 MiB below its top, and
//! those of libraries right above its arguments: so [`DEEP`], [`BEYOND`] and [`ABOVE`] are what a stack needs, and little more.

/// Memory below the first frame that may be stack.
const DEEP: u64 = 8 << 20;
/// The same below the deepest frame that there was.
const BEYOND: u64 = 1 << 20;
/// Memory above the first frame that may be stack: the program's arguments and environment.
const ABOVE: u64 = 64 << 10;

/// The frames of a thread.
#[derive(Clone, Debug, Default)]
pub struct Frames {
    /// Where the frames that are active begin, outermost first, and their numbers.
    active: Vec<(u64, u32)>,
    /// The highest address at which a frame began.
    top: u64,
    /// Below this nothing is stack.
    floor: u64,
}

impl Frames {
    /// A call stores its return address there; `number` is that of the new frame.
    pub fn call(&mut self, address: u64, number: u32) {
        self.leave(address);
        let deepest = if self.top == 0 { address } else { self.floor.saturating_add(BEYOND).min(address) };
        self.top = self.top.max(address);
        self.floor = self.top.saturating_sub(DEEP).min(deepest.saturating_sub(BEYOND));
        self.active.push((address, number));
    }

    /// A return loads its address from there. Returns how many calls are active then, if it ends a call that was seen.
    pub fn leave(&mut self, address: u64) -> Option<usize> {
        let mut ended = None;
        while let Some((begin, _)) = self.active.last().filter(|(begin, _)| *begin <= address) {
            ended = Some(*begin);
            self.active.pop();
        }
        (ended == Some(address)).then_some(self.active.len())
    }

    /// Where the innermost frame begins; 0 if there is none.
    pub fn innermost(&self) -> u64 {
        self.active.last().map_or(0, |(begin, _)| *begin)
    }

    /// How many calls are active.
    pub fn depth(&self) -> usize {
        self.active.len()
    }

    /// The frame of an address: 0 if it is not on the stack, 1 if it is above all frames.
    #[inline(always)]
    pub fn owner(&self, address: u64) -> u32 {
        match self.active.last() {
            Some((begin, number)) if address <= *begin => {
                if address < self.floor {
                    0
                } else {
                    *number
                }
            }
            _ => self.outer(address),
        }
    }

    fn outer(&self, address: u64) -> u32 {
        if self.top == 0 || address < self.floor || address > self.top.saturating_add(ABOVE) {
            return 0;
        }
        let inside = self.active.partition_point(|(begin, _)| *begin >= address);
        inside.checked_sub(1).map_or(1, |frame| self.active[frame].1)
    }
}
