//! Cells that become runs, and runs that become cells.

use super::runs::RUN;
use super::{Cell, Found, Group, Moments, Piece, Reader, Run, Shadow};

/// Cells that a run has at least when it begins, and when others were taken out of it.
const FEW: u32 = 16;
const LEAST: u32 = 4;
/// Number of the first cell of a new run: others may come before it.
const START: u32 = 1 << 30;
/// Pieces of a run, and groups of reads of a piece, at most.
const PIECES: usize = 256;
const GROUPS: usize = 8;
/// Runs that become one, at most.
const PARTS: usize = 16;
/// How often a run is cut in two, before it is none.
const CUTS: u32 = 8;
/// Cells that become runs before that must have saved as much work.
const TRIAL: u64 = 1 << 20;

impl Shadow {
    /// A run.
    #[inline]
    pub fn run(&self, number: u32) -> Option<&Run> {
        self.runs.get(number as usize)
    }

    /// A run, to change it.
    #[inline]
    pub fn run_mut(&mut self, number: u32) -> Option<&mut Run> {
        self.runs.get_mut(number as usize)
    }

    fn add(&mut self, run: Run) -> Option<u32> {
        if let Some(number) = self.free_runs.pop() {
            self.runs[number as usize] = run;
            return Some(number);
        }
        let number = u32::try_from(self.runs.len()).ok()?;
        self.runs.push(run);
        Some(number)
    }

    /// Cells at one distance, from an address on, become a run, as far as they can.
    pub fn join(&mut self, (first, stride, count): (u64, u64, u32), shift: u32) -> bool {
        if self.joined > TRIAL + 2 * self.saved {
            return false;
        }
        self.joined += u64::from(count);
        let mut last = (0, 0);
        let mut known: Option<(Piece, u32)> = None;
        let (mut many, most) = (0, count.min(START));
        while many < most {
            let Some((page, cell)) = self.locate(first + u64::from(many) * stride, shift, &mut last) else {
                break;
            };
            let cell = self.pages[page as usize].cells[cell as usize];
            if cell.writer == RUN || !self.fits(&mut known, START + many, cell) {
                break;
            }
            many += 1;
        }
        let Some((mut piece, _)) = known.filter(|_| many >= FEW) else {
            return false;
        };
        piece.bounds = (START, START + many);
        let base = first.wrapping_sub(u64::from(START) * stride);
        let Some(number) = self.add(Run::new(base, stride, shift, piece)) else {
            return false;
        };
        self.mark(number, (START, START + many), true);
        true
    }

    /// Runs that cells lie between become one with them: those of some cells at one distance, from an address on.
    pub fn unite(&mut self, (first, stride, count): (u64, u64, u32), shift: u32) {
        let mut last = (0, 0);
        // Where they begin, and runs; the largest one.
        let (mut parts, mut at, mut largest) = (Vec::new(), 0, (0, 0));
        while at < count {
            let address = first + u64::from(at) * stride;
            match self.found(address, shift, &mut last) {
                Some(Found::Cell(_)) => at += 1,
                Some(Found::Run(number, of)) => {
                    let Some(run) = self.run(number).filter(|run| run.stride == stride) else { return };
                    let (low, end) = run.bounds();
                    parts.push((run.address(low), number));
                    largest = largest.max((end - low, number));
                    at += end - of;
                }
                None => return,
            }
            if parts.len() > PARTS {
                return;
            }
        }
        if parts.len() < 2 || self.joined > TRIAL + 2 * self.saved {
            return;
        }
        let Some(base) = self.run(largest.1).map(|run| run.base) else { return };
        let mut all = Run::new(base, stride, shift, Piece::default());
        all.clear();
        let number_of = |address: u64| {
            let distance = address.wrapping_sub(base).checked_div(stride).unwrap_or(0);
            u32::try_from(distance).unwrap_or(u32::MAX)
        };
        let mut behind = parts[0].0;
        for (begin, number) in &parts {
            while behind < *begin {
                let Some((page, cell)) = self.locate(behind, shift, &mut last) else { break };
                let cell = self.pages[page as usize].cells[cell as usize];
                all.push(Piece::of_cell(number_of(behind), &cell, &self.readers));
                self.readers.drop_list(cell.readers);
                behind += stride;
            }
            let Some(run) = self.run_mut(*number).map(std::mem::take) else { continue };
            let (low, end) = run.bounds();
            behind = run.address(end);
            all.append(run, number_of(*begin).wrapping_sub(low));
            if *number != largest.1 {
                self.free_runs.push(*number);
            }
        }
        // All but the largest one name another run now.
        let bounds = all.bounds();
        self.runs[largest.1 as usize] = all;
        let of_largest = parts.iter().find(|part| part.1 == largest.1).map_or(bounds.0, |part| number_of(part.0));
        self.mark(largest.1, (bounds.0, of_largest), false);
        self.mark(largest.1, (of_largest + largest.0, bounds.1), false);
        self.joined += u64::from(bounds.1 - bounds.0 - largest.0);
    }

    /// The cell of a number goes on as those before; from the second one on, their steps are known.
    fn fits(&self, known: &mut Option<(Piece, u32)>, number: u32, cell: Cell) -> bool {
        let Some((piece, seen)) = known else {
            let mut piece = Piece { writer: cell.writer, ..Piece::default() };
            piece.written = Moments::through((number, cell.written), 0);
            let mut at = cell.readers;
            while at != 0 {
                let Reader { site, next, first, last } = self.readers.get(at);
                if piece.groups.len() == GROUPS {
                    return false;
                }
                let [first, last] = [first, last].map(|moment| Moments::through((number, moment), 0));
                piece.groups.push(Group { site, first, last });
                at = next;
            }
            *known = Some((piece, 1));
            return true;
        };
        let is_second = std::mem::replace(seen, 2) == 1;
        let fits = |moments: &mut Moments, moment: u64| {
            if is_second {
                *moments = Moments::through((number, moment), moment.wrapping_sub(moments.of(number)));
            }
            moments.of(number) == moment
        };
        if cell.writer != piece.writer || cell.writer != 0 && !fits(&mut piece.written, cell.written) {
            return false;
        }
        let mut at = cell.readers;
        for group in &mut piece.groups {
            let Reader { site, next, first, last } = self.readers.get(at);
            if at == 0 || site != group.site || !fits(&mut group.first, first) || !fits(&mut group.last, last) {
                return false;
            }
            at = next;
        }
        at == 0
    }

    /// Cells of a run name it.
    fn mark(&mut self, number: u32, (from, to): (u32, u32), is_new: bool) {
        let (base, stride, shift) = match self.run(number) {
            Some(run) => (run.base, run.stride, run.shift),
            None => return,
        };
        let mut last = (0, 0);
        for at in from..to {
            if let Some((page, cell)) = self.locate(base.wrapping_add(u64::from(at) * stride), shift, &mut last) {
                let cell = &mut self.pages[page as usize].cells[cell as usize];
                if is_new {
                    self.readers.drop_list(cell.readers);
                }
                *cell = Cell { written: at.into(), writer: RUN, readers: number };
            }
        }
    }

    /// Cells of a run get what it says of them.
    fn put(&mut self, run: &Run, (from, to): (u32, u32)) {
        let mut last = (0, 0);
        for at in from..to {
            if let Some((page, cell)) = self.locate(run.address(at), run.shift, &mut last) {
                run.put(at, &mut self.pages[page as usize].cells[cell as usize], &mut self.readers);
            }
        }
    }

    /// All cells of a run become their own.
    pub fn dissolve(&mut self, number: u32) {
        let Some(run) = self.run_mut(number).map(std::mem::take) else {
            return;
        };
        self.put(&run, run.bounds());
        self.free_runs.push(number);
    }

    /// A cell of a run becomes its own.
    #[cold]
    pub fn cut(&mut self, number: u32, at: u32) {
        let Some(mut run) = self.run_mut(number).map(std::mem::take) else {
            return;
        };
        let (low, end) = run.bounds();
        let (before, behind) = (at - low, end - at - 1);
        run.cuts += u32::from(before.min(behind) >= LEAST);
        if run.cuts > CUTS {
            self.put(&run, (low, end));
            self.free_runs.push(number);
            return;
        }
        self.put(&run, (at, at + 1));
        let mut second = run.split_off(at);
        second.shrink();
        // The larger part stays what it is: its cells name it.
        let (stays, other) = if before < behind { (second, run) } else { (run, second) };
        if before.max(behind) < LEAST {
            self.put(&stays, stays.bounds());
            self.free_runs.push(number);
        } else {
            self.runs[number as usize] = stays;
        }
        let bounds = other.bounds();
        if before.min(behind) < FEW {
            self.put(&other, bounds);
        } else if let Some(number) = self.add(other) {
            self.mark(number, bounds, false);
        }
    }

    /// Many cells of a run have been accessed at once.
    pub fn used(&mut self, number: u32, count: u32) {
        self.saved += u64::from(count);
        let Some(run) = self.run_mut(number) else {
            return;
        };
        run.cuts = 0;
        if run.len() > PIECES {
            self.dissolve(number);
        }
    }
}
