//! Explicit distance matrices: which entries a file lists, and their order.

/// The entries of an explicit matrix, and their order.
#[derive(Debug, Clone, Copy)]
pub(super) struct EdgeWeightFormat {
    pub(super) triangle: MatrixTriangle,
    /// Whether the diagonal is listed.
    pub(super) diagonal: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MatrixTriangle {
    Full,
    /// Row i lists the columns after i; the same as columns of the lower triangle.
    Upper,
    /// Row i lists the columns before i; the same as columns of the upper triangle.
    Lower,
}

impl EdgeWeightFormat {
    /// Numbers in a matrix of this format.
    pub(super) fn entries(self, nodes: usize) -> usize {
        let triangle = nodes * (nodes - 1) / 2;
        match self.triangle {
            MatrixTriangle::Full => nodes * nodes,
            MatrixTriangle::Upper | MatrixTriangle::Lower => {
                triangle + if self.diagonal { nodes } else { 0 }
            }
        }
    }

    /// Edge costs in lexicographic order, or the first pair (from 1) with two different weights.
    pub(super) fn edges(self, nodes: usize, weights: &[f64]) -> Result<Vec<f64>, (usize, usize)> {
        // Entries that each row lacks if the diagonal is not listed.
        let omitted = usize::from(!self.diagonal);
        let position = |i: usize, j: usize| match self.triangle {
            MatrixTriangle::Full => i * nodes + j,
            MatrixTriangle::Upper => {
                (0..i).map(|row| nodes - row - omitted).sum::<usize>() + j - i - omitted
            }
            MatrixTriangle::Lower => j * (j + 1) / 2 - omitted * j + i,
        };
        let mut costs = Vec::with_capacity(nodes * nodes.saturating_sub(1) / 2);
        for i in 0..nodes {
            for j in i + 1..nodes {
                let weight = weights[position(i, j)];
                let is_full = self.triangle == MatrixTriangle::Full;
                if is_full && weights[position(j, i)] != weight {
                    return Err((i + 1, j + 1));
                }
                costs.push(weight);
            }
        }
        Ok(costs)
    }
}
