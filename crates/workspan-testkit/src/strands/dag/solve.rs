//! The longest paths of a graph, and what they say of strands and instances.

use std::collections::btree_map::{BTreeMap, Entry};

use workspan_model::SiteKind;

use super::{Call, Evaluated, Graph, Instance, Node, Vertex};

impl Graph<'_> {
    /// Longest paths to all nodes, in topological order; then everything else.
    pub(super) fn solve(mut self, end: Node) -> Evaluated {
        let order = order(&self.vertices);
        let mut length = vec![0i64; self.vertices.len()];
        let mut uniform = vec![0i64; self.vertices.len()];
        let mut via: Vec<Option<Node>> = vec![None; self.vertices.len()];
        for node in order {
            let vertex = &self.vertices[node];
            for edge in &vertex.edges {
                if via[node].is_none_or(|best| length[edge.before] > length[best]) {
                    via[node] = Some(edge.before);
                }
                let at = match edge.pieces {
                    Some((from, iterations)) => uniform[from] + (uniform[edge.before] - uniform[from]) / iterations,
                    None => uniform[edge.before],
                };
                if !edge.order {
                    uniform[node] = uniform[node].max(at);
                }
            }
            length[node] = via[node].map_or(0, |best| length[best]) + vertex.cost;
            uniform[node] += vertex.cost;
        }
        let mut last = end;
        for node in &self.detached {
            if length[*node] > length[last] {
                last = *node;
            }
        }
        let most = self.detached.iter().map(|node| uniform[*node]).fold(uniform[end], i64::max);
        let mut path = Vec::new();
        let mut on_path = vec![false; self.vertices.len()];
        let mut at = Some(last);
        while let Some(node) = at {
            on_path[node] = true;
            if let Some(row) = self.vertices[node].row {
                path.push(row);
                let cost = self.vertices[node].cost;
                self.sums[self.rows[row].context.index()].critical += cost;
                if let Some(owner) = self.owners[row] {
                    self.instances[owner].own_on_path += cost;
                }
            }
            at = via[node];
        }
        path.reverse();
        self.count(&length, &uniform);
        let calls = self.calls(&length, &on_path);
        for sums in &mut self.sums {
            sums.tasks.sort_unstable();
        }
        let (work, contexts, places) = (self.work, self.sums, self.places);
        Evaluated { work, span: length[last], uniform: most, contexts, places, path, calls }
    }

    fn calls(&self, length: &[i64], on_path: &[bool]) -> Vec<Call> {
        let mut heights = vec![0; self.instances.len()];
        for (at, instance) in self.instances.iter().enumerate().rev() {
            if let Some(creator) = instance.creator {
                heights[creator] = heights[creator].max(heights[at] + u32::from(instance.call));
            }
        }
        let (marks_last, may_last) = (self.recording.has_lasting_tasks(), self.recording.lasting());
        let mut calls = Vec::new();
        let mut shared: BTreeMap<(usize, usize), Call> = BTreeMap::new();
        for (instance, height) in self.instances.iter().zip(heights).filter(|(instance, _)| instance.call) {
            let lasts = |kind: SiteKind| may_last(kind) && (marks_last || kind != SiteKind::Marked);
            let lasts = self.kind(instance.context).is_some_and(lasts);
            let last = instance.ends.iter().map(|end| length[*end]).max().unwrap_or_default();
            let call = Call {
                context: instance.context,
                around: instance.around,
                outermost: instance.outermost && !instance.fork,
                height,
                work: if lasts { instance.below } else { instance.work },
                own: instance.own,
                own_on_path: instance.own_on_path,
                span: last - length[instance.begin],
                on_path: on_path[if lasts { instance.begin } else { instance.ends[0] }],
            };
            match instance.share.map(|number| shared.entry(number)) {
                None => calls.push(call),
                Some(Entry::Vacant(slot)) => drop(slot.insert(call)),
                Some(Entry::Occupied(mut slot)) => {
                    let all = slot.get_mut();
                    (all.work, all.own) = (all.work + call.work, all.own + call.own);
                    all.own_on_path += call.own_on_path;
                    (all.span, all.height) = (all.span.max(call.span), all.height.max(call.height));
                    all.on_path |= call.on_path;
                }
            }
        }
        calls.extend(shared.into_values());
        calls
    }

    fn count(&mut self, length: &[i64], uniform: &[i64]) {
        let span = |instance: &Instance, of: &[i64]| {
            instance.ends.iter().map(|end| of[*end]).max().unwrap_or_default() - of[instance.begin]
        };
        // Of shared constructs: one instance for all members, by team and number.
        let mut shared: BTreeMap<(usize, usize), (&Instance, [i64; 3])> = BTreeMap::new();
        let mut counted = Vec::new();
        for instance in self.instances.iter().filter(|instance| instance.counts) {
            let sums = [instance.work, span(instance, length), span(instance, uniform)];
            match instance.share {
                None => counted.push((instance, sums)),
                Some(number) => {
                    let (_, share) = shared.entry(number).or_insert((instance, [0; 3]));
                    *share = [share[0] + sums[0], share[1].max(sums[1]), share[2].max(sums[2])];
                }
            }
        }
        for (instance, _) in shared.values() {
            self.sums[instance.context.index()].entries += 1;
        }
        counted.extend(shared.into_values());
        for (instance, [work, span, uniform]) in counted.into_iter().filter(|(instance, _)| instance.outermost) {
            let sums = &mut self.sums[instance.context.index()].instances;
            *sums = (sums.0 + 1, sums.1 + work, sums.2 + span, sums.3 + uniform);
        }
    }
}

/// Nodes such that what must be over before comes before.
fn order(vertices: &[Vertex]) -> Vec<Node> {
    let mut after: Vec<Vec<Node>> = vec![Vec::new(); vertices.len()];
    let mut missing: Vec<usize> = vec![0; vertices.len()];
    for (node, vertex) in vertices.iter().enumerate() {
        for edge in &vertex.edges {
            after[edge.before].push(node);
            missing[node] += 1;
            if let Some((from, _)) = edge.pieces {
                after[from].push(node);
                missing[node] += 1;
            }
        }
    }
    let mut ready: Vec<Node> = (0..vertices.len()).filter(|node| missing[*node] == 0).collect();
    let mut order = Vec::with_capacity(vertices.len());
    while let Some(node) = ready.pop() {
        order.push(node);
        for next in &after[node] {
            missing[*next] -= 1;
            if missing[*next] == 0 {
                ready.push(*next);
            }
        }
    }
    assert_eq!(order.len(), vertices.len(), "the graph has a cycle");
    order
}
