//! Decisions: sparse values of the variables of a problem.
//!
//! A tour over 1000 nodes has 499,500 variables, 1000 of them one. Every decision therefore stores
//! only its nonzero entries; dense vectors are created on request.
//!
//! A problem may also have variables whose costs are known. They are not part of a decision, but
//! their cost is: the *fixed* cost of the decision, which [`Decision::dot`] adds. Regrets and
//! losses compare objectives with fixed costs and need no special treatment. The fixed cost is 0
//! for most problems.

/// A feasible point of a problem: sparse, its entries in increasing order of index.
///
/// ```
/// use regretless::Decision;
///
/// let decision = Decision::from_indices([0, 2]);
/// assert_eq!((decision.value(2), decision.value(1)), (1.0, 0.0));
/// assert_eq!(decision.dot(&[3.0, 5.0, 4.0]), 7.0);
/// assert_eq!(decision, Decision::from_dense(&[1.0, 0.0, 1.0]));
/// ```
#[derive(Debug, PartialEq, Default)]
pub struct Decision {
    indices: Vec<u32>,
    /// Absent when every stored entry is 1.
    values: Option<Vec<f64>>,
    /// Cost that does not depend on the predicted costs.
    fixed: f64,
}

impl Clone for Decision {
    fn clone(&self) -> Self {
        Self {
            indices: self.indices.clone(),
            values: self.values.clone(),
            fixed: self.fixed,
        }
    }

    /// Reuses the allocation, which the derived implementation would not.
    fn clone_from(&mut self, other: &Self) {
        self.indices.clone_from(&other.indices);
        self.values.clone_from(&other.values);
        self.fixed = other.fixed;
    }
}

impl Decision {
    /// The decision that chooses exactly these variables (sorted or not, without repetition).
    pub fn from_indices(indices: impl IntoIterator<Item = u32>) -> Self {
        let mut decision = Self::default();
        decision.assign_indices(indices);
        decision.indices.shrink_to_fit();
        decision
    }

    /// Becomes the decision that chooses exactly these variables (sorted or not, without
    /// repetition), in its existing allocation.
    pub fn assign_indices(&mut self, indices: impl IntoIterator<Item = u32>) {
        self.indices.clear();
        self.indices.extend(indices);
        if !self.indices.is_sorted() {
            self.indices.sort_unstable();
        }
        self.values = None;
        self.fixed = 0.0;
    }

    /// The decision with these values; zeros are not stored, and neither are values if all are 1.
    pub fn from_dense(values: &[f64]) -> Self {
        let entries = values.iter().enumerate().filter(|(_, v)| **v != 0.0);
        Self::from_entries(entries.map(|(j, v)| (j as u32, *v)))
    }

    /// The decision with these entries, given in increasing order of index.
    pub fn from_entries(entries: impl IntoIterator<Item = (u32, f64)>) -> Self {
        let (indices, values): (Vec<u32>, Vec<f64>) = entries.into_iter().unzip();
        debug_assert!(indices.windows(2).all(|w| w[0] < w[1]));
        let all_ones = values.iter().all(|v| *v == 1.0);
        Self {
            indices,
            values: (!all_ones).then_some(values),
            fixed: 0.0,
        }
    }

    /// Gives the variables other numbers: variable `j` becomes `numbers[j]`, which increase.
    pub fn renumber(&mut self, numbers: &[u32]) {
        debug_assert!(numbers.is_sorted());
        for index in &mut self.indices {
            *index = numbers[*index as usize];
        }
    }

    /// The same decision with this fixed cost (minimized, as all costs are).
    #[must_use]
    pub fn with_fixed(mut self, fixed: f64) -> Self {
        self.fixed = fixed;
        self
    }

    /// The cost that does not depend on the predicted costs.
    pub fn fixed(&self) -> f64 {
        self.fixed
    }

    /// Nonzero entries in increasing order of index.
    pub fn iter(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        let value = |position: usize| self.values.as_ref().map_or(1.0, |values| values[position]);
        self.indices
            .iter()
            .enumerate()
            .map(move |(position, j)| (*j as usize, value(position)))
    }

    /// Indices of the nonzero entries, increasing.
    pub fn indices(&self) -> &[u32] {
        &self.indices
    }

    /// Values of the nonzero entries; `None` means that all are 1.
    pub fn values(&self) -> Option<&[f64]> {
        self.values.as_deref()
    }

    /// Whether every entry is 0 or 1.
    pub fn is_binary(&self) -> bool {
        self.values.is_none()
    }

    /// The value of one variable.
    pub fn value(&self, index: usize) -> f64 {
        match self.indices.binary_search(&(index as u32)) {
            Ok(position) => self.values.as_ref().map_or(1.0, |values| values[position]),
            Err(_) => 0.0,
        }
    }

    /// The objective of this decision: the inner product with a cost vector, summed in f64, and the
    /// fixed cost.
    pub fn dot<C: Copy + Into<f64>>(&self, costs: &[C]) -> f64 {
        self.dot_by(|j| costs[j].into())
    }

    /// The same with the costs as a function of the variable's index.
    pub fn dot_by(&self, cost: impl Fn(usize) -> f64) -> f64 {
        let predicted: f64 = match &self.values {
            None => self.indices.iter().map(|j| cost(*j as usize)).sum(),
            Some(_) => self.iter().map(|(j, v)| v * cost(j)).sum(),
        };
        predicted + self.fixed
    }

    /// Adds `scale` times this decision to a dense vector.
    pub fn add_to(&self, scale: f64, out: &mut [f64]) {
        for (j, value) in self.iter() {
            out[j] += scale * value;
        }
    }

    /// Overwrites a dense vector with this decision.
    pub fn write_dense(&self, out: &mut [f64]) {
        out.fill(0.0);
        self.add_to(1.0, out);
    }
}

#[cfg(test)]
mod tests {
    use super::Decision;

    #[test]
    fn dense_and_sparse_forms_agree() {
        let dense = [0.0, 1.0, 0.0, 2.5];
        let decision = Decision::from_dense(&dense);
        let mut back = [9.0; 4];
        decision.write_dense(&mut back);
        assert_eq!(back, dense);
        assert_eq!(decision.dot(&[1.0_f32, 2.0, 3.0, 4.0]), 12.0);
        assert_eq!((decision.value(3), decision.value(0)), (2.5, 0.0));
    }

    #[test]
    fn the_fixed_cost_counts_once_in_the_objective_and_never_in_the_vector() {
        let decision = Decision::from_indices([1]).with_fixed(0.5);
        let mut dense = [0.0; 2];
        decision.write_dense(&mut dense);
        assert_eq!((decision.dot(&[1.0, 2.0]), dense), (2.5, [0.0, 1.0]));
        assert_ne!(decision, Decision::from_indices([1]));
    }

    #[test]
    fn a_decision_can_become_another_in_the_memory_it_has() {
        let mut decision = Decision::from_dense(&[0.5, 0.0, 2.0]).with_fixed(3.0);
        let address = decision.indices().as_ptr();
        decision.assign_indices([2, 1]);
        assert_eq!(
            (&decision, decision.indices().as_ptr()),
            (&Decision::from_indices([1, 2]), address)
        );
        let other = Decision::from_dense(&[0.0, 7.0]).with_fixed(1.0);
        decision.clone_from(&other);
        assert_eq!((&decision, decision.indices().as_ptr()), (&other, address));
    }

    #[test]
    fn values_that_are_all_ones_are_not_stored() {
        assert_eq!(
            Decision::from_dense(&[1.0, 0.0, 1.0]),
            Decision::from_indices([2, 0])
        );
    }
}
