//! The spanning tree: paths in it, and the subtree that a pivot moves.

use super::{NONE, NetworkSimplex};

impl NetworkSimplex {
    /// Calls `visit` with the arcs of the tree on the way between two nodes, and whether each leads
    /// from the first node towards the second.
    pub(in crate::network_flow) fn visit_tree_path(
        &self,
        [mut first, mut second]: [usize; 2],
        mut visit: impl FnMut(usize, bool),
    ) {
        while first != second {
            if self.depth[first] >= self.depth[second] {
                visit(self.parent_arc[first] as usize, self.leads_up[first]);
                first = self.parent[first] as usize;
            } else {
                visit(self.parent_arc[second] as usize, !self.leads_up[second]);
                second = self.parent[second] as usize;
            }
        }
    }

    pub(super) fn attach(&mut self, node: u32, parent: u32) {
        let first = self.first_child[parent as usize];
        self.next_sibling[node as usize] = first;
        self.previous_sibling[node as usize] = NONE;
        if first != NONE {
            self.previous_sibling[first as usize] = node;
        }
        self.first_child[parent as usize] = node;
        self.parent[node as usize] = parent;
    }

    fn detach(&mut self, node: u32) {
        let previous = self.previous_sibling[node as usize];
        let next = self.next_sibling[node as usize];
        if previous == NONE {
            self.first_child[self.parent[node as usize] as usize] = next;
        } else {
            self.next_sibling[previous as usize] = next;
        }
        if next != NONE {
            self.previous_sibling[next as usize] = previous;
        }
    }

    /// Hangs the subtree that lost the arc above `top` below `fixed`, by the entering arc from its
    /// node `moved`.
    pub(super) fn move_subtree(&mut self, entering: u32, top: u32, moved: u32, fixed: u32) {
        let arc = entering as usize;
        self.path.clear();
        let mut node = moved;
        loop {
            self.path.push(node);
            if node == top {
                break;
            }
            node = self.parent[node as usize];
        }
        let is_tail = self.tails[arc] == moved;
        let (mut parent, mut parent_arc, mut leads_up) = (fixed, entering, is_tail);
        // The way from the entering arc up to the lost one turns around: each node becomes the
        // child of the one before.
        for position in 0..self.path.len() {
            let node = self.path[position];
            self.detach(node);
            self.attach(node, parent);
            let next_arc = std::mem::replace(&mut self.parent_arc[node as usize], parent_arc);
            let led_up = std::mem::replace(&mut self.leads_up[node as usize], leads_up);
            (parent, parent_arc, leads_up) = (node, next_arc, !led_up);
        }
        // The potentials of the subtree move together.
        let potential = if is_tail {
            self.potential[fixed as usize] - self.cost[arc]
        } else {
            self.potential[fixed as usize] + self.cost[arc]
        };
        let shift = potential - self.potential[moved as usize];
        self.depth[moved as usize] = self.depth[fixed as usize] + 1;
        self.stack.clear();
        self.stack.push(moved);
        while let Some(node) = self.stack.pop() {
            // A shift of the whole subtree keeps all reduced costs within it.
            self.potential[node as usize] += shift;
            let depth = self.depth[node as usize] + 1;
            let mut child = self.first_child[node as usize];
            while child != NONE {
                self.depth[child as usize] = depth;
                self.stack.push(child);
                child = self.next_sibling[child as usize];
            }
        }
    }
}
