//! The rows of one run, each with where it stands in the tree.

use workspan_model::nesting::{Construct, Detail, Effect, Nesting, MOST_OPEN};
use workspan_model::{Event, Strand};

/// Where the rows of one run come from, to be read beside those of others.
pub trait Source {
    /// Why they could not be read.
    type Error;

    /// The next rows; `None` after the last one.
    fn next_batch(&mut self) -> Result<Option<&[Strand]>, Self::Error>;
}

/// What a row is to the construct around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// A part of it without parts. Also what ends nothing that is open.
    Leaf,
    /// A part of it begins.
    Open,
    /// One of its branches, or a member, has ended.
    Next,
    /// It ends.
    Close,
}

/// A row. All rows of a construct's body, its `Next` and `Close` included, have the depth of the body.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub(super) row: Strand,
    pub(super) depth: u32,
    pub(super) class: Class,
}

/// By what parts of a construct are known: event, context, context of what begins, iterations.
pub(super) type Signature = (u8, u32, u32);

impl Node {
    pub(super) fn is_part(&self) -> bool {
        matches!(self.class, Class::Leaf | Class::Open)
    }

    pub(super) fn signature(&self) -> Signature {
        let inner = match (self.row.event, self.row.event.detail()) {
            // A piece of another length is another piece.
            (Event::Fork(iterations), _) => iterations,
            (_, Detail::Creation(creation)) => creation.context.0,
            (_, Detail::Context(context)) => context.0,
            _ => 0,
        };
        (self.row.event.number(), self.row.context.0, inner)
    }
}

/// Reads a run, and looks ahead in it.
#[derive(Debug)]
pub(super) struct Cursor<S> {
    source: S,
    /// From `head` on: what has been read and not used.
    nodes: Vec<Node>,
    head: usize,
    /// What is open behind the last of them.
    open: Nesting<Construct>,
    ended: bool,
}

impl<S: Source> Cursor<S> {
    pub(super) fn new(source: S) -> Cursor<S> {
        Cursor { source, nodes: Vec::new(), head: 0, open: Nesting::new(), ended: false }
    }

    /// The row after this many others.
    #[inline]
    pub(super) fn peek(&mut self, ahead: usize) -> Result<Option<&Node>, S::Error> {
        while self.nodes.len() - self.head <= ahead {
            if self.ended {
                return Ok(None);
            }
            self.fill()?;
        }
        Ok(self.nodes.get(self.head + ahead))
    }

    /// The row that was looked at has been used.
    #[inline]
    pub(super) fn advance(&mut self) {
        self.head = self.nodes.len().min(self.head + 1);
    }

    #[cold]
    fn fill(&mut self) -> Result<(), S::Error> {
        // What stays is moved no more often than as much has been used.
        if self.head >= self.nodes.len() / 2 {
            self.nodes.drain(..self.head);
            self.head = 0;
        }
        let Some(rows) = self.source.next_batch()? else {
            self.ended = true;
            return Ok(());
        };
        let open = &mut self.open;
        self.nodes.extend(rows.iter().map(|row| {
            let depth = u32::try_from(open.depth()).unwrap_or(u32::MAX);
            Node { row: *row, depth, class: classify(open, row.event) }
        }));
        Ok(())
    }

    /// Parts of the construct at `depth` that come next, and how many rows were looked at: at most `parts` and `rows` of
    /// them, at least one if there is one. True if these are all up to its end, or its next branch.
    pub(super) fn parts(&mut self, depth: u32, parts: usize, rows: usize) -> Result<Ahead, S::Error> {
        let mut found = Ahead { parts: Vec::new(), whole: false, rows: 0 };
        while found.rows < rows.max(1) {
            let node = self.peek(found.rows)?;
            let Some(node) = node.filter(|node| node.depth > depth || node.is_part()) else {
                found.whole = true;
                break;
            };
            if node.depth == depth {
                if found.parts.len() == parts {
                    break;
                }
                found.parts.push(node.signature());
            }
            found.rows += 1;
        }
        Ok(found)
    }
}

/// What was seen ahead.
#[derive(Debug)]
pub(super) struct Ahead {
    pub(super) parts: Vec<Signature>,
    pub(super) whole: bool,
    pub(super) rows: usize,
}

/// Rows that do not fit close nothing: runs are compared as they are.
fn classify(open: &mut Nesting<Construct>, event: Event) -> Class {
    match event.effect() {
        Effect::Opens(construct) if open.depth() < MOST_OPEN => {
            open.push(construct);
            Class::Open
        }
        Effect::Divides(construct) if open.last() == Some(&construct) => Class::Next,
        Effect::Closes(construct) if open.last() == Some(&construct) => {
            open.pop();
            Class::Close
        }
        // A member has ended.
        Effect::Closes(construct) if open.ends(construct) => Class::Next,
        _ => Class::Leaf,
    }
}
