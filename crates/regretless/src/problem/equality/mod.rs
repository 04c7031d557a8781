//! Equality constraints of problems, and the projection onto the null space of their rows.
//!
//! If all decisions satisfy Ax = b, costs c and αc + Aᵀy with α > 0 have the same optimal
//! decisions: the costs of all decisions change by the same amount yᵀb. The projection P = I − A⁺A
//! removes Aᵀy. It is computed as
//!
//! ```text
//! s = A c        one sum per row
//! A Aᵀ y = s     a system as large as the number of rows
//! P c = c − Aᵀ y
//! ```
//!
//! For tours, assignments and disjoint groups the system has a closed form; otherwise A Aᵀ is
//! factorized once (`factorization.rs`). Linearly dependent rows, such as the balance of the last
//! node of a network, are left out.

#![allow(
    clippy::needless_range_loop,
    reason = "loops over the lanes of several vectors read best with an index, and are vectorized"
)]

#[cfg(feature = "highs")]
mod elimination;
mod factorization;
mod lanes;

use std::ops::Range;
use std::sync::Arc;

// Only linear problems have columns without a predicted cost.
#[cfg(feature = "highs")]
pub(super) use elimination::{EqualityRow, eliminate_auxiliary};
use factorization::Factorization;
use lanes::{scale, solve_degrees, solve_matrix};

use crate::error::{Error, Result};

/// The coefficients of a row: variables and factors.
pub type ConstraintRow = Vec<(u32, f64)>;

/// Equality constraints that all decisions of a problem satisfy; their right-hand sides do not
/// matter.
#[derive(Debug, Clone, PartialEq)]
pub enum EqualityConstraints {
    /// None, or none that are known.
    None,
    /// The degree of every node of a complete graph, whose edges are in lexicographic order; that
    /// of node 0, a depot, only `with_depot`.
    Degrees {
        /// Number of nodes.
        nodes: usize,
        /// Whether the degree of node 0 is fixed, too.
        with_depot: bool,
    },
    /// The variables form a matrix, row by row: the sum of each column and, `with_rows`, that of
    /// each row.
    Matrix {
        /// Number of rows.
        rows: usize,
        /// Number of columns.
        columns: usize,
        /// Whether the sums of rows are fixed, too.
        with_rows: bool,
    },
    /// The sum of each group of consecutive variables; these are the sizes of all groups.
    Groups(Vec<usize>),
    /// Any rows.
    Rows(Vec<ConstraintRow>),
    /// Those of a smaller problem whose variable k is variable `indices[k]`; the others are absent.
    Subset {
        /// The constraints of the smaller problem.
        smaller: Box<Self>,
        /// The number of each of its variables.
        indices: Arc<[u32]>,
    },
    /// They exist, but it would take too long to find them; the reason, as a sentence.
    Unavailable(String),
}

impl EqualityConstraints {
    /// These rows, if there are any.
    pub(super) fn from_rows(rows: impl IntoIterator<Item = ConstraintRow>) -> Self {
        let rows: Vec<_> = rows.into_iter().filter(|row| !row.is_empty()).collect();
        if rows.is_empty() {
            Self::None
        } else {
            Self::Rows(rows)
        }
    }

    /// The balance of each node of a network, over the arcs (tail, head) that are present.
    pub(super) fn flow_balances(
        num_nodes: usize,
        ends: impl IntoIterator<Item = [u32; 2]>,
        is_present: impl Fn(usize) -> bool,
    ) -> Self {
        let mut balances = vec![Vec::new(); num_nodes];
        for (arc, [tail, head]) in ends.into_iter().enumerate() {
            // A loop changes the balance of no node.
            if tail != head && is_present(arc) {
                balances[tail as usize].push((arc as u32, 1.0));
                balances[head as usize].push((arc as u32, -1.0));
            }
        }
        Self::from_rows(balances)
    }

    /// The same in a larger problem, in which variable k has the number `indices[k]`.
    pub(super) fn with_numbers(self, indices: &Arc<[u32]>) -> Self {
        match self {
            Self::None => Self::None,
            Self::Unavailable(reason) => Self::Unavailable(reason),
            Self::Degrees { .. }
            | Self::Matrix { .. }
            | Self::Groups(_)
            | Self::Rows(_)
            | Self::Subset { .. } => Self::Subset {
                smaller: Box::new(self),
                indices: Arc::clone(indices),
            },
        }
    }
}

/// The projection of cost vectors onto the null space of equality constraints.
#[derive(Debug, Clone, PartialEq)]
pub struct EqualityProjection {
    incidence: Incidence,
    system: RowSystem,
    /// The numbers of the variables that take part; all, in order, if it is `None`.
    indices: Option<Arc<[u32]>>,
}

/// Which rows each variable is in: the columns of A. Rows have slots of sums; a slot may belong to
/// no row, and its solution is 0.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Incidence {
    /// Runs of consecutive variables with factors of 1.
    Runs(Vec<VariableRun>),
    /// Any factors.
    Sparse(SparseIncidence),
}

/// Consecutive variables that have one row in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct VariableRun {
    pub(crate) variables: Range<usize>,
    /// The slot of the row that all variables are in.
    pub(crate) common: usize,
    /// The slot of the second row of the first variable, if they have one; the slots of the others
    /// follow.
    pub(crate) first_own: Option<usize>,
}

/// Rows and factors of each variable.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SparseIncidence {
    /// The first entry of each variable, then the number of entries.
    starts: Vec<u32>,
    slots: Vec<u32>,
    factors: Vec<f64>,
}

impl SparseIncidence {
    /// Slots and factors of a variable.
    #[inline(always)]
    pub(crate) fn entries(&self, variable: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.starts[variable] as usize..self.starts[variable + 1] as usize;
        let entries = self.slots[range.clone()].iter().zip(&self.factors[range]);
        entries.map(|(slot, factor)| (*slot as usize, *factor))
    }

    /// Of rows over variables below `num_variables`, scaled to unit norm.
    fn new(rows: &[ConstraintRow], num_variables: usize) -> Self {
        let mut starts = vec![0; num_variables + 1];
        for (variable, _) in rows.iter().flatten() {
            starts[*variable as usize + 1] += 1;
        }
        for variable in 0..num_variables {
            starts[variable + 1] += starts[variable];
        }
        let count = starts[num_variables] as usize;
        let (mut slots, mut factors) = (vec![0; count], vec![0.0; count]);
        let mut next: Vec<u32> = starts.clone();
        for (slot, row) in rows.iter().enumerate() {
            let squares: f64 = row.iter().map(|(_, factor)| factor * factor).sum();
            for (variable, factor) in row {
                let at = &mut next[*variable as usize];
                slots[*at as usize] = slot as u32;
                factors[*at as usize] = factor / squares.sqrt();
                *at += 1;
            }
        }
        Self {
            starts,
            slots,
            factors,
        }
    }
}

/// The system A Aᵀ y = s.
#[derive(Debug, Clone, PartialEq)]
enum RowSystem {
    /// (n − 2) I + 11ᵀ over the nodes of a complete graph with n nodes, without the depot if it
    /// has no row.
    Degrees {
        nodes: usize,
        with_depot: bool,
    },
    /// Sums of rows, whose slots come first, and columns of a matrix.
    Matrix {
        rows: usize,
        columns: usize,
        with_rows: bool,
    },
    /// Diagonal: the size of each group.
    Groups(Vec<usize>),
    Factorized(Factorization),
}

impl EqualityProjection {
    /// The projection for these constraints on this number of variables; `None` if there are no
    /// constraints.
    ///
    /// # Errors
    /// When the constraints are too large.
    pub(crate) fn new(
        constraints: &EqualityConstraints,
        num_variables: usize,
    ) -> Result<Option<Self>> {
        let rows = match constraints {
            EqualityConstraints::None => return Ok(None),
            EqualityConstraints::Unavailable(reason) => return Err(too_large(reason)),
            EqualityConstraints::Subset { smaller, indices } => {
                let inner = Self::new(smaller, indices.len())?;
                return Ok(inner.map(|inner| Self {
                    indices: Some(Arc::clone(indices)),
                    ..inner
                }));
            }
            // The closed form of the system needs three nodes.
            EqualityConstraints::Degrees { nodes, with_depot } if *nodes < 3 => {
                degree_rows(*nodes, *with_depot)
            }
            EqualityConstraints::Degrees { nodes, with_depot } => {
                return Ok(Some(Self::of_degrees(*nodes, *with_depot)));
            }
            EqualityConstraints::Matrix {
                rows,
                columns,
                with_rows,
            } => return Ok(Some(Self::of_matrix(*rows, *columns, *with_rows))),
            EqualityConstraints::Groups(sizes) => return Ok(Some(Self::of_groups(sizes))),
            EqualityConstraints::Rows(rows) => rows.clone(),
        };
        let incidence = SparseIncidence::new(&rows, num_variables);
        let factorization = Factorization::new(&incidence, num_variables, rows.len())
            .map_err(|reason| too_large(&reason))?;
        Ok(Some(Self {
            incidence: Incidence::Sparse(incidence),
            system: RowSystem::Factorized(factorization),
            indices: None,
        }))
    }

    fn of_degrees(nodes: usize, with_depot: bool) -> Self {
        let mut start = 0;
        let runs = (0..nodes - 1).map(|node| {
            let end = start + nodes - 1 - node;
            let variables = start..end;
            start = end;
            VariableRun {
                variables,
                common: node,
                first_own: Some(node + 1),
            }
        });
        Self {
            incidence: Incidence::Runs(runs.collect()),
            system: RowSystem::Degrees { nodes, with_depot },
            indices: None,
        }
    }

    fn of_matrix(rows: usize, columns: usize, with_rows: bool) -> Self {
        let runs = (0..rows).map(|row| VariableRun {
            variables: row * columns..(row + 1) * columns,
            common: row,
            first_own: Some(rows),
        });
        Self {
            incidence: Incidence::Runs(runs.collect()),
            system: RowSystem::Matrix {
                rows,
                columns,
                with_rows,
            },
            indices: None,
        }
    }

    fn of_groups(sizes: &[usize]) -> Self {
        let mut start = 0;
        let runs = sizes.iter().enumerate().map(|(group, size)| {
            let variables = start..start + size;
            start += size;
            VariableRun {
                variables,
                common: group,
                first_own: None,
            }
        });
        Self {
            incidence: Incidence::Runs(runs.collect()),
            system: RowSystem::Groups(sizes.to_vec()),
            indices: None,
        }
    }

    /// Projects a cost vector; absent variables become 0. `scratch` is overwritten.
    pub(crate) fn project(&self, costs: &mut [f64], scratch: &mut ProjectionScratch) {
        let sums = &mut scratch.sums;
        sums.clear();
        sums.resize(self.num_slots(), [0.0]);
        let Some(indices) = &self.indices else {
            self.project_all(costs, sums);
            return;
        };
        let present = &mut scratch.present;
        present.clear();
        present.extend(indices.iter().map(|index| costs[*index as usize]));
        self.project_all(present, sums);
        costs.fill(0.0);
        for (index, cost) in indices.iter().zip(present) {
            costs[*index as usize] = *cost;
        }
    }

    /// The same if all variables take part; `sums` are zeros.
    fn project_all(&self, costs: &mut [f64], sums: &mut [[f64; 1]]) {
        match &self.incidence {
            Incidence::Runs(runs) => {
                for run in runs {
                    let variables = &costs[run.variables.clone()];
                    let total: f64 = variables.iter().sum();
                    sums[run.common][0] += total;
                    if let Some(first) = run.first_own {
                        for (sum, cost) in sums[first..].iter_mut().zip(variables) {
                            sum[0] += cost;
                        }
                    }
                }
            }
            Incidence::Sparse(sparse) => {
                for (variable, cost) in costs.iter().enumerate() {
                    for (slot, factor) in sparse.entries(variable) {
                        sums[slot][0] += factor * cost;
                    }
                }
            }
        }
        self.solve(sums);
        match &self.incidence {
            Incidence::Runs(runs) => {
                for run in runs {
                    let variables = &mut costs[run.variables.clone()];
                    let common = sums[run.common][0];
                    variables.iter_mut().for_each(|cost| *cost -= common);
                    if let Some(first) = run.first_own {
                        for (cost, own) in variables.iter_mut().zip(&sums[first..]) {
                            *cost -= own[0];
                        }
                    }
                }
            }
            Incidence::Sparse(sparse) => {
                for (variable, cost) in costs.iter_mut().enumerate() {
                    for (slot, factor) in sparse.entries(variable) {
                        *cost -= factor * sums[slot][0];
                    }
                }
            }
        }
    }

    /// Which rows each variable is in; `None` if some variables are absent.
    pub(crate) fn incidence(&self) -> Option<&Incidence> {
        self.indices.is_none().then_some(&self.incidence)
    }

    /// Slots of sums.
    pub(crate) fn num_slots(&self) -> usize {
        match &self.system {
            RowSystem::Degrees { nodes, .. } => *nodes,
            RowSystem::Matrix { rows, columns, .. } => rows + columns,
            RowSystem::Groups(sizes) => sizes.len(),
            RowSystem::Factorized(factorization) => factorization.num_rows(),
        }
    }

    /// Numbers that the projection stores.
    pub(crate) fn num_entries(&self) -> usize {
        let incidence = match &self.incidence {
            Incidence::Runs(runs) => runs.len(),
            Incidence::Sparse(sparse) => sparse.slots.len(),
        };
        let system = match &self.system {
            RowSystem::Degrees { .. } | RowSystem::Matrix { .. } => 0,
            RowSystem::Groups(sizes) => sizes.len(),
            RowSystem::Factorized(factorization) => factorization.num_entries(),
        };
        incidence + system
    }

    /// Overwrites sums s with a solution y of A Aᵀ y = s, for several vectors at a time.
    #[inline(always)]
    pub(crate) fn solve<const LANES: usize>(&self, sums: &mut [[f64; LANES]]) {
        match &self.system {
            RowSystem::Degrees { nodes, with_depot } => {
                solve_degrees(sums, *nodes, *with_depot);
            }
            RowSystem::Matrix {
                rows,
                columns,
                with_rows,
            } => solve_matrix(sums, [*rows, *columns], *with_rows),
            RowSystem::Groups(sizes) => {
                for (sum, size) in sums.iter_mut().zip(sizes) {
                    scale(sum, 1.0 / (*size).max(1) as f64);
                }
            }
            RowSystem::Factorized(factorization) => factorization.solve(sums),
        }
    }
}

/// Buffers of a projection.
#[derive(Debug, Clone, Default)]
pub(crate) struct ProjectionScratch {
    sums: Vec<[f64; 1]>,
    present: Vec<f64>,
}

impl ProjectionScratch {
    pub(crate) const EMPTY: Self = Self {
        sums: Vec::new(),
        present: Vec::new(),
    };
}

fn too_large(reason: &str) -> Error {
    Error::setting(format!(
        "the equality constraints of the problem cannot be used: {reason}"
    ))
    .with_remedy("use S instead of E")
}

/// The degrees of a complete graph as rows.
fn degree_rows(nodes: usize, with_depot: bool) -> Vec<ConstraintRow> {
    let mut rows = vec![Vec::new(); nodes];
    let mut edge = 0;
    for first in 0..nodes {
        for second in first + 1..nodes {
            rows[first].push((edge, 1.0));
            rows[second].push((edge, 1.0));
            edge += 1;
        }
    }
    rows.split_off(usize::from(!with_depot).min(nodes))
}
