//! Which memory the program has requested from the system: the heap, as far as system calls say.

/// Ranges of addresses, the newest first where they overlap.
#[derive(Clone, Debug, Default)]
pub struct Heap {
    /// First address, address behind the last, sorted, apart from each other.
    ranges: Vec<(u64, u64)>,
}

impl Heap {
    /// From now on a range is heap, or no longer.
    pub fn set(&mut self, from: u64, to: u64, heap: bool) {
        let mut new: Vec<(u64, u64)> = Vec::with_capacity(self.ranges.len() + 2);
        for &(a, b) in &self.ranges {
            if a < from {
                new.push((a, b.min(from)));
            }
            if b > to {
                new.push((a.max(to), b));
            }
        }
        if heap && from < to {
            new.push((from, to));
        }
        new.sort_unstable();
        new.dedup_by(|next, last| {
            let touches = next.0 <= last.1;
            if touches {
                last.1 = last.1.max(next.1);
            }
            touches
        });
        self.ranges = new;
    }

    /// Whether an address is heap.
    #[inline]
    pub fn contains(&self, address: u64) -> bool {
        let behind = self.ranges.partition_point(|(from, _)| *from <= address);
        behind > 0 && address < self.ranges[behind - 1].1
    }
}

#[cfg(test)]
mod tests {
    use super::Heap;

    #[test]
    fn ranges_are_cut_and_joined() {
        let mut heap = Heap::default();
        heap.set(10, 20, true);
        heap.set(20, 30, true);
        heap.set(14, 16, false);
        let inside: Vec<u64> = (0..40).filter(|address| heap.contains(*address)).collect();
        assert_eq!(inside, (10..14).chain(16..30).collect::<Vec<u64>>());
    }
}
