//! Cells, and the groups of reads that they lead to.

/// Number of a site: a place where memory is accessed; 0 is none.
pub type Site = u32;

/// The last write, and where the reads since begin.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cell {
    /// When it was written.
    pub written: u64,
    /// By which site; 0: not written.
    pub writer: Site,
    /// First group of reads; 0: none.
    pub readers: u32,
}

impl Cell {
    /// The last write, as a group of accesses.
    #[inline]
    pub fn write(&self) -> Reader {
        Reader { site: self.writer, next: 0, first: self.written, last: self.written }
    }
}

/// Reads by one site that no later write can distinguish, but for their distance.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reader {
    /// Site.
    pub site: Site,
    /// The next group, or 0.
    pub next: u32,
    /// First read.
    pub first: u64,
    /// Last read.
    pub last: u64,
}

/// Groups of reads, by number, from 1. Empty, it has allocated nothing: it is taken out for each access.
#[derive(Debug, Default)]
pub struct Readers {
    all: Vec<Reader>,
    /// Of the first group of each list: [`Readers::room`].
    room: Vec<u8>,
    free: u32,
}

impl Readers {
    /// A group.
    #[inline]
    pub fn get(&self, number: u32) -> Reader {
        self.all.get((number as usize).wrapping_sub(1)).copied().unwrap_or_default()
    }

    /// A group in its place.
    #[inline]
    pub fn place(&mut self, number: u32) -> Option<&mut Reader> {
        self.all.get_mut((number as usize).wrapping_sub(1))
    }

    /// True if the groups of a list are few, each of another site, and none ends before a moment.
    #[inline]
    pub fn is_each_another(&self, first: u32, floor: u64) -> bool {
        let (mut sites, mut count, mut at) = ([0; 8], 0, first);
        while at != 0 {
            let Reader { site, next, last, .. } = self.get(at);
            if count == sites.len() || last < floor || sites[..count].contains(&site) {
                return false;
            }
            sites[count] = site;
            (count, at) = (count + 1, next);
        }
        true
    }

    /// Changes a group in its place.
    #[inline]
    pub fn change(&mut self, number: u32, change: impl FnOnce(&mut Reader)) {
        if let Some(place) = self.all.get_mut((number as usize).wrapping_sub(1)) {
            change(place);
        }
    }

    /// Changes a group.
    #[inline]
    pub fn set(&mut self, number: u32, reader: Reader) {
        if let Some(place) = self.all.get_mut((number as usize).wrapping_sub(1)) {
            *place = reader;
        }
    }

    /// A new group, before those of a list.
    #[inline]
    pub fn add(&mut self, reader: Reader) -> u32 {
        let room = self.room(reader.next);
        let room = if room > 1 { room - 1 } else { room };
        let number = self.free;
        if let Some(place) = self.place(number) {
            let next = std::mem::replace(place, reader).next;
            self.free = next;
            self.set_room(number, room);
            return number;
        }
        let number = u32::try_from(self.all.len() + 1).unwrap_or(0);
        if number != 0 {
            self.all.push(reader);
            self.room.push(room);
        }
        number
    }

    /// A group of a list becomes its first one.
    #[inline]
    pub fn set_first(&mut self, number: u32, reader: Reader) {
        self.set_room(number, self.room(reader.next));
        self.set(number, reader);
    }

    /// How many groups a list may get before all of them are looked at, + 1; 0: it is short, and looked at each time.
    #[inline]
    pub fn room(&self, first: u32) -> u8 {
        self.room.get((first as usize).wrapping_sub(1)).copied().unwrap_or(0)
    }

    /// The same, as it is from now on.
    #[inline]
    pub fn set_room(&mut self, first: u32, room: u8) {
        if let Some(place) = self.room.get_mut((first as usize).wrapping_sub(1)) {
            *place = room;
        }
    }

    /// Gives a list back.
    #[inline]
    pub fn drop_list(&mut self, first: u32) {
        // Most lists have one group: the last one goes on with those that are free.
        let mut last = first;
        while last != 0 {
            let next = self.get(last).next;
            if next == 0 {
                let free = self.free;
                self.change(last, |reader| reader.next = free);
                self.free = first;
            }
            last = next;
        }
    }

    /// Gives one group of a list back; the one before it, if any, goes on after it.
    pub fn unlink(&mut self, before: u32, number: u32, cell: &mut Cell) {
        let next = self.get(number).next;
        if before == 0 {
            cell.readers = next;
        } else {
            let former = self.get(before);
            self.set(before, Reader { next, ..former });
        }
        self.set(number, Reader { next: self.free, ..Reader::default() });
        self.free = number;
    }

    /// A copy of a list.
    pub fn copy(&mut self, first: u32) -> u32 {
        let mut groups = Vec::new();
        let mut at = first;
        while at != 0 {
            let reader = self.get(at);
            groups.push(reader);
            at = reader.next;
        }
        groups.into_iter().rev().fold(0, |next, reader| self.add(Reader { next, ..reader }))
    }

    /// Bytes.
    pub fn bytes(&self) -> usize {
        self.all.capacity() * size_of::<Reader>() + self.room.capacity()
    }
}
